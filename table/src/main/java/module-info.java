import dev.espalier.data.DataKind;
import dev.espalier.data.table.CellFormat;
import dev.espalier.table.DuckDbKind;
import dev.espalier.table.ParquetFormat;

/** Tables in Parquet, JSON or CSV files, or by an SQL query, through DuckDB. */
module dev.espalier.table {
    requires static transitive org.jspecify;
    requires dev.espalier.data;
    requires java.sql;

    provides DataKind with
            DuckDbKind;
    provides CellFormat with
            ParquetFormat;
}
