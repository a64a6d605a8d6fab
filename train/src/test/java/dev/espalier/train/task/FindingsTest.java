package dev.espalier.train.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Column;
import dev.espalier.data.Columns;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Findings.Glimpse;
import dev.espalier.train.journal.Findings.Outcome;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.Tasks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What tasks note of models whose mistakes are known. */
final class FindingsTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path folder;

    private Task task(String table, String... overrides) throws IOException {
        Path file = Files.writeString(folder.resolve("table.csv"), table);
        List<String> all = new ArrayList<>(List.of("data.path=" + file));
        all.addAll(List.of(overrides));
        return Tasks.of(Recipe.parse("test.toml", """
                data = { kind = "csv", path = "?", normalize = false, test_fraction = 0.5 }
                model = { kind = "mlp", hidden = [4] }
                method.kind = "baseline"
                optimizer.rate = 1e-2
                training = { epochs = 1, batch_size = 7 }
                """, all));
    }

    /** What is said of a row of numbers: the answer's number at a place. */
    private interface Answer {
        double of(double[] row, int place);
    }

    /** A model that says what a function says. */
    private static Task.Model model(Task task, int numbers, Answer answer) {
        String input = task.fitted().inputs().firstEntry().getValue();
        String output = task.fitted().outputs().firstEntry().getValue();
        return new Task.Model() {
            @Override
            public Terms terms(Example example) {
                throw new AssertionError("scores are not asked for");
            }

            @Override
            public SequencedMap<String, Tensor> predict(Map<String, Tensor> inputs) {
                Tensor rows = Objects.requireNonNull(inputs.get(input));
                int columns = (int) rows.shape()[1];
                SequencedMap<String, Tensor> said = new LinkedHashMap<>();
                said.put(
                        output,
                        Tensor.compute(
                                DataType.FLOAT32,
                                new long[] {rows.shape()[0], numbers},
                                i -> answer.of(
                                        IntStream.range(0, columns)
                                                .mapToDouble(c -> rows.getDouble(i / numbers * columns + c))
                                                .toArray(),
                                        (int) (i % numbers))));
                return said;
            }
        };
    }

    /** Twenty rows of each class, which x tells; y is a number of its own. */
    private static String threeClasses() {
        StringBuilder table = new StringBuilder("x,y,kind\n");
        for (int row = 0; row < 60; row++) {
            table.append("%d,%d,%s%n".formatted(row % 3, row * 7 % 60, "abc".charAt(row % 3)));
        }
        return table.toString();
    }

    /** It takes every c for b, and is the surer the larger y is. */
    private static double takesCForB(double[] row, int kind) {
        int x = (int) row[0];
        return x < 2 ? x == kind ? 9 : 0 : kind == 1 ? 5 + row[1] / 10 : kind == 2 ? 4 : 0;
    }

    @Test
    void classesAreCountedAndTheSurestMistakesComeFirst() throws IOException {
        Task task = task(threeClasses());
        Findings found = task.findings(model(task, 3, FindingsTest::takesCForB)).orElseThrow();
        assertEquals(new Findings.Samples(30, 0, 30), found.samples());
        assertEquals(
                new Outcome.Classes(
                        List.of(
                                new Findings.Tally("a", 10, 10, 10, 10),
                                new Findings.Tally("b", 10, 10, 20, 10),
                                new Findings.Tally("c", 10, 10, 0, 0)),
                        List.of(new Findings.Confusion(2, 1, 10))),
                found.outcome());
        assertEquals(10, found.mistakes().size());
        List<Double> ys = found.mistakes().stream()
                .map(mistake -> mistake.inputs().getLast())
                .map(glimpse -> Double.valueOf(((Glimpse.Words) glimpse).text()))
                .toList();
        assertEquals(
                ys.stream().sorted((one, other) -> Double.compare(other, one)).toList(), ys);
        Findings.Mistake first = found.mistakes().getFirst();
        assertEquals(new Glimpse.Words("x", "2"), first.inputs().getFirst());
        assertEquals("c", first.truth());
        assertEquals("b", first.said());
        assertTrue(first.note().endsWith(" of c"), first.note());
    }

    @Test
    void whatIsSetAsideForValidationIsCounted() throws IOException {
        Task task = task(threeClasses(), "data.validation_fraction=0.2");
        assertEquals(
                new Findings.Samples(24, 6, 30),
                task.findings(model(task, 3, FindingsTest::takesCForB))
                        .orElseThrow()
                        .samples());
    }

    @Test
    void aTeacherChangesNothing() throws IOException {
        Task task = task(threeClasses());
        Task taught = new Distilled(
                task,
                _ -> {
                    throw new AssertionError("nobody learns");
                },
                0.5,
                1);
        Task.Model model = model(task, 3, FindingsTest::takesCForB);
        assertEquals(task.findings(model), taught.findings(model));
    }

    @Test
    void labelsAreCountedOneByOne() throws IOException {
        StringBuilder table = new StringBuilder("x,y,right,high\n");
        for (int row = 0; row < 40; row++) {
            table.append("%d,%d,%d,%d%n".formatted(row % 2, row / 2 % 2, row % 2, row / 2 % 2));
        }
        Task task = task(
                table.toString(),
                "data.label=[\"right\",\"high\"]",
                "task.kind=classification",
                "task.multi_label=true");
        // It never says high.
        Findings found = task.findings(model(task, 2, (row, label) -> label == 0 ? row[0] - 0.5 : -3))
                .orElseThrow();
        List<Findings.Tally> labels = ((Outcome.Labels) found.outcome()).labels();
        assertEquals(
                List.of("right", "high"),
                labels.stream().map(Findings.Tally::name).toList());
        assertEquals(1, labels.getFirst().recall());
        assertEquals(1, labels.getFirst().precision());
        assertEquals(0, labels.getLast().said());
        assertEquals(20, labels.getLast().trained() + labels.getLast().tested());
        assertEquals(Math.min(labels.getLast().tested(), 24), found.mistakes().size());
        assertEquals("1 of 2 labels wrong", found.mistakes().getFirst().note());
    }

    /** Errors are in the data, and the model makes them. */
    @Test
    void estimatesAreKeptInPartAndTheirErrorsAreCountedAll() throws IOException {
        SplittableRandom random = new SplittableRandom(3);
        StringBuilder table = new StringBuilder("x,error,much\n");
        for (int row = 0; row < 10_000; row++) {
            double x = 100 * random.nextDouble();
            table.append(
                    String.format(Locale.ROOT, "%.3f,%.3f,%.3f%n", x, 2 * random.nextDouble() - 0.5, 10 * x + 0.5));
        }
        Task task = task(table.toString());
        Findings found = task.findings(model(task, 1, (row, _) -> 10 * row[0] + 0.5 + row[1]))
                .orElseThrow();
        Findings.Quantity much =
                ((Outcome.Quantities) found.outcome()).quantities().getFirst();
        assertEquals("much", much.name());
        assertEquals(0.5, much.bias(), 0.05);
        assertEquals(0.5, much.median(), 0.05, "errors from −0.5 to 1.5: half are at most 0.5 off");
        assertEquals(1.3, much.large(), 0.05);
        assertEquals(
                5000, much.errors().counts().stream().mapToLong(Long::longValue).sum());
        assertTrue(
                much.truths().size() > Findings.MOST_POINTS / 2 && much.truths().size() <= Findings.MOST_POINTS);
        assertEquals(much.truths().size(), much.estimates().size());
        assertEquals(Findings.MOST_MISTAKES, found.mistakes().size());
        String note = found.mistakes().getFirst().note();
        assertTrue(note.startsWith("off by +1.5") || note.startsWith("off by +1.49"), note);
    }

    @Test
    void picturesAreMadeSmall() {
        Field.Image field = new Field.Image("image", 3, 200, 100);
        float[] pixels = new float[field.size()];
        for (int i = 0; i < pixels.length; i++) {
            // Red above, and half of blue everywhere.
            pixels[i] = i < 100 * 100 ? 1 : i >= 2 * 200 * 100 ? 0.5f : 0;
        }
        Mistakes mistakes = new Mistakes();
        mistakes.add(0, new Inspection.Miss(1, () -> "sky", () -> "sea", () -> "surely"));
        Glimpse.Picture picture = (Glimpse.Picture) mistakes.of(
                        new Dataset("pictures", 1, List.of(Columns.numbers(field, new float[][] {pixels})), List.of()))
                .getFirst()
                .inputs()
                .getFirst();
        assertEquals(List.of(3, 96, 48), List.of(picture.channels(), picture.height(), picture.width()));
        byte[] bytes = picture.pixels();
        int plane = 96 * 48;
        assertEquals(255, Byte.toUnsignedInt(bytes[0]));
        assertEquals(0, bytes[plane - 1]);
        assertEquals(0, bytes[plane]);
        assertEquals(128, Byte.toUnsignedInt(bytes[2 * plane]));
    }

    @Test
    void textsAreShownAndCategoriesByName() {
        Column.Sequences ids = new Column.Sequences() {
            @Override
            public Field.Tokens field() {
                return new Field.Tokens("input_ids", 4);
            }

            @Override
            public int[] read(int row) {
                return new int[] {row};
            }

            @Override
            public Optional<String> text(int row) {
                return Optional.of("text ".repeat(200) + row);
            }
        };
        Column colours = Columns.categories(new Field.Category("colour", List.of("red", "blue")), new int[] {1, -1});
        Mistakes mistakes = new Mistakes();
        mistakes.add(0, new Inspection.Miss(1, () -> "a", () -> "b", () -> ""));
        mistakes.add(1, new Inspection.Miss(2, () -> "a", () -> "b", () -> ""));
        List<Findings.Mistake> found = mistakes.of(new Dataset("texts", 2, List.of(ids, colours), List.of()));
        assertEquals(List.of(2L, 1L), found.stream().map(Findings.Mistake::row).toList());
        assertEquals(
                new Glimpse.Words("colour", "blue"), found.getLast().inputs().getLast());
        assertEquals(new Glimpse.Words("colour", ""), found.getFirst().inputs().getLast());
        String text = ((Glimpse.Words) found.getFirst().inputs().getFirst()).text();
        assertTrue(text.length() <= 600 && text.endsWith("…"), text);
    }

    @Test
    void numbersAreWrittenAsPeopleDo() {
        assertEquals("", Mistakes.number(Double.NaN));
        assertEquals("0.1", Mistakes.number(0.1f));
        assertEquals("-12", Mistakes.number(-12));
        assertEquals("1.2E-7", Mistakes.number(1.2e-7));
        assertEquals("0", Mistakes.number(0));
    }
}
