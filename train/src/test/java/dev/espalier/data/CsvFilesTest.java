package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CsvFilesTest {
    private static final Map<String, String> RAW = Map.of("standardise", "false");

    @TempDir
    Path folder;

    private DataSplit load(String train, String test, Map<String, String> options) throws IOException {
        Files.writeString(folder.resolve("train.csv"), train);
        Files.writeString(folder.resolve("test.csv"), test);
        return Datasets.load("csv", folder, options);
    }

    private void assertRefused(String train, Map<String, String> options, String... parts) {
        TestData.assertRefused(() -> load(train, "x,y\n1,a\n", options), parts);
    }

    @Test
    void labelsMayStandInAnyColumn() throws IOException {
        String text = "kind,x,y\nb,1,2\na,3,-4e1\n";
        for (String label : List.of("kind", "0", "-3")) {
            DataSplit split = load(text, text, Map.of("standardise", "false", "label", label));
            assertEquals(List.of("a", "b"), split.train().classNames());
            assertEquals(1, split.train().label(0));
            assertArrayEquals(new float[] {3, -40}, TestData.values(split.train(), 1));
        }
    }

    @Test
    void withoutHeaderTheFirstLineIsASample() throws IOException {
        DataSplit split =
                load("1;2\n3;10\n", "5;10\n", Map.of("standardise", "false", "header", "false", "delimiter", ";"));
        assertEquals(2, split.train().size());
        // By value, not by name: 2 comes before 10.
        assertEquals(List.of("2", "10"), split.train().classNames());
        assertEquals(1, split.test().label(0));
    }

    @Test
    void quotesBlankLinesByteOrderMarksAndWindowsLinesAreUnderstood() throws IOException {
        DataSplit split = load(
                "\ufeffx,\"the, \"\"label\"\"\"\r\n\r\n 1 ,\"a, b\"\r\n2,c\r\n\r\n",
                "x,\"the, \"\"label\"\"\"\n3,c",
                RAW);
        assertEquals(List.of("a, b", "c"), split.train().classNames());
        assertArrayEquals(new float[] {1}, TestData.values(split.train(), 0));
    }

    @Test
    void featuresAreStandardisedByTheTrainingPart() throws IOException {
        DataSplit split = load("x,same,y\n1,7,a\n3,7,b\n5,7,a\n", "x,same,y\n9,8,b\n", Map.of());
        double deviation = Math.sqrt(8 / 3.0);
        assertArrayEquals(new float[] {(float) (-2 / deviation), 0}, TestData.values(split.train(), 0), 1e-6f);
        assertArrayEquals(new float[] {(float) (6 / deviation), 1}, TestData.values(split.test(), 0), 1e-6f);
        Normalization after = Normalization.of(split.train());
        assertEquals(0, after.mean().getFirst(), 1e-6);
        assertEquals(1, after.deviation().getFirst(), 1e-6);
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
        DataSplit split = Datasets.load("csv", file, Map.of("test_fraction", "0.25", "seed", "5"));
        assertEquals(30, split.train().size());
        assertEquals(10, split.test().size());
        byte[] whole = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(whole, whole.length / 2));
        TestData.assertRefused(() -> Datasets.load("csv", file, Map.of()), "all.csv.gz", "cut off");
    }

    @Test
    void malformedLinesAreNamed() {
        assertRefused("x,y\n1,a\n2\n", RAW, "train.csv, line 3", "1 fields: expected 2");
        assertRefused("x,y\n1,a\n\n2,b,c\n", RAW, "line 4", "3 fields");
        assertRefused("x,y\n1,a\n2,\"b\n", RAW, "line 3", "never closed");
        assertRefused("x,y\n1,a\n2,\"b\"c\n", RAW, "line 3", "closing quote");
        for (String bad : List.of("", "one", "NaN", "Infinity", "1e99", "1f", "0x10", "1 2")) {
            assertRefused("x,y\n1,a\n" + bad + ",b\n", RAW, "line 3", "'" + bad + "'", "column x", "finite number");
        }
        assertRefused("x,y\n1,a\n2,\n", RAW, "line 3", "label", "is empty");
    }

    @Test
    void malformedTablesAreRefused() throws IOException {
        assertRefused("", RAW, "train.csv", "no rows");
        assertRefused("x,y\n", RAW, "no rows");
        assertRefused("x;y\n1;a\n", RAW, "line 1", "one column");
        assertRefused("x,y\n1,a\n2,a\n", RAW, "[a]", "2 classes");
        assertRefused("x,y\n1,a\n", Map.of("label", "z"), "line 1", "no label column z", "-2 to 1", "[x, y]");
        assertRefused("x,y\n1,a\n", Map.of("label", "2"), "no label column 2");
        assertRefused("x,z\n1,a\n2,b\n", RAW, "test.csv, line 1", "[x, y]", "[x, z]");
        TestData.assertRefused(
                () -> load("x,y\n1,a\n2,b\n", "x,y\n1,a\n1,c\n", RAW), "test.csv, line 3", "class c", "[a, b]");
        Files.write(folder.resolve("train.csv"), new byte[] {'x', ',', (byte) 0xff, '\n'});
        TestData.assertRefused(() -> Datasets.load("csv", folder, RAW), "train.csv", "UTF-8");
        Files.writeString(folder.resolve("few.csv"), "x,y\n1,a\n2,b\n");
        TestData.assertRefused(() -> Datasets.load("csv", folder.resolve("few.csv"), RAW), "few.csv", "too few");
        TestData.assertRefused(() -> Datasets.load("csv", folder.resolve("no.csv"), RAW), "no.csv", "no such file");
    }

    @Test
    void allWrongOptionsAreToldAtOnce() {
        String message = String.valueOf(assertThrows(
                        IllegalArgumentException.class,
                        () -> Datasets.load(
                                "csv",
                                folder,
                                Map.of("headr", "true", "seed", "x", "test_fraction", "2", "delimiter", "ab")))
                .getMessage());
        for (String part :
                List.of("headr is unknown", "header, label", "seed = x", "test_fraction = 2", "delimiter = ab")) {
            assertTrue(message.contains(part), () -> part + " in " + message);
        }
        assertThrows(IllegalArgumentException.class, () -> Datasets.load("digits", folder, Map.of("seed", "1")));
        assertThrows(IllegalArgumentException.class, () -> Datasets.load("images", folder, Map.of("height", "3")));
        assertThrows(IllegalArgumentException.class, () -> Datasets.load("cifar", folder, Map.of()));
    }
}
