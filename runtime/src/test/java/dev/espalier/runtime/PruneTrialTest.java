package dev.espalier.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Variadic;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.prune.SeededZeros;
import dev.espalier.graph.prune.Widths;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.Timing.Goal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Which widths are taken. */
final class PruneTrialTest {
    private static final SampleInputs SAMPLES = new SampleInputs(1, 16, 1);

    private final SplittableRandom random = new SplittableRandom(7);

    private Tensor weights(long... shape) {
        return Tensor.compute(DataType.FLOAT32, shape, i -> random.nextGaussian());
    }

    /** Three convolutions, with zeros in two of five groups. */
    private Graph convolutions() {
        GraphBuilder graph = new GraphBuilder("convolutions");
        Value x = graph.input("image", DataType.FLOAT32, "batch", 3, 24, 24);
        int channels = 3;
        for (int layer = 0; layer < 3; layer++) {
            Conv conv = new Conv(Windows.square(1, 1), 1);
            x = graph.add("conv" + layer, conv, x, graph.parameter("weight" + layer, weights(48, channels, 3, 3)));
            x = graph.add("relu" + layer, new Unary(Unary.Function.RELU), x);
            channels = 48;
        }
        return new SeededZeros(0.4, 1).in(graph.outputs(x));
    }

    /**
     * Many layers that read the same few numbers, each others of them: to select them takes longer than to read all, and on the fastest of
     * machines longer by more than what counts as equally fast.
     */
    private Graph manyReaders() {
        GraphBuilder graph = new GraphBuilder("readers");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 16);
        List<Value> answers = new ArrayList<>();
        for (int layer = 0; layer < 200; layer++) {
            Value weight = graph.parameter("weight" + layer, weights(4, 16));
            Value bias = graph.parameter("bias" + layer, weights(4));
            answers.add(graph.add("layer" + layer, Gemm.LINEAR, x, weight, bias));
        }
        return graph.outputs(graph.add("sum", new Variadic(Variadic.Function.SUM), answers.toArray(Value[]::new)));
    }

    private static PruneTrial prune(Graph model, Timing timing) {
        PrunePlan plan = Pruner.plan(model, PruneOptions.DEFAULT);
        try (Judge judge = Judge.of(model, SAMPLES, 1)) {
            return PruneTrial.of(judge, model, plan, UnaryOperator.identity(), judge.lengths(), timing);
        }
    }

    @Test
    void nothingThatWasTriedIsMuchFasterThanWhatIsTaken() {
        List<String> progress = new ArrayList<>();
        PruneTrial trial = prune(convolutions(), new Timing(Goal.LATENCY, 10, progress::add));
        double taken = trial.report().latencyMillisecondsAfter().orElseThrow();
        double before = trial.report().latencyMillisecondsBefore().orElseThrow();
        assertTrue(taken < before, taken + " ms instead of " + before + " ms");
        assertTrue(trial.tried().stream().allMatch(other -> taken <= 1.03 * other.milliseconds() + 0.01));
        assertTrue(trial.tried().stream().anyMatch(other -> !other.plan().changes()), "the original was not tried");
        assertTrue(
                trial.tried().stream().anyMatch(other -> other.plan().widths().convolutions() == 8),
                "multiples of eight were not tried");
        assertSame(trial.smaller(), trial.plan().apply());
        assertTrue(progress.getFirst().startsWith("Latency: tried 1 widths"), progress.getFirst());
    }

    /** Speed has no say in what was requested: what is faster comes as well. */
    @Test
    void whatWasRequestedIsTakenThoughAnotherOneIsFaster() {
        for (Graph model : List.of(convolutions(), new SeededZeros(0.4, 1).in(manyReaders()))) {
            PrunePlan plan = Pruner.plan(model, PruneOptions.DEFAULT);
            Timing timing = new Timing(Goal.LATENCY, 5, _ -> {});
            PruneTrial.Requested found;
            try (Judge judge = Judge.of(model, SAMPLES, 1)) {
                found = PruneTrial.requested(judge, model, plan, UnaryOperator.identity(), judge.lengths(), timing);
            }
            PruneTrial smallest = found.smallest();
            assertEquals(Cost.parameters(plan.apply()), Cost.parameters(smallest.smaller()));
            double milliseconds = smallest.report().latencyMillisecondsAfter().orElseThrow();
            found.faster().ifPresent(wider -> {
                assertTrue(Cost.parameters(wider.smaller()) >= Cost.parameters(smallest.smaller()));
                assertTrue(wider.report().latencyMillisecondsAfter().orElseThrow() < milliseconds);
            });
        }
    }

    @Test
    void aModelThatIsOverAtOnceIsNotMadeSlowerForBeingSmaller() {
        assertEquals(0.046, WidthSearch.asFast(0.043, 0.043), 1e-9, "a cut that takes 0.051 ms is not as fast");
        assertEquals(0.040, WidthSearch.asFast(0.030, 0.043), 1e-9, "what is gained may be spent");
        assertEquals(0.046, WidthSearch.asFast(0.042, 0.043), 1e-9, "but no more");
        assertEquals(10.3, WidthSearch.asFast(10, 10), 1e-9);
        assertEquals(10.3, WidthSearch.asFast(10, 9), 1e-9, "among those that all are slower");
    }

    @Test
    void whatNoCutMakesFasterStaysUncut() {
        Graph model = new SeededZeros(0.4, 1).in(manyReaders());
        PruneTrial trial = prune(model, new Timing(Goal.LATENCY, 10, _ -> {}));
        assertFalse(trial.plan().changes());
        assertSame(model, trial.smaller());
        assertEquals(trial.report().parametersBefore(), trial.report().parametersAfter());
        PruneTrial size = prune(model, Timing.size(1));
        assertEquals(Widths.NARROWEST, size.plan().widths());
        assertTrue(size.report().parametersAfter() < size.report().parametersBefore());
        assertEquals(1, size.tried().size());
    }

    @Test
    void nobodyHasToMeasure() {
        PruneTrial trial = prune(convolutions(), Timing.size(0));
        assertTrue(trial.report().latencyMillisecondsBefore().isEmpty());
        assertTrue(trial.plan().changes());
        assertThrows(IllegalArgumentException.class, () -> new Timing(Goal.LATENCY, 0, _ -> {}));
    }

    /** An hour of widths to try ends when its time is up. */
    @Test
    void timeIsUpWhenItIs() {
        long start = System.nanoTime();
        PruneTrial trial = prune(convolutions(), new Timing(Goal.LATENCY, 1e-3, _ -> {}));
        assertTrue(trial.tried().size() <= 3, trial.tried().toString());
        assertTrue(trial.report().latencyMillisecondsAfter().isPresent());
        assertTrue(System.nanoTime() - start < 60e9);
    }

    /**
     * Three convolutions of which two filters in five are zero, and beside them two products of the input. Where these read a number that
     * is multiplied with a constant twice in a row, ONNX Runtime draws both into the products, and loses one that is still read.
     */
    private static Graph withProducts(boolean inARow) {
        SplittableRandom numbers = new SplittableRandom(7);
        GraphBuilder graph = new GraphBuilder("products");
        Value image = graph.input("image", DataType.FLOAT32, "batch", 3, 24, 24);
        Value x = image;
        int channels = 3;
        for (int layer = 0; layer < 3; layer++) {
            int filter = channels * 9;
            Tensor weight = Tensor.compute(
                    DataType.FLOAT32,
                    new long[] {48, channels, 3, 3},
                    i -> i / filter % 5 < 2 ? 0 : numbers.nextGaussian());
            x = graph.add("conv" + layer, new Conv(Windows.square(1, 1), 1), x, graph.parameter("w" + layer, weight));
            x = graph.add("relu" + layer, new Unary(Unary.Function.RELU), x);
            channels = 48;
        }
        Binary times = new Binary(Binary.Function.MULTIPLY);
        Value shares = graph.add("shares", new Softmax(1, true), image);
        Value half = graph.constant("half", Tensor.scalar(DataType.FLOAT32, 0.5));
        Value quarter = graph.constant("quarter", Tensor.scalar(DataType.FLOAT32, 0.25));
        Value once = graph.add("once", times, shares, half);
        Value twice = inARow ? graph.add("twice", times, once, half) : graph.add("twice", times, shares, quarter);
        Tensor two = Tensor.compute(DataType.FLOAT32, new long[] {24, 2}, i -> i + 1);
        Tensor three = Tensor.compute(DataType.FLOAT32, new long[] {24, 3}, i -> i + 1);
        Value first = graph.add("first", new MatMul(), once, graph.parameter("two", two));
        Value second = graph.add("second", new MatMul(), twice, graph.parameter("three", three));
        return graph.outputs(x, second, first);
    }

    @Test
    void whatOnnxRuntimeBreaksIsToldAsItsOwnMistake() {
        Graph model = withProducts(false);
        Graph broken = withProducts(true);
        PrunePlan plan = Pruner.plan(model, PruneOptions.DEFAULT);
        assertTrue(plan.changes());
        try (Judge judge = Judge.of(model, SAMPLES, 1)) {
            for (Timing timing : List.of(Timing.size(0), Timing.size(1), new Timing(Goal.LATENCY, 1, _ -> {}))) {
                OptimizerException told = assertThrows(
                        OptimizerException.class,
                        () -> PruneTrial.of(judge, model, plan, _ -> broken, judge.lengths(), timing));
                String words = String.valueOf(told.getMessage());
                assertTrue(words.contains("as it is, but not when it optimizes it"), words);
            }
            // One that is not broken is enough.
            UnaryOperator<Graph> sometimes = smaller -> smaller == plan.apply() ? broken : smaller;
            PruneTrial trial = PruneTrial.of(
                    judge, model, plan, sometimes, judge.lengths(), new Timing(Goal.LATENCY, 10, _ -> {}));
            assertTrue(trial.tried().stream().anyMatch(other -> other.plan().changes()));
            assertTrue(trial.tried().stream().noneMatch(other -> other.plan() == plan));
        }
    }

    @Test
    void whatComputesSomethingElseIsNoMistakeOfOnnxRuntime() {
        Graph broken = withProducts(true);
        Graph other = broken.withTensors(Map.of("two", Tensor.compute(DataType.FLOAT32, new long[] {24, 2}, i -> i)));
        try (Judge judge = Judge.of(withProducts(false), SAMPLES, 1)) {
            assertThrows(
                    OptimizerException.class, () -> judge.load(broken, true).close());
            assertThrows(
                    OptimizerException.class, () -> judge.load(other, false).close());
            assertThrows(GraphException.class, () -> judge.load(other, true).close());
        }
    }
}
