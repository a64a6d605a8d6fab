package dev.espalier.train.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Columns;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Findings.Deviant;
import dev.espalier.train.journal.Findings.Likeness;
import dev.espalier.train.task.OutputMeaning.Classes;
import dev.espalier.train.task.OutputMeaning.Embedding;
import dev.espalier.train.task.OutputMeaning.Numbers;
import dev.espalier.train.task.OutputMeaning.Tokens;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How alike answers are, held to the definitions. */
final class FidelityTest {
    private static final String OUTPUT = "y";

    private static Graph model(Object... shape) {
        GraphBuilder graph = new GraphBuilder("model");
        return graph.outputs(
                graph.add(OUTPUT, new Unary(Unary.Function.IDENTITY), graph.input("x", DataType.FLOAT32, shape)));
    }

    private static Fidelity fidelity(OutputMeaning meaning, Object... shape) {
        return Fidelity.of(model(shape), Map.of(OUTPUT, meaning));
    }

    private static void add(Fidelity fidelity, int size, Tensor original, Tensor smaller) {
        fidelity.add(Map.of(), Map.of(OUTPUT, original), Map.of(OUTPUT, smaller), size);
    }

    private static Likeness only(Fidelity fidelity) {
        return fidelity.outcome().outputs().getFirst();
    }

    private static Tensor noisy(Tensor tensor, double noise, SplittableRandom random) {
        return Tensor.compute(
                DataType.FLOAT32, tensor.shape(), i -> tensor.getDouble(i) + noise * random.nextGaussian());
    }

    private static Tensor normal(SplittableRandom random, long... shape) {
        return Tensor.compute(DataType.FLOAT32, shape, i -> 3 + random.nextGaussian());
    }

    @Test
    void numbersAreComparedAsTheDefinitionsSay() {
        SplittableRandom random = new SplittableRandom(1);
        Fidelity fidelity = fidelity(new Numbers(), "batch", 3);
        double[] product = new double[20];
        double squares = 0;
        double sizes = 0;
        double largest = 0;
        double[] means = new double[3];
        Tensor all = normal(random, 20, 3);
        Tensor others = noisy(all, 0.2, random);
        for (int i = 0; i < 60; i++) {
            means[i % 3] += all.getDouble(i) / 20;
        }
        double spread = 0;
        for (int i = 0; i < 60; i++) {
            double difference = others.getDouble(i) - all.getDouble(i);
            squares += difference * difference;
            sizes += all.getDouble(i) * all.getDouble(i);
            spread += Math.pow(all.getDouble(i) - means[i % 3], 2);
            largest = Math.max(largest, Math.abs(difference));
        }
        for (int row = 0; row < 20; row++) {
            double left = 0;
            double right = 0;
            for (int i = 3 * row; i < 3 * row + 3; i++) {
                product[row] += all.getDouble(i) * others.getDouble(i);
                left += all.getDouble(i) * all.getDouble(i);
                right += others.getDouble(i) * others.getDouble(i);
            }
            product[row] /= Math.sqrt(left * right);
        }
        // In batches of 8, 8 and 4.
        for (int from = 0; from < 20; from += 8) {
            int size = Math.min(8, 20 - from);
            int first = 3 * from;
            add(
                    fidelity,
                    size,
                    Tensor.compute(DataType.FLOAT32, new long[] {size, 3}, i -> all.getDouble(first + i)),
                    Tensor.compute(DataType.FLOAT32, new long[] {size, 3}, i -> others.getDouble(first + i)));
        }
        Likeness found = only(fidelity);
        double[] sorted = Arrays.stream(product).sorted().toArray();
        assertEquals(20, found.samples());
        assertEquals(
                Arrays.stream(product).average().orElseThrow(), found.cosine().mean(), 1e-6);
        assertEquals(sorted[9], found.cosine().median(), 1e-6);
        assertEquals(sorted[0], found.cosine().least(), 1e-6);
        assertEquals(1 - squares / spread, found.explained(), 1e-6);
        assertEquals(Math.sqrt(squares / sizes), found.relativeError(), 1e-6);
        assertEquals(largest, found.largestDifference(), 1e-6);
        assertTrue(Double.isNaN(found.agreement()));
        assertEquals(
                20, found.cosines().counts().stream().mapToLong(Long::longValue).sum());
        assertEquals(Findings.MOST_DEVIANTS, found.worst().size());
    }

    @Test
    void theWorstRowsAreNamedFromOne() {
        Fidelity fidelity = fidelity(new Embedding(), "batch", 2);
        float[] same = {1, 0, 1, 0, 1, 0};
        add(fidelity, 3, Tensor.of(same, 3, 2), Tensor.of(new float[] {1, 0, 0, 1, 2, 0}, 3, 2));
        add(fidelity, 1, Tensor.of(new float[] {1, 0}, 1, 2), Tensor.of(new float[] {1, 1}, 1, 2));
        List<Deviant> worst = only(fidelity).worst();
        assertEquals(List.of(2L, 4L), worst.stream().map(Deviant::row).toList(), "row 3 has the same direction");
        assertEquals(0, worst.getFirst().cosine());
        assertEquals(Math.sqrt(0.5), worst.getLast().cosine(), 1e-6);
        Dataset rows = new Dataset(
                "rows",
                4,
                List.of(Columns.numbers(new Field.Numbers("x", List.of(1)), new float[][] {{5}, {6}, {7}, {8}})),
                List.of());
        List<Findings.Mistake> shown = fidelity.worst(rows);
        assertEquals(
                List.of(new Findings.Glimpse.Words("x", "6")), shown.getFirst().inputs());
        assertEquals("cosine 0.0000, off by at most 1", shown.getFirst().note());
    }

    @Test
    void classesAgreeOrNot() {
        double[] p = {0.7, 0.2, 0.1};
        double[] q = {0.3, 0.6, 0.1};
        double divergence = IntStream.range(0, 3)
                .mapToDouble(i -> p[i] * Math.log(p[i] / q[i]))
                .sum();
        for (boolean probabilities : new boolean[] {true, false}) {
            Fidelity fidelity = fidelity(new Classes(probabilities), "batch", 3);
            Tensor original = classes(probabilities, p, p);
            add(fidelity, 2, original, classes(probabilities, p, q));
            Likeness found = only(fidelity);
            assertEquals(0.5, found.agreement());
            assertEquals(0.5, found.wholeAgreement());
            assertEquals(divergence / 2, found.divergence(), 1e-6);
            assertEquals("class 0 (70 %)", found.worst().getFirst().original());
            assertEquals("class 1 (60 %)", found.worst().getFirst().smaller());
            assertEquals(1, found.worst().size());
        }
    }

    /** Probabilities, or logits of the same with something added. */
    private static Tensor classes(boolean probabilities, double[]... rows) {
        return Tensor.compute(DataType.FLOAT32, new long[] {rows.length, rows[0].length}, i -> {
            double value = rows[(int) i / rows[0].length][(int) i % rows[0].length];
            return probabilities ? value : 5 + Math.log(value);
        });
    }

    @Test
    void everyPositionHasAClass() {
        Fidelity fidelity = fidelity(new Classes(false), "batch", 2, 2);
        Tensor original = Tensor.of(new float[] {1, 0, 1, 0, 1, 0, 1, 0}, 2, 2, 2);
        add(fidelity, 2, original, Tensor.of(new float[] {1, 0, 0, 1, 2, 0, 2, 0}, 2, 2, 2));
        assertEquals(0.75, only(fidelity).agreement());
        assertEquals(0.5, only(fidelity).wholeAgreement());
    }

    /** What a padded token says counts in nothing. */
    @Test
    void paddingIsLeftOut() {
        GraphBuilder graph = new GraphBuilder("tokens");
        graph.input("mask", DataType.INT64, "batch", "tokens");
        Graph model = graph.outputs(graph.add(
                OUTPUT, new Unary(Unary.Function.IDENTITY), graph.input("x", DataType.FLOAT32, "batch", "tokens", 2)));
        Map<String, Tensor> mask = Map.of("mask", Tensor.of(new long[] {1, 1, 0, 1, 0, 0}, 2, 3));
        Tensor original = Tensor.of(new float[] {1, 0, 0, 1, 9, 9, 2, 0, 9, 9, 9, 9}, 2, 3, 2);
        for (float padding : new float[] {-50, Float.NaN}) {
            Tensor smaller = Tensor.of(
                    new float[] {0, 1, 1, 0, padding, padding, 2, 2, padding, padding, padding, padding}, 2, 3, 2);
            Fidelity fidelity = Fidelity.of(model, Map.of());
            assertEquals(new Tokens("mask"), fidelity.meanings().get(OUTPUT));
            fidelity.add(mask, Map.of(OUTPUT, original), Map.of(OUTPUT, smaller), 2);
            Likeness found = only(fidelity);
            assertEquals(2, found.largestDifference());
            assertEquals((0 + 0 + Math.sqrt(0.5)) / 3, found.tokenCosine().mean(), 1e-6);
            assertEquals((1 + Math.sqrt(0.5)) / 2, found.cosine().mean(), 1e-6, "of the means over tokens");
            assertEquals(List.of(), found.notFinite().rows());
        }
    }

    @Test
    void whatIsNotFiniteIsToldAndNotAveraged() {
        Fidelity fidelity = fidelity(new Numbers(), "batch", 2);
        add(
                fidelity,
                3,
                Tensor.of(new float[] {1, 2, Float.NaN, 2, 3, 4}, 3, 2),
                Tensor.of(new float[] {1, 2, 1, 2, Float.POSITIVE_INFINITY, 4}, 3, 2));
        Likeness found = only(fidelity);
        assertEquals(1, found.samples());
        assertEquals(new Findings.NotFinite(1, 1, List.of(2L, 3L)), found.notFinite());
        assertEquals(1, found.cosine().mean(), 1e-6);
        assertEquals(0, found.largestDifference());
    }

    @Test
    void lengthsMayDifferFromBatchToBatch() {
        SplittableRandom random = new SplittableRandom(2);
        Fidelity fidelity = fidelity(new Numbers(), "batch", "length");
        for (int length : new int[] {3, 7, 5}) {
            Tensor original = normal(random, 2, length);
            add(fidelity, 2, original, original);
        }
        assertEquals(1, only(fidelity).explained());
        assertEquals(6, only(fidelity).samples());
        assertEquals(List.of(), only(fidelity).worst());
    }

    @Test
    void whatCannotBeComparedIsRefused() {
        Fidelity fidelity = fidelity(new Numbers(), "batch", 2);
        Tensor two = Tensor.of(new float[4], 2, 2);
        assertThrows(IllegalArgumentException.class, () -> add(fidelity, 2, two, Tensor.of(new float[6], 2, 3)));
        String unknown = String.valueOf(assertThrows(IllegalArgumentException.class, () -> add(fidelity, 3, two, two))
                .getMessage());
        assertTrue(unknown.contains("--batch-size 1"), unknown);
        assertThrows(
                IllegalArgumentException.class, () -> fidelity.add(Map.of(), Map.of(OUTPUT, two), Map.of("z", two), 2));
        assertThrows(IllegalArgumentException.class, () -> Fidelity.of(model("batch", 2), Map.of("z", new Numbers())));
    }

    @Test
    void cosinesShowHowFarFromOneTheyAre() {
        assertEquals("0.873", Findings.cosine(0.8731));
        assertEquals("0.999963", Findings.cosine(1 - 3.7e-5));
        assertEquals("1.000", Findings.cosine(1));
        assertEquals("-0.500", Findings.cosine(-0.5));
        assertEquals("–", Findings.cosine(Double.NaN));
    }
}
