package dev.espalier.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Column;
import dev.espalier.data.Context;
import dev.espalier.data.DataException;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.data.table.CellFile;
import dev.espalier.settings.SettingsException;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

final class DuckDbKindTest {
    /** Two hundred rows of every type, in an order that no sort would give. */
    private static final String ROWS = """
            select i * 37 % 200 as number, (i / 8)::decimal(9, 3) as price, i % 3 = 0 as truth,
                   ['red', 'green', 'blue'][i % 3 + 1] as colour, (i % 5)::utinyint as kind
            from range(200) t(i)
            """;

    @TempDir
    Path folder;

    /** Writes what a query gives, by the file's ending. */
    private String write(String name, String query) throws SQLException {
        String file = folder.resolve(name).toString();
        try (Connection database = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = database.createStatement()) {
            statement.execute("copy (%s) to '%s'".formatted(query, file));
        }
        return file;
    }

    private static LoadedData load(String... settings) throws IOException {
        List<String> all = new ArrayList<>(List.of("data.kind=table", "data.normalize=false"));
        all.addAll(List.of(settings));
        return DataSection.load(DataSection.read(all.toArray(String[]::new)), Context.QUIET);
    }

    private static float[] features(LoadedData data, Dataset part, int row) {
        Column.Numbers column =
                (Column.Numbers) data.encoding().apply(part).inputs().getFirst();
        float[] values = new float[column.field().size()];
        column.read(row, values, 0);
        return values;
    }

    private static void assertRefused(Executable load, String... parts) {
        String message = String.valueOf(assertThrows(DataException.class, load).getMessage());
        for (String part : parts) {
            assertTrue(message.contains(part), () -> "expected '" + part + "' in: " + message);
        }
    }

    @Test
    void filesOfAllFormatsAndQueriesOnThemAreTheSame() throws IOException, SQLException {
        String parquet = write("rows.parquet", ROWS);
        String test = write("test.parquet", ROWS + " limit 7");
        List<List<String>> sources = List.of(
                List.of("data.path=" + parquet, "data.test_path=" + test),
                List.of(
                        "data.path=" + write("rows.csv", ROWS),
                        "data.test_path=" + write("test.csv", ROWS + " limit 7")),
                List.of(
                        "data.path=" + write("rows.json", ROWS),
                        "data.test_path=" + write("test.json", ROWS + " limit 7")),
                List.of(
                        "data.dir=" + folder,
                        "data.query=select * from '%s'".formatted(parquet),
                        "data.test_query=select * from '%s'".formatted(test)));
        for (List<String> source : sources) {
            LoadedData data = load(source.toArray(String[]::new));
            assertEquals(
                    List.of(
                            new Field.Numbers("number"),
                            new Field.Numbers("price"),
                            new Field.Numbers("truth"),
                            new Field.Category("colour", List.of("blue", "green", "red"))),
                    data.train().inputFields(),
                    source::toString);
            assertEquals(
                    List.of(new Field.Category("kind", List.of("0", "1", "2", "3", "4"))),
                    data.train().targetFields());
            assertEquals(200, data.train().size());
            assertEquals(7, data.test().size());
            for (int i = 0; i < 200; i++) {
                float[] expected = {
                    i * 37 % 200, i / 8f, i % 3 == 0 ? 1 : 0, i % 3 == 2 ? 1 : 0, i % 3 == 1 ? 1 : 0, i % 3 == 0 ? 1 : 0
                };
                assertArrayEquals(expected, features(data, data.train(), i));
                assertEquals(i % 5, ((Column.Categories) data.train().targets().getFirst()).read(i));
            }
        }
    }

    @Test
    void aQueryGivesItsRowsInTheSameOrderEachTime() throws IOException {
        String query =
                "data.query=select i % 5000 as k, count(*) + 0.5 as n, sum(i) as total from range(100000) t(i) group by all";
        LoadedData once = load(query, "data.label=n", "data.label_type=number");
        LoadedData again = load(query, "data.label=n", "data.label_type=number");
        for (int row = 0; row < once.test().size(); row++) {
            assertArrayEquals(features(once, once.test(), row), features(again, again.test(), row));
        }
        assertEquals(1000, once.test().size());
    }

    @Test
    void missingValuesAreNulls() throws IOException {
        String query = "data.query=select * from (values (1, 'a', 0), (null, 'b', 1), (3, null, 1), (4, 'a', 0),"
                + " (4, 'a', 0), (4, 'b', 1), ('nan'::float, 'a', 1)) t(x, word, y)";
        assertRefused(
                () -> load(query, "data.missing=refuse"),
                "data.query",
                "2 in column x (the first in row 2)",
                "1 in column word");
        LoadedData data = load(query, "data.missing=drop", "data.test_fraction=0.5");
        assertEquals(4, data.train().size() + data.test().size());
    }

    /** As text, a timestamp is what the clock of this machine makes of it; the hour that it leaves out in spring is one of these. */
    @Test
    void datesTimestampsAndTextsThatAreDatesAreDates() throws IOException, SQLException {
        String query = """
                select (date '2024-03-09' + i::integer) as day, timestamp '2024-03-10 02:30:00' + i * interval 1 hour as time,
                       timestamptz '2024-03-10 02:30:00+02' + i * interval 1 hour as instant,
                       case when i = 3 then null else '2024-03-' || (i % 9 + 10) || 'T12:00' end as text, i % 2 as y
                from range(40) t(i)
                """;
        String path = write("dates.parquet", query);
        LoadedData data = load("data.path=" + path, "data.test_path=" + path);
        assertEquals(
                List.of(
                        new Field.Date("day", false),
                        new Field.Date("time", false),
                        new Field.Date("instant", true),
                        new Field.Date("text", false)),
                data.train().inputFields());
        float[] row = features(data, data.test(), 0);
        float day = LocalDate.of(2024, 3, 10).toEpochDay();
        assertEquals(5 + 7 + 7 + 8, row.length);
        assertEquals(day - 1, row[0]);
        assertEquals(day + 2.5 / 24, row[5], 2e-3);
        assertEquals(day + 0.5 / 24, row[12], 2e-3);
        assertEquals(day + 0.5, row[19]);
        assertEquals(1, features(data, data.test(), 3)[26], "a text that is missing");
        LoadedData names = load(
                "data.path=" + path, "data.test_path=" + path, "data.columns=[\"text\"]", "data.categories=[\"text\"]");
        assertEquals(10, names.inputs().getFirst() instanceof Field.Numbers numbers ? numbers.size() : 0);
        List<String> cells = new ArrayList<>();
        CellFile.of(Path.of(path), true, Optional.empty())
                .forEach(List.of("day", "time", "text"), new CellFile.Visitor() {
                    @Override
                    public void row(long place, List<String> found) {
                        cells.addAll(found);
                    }

                    @Override
                    public void problem(long place, String problem) {
                        throw new AssertionError(problem);
                    }
                });
        assertEquals(List.of("2024-03-09", "2024-03-10T02:30", "2024-03-10T12:00"), cells.subList(0, 3));
        assertRefused(
                () -> load("data.query=select 'infinity'::date as day, i % 2 as y from range(40) t(i)"),
                "data.query, row 1",
                "column day");
        String mostly =
                "data.query=select case when i = 7 then 'later' else '2024-01-01' end as day, i % 2 as y from range(40) t(i)";
        assertRefused(
                () -> load(mostly.replace("'2024-01-01'", "'2024-01-0' || i % 9 + 1")),
                "data.query, row 8",
                "'later' in column day");
    }

    @Test
    void columnsMayBeNamesOrLeftOutAndSeveralMayBeLabels() throws IOException, SQLException {
        String path = "data.path=" + write("rows.parquet", ROWS);
        LoadedData data = load(path, "data.ignore=[\"number\"]", "data.categories=[\"truth\"]");
        assertEquals(
                List.of("price", "truth", "colour"),
                data.train().inputFields().stream().map(Field::name).toList());
        assertEquals(
                new Field.Category("truth", List.of("false", "true")),
                data.train().inputFields().get(1));
        LoadedData numbers = load(path, "data.label=[\"price\", \"number\"]");
        assertEquals(List.of(new Field.Numbers("targets", List.of(2))), numbers.targets());
        LoadedData price = load(path, "data.label=price");
        assertEquals(List.of(new Field.Numbers("price", List.of(1))), price.targets(), "many different fractions");
        LoadedData truth = load(path, "data.label=truth");
        assertEquals(List.of(new Field.Category("truth", List.of("false", "true"))), truth.targets());
    }

    @Test
    void whatIsNotSoundIsRefused() throws SQLException {
        assertRefused(() -> load("data.path=" + folder.resolve("no.parquet")), "no.parquet");
        assertRefused(() -> load("data.query=select nothing from nowhere"), "data.query", "nowhere");
        assertRefused(() -> load("data.query=select 1 as x, 2 as y where false"), "data.query", "no rows");
        assertRefused(
                () -> load("data.query=select time '12:30' as at, i as x, i % 2 as y from range(9) t(i)"),
                "column at is a TIME",
                "data.ignore");
        assertRefused(() -> load("data.query=select 1e300 as x, 1 as y"), "data.query, row 1", "column x");
        String path = "data.path=" + write("rows.parquet", ROWS);
        String other = "data.test_path=" + write("other.parquet", "select 'a' as number, 1 as kind");
        assertRefused(() -> load(path, other, "data.columns=[\"number\"]"), "other.parquet", "number (texts)");
        assertThrows(SettingsException.class, () -> load());
        assertThrows(SettingsException.class, () -> load(path, "data.query=select 1"));
        assertThrows(SettingsException.class, () -> load(path, "data.test_query=select 1"));
    }
}
