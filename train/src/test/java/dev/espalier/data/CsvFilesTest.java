package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CsvFilesTest {
    @TempDir
    Path folder;

    private DataSplit load(String train, String test) throws IOException {
        return load(train, test, new DataSource.Csv(folder));
    }

    private DataSplit load(String train, String test, DataSource.Csv source) throws IOException {
        Files.writeString(folder.resolve("train.csv"), train);
        Files.writeString(folder.resolve("test.csv"), test);
        return Datasets.load(source);
    }

    private DataSource.Csv labelled(String label) {
        return new DataSource.Csv(folder, true, label, ',', Holdout.DEFAULT);
    }

    private DataSplit loadFile(String name) throws IOException {
        return Datasets.load(new DataSource.Csv(folder.resolve(name)));
    }

    private void assertRefused(String train, String... parts) {
        TestData.assertRefused(() -> load(train, "x,y\n1,a\n"), parts);
    }

    @Test
    void labelsMayStandInAnyColumn() throws IOException {
        String text = "kind,x,y\nb,1,2\na,3,-4e1\n";
        for (String label : List.of("kind", "0", "-3")) {
            DataSplit split = load(text, text, labelled(label));
            assertEquals(List.of("a", "b"), split.train().classNames());
            assertEquals(1, split.train().label(0));
            assertArrayEquals(new float[] {3, -40}, TestData.values(split.train(), 1));
        }
    }

    @Test
    void withoutHeaderTheFirstLineIsASample() throws IOException {
        DataSource.Csv source = new DataSource.Csv(folder, false, "-1", ';', Holdout.DEFAULT);
        DataSplit split = load("1;2\n3;10\n", "5;10\n", source);
        assertEquals(2, split.train().size());
        // By value, not by name: 2 comes before 10.
        assertEquals(List.of("2", "10"), split.train().classNames());
        assertEquals(1, split.test().label(0));
    }

    @Test
    void quotesBlankLinesByteOrderMarksAndWindowsLinesAreUnderstood() throws IOException {
        DataSplit split = load(
                "\ufeffx,\"the, \"\"label\"\"\"\r\n\r\n 1 ,\"a, b\"\r\n2,c\r\n\r\n", "x,\"the, \"\"label\"\"\"\n3,c");
        assertEquals(List.of("a, b", "c"), split.train().classNames());
        assertArrayEquals(new float[] {1}, TestData.values(split.train(), 0));
    }

    @Test
    void oneFileIsCutBySeedAndMayBeCompressed() throws IOException {
        StringBuilder text = new StringBuilder("x,y\n");
        for (int i = 0; i < 40; i++) {
            text.append(i).append(',').append(i % 2).append('\n');
        }
        Path file = folder.resolve("all.csv.gz");
        try (var out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write(text.toString().getBytes(StandardCharsets.UTF_8));
        }
        DataSplit split = Datasets.load(new DataSource.Csv(file, true, "y", ',', new Holdout(0.25, 5)));
        assertEquals(30, split.train().size());
        assertEquals(10, split.test().size());
        byte[] whole = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(whole, whole.length / 2));
        TestData.assertRefused(() -> loadFile("all.csv.gz"), "all.csv.gz", "cut off");
    }

    @Test
    void malformedLinesAreNamed() {
        assertRefused("x,y\n1,a\n2\n", "train.csv, line 3", "1 fields: expected 2");
        assertRefused("x,y\n1,a\n\n2,b,c\n", "line 4", "3 fields");
        assertRefused("x,y\n1,a\n2,\"b\n", "line 3", "never closed");
        assertRefused("x,y\n1,a\n2,\"b\"c\n", "line 3", "closing quote");
        for (String bad : List.of("", "one", "NaN", "Infinity", "1e99", "1f", "0x10", "1 2")) {
            assertRefused("x,y\n1,a\n" + bad + ",b\n", "line 3", "'" + bad + "'", "column x", "finite number");
        }
        assertRefused("x,y\n1,a\n2,\n", "line 3", "label", "is empty");
    }

    @Test
    void malformedTablesAreRefused() throws IOException {
        assertRefused("", "train.csv", "no rows");
        assertRefused("x,y\n", "no rows");
        assertRefused("x;y\n1;a\n", "line 1", "one column");
        assertRefused("x,y\n1,a\n2,a\n", "[a]", "2 classes");
        TestData.assertRefused(
                () -> load("x,y\n1,a\n", "x,y\n1,a\n", labelled("z")),
                "line 1",
                "no label column z",
                "-2 to 1",
                "[x, y]");
        TestData.assertRefused(() -> load("x,y\n1,a\n", "x,y\n1,a\n", labelled("2")), "no label column 2");
        assertRefused("x,z\n1,a\n2,b\n", "test.csv, line 1", "[x, y]", "[x, z]");
        TestData.assertRefused(
                () -> load("x,y\n1,a\n2,b\n", "x,y\n1,a\n1,c\n"), "test.csv, line 3", "class c", "[a, b]");
        Files.write(folder.resolve("train.csv"), new byte[] {'x', ',', (byte) 0xff, '\n'});
        TestData.assertRefused(() -> Datasets.load(new DataSource.Csv(folder)), "train.csv", "UTF-8");
        Files.writeString(folder.resolve("few.csv"), "x,y\n1,a\n2,b\n");
        TestData.assertRefused(() -> loadFile("few.csv"), "few.csv", "too few");
        TestData.assertRefused(() -> loadFile("no.csv"), "no.csv", "no such file");
    }

    @Test
    void aDelimiterIsNoQuoteAndNoLineBreak() {
        for (char wrong : new char[] {'"', '\n', '\r'}) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> new DataSource.Csv(folder, true, "y", wrong, Holdout.DEFAULT));
        }
    }
}
