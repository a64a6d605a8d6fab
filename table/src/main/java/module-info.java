import dev.espalier.data.DataKind;
import dev.espalier.table.DuckDbKind;

/** Tables in Parquet, JSON or CSV files, or by an SQL query, through DuckDB. */
module dev.espalier.table {
    requires static transitive org.jspecify;
    requires dev.espalier.data;
    requires java.sql;

    provides DataKind with
            DuckDbKind;
}
