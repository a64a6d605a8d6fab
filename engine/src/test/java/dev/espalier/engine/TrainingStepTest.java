package dev.espalier.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torch.Torch;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class TrainingStepTest {
    private final SplittableRandom random = new SplittableRandom(5);

    /** On arrays as small as these, threads would only wait for each other. */
    @BeforeAll
    static void useOneThread() {
        Torch.tune();
        JniUtils.setNumThreads(1);
    }

    private static Optimizer adam(Graph graph, double rate) {
        List<ParameterSet> sets = graph.tensors(Initializer.Kind.PARAMETER).entrySet().stream()
                .map(entry -> ParameterSet.of(
                        LearningRate.constant(rate),
                        Parameter.of(entry.getKey(), entry.getValue().shape())))
                .toList();
        return new Optimizer(new UpdateRule.Adam(0.9, 0.999, 1e-8), sets, StepOptions.DEFAULT.withThreads(1));
    }

    private static Network network(Graph graph) {
        return new Network(graph, Models.CLASSES, Device.CPU);
    }

    private static Map<String, Tensor> classes(long... labels) {
        return Map.of("class", Tensor.of(labels));
    }

    /** Light images, and dark ones, both noisy. */
    @Test
    void aConvolutionalNetworkLearns() {
        Graph graph = Models.convolutional();
        try (Network network = network(graph);
                Optimizer optimizer = adam(graph, 0.01)) {
            TrainingStep step = new TrainingStep(network, optimizer::step);
            double first = 0;
            double last = 0;
            for (int i = 0; i < 60; i++) {
                long[] labels = random.longs(32, 0, 2).toArray();
                Map<String, Tensor> inputs = Map.of(
                        "image",
                        Tensor.compute(
                                DataType.FLOAT32,
                                new long[] {32, 1, 8, 8},
                                index -> random.nextDouble(-1, 1) + 0.3 * (labels[(int) (index / 64)] * 2 - 1)));
                double loss = step.run(inputs, classes(labels)).loss();
                first = i == 0 ? loss : first;
                last = loss;
                Tensor logits = network.predict(inputs).firstEntry().getValue();
                Terms terms = network.terms(inputs, classes(labels));
                assertEquals(crossEntropy(logits, labels), terms.loss(), 1e-5);
                assertEquals(right(logits, labels), terms.get("right"));
            }
            assertTrue(first > 0.5 && last < 0.2, "loss went from " + first + " to " + last);
        }
    }

    private static int right(Tensor logits, long[] labels) {
        int right = 0;
        for (int i = 0; i < labels.length; i++) {
            right += (logits.getDouble(2L * i + 1) > logits.getDouble(2L * i) ? 1 : 0) == labels[i] ? 1 : 0;
        }
        return right;
    }

    private static double crossEntropy(Tensor logits, long[] labels) {
        double sum = 0;
        for (int i = 0; i < labels.length; i++) {
            double zero = logits.getDouble(2L * i);
            double one = logits.getDouble(2L * i + 1);
            sum += Math.log(Math.exp(zero) + Math.exp(one)) - (labels[i] == 0 ? zero : one);
        }
        return sum / labels.length;
    }

    /** Is there a word above four? Sentences are of different lengths. */
    @Test
    void aTransformerLearns() {
        Graph graph = Models.transformer();
        try (Network network = network(graph);
                Optimizer optimizer = adam(graph, 0.01)) {
            TrainingStep step = new TrainingStep(network, optimizer::step);
            double first = 0;
            double last = 0;
            for (int i = 0; i < 120; i++) {
                int length = 2 + i % 3;
                long[] labels = new long[32];
                long[] words = new long[32 * length];
                for (int w = 0; w < words.length; w++) {
                    words[w] = random.nextInt(4) == 0 ? random.nextInt(5, 10) : random.nextInt(5);
                    labels[w / length] |= words[w] > 4 ? 1 : 0;
                }
                double loss = step.run(Map.of("tokens", Tensor.of(words, 32, length)), classes(labels))
                        .loss();
                first = i == 0 ? loss : first;
                last = loss;
            }
            assertTrue(first > 0.5 && last < 0.2, "loss went from " + first + " to " + last);
        }
    }

    /** The loss of {@link Models#CLASSES} as DJL's own operations on arrays. */
    static NDArray crossEntropy(NDArray logits, NDArray labels) {
        return logits.logSoftmax(-1).gather(labels.reshape(-1, 1), 1).mean().neg();
    }

    /**
     * The twin: batch norm, dropout and all, by a loss that is no part of the graph. With an objective the same weights come
     * out, to the last bit, also where several batches make a step and where products are rounded.
     */
    @Test
    void anObjectiveTrainsTheSameBitsAsALossByHand() {
        for (Graph graph : List.of(Models.convolutional(), Models.transformer())) {
            for (Precision precision : Precision.values()) {
                try (Network network = network(graph).seed(3).precision(precision);
                        Network twin = new Network(graph, Device.CPU).seed(3).precision(precision);
                        Optimizer optimizer = adam(graph, 0.01);
                        Optimizer other = adam(graph, 0.01)) {
                    TrainingStep step = new TrainingStep(network, optimizer::step);
                    for (int i = 0; i < 18; i++) {
                        Map<String, Tensor> inputs = inputs(graph, 17 + i % 3);
                        long[] labels = random.longs(17 + i % 3, 0, 2).toArray();
                        double loss = network.addGradients(inputs, classes(labels), 1.0 / 3)
                                .loss();
                        assertEquals(addGradientsByHand(twin, inputs, labels, 1.0 / 3), loss, 1e-6);
                        if (i % 3 == 2) {
                            step.apply();
                            other.step(twin.weights(), twin.gradients());
                            twin.zeroGradients();
                        }
                    }
                    network.graph()
                            .initializers()
                            .forEach((name, initializer) -> assertTrue(
                                    initializer
                                            .tensor()
                                            .sameAs(Objects.requireNonNull(
                                                    twin.graph().tensor(name))),
                                    graph.name() + ", " + precision + ": " + name));
                }
            }
        }
    }

    private Map<String, Tensor> inputs(Graph graph, int batch) {
        Graph.Input input = graph.inputs().getFirst();
        Tensor values = input.type().data() == DataType.INT64
                ? Tensor.computeLongs(DataType.INT64, new long[] {batch, 4}, _ -> random.nextInt(10))
                : Tensor.compute(DataType.FLOAT32, new long[] {batch, 1, 8, 8}, _ -> random.nextDouble(-1, 1));
        return Map.of(input.name(), values);
    }

    private static double addGradientsByHand(Network network, Map<String, Tensor> inputs, long[] labels, double share) {
        try (Pass pass = network.forward(inputs, Mode.TRAINING);
                NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            NDArray loss = crossEntropy(pass.output("logits"), pass.manager().create(labels));
            pass.backward(loss.mul(share), 1);
            return loss.getFloat();
        }
    }

    @Test
    void anUpdateThatFailsLeavesNoGradientsBehind() {
        try (Network network = network(Models.perceptron(4, 2))) {
            TrainingStep step = new TrainingStep(network, (weights, gradients, _) -> {
                throw new IllegalStateException("no");
            });
            Map<String, Tensor> inputs = Map.of("x", Tensor.of(new float[12], 3, 4));
            assertThrows(IllegalStateException.class, () -> step.run(inputs, classes(0, 1, 1)));
            for (TensorView gradient : network.gradients().values()) {
                for (int i = 0; i < gradient.size(); i++) {
                    assertEquals(0, gradient.get(i));
                }
            }
        }
    }

    @Test
    void halvesOfABatchAddUpToTheBatch() {
        try (Network network = network(Models.perceptron(4, 2))) {
            List<float[]> seen = new ArrayList<>();
            TrainingStep step = new TrainingStep(network, (weights, gradients, _) -> {
                TensorView gradient = Objects.requireNonNull(gradients.get("logits.weight"));
                float[] copy = new float[Math.toIntExact(gradient.size())];
                for (int i = 0; i < copy.length; i++) {
                    copy[i] = (float) gradient.get(i);
                }
                seen.add(copy);
            });
            step.run(Map.of("x", rows(0, 6)), classes(0, 1, 1, 0, 0, 1));
            network.addGradients(Map.of("x", rows(0, 3)), classes(0, 1, 1), 0.5);
            network.addGradients(Map.of("x", rows(3, 3)), classes(0, 0, 1), 0.5);
            step.apply();
            assertArrayEquals(seen.getFirst(), seen.getLast(), 1e-6f);
            double largest = 0;
            for (float value : seen.getFirst()) {
                largest = Math.max(largest, Math.abs(value));
            }
            assertTrue(largest > 1e-3, "there is no gradient");
            TensorView left = network.gradients().firstEntry().getValue();
            assertEquals(0, left.get(0));
        }
    }

    private static Tensor rows(long from, long count) {
        return Tensor.compute(
                DataType.FLOAT32, new long[] {count, 4}, index -> Math.sin(1 + 3.0 * (double) (4 * from + index)));
    }

    @Test
    void anObjectiveMayReadSeveralTensorsAndNeedNoTarget() {
        Objective both = formula ->
                Objective.terms(formula.plus(formula.sum(formula.model("relu")), formula.sum(formula.model("logits"))));
        Graph graph = Models.perceptron(4, 3);
        try (Network network = new Network(graph, both, Device.CPU)) {
            TrainingStep step = new TrainingStep(network, (weights, gradients, _) -> {
                TensorView bias = Objects.requireNonNull(gradients.get("logits.bias"));
                assertEquals(2, bias.get(0));
            });
            Map<String, Tensor> inputs = Map.of("x", rows(0, 2));
            Graph outputs = new Graph(
                    graph.name(), graph.inputs(), graph.initializers(), graph.nodes(), List.of("logits", "relu"));
            double sum = Evaluator.run(outputs, inputs).values().stream()
                    .flatMapToDouble(
                            tensor -> LongStream.range(0, tensor.size()).mapToDouble(tensor::getDouble))
                    .sum();
            assertEquals(sum, step.run(inputs, Map.of()).loss(), 1e-4);
        }
    }

    @Test
    void theModelComesBackWithoutItsObjective() {
        Graph graph = Models.convolutional();
        try (Network network = network(graph)) {
            network.addGradients(inputs(graph, 3), classes(0, 1, 1), 1);
            assertEquals(graph.outputs(), network.graph().outputs());
            assertEquals(graph.inputs(), network.graph().inputs());
            assertEquals(graph.nodes(), network.graph().nodes());
            assertEquals(
                    graph.initializers().keySet(),
                    network.graph().initializers().keySet());
        }
    }

    @Test
    void whatDoesNotFitTheObjectiveIsRefusedWithTheReason() {
        Graph graph = Models.perceptron(4, 2);
        Map<String, Tensor> inputs = Map.of("x", rows(0, 3));
        try (Network network = network(graph);
                Network without = new Network(graph, Device.CPU)) {
            assertMessage("must be made with one", () -> without.terms(inputs, classes(0, 1, 1)));
            assertMessage("objective/target/class is missing", () -> network.terms(inputs, Map.of()));
            assertMessage("[2]", () -> network.addGradients(inputs, classes(0, 1), 1));
            assertMessage("FLOAT32", () -> network.terms(inputs, Map.of("class", Tensor.of(new float[3]))));
        }
    }

    private static void assertMessage(String part, Executable call) {
        RuntimeException problem = assertThrows(RuntimeException.class, call);
        assertTrue(String.valueOf(problem.getMessage()).contains(part), problem.getMessage());
    }

    /** An activation is 4 KiB here: one that leaks in every step is 32 MiB in the end, and again the next time, unlike the JVM's. */
    @Test
    void tenThousandStepsLeaveNothingBehind() {
        Graph graph = Models.perceptron(32, 4);
        try (Network network = network(graph);
                Optimizer optimizer = adam(graph, 1e-4)) {
            TrainingStep step = new TrainingStep(network, optimizer::step);
            Map<String, Tensor> inputs =
                    Map.of("x", Tensor.compute(DataType.FLOAT32, new long[] {32, 32}, _ -> random.nextDouble(-1, 1)));
            Map<String, Tensor> targets = classes(new long[32]);
            NDManager root = network.manager().getParentManager();
            run(step, inputs, targets, 2_000);
            int arrays = root.getManagedArrays().size();
            long grown = Long.MAX_VALUE;
            for (int attempt = 0; attempt < 3 && grown >= 8 << 20; attempt++) {
                long memory = allocatedBytes().orElse(0);
                run(step, inputs, targets, 8_000);
                grown = allocatedBytes().orElse(0) - memory;
                assertEquals(arrays, root.getManagedArrays().size(), "arrays");
            }
            assertTrue(grown < 8 << 20, "native memory has grown by " + (grown >> 10) + " KiB");
        }
    }

    private static void run(TrainingStep step, Map<String, Tensor> inputs, Map<String, Tensor> targets, int times) {
        for (int i = 0; i < times; i++) {
            step.run(inputs, targets);
        }
    }

    /**
     * What malloc has lent out, where the C library tells: the process' own size would count the heap's growth too.
     * {@code mallinfo2} returns ten numbers; the fifth is what lies in mapped files, the eighth the rest of what is in use.
     */
    @SuppressWarnings("restricted") // asking the C library is the only way
    private static OptionalLong allocatedBytes() {
        Linker linker = Linker.nativeLinker();
        Optional<MemorySegment> function = linker.defaultLookup().find("mallinfo2");
        if (function.isEmpty()) {
            return OptionalLong.empty();
        }
        StructLayout numbers = MemoryLayout.structLayout(MemoryLayout.sequenceLayout(10, ValueLayout.JAVA_LONG));
        MethodHandle ask = linker.downcallHandle(function.get(), FunctionDescriptor.of(numbers));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment answer = (MemorySegment) ask.invokeExact((SegmentAllocator) arena);
            return OptionalLong.of(
                    answer.getAtIndex(ValueLayout.JAVA_LONG, 4) + answer.getAtIndex(ValueLayout.JAVA_LONG, 7));
        } catch (Throwable thrown) {
            throw new IllegalStateException(thrown);
        }
    }
}
