package dev.espalier.table;

import dev.espalier.data.Context;
import dev.espalier.data.DataException;
import dev.espalier.data.Parts;
import dev.espalier.data.table.Selection;
import dev.espalier.data.table.Table;
import dev.espalier.data.table.TableKind;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * {@code table}: a table that DuckDB reads, with a column of labels or more: Parquet, JSON or CSV files by {@code data.path}, or what
 * the SQL of {@code data.query} makes of any files. DuckDB runs within this program and keeps nothing.
 *
 * <p>Columns have types: numbers and truth values are numbers, as 32-bit floats; dates and timestamps are dates, and so are texts if
 * all values of a column are; other texts are categories; a missing value is a NULL. What is none of these, such as a list, is refused:
 * a query says what number or text is to be made of it. A query runs on one thread, so
 * that it gives its rows in the same order each time, even without {@code ORDER BY}: which rows are held out depends on it.
 *
 * <p>A query may be anybody's, as recipes are: it is one SELECT, reads files below {@code data.dir} alone, and can do nothing else.
 */
public final class DuckDbKind extends TableKind {
    /** {@code data.path}. */
    public static final Key<String> PATH = Key.location(
                    "data.path",
                    "a Parquet, JSON or CSV file, or several by a pattern such as data/*.parquet, relative to where the program is started")
            .withDefault("")
            .changeable();
    /** {@code data.test_path}. */
    public static final Key<String> TEST_PATH = Key.location(
                    "data.test_path", "the same of the test part; if empty, some rows are held out")
            .withDefault("")
            .changeable();
    /** {@code data.query}. */
    public static final Key<String> QUERY = Key.text(
                    "data.query", "SQL in place of a path, such as select * from 'a.parquet' join 'b.csv' using (id)")
            .withDefault("");
    /** {@code data.test_query}. */
    public static final Key<String> TEST_QUERY = Key.text(
                    "data.test_query", "the same of the test part; if empty, some rows are held out")
            .withDefault("");

    /** {@code data.dir}, of queries. */
    public static final Key<String> DIR = Key.location(
                    "data.dir",
                    "what a query may read: files in this folder and below, relative to where the program is started")
            .in(Range.notBlank())
            .withDefault(".")
            .changeable();

    private static final Set<String> NUMBERS = Set.of(
            "TINYINT",
            "SMALLINT",
            "INTEGER",
            "BIGINT",
            "HUGEINT",
            "UTINYINT",
            "USMALLINT",
            "UINTEGER",
            "UBIGINT",
            "UHUGEINT",
            "FLOAT",
            "DOUBLE",
            "DECIMAL",
            "BOOLEAN");
    private static final Set<String> DATES = Set.of("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS");
    private static final String UTC_DATES = "TIMESTAMP WITH TIME ZONE";
    private static final Set<String> TEXTS = Set.of("VARCHAR", "ENUM", "UUID");
    private static final int PROGRESS = 100_000;

    /** Called by the service loader. */
    public DuckDbKind() {}

    @Override
    public String name() {
        return "table";
    }

    @Override
    public String meaning() {
        return "a table in Parquet, JSON or CSV files, or by an SQL query";
    }

    @Override
    public List<Key<?>> keys() {
        return Stream.concat(Stream.of(PATH, TEST_PATH, QUERY, TEST_QUERY, DIR), tableKeys().stream())
                .toList();
    }

    @Override
    public void check(Values values) {
        super.check(values);
        boolean path = !values.of(PATH).isBlank();
        boolean query = !values.of(QUERY).isBlank();
        if (path == query) {
            throw new IllegalArgumentException(
                    "data.path and data.query are %s set: say which files, or by which SQL, one of the two"
                            .formatted(path ? "both" : "not"));
        }
        if (!values.of(path ? TEST_QUERY : TEST_PATH).isBlank()) {
            throw new IllegalArgumentException(
                    path
                            ? "data.test_query belongs to data.query: set data.test_path instead"
                            : "data.test_path belongs to data.path: set data.test_query instead");
        }
    }

    /**
     * What is asked for.
     *
     * @param name what messages call it
     * @param sql the query
     */
    private record Source(String name, String sql) {
        static Optional<Source> of(String path, String query, String queryName) {
            if (!query.isBlank()) {
                return Optional.of(new Source(queryName, query));
            }
            return path.isBlank()
                    ? Optional.empty()
                    : Optional.of(new Source(path, "select * from " + DuckDb.quoted(path)));
        }
    }

    @Override
    public Parts open(Values values, Context context) throws IOException {
        Source train =
                Source.of(values.of(PATH), values.of(QUERY), QUERY.path()).orElseThrow();
        Optional<Source> test = Source.of(values.of(TEST_PATH), values.of(TEST_QUERY), TEST_QUERY.path());
        boolean query = !values.of(QUERY).isBlank();
        try (Connection database = query ? DuckDb.connectIn(Path.of(values.of(DIR))) : DuckDb.connect()) {
            Reading reading = new Reading(values, context, database, query);
            Table learned = reading.read(train);
            Optional<Table> judged = test.isPresent() ? Optional.of(reading.read(test.get())) : Optional.empty();
            return parts(values, learned, judged, reading.labels());
        } catch (SQLException problem) {
            throw DataException.in("DuckDB", String.valueOf(problem.getMessage()), problem);
        }
    }

    /** Reads one table after the other, all of the same columns. */
    private static final class Reading {
        private final Values values;
        private final Context context;
        private final Connection database;
        private final boolean query;
        private List<String> columns = List.of();
        private List<Table.Head> heads = List.of();
        private List<Table.Head> recognized = List.of();
        private int labels;

        Reading(Values values, Context context, Connection database, boolean query) {
            this.values = values;
            this.context = context;
            this.database = database;
            this.query = query;
        }

        int labels() {
            return labels;
        }

        Table read(Source source) throws SQLException, IOException {
            try (Statement statement = database.createStatement()) {
                if (query) {
                    DuckDb.requireSelect(database, source.sql);
                }
                try (ResultSet rows = statement.executeQuery(source.sql)) {
                    return read(source, rows);
                }
            } catch (SQLException problem) {
                throw DataException.in(source.name, problem.getMessage() + mend(problem), problem);
            }
        }

        /** DuckDB says that a file is out of reach, and not why. */
        private String mend(SQLException problem) {
            String message = String.valueOf(problem.getMessage());
            if (!message.contains("disabled by configuration") && !message.contains("Missing Extension")) {
                return "";
            }
            return query
                    ? ": a query reads files below data.dir = %s, where links lead to files below it, and writes none"
                            .formatted(values.of(DIR))
                    : ": only files of this machine are read; fetch others first";
        }

        private Table read(Source source, ResultSet rows) throws SQLException, IOException {
            ResultSetMetaData types = rows.getMetaData();
            List<String> names = Table.unique(DuckDb.columns(types));
            Selection selection = Selection.of(values, source.name, names);
            List<Table.Head> typed = heads(source, selection, names, types);
            if (heads.isEmpty()) {
                columns = names;
                heads = typed;
                labels = selection.labels().size();
            } else if (!columns.equals(names) || !heads.equals(typed)) {
                throw DataException.in(
                        source.name, "its columns are %s, but those to learn from are %s".formatted(typed, heads));
            }
            Table.Builder table = new Table.Builder(source.name, heads, "row");
            List<Integer> used = selection.all();
            for (long row = 1; rows.next(); row++) {
                table.begin(row);
                for (int i = 0; i < used.size(); i++) {
                    int column = used.get(i) + 1;
                    switch (heads.get(i).content()) {
                        case NUMBERS -> table.number(i, number(source, rows, column, row));
                        case DATES, UTC_DATES -> table.date(i, DuckDb.text(rows, column));
                        case TEXTS -> table.text(i, DuckDb.text(rows, column));
                    }
                }
                if (row % PROGRESS == 0) {
                    context.progress().at("rows", row, 0);
                }
            }
            if (table.size() == 0) {
                throw DataException.in(source.name, "no rows");
            }
            Table read = table.build();
            if (recognized.isEmpty()) {
                recognized =
                        read.recognized(IntStream.range(0, selection.inputs().size())
                                .filter(i -> !selection.categories().contains(used.get(i)))
                                .boxed()
                                .collect(Collectors.toSet()));
            }
            return read.as(recognized);
        }

        private static List<Table.Head> heads(
                Source source, Selection selection, List<String> names, ResultSetMetaData types)
                throws SQLException, DataException {
            List<Table.Head> heads = new ArrayList<>();
            for (int column : selection.all()) {
                String name = names.get(column);
                // Such as DECIMAL(18,3), ENUM('a', 'b').
                String type = types.getColumnTypeName(column + 1).replaceFirst("\\(.*", "");
                boolean isText = TEXTS.contains(type)
                        || selection.labels().contains(column)
                        || selection.categories().contains(column);
                boolean isDate = DATES.contains(type) || type.equals(UTC_DATES);
                if (!NUMBERS.contains(type) && !TEXTS.contains(type) && !isDate) {
                    throw DataException.in(
                            source.name,
                            "column %s is a %s, neither number, date nor text: make one of it in data.query, or list it in data.ignore"
                                    .formatted(name, type));
                }
                heads.add(new Table.Head(
                        name,
                        isText
                                ? Table.Content.TEXTS
                                : !isDate
                                        ? Table.Content.NUMBERS
                                        : type.equals(UTC_DATES) ? Table.Content.UTC_DATES : Table.Content.DATES));
            }
            return heads;
        }

        private static float number(Source source, ResultSet rows, int column, long row)
                throws SQLException, DataException {
            float value = switch (rows.getObject(column)) {
                case Boolean truth -> truth ? 1 : 0;
                case Number number -> number.floatValue();
                case null, default -> Float.NaN;
            };
            if (Float.isInfinite(value)) {
                throw DataException.in(
                        source.name + ", row " + row,
                        "%s in column %s: expected a finite number of 32 bits"
                                .formatted(
                                        rows.getObject(column),
                                        rows.getMetaData().getColumnName(column)));
            }
            return value;
        }
    }
}
