package dev.espalier.table;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * DuckDB within this program, with nothing in it. It reads files below one folder, and does nothing else to the world: it writes nowhere,
 * knows no network and loads no extensions, and a query cannot change that.
 */
final class DuckDb {
    /** What a query may call in place of a table. Others do things: {@code enable_logging}, for one, writes files. */
    private static final Set<String> SOURCES = Set.of(
            "generate_series",
            "parquet_scan",
            "range",
            "read_csv",
            "read_csv_auto",
            "read_json",
            "read_json_auto",
            "read_json_objects",
            "read_ndjson",
            "read_ndjson_auto",
            "read_ndjson_objects",
            "read_parquet",
            "read_text",
            "unnest");

    private DuckDb() {}

    /** Reads any file of this machine: for queries that we write. */
    static Connection connect() throws SQLException {
        return connect(Path.of("").toAbsolutePath().getRoot(), List.of());
    }

    /** Reads files below a folder, by their real paths: for queries that others write. Rows come in the same order each time. */
    static Connection connectIn(Path folder) throws SQLException {
        return connect(folder, List.of("set threads = 1"));
    }

    private static Connection connect(Path folder, List<String> settings) throws SQLException {
        Properties properties = new Properties();
        // Otherwise the driver holds all rows at once, besides the table that they go to.
        properties.setProperty("jdbc_stream_results", "true");
        List<String> all = new ArrayList<>(settings);
        all.addAll(List.of(
                "set autoinstall_known_extensions = false",
                "set autoload_known_extensions = false",
                "set allow_community_extensions = false",
                "set allow_persistent_secrets = false",
                // What does not fit into memory is an error, and not a full disk.
                "set temp_directory = ''",
                "set allowed_directories = [" + quoted(folder.toAbsolutePath().toString()) + "]",
                "set enable_external_access = false",
                "set lock_configuration = true"));
        Connection database = DriverManager.getConnection("jdbc:duckdb:", properties);
        try (Statement statement = database.createStatement()) {
            for (String setting : all) {
                statement.execute(setting);
            }
            return database;
        } catch (SQLException problem) {
            database.close();
            throw problem;
        }
    }

    /**
     * Refuses what is not a single SELECT from tables and {@link #SOURCES}. DuckDB's own parser tells: it writes a SELECT as JSON, and
     * nothing else.
     */
    static void requireSelect(Connection database, String sql) throws SQLException {
        String tree = first(database, "select json_serialize_sql(?::varchar)", sql);
        String problem = first(database, "select ?::json ->> '$.error_message'", tree);
        if (!problem.isEmpty()) {
            throw new SQLException("%s: it must be a SELECT".formatted(problem));
        }
        String statements = first(database, "select json_array_length(?::json, '$.statements')", tree);
        if (!statements.equals("1")) {
            throw new SQLException("it must be one SELECT, and not several statements");
        }
        String call = first(
                database, """
                with tree as materialized (from json_tree(?::json))
                select functions.atom ->> '$'
                from tree types join tree functions on functions.fullkey = types.path || '.function.function_name'
                where types.key = 'type' and (types.atom ->> '$') = 'TABLE_FUNCTION'
                and (functions.atom ->> '$') not in (%s) limit 1
                """.formatted(SOURCES.stream().map(DuckDb::quoted).collect(Collectors.joining(", "))), tree);
        if (!call.isEmpty()) {
            throw new SQLException(
                    "it calls %s in place of a table, which is not possible: a file by its name in quotes, or one of %s"
                            .formatted(call, SOURCES.stream().sorted().toList()));
        }
    }

    /** The first value of the first row; empty if there is none. */
    private static String first(Connection database, String sql, String parameter) throws SQLException {
        try (PreparedStatement statement = database.prepareStatement(sql)) {
            statement.setString(1, parameter);
            try (ResultSet rows = statement.executeQuery()) {
                String value = rows.next() ? rows.getString(1) : null;
                return value == null ? "" : value;
            }
        }
    }

    /** A text, such as a path, as SQL writes it. */
    static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    /**
     * {@return a value as text; null if it is missing}
     *
     * <p>A timestamp is ISO 8601: the driver's own text goes through the clock of this machine, which leaves hours out in spring.
     */
    static @Nullable String text(ResultSet rows, int column) throws SQLException {
        String type = rows.getMetaData().getColumnTypeName(column);
        if (type.startsWith("TIMESTAMP") && !type.endsWith("TIME ZONE")) {
            LocalDateTime time = rows.getObject(column, LocalDateTime.class);
            return time == null ? null : time.toString();
        }
        return rows.getString(column);
    }

    static List<String> columns(ResultSetMetaData types) throws SQLException {
        List<String> names = new ArrayList<>();
        for (int i = 1; i <= types.getColumnCount(); i++) {
            names.add(types.getColumnName(i));
        }
        return names;
    }
}
