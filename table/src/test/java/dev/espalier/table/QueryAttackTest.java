package dev.espalier.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Context;
import dev.espalier.data.DataException;
import dev.espalier.data.DataSection;
import dev.espalier.data.LoadedData;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Recipes of somebody who wishes ill: their SQL must neither write anything, nor read what is not below {@code data.dir}. */
final class QueryAttackTest {
    private static final String ROWS = "x,y\n" + "1,0\n2,1\n".repeat(20);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path top;

    @SuppressWarnings("NullAway.Init") // see below
    private Path data;

    @BeforeEach
    void lay() throws IOException {
        data = Files.createDirectories(top.resolve("data"));
        Path outside = Files.createDirectories(top.resolve("outside"));
        Files.writeString(data.resolve("rows.csv"), ROWS);
        Files.writeString(data.resolve("load.sql"), "copy (select 1) to '" + top + "/imported.csv';");
        Files.writeString(data.resolve("schema.sql"), "");
        Files.writeString(outside.resolve("secret.csv"), ROWS);
        Files.createDirectories(top.resolve("database"));
        Files.writeString(top.resolve("database/secret.csv"), ROWS);
        Files.createSymbolicLink(data.resolve("link.csv"), outside.resolve("secret.csv"));
        Files.createSymbolicLink(data.resolve("up"), outside);
    }

    private LoadedData load(String query) throws IOException {
        return DataSection.load(
                DataSection.read(
                        "data.kind=table",
                        "data.dir=" + data,
                        "data.label=y",
                        "data.query=" + query.replace("DATA", data.toString()).replace("TOP", top.toString())),
                Context.QUIET);
    }

    private String refusal(String query) {
        return String.valueOf(
                assertThrows(DataException.class, () -> load(query), query).getMessage());
    }

    /** All files, with what they hold: what an attack must leave as it is. */
    private String world() throws IOException {
        try (Stream<Path> files = Files.walk(top)) {
            return files.sorted()
                    .map(file -> {
                        try {
                            return file + " " + (Files.isRegularFile(file) ? Files.readString(file) : "");
                        } catch (IOException unreadable) {
                            return file + " " + unreadable;
                        }
                    })
                    .collect(Collectors.joining("\n"));
        }
    }

    @Test
    void whatAQueryIsForIsPossible() throws IOException {
        for (String query : List.of(
                "select * from 'DATA/rows.csv'",
                "from 'DATA/row*.csv'",
                "select * from read_csv('DATA/rows.csv', header = true);",
                "with r as (select * from 'DATA/rows.csv') select a.x, b.y from r a join r b using (x) limit 40",
                "select i as x, i % 2 as y from range(40) t(i)",
                "select unnest(range(40)) as x, x % 2 as y",
                "select x, sum(y) over (order by x) % 2 as y from 'DATA/rows.csv' union all select 1, 2")) {
            assertTrue(load(query).train().size() > 0, query);
        }
    }

    @Test
    void filesElsewhereAreOutOfReach() throws IOException {
        String before = world();
        for (String query : List.of(
                "select * from 'TOP/outside/secret.csv'",
                "select * from 'DATA/../outside/secret.csv'",
                "select * from 'DATA/link.csv'",
                "select * from 'DATA/up/secret.csv'",
                "select * from 'DATA/up/*.csv'",
                "select * from 'DATA/*.csv'",
                "select * from 'DATA/**/*.csv'",
                "select * from 'DATAbase/secret.csv'",
                "select * from read_csv(['DATA/rows.csv', 'TOP/outside/secret.csv'])",
                "select * from read_csv('TOP/out*/secret.csv')",
                "select 1 as x, (select max(x) from 'TOP/outside/secret.csv') as y",
                "with s as (select * from 'TOP/outside/secret.csv') select * from s",
                "select content as x, 1 as y from read_text('/etc/passwd')",
                "select column0 as x, 1 as y from read_csv('/proc/self/environ')",
                "select * from 'https://127.0.0.1:1/secret.csv'",
                "select * from 's3://bucket/secret.parquet'")) {
            String message = refusal(query);
            assertTrue(message.startsWith("data.query: "), message);
            assertTrue(message.contains("a query reads files below data.dir = " + data), message);
        }
        assertEquals(before, world());
    }

    @Test
    void nothingButOneSelectIsRun() throws IOException {
        String before = world();
        for (String query : List.of(
                "copy (select 1) to 'DATA/written.csv'",
                "copy (select 1) to 'TOP/written.csv'",
                "attach 'DATA/written.db'",
                "attach ':memory:' as other",
                "export database 'DATA/written'",
                "import database 'DATA'",
                "create table t as select 1 as x, 2 as y",
                "insert into t values (1)",
                "install httpfs",
                "load httpfs",
                "load 'DATA/rows.csv'",
                "set enable_external_access = true",
                "set lock_configuration = false",
                "reset enable_external_access",
                "set temp_directory = 'DATA'",
                "pragma enable_profiling",
                "pragma database_list",
                "call enable_logging(storage = 'file', storage_path = 'DATA')",
                "create secret (type http)",
                "create macro f() as 1",
                "prepare p as copy (select 1) to 'DATA/written.csv'",
                "execute p",
                "explain analyze copy (select 1) to 'DATA/written.csv'",
                "checkpoint",
                "select 1 as x, 2 as y; copy (select 1) to 'DATA/written.csv'",
                "copy (select 1) to 'DATA/written.csv'; select 1 as x, 2 as y",
                "select 1 as x, 2 as y; select 1 as x, 2 as y",
                "select 1 as x /* */; /* */ set lock_configuration = false; --",
                "with w as (copy (select 1) to 'DATA/written.csv') select * from w",
                "",
                ";")) {
            if (query.isEmpty() || query.equals(";")) {
                assertThrows(Exception.class, () -> load(query), query);
            } else {
                String message = refusal(query);
                assertTrue(message.contains("SELECT"), message);
            }
        }
        assertEquals(before, world());
    }

    @Test
    void aSelectCallsNothingThatActs() throws IOException {
        String before = world();
        for (String query : List.of(
                "select * from enable_logging(storage = 'file', storage_path = 'DATA')",
                "select * from Enable_Logging(storage = 'file', storage_path = 'DATA')",
                "select * from \"enable_logging\"(storage = 'file', storage_path = 'DATA')",
                "select * from main.enable_logging(storage = 'file', storage_path = 'DATA')",
                "select * from system.main.enable_logging(storage = 'file', storage_path = 'DATA')",
                "select 1 as x, 2 as y where exists (from enable_logging(storage = 'file', storage_path = 'DATA'))",
                "select 1 as x, (select count(*) from enable_logging(storage = 'file', storage_path = 'DATA')) as y",
                "with l as (from enable_logging(storage = 'file', storage_path = 'DATA')) select 1 as x, 2 as y from l",
                "select * from range(3) t(i), lateral (from enable_logging(storage = 'file', storage_path = 'DATA'))",
                "select * from (pivot (from enable_logging()) on x in (1) using sum(y))",
                "summarize from enable_logging(storage = 'file', storage_path = 'DATA')",
                "select * from query('select 1 as x, 2 as y')",
                "select * from query_table('rows')",
                "select * from checkpoint()",
                "select * from glob('/etc/*')",
                "select * from sniff_csv('DATA/rows.csv')",
                "select * from duckdb_settings()",
                "select * from pragma_database_list()")) {
            String message = refusal(query);
            assertTrue(message.contains("in place of a table"), message);
        }
        assertEquals(before, world());
    }

    @Test
    void whatDoesNotFitIntoMemoryIsNoFile() throws Exception {
        // DuckDB takes '.tmp' in the working folder for it unless it is told otherwise.
        try (var database = DuckDb.connectIn(data);
                var statement = database.createStatement();
                var rows = statement.executeQuery(
                        "select current_setting('temp_directory'), current_setting('enable_external_access')")) {
            assertTrue(rows.next());
            assertEquals("", rows.getString(1));
            assertFalse(rows.getBoolean(2));
        }
    }

    @Test
    void aPathIsAFileOfThisMachine() {
        for (String path : List.of("https://127.0.0.1:1/rows.csv", "s3://bucket/rows.parquet")) {
            String message = String.valueOf(assertThrows(
                            DataException.class,
                            () -> DataSection.load(
                                    DataSection.read("data.kind=table", "data.path=" + path), Context.QUIET))
                    .getMessage());
            assertTrue(message.contains("only files of this machine are read"), message);
        }
        // It is no SQL, whatever it is called.
        String message = String.valueOf(assertThrows(
                        DataException.class,
                        () -> DataSection.load(
                                DataSection.read("data.kind=table", "data.path=x'; copy (select 1) to 'written.csv"),
                                Context.QUIET))
                .getMessage());
        assertTrue(message.contains("x'; copy"), message);
        assertFalse(Files.exists(Path.of("written.csv")));
    }
}
