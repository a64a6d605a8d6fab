package dev.espalier.data.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Batch;
import dev.espalier.data.Batches;
import dev.espalier.data.Column;
import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.data.Normalization;
import dev.espalier.data.TestData;
import dev.espalier.settings.SettingsException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CsvKindTest {
    @TempDir
    Path folder;

    private LoadedData load(String train, String test, String... settings) throws IOException {
        Files.writeString(folder.resolve("train.csv"), train);
        Files.writeString(folder.resolve("test.csv"), test);
        return loadFile("", settings);
    }

    private LoadedData loadFile(String name, String... settings) throws IOException {
        List<String> all = new ArrayList<>(List.of("data.kind=csv", "data.path=" + folder.resolve(name)));
        all.addAll(List.of(settings));
        return DataSection.load(DataSection.read(all.toArray(String[]::new)), Context.QUIET);
    }

    private void assertRefused(String train, String... parts) {
        TestData.assertRefused(() -> load(train, "x,y\n1,a\n"), parts);
    }

    /** What a model is given. */
    private static float[] features(LoadedData data, Dataset part, int row) {
        return TestData.values(data.encoding().apply(part), row);
    }

    @Test
    void labelsMayStandInAnyColumn() throws IOException {
        String text = "kind,x,y\nb,1,2\na,3,-4e1\n";
        for (String label : List.of("kind", "0", "-3")) {
            LoadedData data = load(text, text, "data.label=" + label);
            assertEquals(List.of("a", "b"), TestData.classNames(data.train()));
            assertEquals(1, TestData.label(data.train(), 0));
            assertArrayEquals(new float[] {3, -40}, TestData.values(data.train(), 1));
        }
    }

    @Test
    void columnsMakeUpInputsByName() throws IOException {
        String text = "age,city,height,kind\n1,x,10,b\n3,y,30,a\n";
        LoadedData data = load(text, text, "data.inputs=[\"body = height, age\",\"place=city\"]");
        assertEquals(
                List.of(new Field.Numbers("body", List.of(2)), new Field.Numbers("place", List.of(2))), data.inputs());
        try (Batches batches = data.evaluation(data.train(), 2)) {
            Batch batch = batches.next();
            assertEquals(List.of("body", "place"), List.copyOf(batch.inputs().keySet()));
        }
        TestData.assertRefused(
                () -> load(text, text, "data.inputs=[\"body=age,kind\"]"), "data.inputs", "a label to none");
        TestData.assertRefused(() -> load(text, text, "data.inputs=[\"body=size\"]"), "data.inputs column size");
        for (String wrong : List.of("[\"age\"]", "[\"a=age\",\"b=age\"]", "[\"=age\"]")) {
            String message =
                    String.valueOf(assertThrows(SettingsException.class, () -> load(text, text, "data.inputs=" + wrong))
                            .getMessage());
            assertTrue(message.contains("data.inputs"), message);
        }
    }

    @Test
    void withoutHeaderTheFirstLineIsASample() throws IOException {
        LoadedData data = load("1;2\n3;10\n", "5;10\n", "data.header=false", "data.delimiter=;");
        assertEquals(2, data.train().size());
        // By value, not by name: 2 comes before 10.
        assertEquals(List.of("2", "10"), TestData.classNames(data.train()));
        assertEquals(1, TestData.label(data.test(), 0));
    }

    @Test
    void quotesBlankLinesByteOrderMarksAndWindowsLinesAreUnderstood() throws IOException {
        LoadedData data = load(
                "\ufeffx,\"the, \"\"label\"\"\"\r\n\r\n 1 ,\"a, b\"\r\n2,c\r\n  \r\n", "x,\"the, \"\"label\"\"\"\n3,c");
        assertEquals(List.of("a, b", "c"), TestData.classNames(data.train()));
        assertArrayEquals(new float[] {1}, TestData.values(data.train(), 0));
    }

    @Test
    void aCellInQuotesMayHaveLineBreaksAndLinesAreStillCountedRight() throws IOException {
        LoadedData data = load("x,\"the\nlabel\"\n1,\"a\r\nb\"\n2,\" c \"\n", "x,\"the\nlabel\"\n3,\" c \"\n");
        assertEquals(List.of(" c ", "a\r\nb"), TestData.classNames(data.train()));
        assertRefused("x,y\n1,\"a\nb\"\n2,c\n3\n", "line 5", "1 fields: expected 2");
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
        LoadedData data = loadFile("all.csv.gz", "data.label=y", "data.test_fraction=0.25", "data.split_seed=5");
        assertEquals(30, data.train().size());
        assertEquals(10, data.test().size());
        byte[] whole = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(whole, whole.length / 2));
        TestData.assertRefused(() -> loadFile("all.csv.gz"), "all.csv.gz", "cut off");
        Files.write(file, text.toString().getBytes(StandardCharsets.UTF_8));
        TestData.assertRefused(() -> loadFile("all.csv.gz"), "all.csv.gz", "no sound gzip file");
    }

    @Test
    void malformedLinesAreNamed() {
        assertRefused("x,y\n1,a\n2\n", "train.csv, line 3", "1 fields: expected 2");
        assertRefused("x,y\n1,a\n\n2,b,c\n", "line 4", "3 fields");
        for (String bad : List.of("one", "Infinity", "1e99", "1f", "0x10", "1 2")) {
            assertRefused("x,y\n1,a\n" + bad + ",b\n", "line 3", "'" + bad + "'", "column x", "finite number");
        }
        assertRefused("x,y\n1,a\n2,\"b\"c\n", "train.csv, after line 2", "quote");
        assertRefused("x,y\n1,a\n2,\"b\n3,a\n4,b\n", "train.csv, line 3", "never closed");
    }

    @Test
    void malformedTablesAreRefused() throws IOException {
        assertRefused("", "train.csv", "no rows");
        assertRefused("x,y\n", "no rows");
        assertRefused("x;y\n1;a\n", "line 1", "one column");
        assertRefused("x,y\n1,a\n2,a\n", "[a]", "2 classes");
        TestData.assertRefused(
                () -> load("x,y\n1,a\n", "x,y\n1,a\n", "data.label=z"),
                "line 1",
                "no label column z",
                "-2 to 1",
                "[x, y]");
        TestData.assertRefused(() -> load("x,y\n1,a\n", "x,y\n1,a\n", "data.label=2"), "no label column 2");
        assertRefused("x,z\n1,a\n2,b\n", "test.csv, line 1", "[x, y]", "[x, z]");
        TestData.assertRefused(
                () -> load("x,y\n1,a\n2,b\n", "x,y\n1,a\n1,c\n"), "test.csv, line 3", "class c", "[a, b]");
        Files.write(folder.resolve("train.csv"), new byte[] {'x', ',', (byte) 0xff, '\n'});
        TestData.assertRefused(() -> loadFile(""), "train.csv", "UTF-8");
        Files.writeString(folder.resolve("few.csv"), "x,y\n1,a\n2,b\n");
        TestData.assertMessage(
                assertThrows(IllegalArgumentException.class, () -> loadFile("few.csv")), "few.csv", "too few");
        TestData.assertRefused(() -> loadFile("no.csv"), "no.csv", "no such file");
    }

    @Test
    void settingsThatDoNotFitAreRefused() {
        for (String wrong : List.of("\"", "\\n", "\\r", "", ";;")) {
            assertThrows(SettingsException.class, () -> loadFile("", "data.delimiter=\"" + wrong + "\""));
        }
        for (List<String> wrong : List.of(
                List.of("data.decimal=,"),
                List.of("data.columns=[\"a\"]", "data.ignore=[\"b\"]"),
                List.of("data.label=[\"a\", \"b\"]", "data.label_type=category"),
                List.of("data.label=[]"),
                List.of("data.label=[\"a\", \"a\"]"))) {
            assertThrows(SettingsException.class, () -> loadFile("", wrong.toArray(String[]::new)), wrong::toString);
        }
    }

    @Test
    void aLabelIsOneTextOrSeveral() {
        for (String label : List.of("\"y\"", "[\"y\", \"z\"]", "\"-1\"")) {
            String toml = DataSection.read("data.kind=csv", "data.path=x", "data.label=" + label)
                    .toToml();
            assertTrue(toml.contains("\nlabel = " + label + "\n"), toml);
        }
        for (String same : List.of("-1", "[\"-1\"]", "\"-1\"")) {
            assertEquals(
                    DataSection.read("data.kind=csv", "data.path=x"),
                    DataSection.read("data.kind=csv", "data.path=x", "data.label=" + same));
        }
    }

    @Test
    void textsBecomeCategoriesAndEachOfTheirValuesAnInput() throws IOException {
        LoadedData data = load("size,colour,y\n1,red,a\n3,blue,b\n5,red,a\n", "size,colour,y\n3,green,a\n3,blue,b\n");
        assertEquals(
                List.of(new Field.Numbers("size"), new Field.Category("colour", List.of("blue", "red"))),
                data.train().inputFields());
        assertEquals(List.of(new Field.Numbers("features", List.of(3))), data.inputs());
        float unit = 1 / (float) Math.sqrt(8 / 3.0);
        assertArrayEquals(new float[] {-2 * unit, 0, 1}, features(data, data.train(), 0), 1e-6f);
        assertArrayEquals(new float[] {0, 0, 0}, features(data, data.test(), 0), "none of the categories");
        assertArrayEquals(new float[] {0, 1, 0}, features(data, data.test(), 1));
        assertTrue(data.notes().toString().contains("column colour of"), data.notes()::toString);
    }

    @Test
    void columnsAreChosenByNameOrNumberAndKeepTheOrderThatTheyAreGivenIn() throws IOException {
        String text = "id,x,code,y\n7,1,10,a\n8,2,20,b\n";
        LoadedData some = load(text, text, "data.columns=[\"2\", \"x\"]", "data.normalize=false");
        assertArrayEquals(new float[] {10, 1}, features(some, some.train(), 0));
        LoadedData rest =
                load(text, text, "data.ignore=[\"id\"]", "data.categories=[\"code\"]", "data.normalize=false");
        assertArrayEquals(new float[] {2, 0, 1}, features(rest, rest.train(), 1));
        TestData.assertRefused(() -> load(text, text, "data.columns=[\"z\"]"), "no data.columns column z");
        TestData.assertRefused(() -> load(text, text, "data.columns=[\"y\"]"), "none is left");
    }

    @Test
    void columnsOfTheSameNameAreToldApart() throws IOException {
        LoadedData data = load("x,x,y\n1,2,a\n3,4,b\n", "x,x,y\n1,2,a\n", "data.ignore=[\"x\"]");
        assertEquals(List.of(new Field.Numbers("x (2)")), data.train().inputFields());
        assertArrayEquals(new float[] {4}, TestData.values(data.train(), 1));
    }

    @Test
    void decimalsMayStandBehindAComma() throws IOException {
        String text = "x;y\n1,5;2,25\n-2;3,5\n\"3,25\";4,75\n";
        LoadedData data = load(text, text, "data.delimiter=;", "data.decimal=,", "data.label_type=number");
        assertArrayEquals(new float[] {1.5f}, TestData.values(data.train(), 0));
        assertArrayEquals(new float[] {3.25f}, TestData.values(data.train(), 2));
        assertEquals(new Normalization(List.of(3.5), List.of(Math.sqrt(2 * 1.25 * 1.25 / 3))), statistics(data));
    }

    private static Normalization statistics(LoadedData data) {
        return data.encoding().targets().getFirst().statistics();
    }

    @Test
    void missingValuesAreRefusedWithCountsForEachColumn() {
        TestData.assertRefused(
                () -> load("x,z,y\n1,2,a\n,?,b\nNA,3,\n", "x,z,y\n1,2,a\n", "data.missing=refuse"),
                "train.csv",
                "2 in column x (the first in line 3)",
                "1 in column z (the first in line 3)",
                "1 in the label y (the first in line 4)",
                "data.missing");
        for (String missing : List.of("", "NaN", "nan", "NA", "n/a", "null", "None", "?")) {
            TestData.assertRefused(
                    () -> load("x,y\n1,a\n" + missing + ",b\n", "x,y\n1,a\n", "data.missing=refuse"),
                    "1 in column x (the first in line 3)");
        }
    }

    @Test
    void missingValuesAreFilledByWhatTheTrainingPartSays() throws IOException {
        String train = "x,colour,y\n1,red,a\n,blue,b\n3,,a\n";
        String test = "x,colour,y\nNA,red,a\n";
        LoadedData mean = load(train, test, "data.missing=mean", "data.normalize=false");
        assertArrayEquals(new float[] {2, 1, 0}, features(mean, mean.train(), 1));
        assertArrayEquals(new float[] {3, 0, 0}, features(mean, mean.train(), 2));
        assertArrayEquals(new float[] {2, 0, 1}, features(mean, mean.test(), 0));
        assertTrue(mean.notes().toString().contains("the mean of its column"), mean.notes()::toString);
        LoadedData normalized = load(train, test, "data.missing=mean");
        assertArrayEquals(new float[] {0, 0, 1}, features(normalized, normalized.test(), 0), "the mean is 0 then");
        LoadedData zero = load(train, test, "data.missing=zero");
        // Mean 2 and deviation 1 of the two that are there.
        assertArrayEquals(new float[] {-2, 0, 1}, features(zero, zero.test(), 0));
        TestData.assertRefused(() -> load("x,y\n1,a\n2,\n3,b\n", "x,y\n1,a\n", "data.missing=mean"), "label y", "drop");
    }

    @Test
    void aMissingNumberIsItsMeanAndAnIndicatorAndAMissingCategoryAValueOfItsOwn() throws IOException {
        String train = "x,full,colour,y\n1,5,red,a\n,6,blue,b\n3,7,,a\n";
        String test = "x,full,colour,y\nNA,,green,a\n4,5,,b\n";
        LoadedData data = load(train, test, "data.normalize=false");
        assertEquals(
                new Field.Category("colour", List.of("", "blue", "red")),
                data.train().inputFields().get(2));
        // x and its indicator, full, of which the training part misses none, then the colours
        assertArrayEquals(new float[] {1, 0, 5, 0, 0, 1}, features(data, data.train(), 0));
        assertArrayEquals(new float[] {2, 1, 6, 0, 1, 0}, features(data, data.train(), 1));
        assertArrayEquals(new float[] {3, 0, 7, 1, 0, 0}, features(data, data.train(), 2));
        assertArrayEquals(new float[] {2, 1, 6, 0, 0, 0}, features(data, data.test(), 0), "green is none of them");
        assertArrayEquals(new float[] {4, 0, 5, 1, 0, 0}, features(data, data.test(), 1));
        assertTrue(data.notes().toString().contains("with an indicator input"), data.notes()::toString);
        String whole = "x,colour,y\n1,red,a\n3,blue,b\n";
        LoadedData none = load(whole, "x,colour,y\n,,a\n", "data.normalize=false");
        assertArrayEquals(new float[] {2, 0, 0}, features(none, none.test(), 0), "the training part misses none");
        TestData.assertRefused(() -> load("x,y\n1,a\n2,\n3,b\n", "x,y\n1,a\n"), "label y", "drop");
    }

    @Test
    void emptyColumnsAreRefused() {
        for (String missing : List.of("", "NA")) {
            String text = "x,z,y\n%s,1,a\n%s,2,b\n".formatted(missing, missing);
            TestData.assertRefused(() -> load(text, text), "column x is empty", "data.ignore = [\"x\"]");
        }
    }

    /** Sine and cosine of a place in a cycle. */
    private static float[] turned(double... places) {
        float[] turned = new float[2 * places.length];
        for (int i = 0; i < places.length; i++) {
            turned[2 * i] = (float) Math.sin(2 * Math.PI * places[i]);
            turned[2 * i + 1] = (float) Math.cos(2 * Math.PI * places[i]);
        }
        return turned;
    }

    @Test
    void datesAreDaysAndPlacesInTheWeekAndTheYear() throws IOException {
        LoadedData data = load(
                "when,y\n1970-01-05,a\n1969-12-30,b\n,a\n", "when,y\n1970-01-08 18:00,b\n", "data.normalize=false");
        assertEquals(List.of(new Field.Date("when", false)), data.train().inputFields());
        float[] monday = features(data, data.train(), 0);
        assertEquals(6, monday.length, "days, week, year and an indicator, as no date of the training part has a time");
        assertEquals(4, monday[0]);
        assertArrayEquals(turned(0, 4 / 365.2425), Arrays.copyOfRange(monday, 1, 5), 1e-5f);
        float[] before = features(data, data.train(), 1);
        assertEquals(-2, before[0]);
        assertArrayEquals(turned(1 / 7.0, -2 / 365.2425), Arrays.copyOfRange(before, 1, 5), 1e-5f);
        assertArrayEquals(new float[] {1, 0, 0, 0, 0, 1}, features(data, data.train(), 2), "the mean, and missing");
        assertEquals(7.75f, features(data, data.test(), 0)[0]);
    }

    @Test
    void timestampsHaveAPlaceInTheDayTooAndOffsetsAreBroughtToUtc() throws IOException {
        String local = "when,y\n2024-03-05 06:00,a\n2024-03-06T18:00:00.5,b\n2024-03-07,a\n";
        LoadedData data = load(local, local, "data.normalize=false");
        float[] morning = features(data, data.train(), 0);
        assertEquals(7, morning.length);
        assertArrayEquals(turned(0.25), Arrays.copyOfRange(morning, 1, 3), 1e-5f);
        String offset = "when,y\n2024-03-05T01:00+02:00,a\n2024-03-04T23:00Z,b\n";
        LoadedData utc = load(offset, offset, "data.normalize=false");
        assertEquals(List.of(new Field.Date("when", true)), utc.train().inputFields());
        assertArrayEquals(features(utc, utc.train(), 0), features(utc, utc.train(), 1));
    }

    @Test
    void columnsThatAreMostlyDatesAreRefusedUnlessTheyAreNames() throws IOException {
        String mixed = "when,y\n2024-03-05,a\n2024-03-06,b\nsoon,a\n";
        assertRefused(mixed, "train.csv, line 4", "'soon' in column when", "in 2 other rows", "data.categories");
        assertEquals(
                new Field.Category("when", List.of("2024-03-05", "2024-03-06", "soon")),
                load(mixed, mixed, "data.categories=[\"when\"]")
                        .train()
                        .inputFields()
                        .getFirst());
        assertRefused("when,y\n2024-03-05,a\n2024-03-06,b\n2024,a\n", "2 dates and 1 numbers");
        assertRefused(
                "when,y\n2024-03-05,a\n2024-03-06 12:00,b\n2024-03-06T12:00Z,a\n",
                "line 4",
                "has an offset from UTC",
                "all with an offset");
        TestData.assertRefused(
                () -> load("when,y\n2024-03-05,a\n2024-03-06,b\n", "when,y\nsoon,a\n"),
                "test.csv, line 2",
                "'soon' in column when",
                "2024-03-05 13:45");
    }

    @Test
    void rowsWithMissingValuesMayBeDropped() throws IOException {
        LoadedData data = load("x,y\n1,a\n,b\n3,\n4,b\n", "x,y\n5,a\n,b\n", "data.missing=drop");
        assertEquals(2, data.train().size());
        assertEquals(1, data.test().size());
        assertArrayEquals(new float[] {4}, TestData.values(data.train(), 1));
        assertEquals(1, TestData.label(data.train(), 1));
        assertTrue(data.notes().toString().contains("2 of 4 rows"), data.notes()::toString);
        TestData.assertRefused(() -> load("x,y\n,a\n,b\n", "x,y\n1,a\n", "data.missing=drop"), "each of its 2 rows");
    }

    /** A table of 40 rows whose label is made of the row's number. */
    private LoadedData labelled(IntFunction<String> label, String... settings) throws IOException {
        StringBuilder text = new StringBuilder("x,y\n");
        for (int i = 0; i < 40; i++) {
            text.append(i * 7 % 40).append(',').append(label.apply(i)).append('\n');
        }
        Files.writeString(folder.resolve("all.csv"), text);
        return loadFile("all.csv", settings);
    }

    @Test
    void whetherALabelIsAClassOrANumberIsDecidedByWhatItSays() throws IOException {
        assertEquals(
                List.of(new Field.Category("y", List.of("0", "1"))),
                labelled(i -> "" + i % 2).targets());
        assertEquals(
                List.of(new Field.Category("y", List.of("0.5", "1", "1.5"))),
                labelled(i -> List.of("0.5", "1", "1.5").get(i % 3)).targets());
        LoadedData prices = labelled(i -> i + ".25");
        assertEquals(List.of(new Field.Numbers("y", List.of(1))), prices.targets());
        assertTrue(
                prices.notes()
                        .toString()
                        .contains("40 different numbers, such as 0.25, in 40 rows: it is taken for a number"),
                prices.notes()::toString);
        LoadedData whole = labelled(i -> "" + (1000 + 37 * i));
        assertEquals(List.of(new Field.Numbers("y", List.of(1))), whole.targets());
        assertTrue(
                whole.notes().toString().contains("40 different whole numbers, such as 1000, in 40 rows")
                        && whole.notes().toString().contains("for classes set task.kind = \"classification\""),
                whole.notes()::toString);
        assertEquals(
                List.of(new Field.Numbers("y", List.of(1))),
                labelled(i -> "" + i % 2, "data.label_type=number").targets());
        // Forty classes with one row each cannot be cut.
        assertThrows(IllegalArgumentException.class, () -> labelled(i -> i + ".25", "data.label_type=category"));
        TestData.assertRefused(() -> labelled(i -> i == 7 ? "many" : "" + i, "data.label_type=number"), "'many'");
    }

    /** Classes that somebody has numbered are classes, and so are numbers that occur often; both are told. */
    @Test
    void manyClassesAreTold() throws IOException {
        for (int step : List.of(1, 3)) {
            StringBuilder text = new StringBuilder("x,y\n");
            int rows = step == 1 ? 75 : 250;
            for (int i = 0; i < rows; i++) {
                text.append(i * 7 % 40).append(',').append(step * (i % 25)).append('\n');
            }
            Files.writeString(folder.resolve("classes.csv"), text);
            LoadedData data = loadFile("classes.csv", "data.test_fraction=0.4");
            assertEquals(25, TestData.classNames(data.train()).size());
            assertTrue(
                    data.notes().toString().contains("each is taken for a class")
                            && data.notes().toString().contains("set task.kind = \"regression\""),
                    data.notes()::toString);
        }
    }

    @Test
    void commasAndOtherDelimitersAreTold() throws IOException {
        String text = "x;y\n1,5;a\n2,5;b\n";
        TestData.assertRefused(() -> load(text, text, "data.delimiter=;"), "'1,5' in column x", "data.decimal = \",\"");
        assertEquals(
                2,
                load(text, text, "data.delimiter=;", "data.decimal=,").train().size());
        assertEquals(
                2,
                load(text, text, "data.delimiter=;", "data.categories=[\"x\"]")
                        .train()
                        .size());
        TestData.assertRefused(() -> load(text, text), "it has semicolons: set data.delimiter = \";\"");
        String label = "x;y\n1;1,5\n2;2,5\n";
        TestData.assertRefused(() -> load(label, label, "data.delimiter=;"), "'1,5' in column y", "data.label_type");
    }

    @Test
    void numbersToBeEstimatedStayInTheirUnitAndHaveStatistics() throws IOException {
        LoadedData data = labelled(i -> i + ".25", "data.validation_fraction=0.2");
        double sum = 0;
        try (Batches batches = data.evaluation(data.train(), 7)) {
            while (batches.hasNext()) {
                Batch batch = batches.next();
                assertEquals(
                        "[" + batch.size() + ", 1]",
                        Arrays.toString(batch.targets().firstEntry().getValue().shape()));
                for (int i = 0; i < batch.size(); i++) {
                    sum += batch.targets().firstEntry().getValue().getDouble(i);
                }
            }
        }
        assertEquals(sum / data.train().size(), statistics(data).mean().getFirst(), 1e-12);
        assertTrue(data.encoding().targets().getFirst() instanceof ColumnEncoding.Joined);
    }

    @Test
    void severalLabelsAreNumbers() throws IOException {
        String text = "x,up,down\n1,1,-1\n2,2,-2\n3,3,-4\n";
        LoadedData data = load(text, text, "data.label=[\"down\", \"up\"]");
        assertEquals(List.of(new Field.Numbers("targets", List.of(2))), data.targets());
        float[] target = new float[2];
        ((Column.Numbers) data.encoding().apply(data.test()).targets().getFirst()).read(2, target, 0);
        assertArrayEquals(new float[] {-4, 3}, target);
        assertEquals(List.of(-7 / 3.0, 2.0), statistics(data).mean());
        String words = "x,up,down\n1,1,a\n2,2,b\n";
        TestData.assertRefused(
                () -> load(words, words, "data.label=[\"up\", \"down\"]"), "down", "'a'", "must be numbers");
    }

    @Test
    void idsAreRecognised() throws IOException {
        StringBuilder text = new StringBuilder("id,name,x,y\n");
        for (int i = 0; i < 30; i++) {
            text.append("%d,name %d,%d,%d\n".formatted(1000 + 3 * i, i, i * 7 % 30, i % 2));
        }
        Files.writeString(folder.resolve("ids.csv"), text);
        TestData.assertRefused(
                () -> loadFile("ids.csv"),
                "column id looks like an identifier: 30 different integers in 30 rows",
                "column name looks like an identifier: 30 different texts in 30 rows",
                "set data.ignore = [\"id\", \"name\"]");
        TestData.assertRefused(
                () -> loadFile("ids.csv", "data.columns=[\"name\", \"x\"]"), "leave name out of data.columns");
        TestData.assertRefused(
                () -> loadFile("ids.csv", "data.ignore=[\"x\"]"), "data.ignore = [\"x\", \"id\", \"name\"]");
        assertEquals(
                List.of(), loadFile("ids.csv", "data.ignore=[\"id\", \"name\"]").notes());
        // Who names the columns to use knows that it is none, and is told what it looks like.
        List<String> notes = loadFile("ids.csv", "data.columns=[\"id\", \"x\"]").notes();
        assertTrue(notes.getFirst().contains("column id") && notes.getFirst().contains("rising"), notes::toString);
    }

    /** The twin: the pattern that numbers were once recognised by. */
    @Test
    void numbersAreWhatThePatternSays() {
        Pattern pattern = Pattern.compile("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?");
        Random random = new Random(5);
        int matches = 0;
        for (int i = 0; i < 200_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int length = random.nextInt(7); length > 0; length--) {
                text.append("0123+-..eEx ".charAt(random.nextInt(12)));
            }
            boolean expected = pattern.matcher(text).matches();
            assertEquals(expected, Cells.isNumber(text.toString()), text::toString);
            matches += expected ? 1 : 0;
        }
        assertTrue(matches > 10_000, "" + matches);
    }
}
