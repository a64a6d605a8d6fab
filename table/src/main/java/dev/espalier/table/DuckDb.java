package dev.espalier.table;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** DuckDB within this program, with nothing in it. */
final class DuckDb {
    private DuckDb() {}

    static Connection connect() throws SQLException {
        Properties properties = new Properties();
        // Otherwise the driver holds all rows at once, besides the table that they go to.
        properties.setProperty("jdbc_stream_results", "true");
        return DriverManager.getConnection("jdbc:duckdb:", properties);
    }

    /** A path as SQL writes a text. */
    static String quotedFile(String path) {
        return "'" + path.replace("'", "''") + "'";
    }

    static List<String> columns(ResultSetMetaData types) throws SQLException {
        List<String> names = new ArrayList<>();
        for (int i = 1; i <= types.getColumnCount(); i++) {
            names.add(types.getColumnName(i));
        }
        return names;
    }
}
