package dev.espalier.train.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.FidelityFigure;
import dev.espalier.train.journal.FidelityFigure.Measure;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Findings.Likeness;
import dev.espalier.train.task.OutputMeaning.Classes;
import dev.espalier.train.task.OutputMeaning.Embedding;
import dev.espalier.train.task.OutputMeaning.Numbers;
import dev.espalier.train.task.OutputMeaning.Scores;
import dev.espalier.train.task.OutputMeaning.Tokens;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Fidelity next to that of a trivial model, held to what a trivial model and the original itself must have. */
final class SkillTest {
    private static final String OUTPUT = "y";
    private static final int ROWS = 40;

    private static Likeness compare(OutputMeaning meaning, Tensor original, Tensor smaller) {
        Fidelity fidelity = Fidelity.of(model(original), Map.of(OUTPUT, meaning));
        long rows = original.shape()[0];
        for (long from = 0; from < rows; from += 16) {
            int size = (int) Math.min(16, rows - from);
            fidelity.add(
                    Map.of(),
                    Map.of(OUTPUT, rows(original, from, size)),
                    Map.of(OUTPUT, rows(smaller, from, size)),
                    size);
        }
        return fidelity.outcome().outputs().getFirst();
    }

    private static Graph model(Tensor output) {
        GraphBuilder graph = new GraphBuilder("model");
        Object[] shape = Arrays.stream(output.shape()).boxed().toArray();
        shape[0] = "batch";
        return graph.outputs(
                graph.add(OUTPUT, new Unary(Unary.Function.IDENTITY), graph.input("x", DataType.FLOAT32, shape)));
    }

    private static Tensor rows(Tensor all, long from, int size) {
        long[] shape = all.shape();
        long each = all.size() / shape[0];
        shape[0] = size;
        return Tensor.compute(DataType.FLOAT32, shape, i -> all.getDouble(from * each + i));
    }

    private static Tensor draw(long seed, DoubleUnaryOperator law, long... shape) {
        SplittableRandom random = new SplittableRandom(seed);
        return Tensor.compute(DataType.FLOAT32, shape, i -> law.applyAsDouble(random.nextGaussian()));
    }

    private static Tensor filled(Tensor like, LongToDoubleFunction value) {
        return Tensor.compute(DataType.FLOAT32, like.shape(), value::applyAsDouble);
    }

    /** The mean over the inputs, for every input. */
    private static Tensor mean(Tensor outputs) {
        long rows = outputs.shape()[0];
        long each = outputs.size() / rows;
        double[] means = new double[(int) each];
        for (long i = 0; i < outputs.size(); i++) {
            means[(int) (i % each)] += outputs.getDouble(i) / rows;
        }
        return filled(outputs, i -> means[(int) (i % each)]);
    }

    private static FidelityFigure figure(Likeness likeness, Measure measure) {
        return likeness.figures().stream()
                .filter(figure -> figure.measure() == measure)
                .findFirst()
                .orElseThrow();
    }

    private static void assertNoSkill(Likeness likeness, Set<Measure> measures) {
        for (Measure measure : measures) {
            FidelityFigure figure = figure(likeness, measure);
            assertEquals(figure.trivial(), figure.fidelity(), 1e-5, figure.toString());
            assertEquals(0, figure.skill(), 1e-4, figure.toString());
        }
    }

    @Test
    void theOriginalHasASkillOfOne() {
        Tensor numbers = draw(1, x -> 3 + x, ROWS, 30, 4);
        Tensor scores = draw(2, x -> 1 / (1 + Math.exp(-x)), ROWS, 30);
        for (OutputMeaning meaning : List.of(new Classes(false), new Embedding(), new Numbers())) {
            for (FidelityFigure figure : compare(meaning, numbers, numbers).figures()) {
                assertEquals(1, figure.fidelity(), 1e-6, meaning + " " + figure);
                assertTrue(
                        figure.measure() == Measure.WHOLE_AGREEMENT || figure.trivial() < 0.99, meaning + " " + figure);
                assertEquals(1, figure.skill(), 1e-5, meaning + " " + figure);
            }
        }
        compare(new Scores(), scores, scores)
                .figures()
                .forEach(figure -> assertEquals(1, figure.skill(), 1e-5, figure.toString()));
    }

    @Test
    void theMeanOutputHasNoSkill() {
        Tensor numbers = draw(3, x -> 3 + x, ROWS, 6, 4);
        Set<Measure> measures = Set.of(Measure.R2, Measure.COSINE);
        assertNoSkill(compare(new Numbers(), numbers, mean(numbers)), measures);
        assertNoSkill(compare(new Embedding(), numbers, mean(numbers)), measures);
        assertEquals(
                Measure.R2,
                compare(new Numbers(), numbers, numbers).figure().orElseThrow().measure());
        assertEquals(
                Measure.COSINE,
                compare(new Embedding(), numbers, numbers)
                        .figure()
                        .orElseThrow()
                        .measure());
    }

    @Test
    void theMeanTokenHasNoSkill() {
        GraphBuilder graph = new GraphBuilder("tokens");
        graph.input("mask", DataType.INT64, "batch", "tokens");
        Graph model = graph.outputs(graph.add(
                OUTPUT, new Unary(Unary.Function.IDENTITY), graph.input("x", DataType.FLOAT32, "batch", "tokens", 4)));
        Tensor vectors = draw(4, x -> 1 + x, 8, 5, 4);
        Tensor mask = Tensor.compute(DataType.INT64, new long[] {8, 5}, i -> i % 5 < 4 ? 1 : 0);
        double[] means = new double[4];
        for (int i = 0; i < 8 * 5 * 4; i++) {
            means[i % 4] += i % 20 < 16 ? vectors.getDouble(i) / 32 : 0;
        }
        Fidelity fidelity = Fidelity.of(model, Map.of(OUTPUT, new Tokens("mask")));
        fidelity.add(
                Map.of("mask", mask),
                Map.of(OUTPUT, vectors),
                Map.of(OUTPUT, filled(vectors, i -> means[(int) (i % 4)])),
                8);
        Likeness found = fidelity.outcome().outputs().getFirst();
        assertNoSkill(found, Set.of(Measure.COSINE, Measure.TOKEN_COSINE));
        assertEquals(0, figure(found, Measure.R2).fidelity(), 1e-5);
    }

    @Test
    void theMostFrequentClassHasNoSkill() {
        // Class 2 is the most frequent.
        Tensor logits = Tensor.compute(
                DataType.FLOAT32, new long[] {ROWS, 30, 3}, drawn(new SplittableRandom(5))::applyAsDouble);
        Tensor constant = filled(logits, i -> i % 3 == 2 ? 1 : 0);
        Likeness found = compare(new Classes(false), logits, constant);
        assertEquals(Measure.AGREEMENT, found.figure().orElseThrow().measure());
        assertNoSkill(found, Set.of(Measure.AGREEMENT, Measure.WHOLE_AGREEMENT, Measure.BALANCED_AGREEMENT));
        assertTrue(figure(found, Measure.AGREEMENT).trivial() > 0.4, found.toString());
    }

    private static LongToDoubleFunction drawn(SplittableRandom random) {
        return i -> random.nextGaussian() + (i % 3 == 2 ? 0.5 : 0);
    }

    /** One position of a hundred has class 1, and one of four hundred class 2. */
    @Test
    void rareClassesCountAsMuchAsTheBackground() {
        Tensor logits = Tensor.compute(DataType.FLOAT32, new long[] {ROWS, 400, 3}, i -> {
            long position = i / 3 % 400;
            int here = position == 7 ? 2 : position % 100 == 0 ? 1 : 0;
            return i % 3 == here ? 4 : 0;
        });
        Likeness blind = compare(new Classes(false), logits, filled(logits, i -> i % 3 == 0 ? 4 : 0));
        FidelityFigure figure = blind.figure().orElseThrow();
        assertEquals(Measure.BALANCED_AGREEMENT, figure.measure());
        assertEquals(1 / 3.0, figure.fidelity(), 1e-12);
        assertEquals(0, figure.skill(), 1e-12);
        assertTrue(blind.agreement() > 0.98, "the plain agreement looks perfect");
        Likeness half = compare(
                new Classes(false),
                logits,
                filled(logits, i -> i / 3 % 400 == 7 ? logits.getDouble(i % 1200) : i % 3 == 0 ? 4 : 0));
        assertEquals(0.5, half.figure().orElseThrow().skill(), 1e-12, "one of two classes besides the background");
    }

    /** Where the original says one class everywhere, what is left is where it comes nearest to another. */
    @Test
    void ofOneClassAloneTheRankingCounts() {
        Tensor logits = Tensor.compute(
                DataType.FLOAT32, new long[] {ROWS, 500, 2}, drawnBackground(new SplittableRandom(6))::applyAsDouble);
        FidelityFigure blind = compare(new Classes(false), logits, filled(logits, i -> i % 2 == 0 ? 4 : 0))
                .figure()
                .orElseThrow();
        assertEquals(Measure.TOP_AGREEMENT, blind.measure());
        assertEquals(0, blind.skill(), 1e-9);
        assertEquals(
                1,
                compare(new Classes(false), logits, filled(logits, i -> logits.getDouble(i) / 2))
                        .figure()
                        .orElseThrow()
                        .skill(),
                0.02);
    }

    private static LongToDoubleFunction drawnBackground(SplittableRandom random) {
        return i -> i % 2 == 0 ? 4 : random.nextDouble();
    }

    @Test
    void rareScoresAreComparedByTheirHighest() {
        Tensor scores = draw(7, x -> Math.min(1, Math.exp(x - 4)), ROWS, 300);
        FidelityFigure constant = compare(new Scores(), scores, filled(scores, _ -> 0.01))
                .figure()
                .orElseThrow();
        assertEquals(Measure.TOP_AGREEMENT, constant.measure());
        assertEquals(0.01, constant.fidelity(), 1e-9);
        assertEquals(0, constant.skill(), 1e-9);
        // A quarter of the highest is lost: 30 of 120.
        double[] sorted = IntStream.range(0, ROWS * 300)
                .mapToDouble(scores::getDouble)
                .sorted()
                .toArray();
        double limit = sorted[sorted.length - 120];
        int[] count = new int[1];
        Tensor some =
                filled(scores, i -> scores.getDouble(i) >= limit && count[0]++ % 4 == 0 ? 0 : scores.getDouble(i));
        assertEquals(
                0.75, compare(new Scores(), scores, some).figure().orElseThrow().fidelity(), 1e-9);
        Tensor common = draw(8, x -> 1 / (1 + Math.exp(-x)), ROWS, 300);
        assertEquals(
                Measure.R2,
                compare(new Scores(), common, common).figure().orElseThrow().measure());
    }

    /** Three million scores are not kept; those that are tell nearly the same. */
    @Test
    void ofManyScoresASampleIsRanked() {
        TopAgreement all = new TopAgreement(1);
        SplittableRandom random = new SplittableRandom(9);
        float[] left = new float[1];
        float[] right = new float[1];
        for (int i = 0; i < 3_000_000; i++) {
            left[0] = random.nextFloat();
            right[0] = random.nextInt(5) == 0 ? random.nextFloat() : left[0];
            all.add(left, right, 0);
        }
        assertEquals(0.802, all.of(0, true).orElseThrow().fidelity(), 0.01);
        assertTrue(new TopAgreement(1).of(0, true).isEmpty());
    }

    @Test
    void whatNothingCanBeSaidOfHasNoSkill() {
        Tensor same = draw(10, x -> x, 1, 6);
        Tensor constant = Tensor.compute(DataType.FLOAT32, new long[] {ROWS, 6}, i -> same.getDouble(i % 6));
        FidelityFigure figure =
                compare(new Embedding(), constant, constant).figure().orElseThrow();
        assertTrue(Double.isNaN(figure.skill()), figure.toString());
        assertFalse(figure.isPoor());
        assertTrue(new FidelityFigure(Measure.AGREEMENT, 0.7, 1).isPoor(), "worse than what never changes");
    }

    @Test
    void theWorstOutputIsWarnedOf() {
        Tensor numbers = draw(11, x -> x, ROWS, 4);
        Likeness good = compare(new Numbers(), numbers, numbers);
        Likeness bad = compare(new Numbers(), numbers, mean(numbers));
        Findings.Outcome.Fidelity both = new Findings.Outcome.Fidelity(List.of(good, bad));
        assertEquals(bad, both.weakest().orElseThrow());
        assertTrue(both.warning().isPresent());
        assertTrue(new Findings.Outcome.Fidelity(List.of(good)).warning().isEmpty());
        Likeness broken = compare(new Numbers(), numbers, filled(numbers, _ -> Double.NaN));
        String said =
                new Findings.Outcome.Fidelity(List.of(good, broken)).warning().orElseThrow();
        assertTrue(said.contains("not finite"), said);
    }
}
