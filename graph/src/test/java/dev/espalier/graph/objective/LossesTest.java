package dev.espalier.graph.objective;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SequencedMap;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class LossesTest {
    private static final int BATCH = 7;
    private static final int CLASSES = 4;
    private static final float[] LOGITS = random(BATCH * CLASSES);
    private static final long[] LABELS = {0, 3, 1, 1, 2, 0, 3};

    private static float[] random(int count) {
        Random random = new Random(5);
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) (2 * random.nextGaussian());
        }
        return values;
    }

    /** A model that puts out what comes in. */
    private static Graph linear(int width) {
        GraphBuilder builder = new GraphBuilder("linear");
        float[] identity = new float[width * width];
        IntStream.range(0, width).forEach(i -> identity[i * (width + 1)] = 1);
        Value x = builder.input("x", DataType.FLOAT32, "batch", width);
        Value weight = builder.parameter("weight", Tensor.of(identity, width, width));
        return builder.outputs(builder.add("y", Gemm.LINEAR, x, weight));
    }

    private static double loss(Objective objective, Tensor x, Map<String, Tensor> targets) {
        int width = Math.toIntExact(x.shape()[1]);
        Map<String, Tensor> inputs = new HashMap<>();
        targets.forEach((name, target) -> inputs.put(Objective.input(name), target));
        inputs.put("x", x);
        double behind = loss(objective.behind(linear(width)), inputs);
        inputs.remove("x");
        inputs.put("y", x);
        double alone = loss(objective.alone(linear(width)), inputs);
        assertEquals(behind, alone, 0, "behind the model, and by itself");
        return behind;
    }

    private static double loss(Graph graph, Map<String, Tensor> inputs) {
        return Objective.terms(Evaluator.run(graph, inputs))
                .firstEntry()
                .getValue()
                .getDouble(0);
    }

    private static double classified(List<Double> weights, double smoothing) {
        Objective objective = formula -> Objective.terms(Losses.crossEntropy(
                formula, formula.model("y"), formula.target("label", DataType.INT64, "batch"), weights, smoothing));
        return loss(objective, Tensor.of(LOGITS, BATCH, CLASSES), Map.of("label", Tensor.of(LABELS, BATCH)));
    }

    /** The definition: −Σ w (Σ_c q_c ln p_c) / Σ w. */
    private static double expected(List<Double> weights, double smoothing) {
        double sum = 0;
        double total = 0;
        for (int row = 0; row < BATCH; row++) {
            double partition = 0;
            for (int c = 0; c < CLASSES; c++) {
                partition += Math.exp(LOGITS[row * CLASSES + c]);
            }
            double weight = weights.isEmpty() ? 1 : weights.get((int) LABELS[row]);
            for (int c = 0; c < CLASSES; c++) {
                double belief = (c == LABELS[row] ? 1 - smoothing : 0) + smoothing / CLASSES;
                sum -= weight * belief * (LOGITS[row * CLASSES + c] - Math.log(partition));
            }
            total += weight;
        }
        return sum / total;
    }

    @Test
    void crossEntropyIsItsDefinition() {
        for (List<Double> weights : List.of(List.<Double>of(), List.of(1.0, 0.5, 3.0, 2.0))) {
            for (double smoothing : new double[] {0, 0.1}) {
                assertEquals(
                        expected(weights, smoothing),
                        classified(weights, smoothing),
                        1e-5,
                        weights + " with a smoothing of " + smoothing);
            }
        }
    }

    @Test
    void labelsThatDoNotExcludeEachOther() {
        float[] truth = {1, 0, 1, 1, 0, 0};
        float[] logits = {0.3f, -2, 40, -40, 40, 0};
        double sum = 0;
        for (int i = 0; i < truth.length; i++) {
            double weight = truth[i] == 1 ? (i % 2 == 0 ? 2 : 5) : 1;
            sum += weight
                    * (Math.max(logits[i], 0) + Math.log1p(Math.exp(-Math.abs(logits[i]))) - truth[i] * logits[i]);
        }
        Objective objective = formula -> Objective.terms(Losses.binaryCrossEntropy(
                formula, formula.model("y"), formula.target("truth", DataType.FLOAT32, "batch", 2), List.of(2.0, 5.0)));
        assertEquals(
                sum / truth.length,
                loss(objective, Tensor.of(logits, 3, 2), Map.of("truth", Tensor.of(truth, 3, 2))),
                1e-5);
    }

    private interface OfError {
        Value of(Formula formula, Value error);
    }

    private static void assertRegression(OfError loss, DoubleUnaryOperator definition) {
        float[] prediction = {0, 1, 2.5f, -3, 0.25f, 7};
        float[] truth = {0, 1.5f, 2, 4, 0.125f, -1};
        double sum = 0;
        for (int i = 0; i < truth.length; i++) {
            sum += definition.applyAsDouble(prediction[i] - truth[i]);
        }
        Objective objective = formula -> Objective.terms(loss.of(
                formula, formula.minus(formula.model("y"), formula.target("truth", DataType.FLOAT32, "batch", 1))));
        assertEquals(
                sum / truth.length,
                loss(objective, Tensor.of(prediction, 6, 1), Map.of("truth", Tensor.of(truth, 6, 1))),
                1e-5);
    }

    @Test
    void lossesOfRegressionsAreTheirDefinitions() {
        assertRegression(Losses::squares, error -> error * error);
        assertRegression(Losses::absolutes, Math::abs);
        assertRegression(
                (formula, error) -> Losses.huber(formula, error, 0.75),
                error -> Math.abs(error) <= 0.75 ? error * error / 2 : 0.75 * (Math.abs(error) - 0.375));
        assertRegression(
                (formula, error) -> Losses.pinball(formula, error, 0.9),
                error -> error < 0 ? -0.9 * error : 0.1 * error);
    }

    private static void assertSays(String words, Class<? extends Throwable> type, Executable executable) {
        String message = String.valueOf(assertThrows(type, executable).getMessage());
        assertTrue(message.contains(words), message);
    }

    @Test
    void theModelIsAskedForWhatItHas() {
        Objective wrong = formula -> Objective.terms(formula.mean(formula.model("z")));
        assertSays("z", GraphException.class, () -> wrong.behind(linear(2)));
        Objective many = formula -> Objective.terms(formula.model("y"));
        assertSays("single number", IllegalArgumentException.class, () -> many.behind(linear(2)));
        SequencedMap<String, Value> none = new LinkedHashMap<>();
        assertSays("loss", IllegalArgumentException.class, () -> ((Objective) formula -> none).alone(linear(2)));
    }

    @Test
    void cosinesAreThoseOfTheAngles() {
        float[] vectors = {3, 0, 0, 2, -1, -1, 0, 0};
        float[] others = {5, 0, 1, 1, 2, 2, 1, 1};
        Objective objective = formula -> Objective.terms(formula.sum(formula.times(
                Losses.cosines(formula, formula.model("y"), formula.target("other", DataType.FLOAT32, "batch", 2)),
                formula.constant(Tensor.of(new float[] {1, 10, 100, 1000}, 4)))));
        double sum = loss(objective, Tensor.of(vectors, 4, 2), Map.of("other", Tensor.of(others, 4, 2)));
        assertEquals(1 + 10 * Math.sqrt(0.5) - 100, sum, 1e-4);
    }

    /** A teacher is given what the model is given, and its weights are its own. */
    @Test
    void anotherModelMayBePartOfAnObjective() {
        Graph teacher = linear(2).withTensors(Map.of("weight", Tensor.of(new float[] {2, 0, 0, 3}, 2, 2)));
        Objective objective = formula -> {
            Value error = formula.minus(
                    formula.model("y"), formula.include("teacher", teacher).apply("y"));
            return Objective.terms(formula.mean(formula.square(error)));
        };
        Graph behind = objective.behind(linear(2));
        assertEquals(
                List.of("weight"), List.copyOf(behind.tensors(Kind.PARAMETER).keySet()));
        Tensor inputs = Tensor.of(new float[] {1, 1, 2, 4}, 2, 2);
        assertEquals((1 + 4 + 4 + 64) / 4.0, loss(behind, Map.of("x", inputs)), 1e-5);
        Graph alone = objective.alone(linear(2));
        assertEquals((1 + 4 + 4 + 64) / 4.0, loss(alone, Map.of("x", inputs, "y", inputs)), 1e-5);
    }
}
