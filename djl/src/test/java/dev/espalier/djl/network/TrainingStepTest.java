package dev.espalier.djl.network;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.djl.torch.Torch;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.rule.UpdateRule;
import dev.espalier.schedule.LearningRate;
import dev.espalier.step.Optimizer;
import dev.espalier.step.Parameter;
import dev.espalier.step.ParameterSet;
import dev.espalier.step.StepOptions;
import dev.espalier.tensor.TensorView;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class TrainingStepTest {
    private final NDManager manager = NDManager.newBaseManager(Device.cpu(), "PyTorch");
    private final SplittableRandom random = new SplittableRandom(5);

    /** On arrays as small as these, threads would only wait for each other. */
    @BeforeAll
    static void useOneThread() {
        Torch.tune();
        JniUtils.setNumThreads(1);
    }

    @AfterEach
    void closeAll() {
        manager.close();
    }

    private static Optimizer adam(Graph graph, double rate) {
        List<ParameterSet> sets = graph.tensors(Initializer.Kind.PARAMETER).entrySet().stream()
                .map(entry -> ParameterSet.of(
                        LearningRate.constant(rate),
                        Parameter.of(entry.getKey(), entry.getValue().shape())))
                .toList();
        return new Optimizer(new UpdateRule.Adam(0.9, 0.999, 1e-8), sets, StepOptions.DEFAULT.withThreads(1));
    }

    /** Light images, and dark ones, both noisy. */
    @Test
    void aConvolutionalNetworkLearns() {
        Graph graph = Models.convolutional();
        try (Network network = new Network(graph, Device.cpu());
                Optimizer optimizer = adam(graph, 0.01)) {
            TrainingStep step = new TrainingStep(network, Loss.softmaxCrossEntropy(), optimizer::step);
            double first = 0;
            double last = 0;
            for (int i = 0; i < 60; i++) {
                long[] labels = random.longs(32, 0, 2).toArray();
                Tensor images = Tensor.compute(
                        DataType.FLOAT32,
                        new long[] {32, 1, 8, 8},
                        index -> random.nextDouble(-1, 1) + 0.3 * (labels[(int) (index / 64)] * 2 - 1));
                try (NDManager batch = manager.newSubManager()) {
                    TrainingStep.Result result = step.run(
                            Map.of("image", Tensors.of(batch, images)), new NDList(batch.create(labels)), "logits");
                    first = i == 0 ? result.loss() : first;
                    last = result.loss();
                    assertEquals(crossEntropy(result.outputs().firstEntry().getValue(), labels), result.loss(), 1e-5);
                }
            }
            assertTrue(first > 0.5 && last < 0.2, "loss went from " + first + " to " + last);
        }
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
        try (Network network = new Network(graph, Device.cpu());
                Optimizer optimizer = adam(graph, 0.01)) {
            TrainingStep step = new TrainingStep(network, Loss.softmaxCrossEntropy(), optimizer::step);
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
                try (NDManager batch = manager.newSubManager()) {
                    NDArray tokens = batch.create(words, new Shape(32, length));
                    double loss = step.run(Map.of("tokens", tokens), new NDList(batch.create(labels)))
                            .loss();
                    first = i == 0 ? loss : first;
                    last = loss;
                }
            }
            assertTrue(first > 0.5 && last < 0.2, "loss went from " + first + " to " + last);
        }
    }

    @Test
    void anUpdateThatFailsLeavesNoGradientsBehind() {
        try (Network network = new Network(Models.perceptron(4, 2), Device.cpu())) {
            TrainingStep step = new TrainingStep(network, Loss.softmaxCrossEntropy(), (weights, gradients) -> {
                throw new IllegalStateException("no");
            });
            Map<String, NDArray> inputs = Map.of("x", manager.ones(new Shape(3, 4)));
            NDList labels = new NDList(manager.create(new long[] {0, 1, 1}));
            assertThrows(IllegalStateException.class, () -> step.run(inputs, labels));
            for (TensorView gradient : network.gradients().values()) {
                for (int i = 0; i < gradient.size(); i++) {
                    assertEquals(0, gradient.get(i));
                }
            }
        }
    }

    @Test
    void halvesOfABatchAddUpToTheBatch() {
        try (Network network = new Network(Models.perceptron(4, 2), Device.cpu())) {
            List<float[]> seen = new ArrayList<>();
            TrainingStep step = new TrainingStep(network, Loss.softmaxCrossEntropy(), (weights, gradients) -> {
                TensorView gradient = Objects.requireNonNull(gradients.get("logits.weight"));
                float[] copy = new float[Math.toIntExact(gradient.size())];
                for (int i = 0; i < copy.length; i++) {
                    copy[i] = (float) gradient.get(i);
                }
                seen.add(copy);
            });
            Tensor values =
                    Tensor.compute(DataType.FLOAT32, new long[] {6, 4}, index -> Math.sin(1 + 3.0 * (double) index));
            NDArray images = Tensors.of(manager, values);
            NDArray labels = manager.create(new long[] {0, 1, 1, 0, 0, 1});
            step.run(Map.of("x", images), new NDList(labels));
            for (String half : List.of("0:3", "3:6")) {
                step.addGradients(Map.of("x", images.get(half)), new NDList(labels.get(half)), 0.5);
            }
            step.applyGradients();
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

    @Test
    void aLossMayBeComputedFromSeveralOutputs() {
        Graph one = Models.perceptron(4, 3);
        Graph graph = new Graph(one.name(), one.inputs(), one.initializers(), one.nodes(), List.of("logits", "relu"));
        try (Network network = new Network(graph, Device.cpu())) {
            Loss both = (outputs, labels) -> Objects.requireNonNull(outputs.get("relu"))
                    .sum()
                    .add(Objects.requireNonNull(outputs.get("logits")).sum());
            TrainingStep step = new TrainingStep(network, both, (weights, gradients) -> {
                TensorView bias = Objects.requireNonNull(gradients.get("logits.bias"));
                assertEquals(2, bias.get(0));
            });
            TrainingStep.Result result =
                    step.run(Map.of("x", manager.ones(new Shape(2, 4))), new NDList(), "relu", "logits");
            double sum = result.outputs().values().stream()
                    .mapToDouble(tensor -> {
                        double total = 0;
                        for (int i = 0; i < tensor.size(); i++) {
                            total += tensor.getDouble(i);
                        }
                        return total;
                    })
                    .sum();
            assertEquals(sum, result.loss(), 1e-4);
        }
    }

    /** An activation is 4 KiB here: one that leaks in every step is 32 MiB in the end. */
    @Test
    void tenThousandStepsLeaveNothingBehind() {
        Graph graph = Models.perceptron(32, 4);
        try (Network network = new Network(graph, Device.cpu());
                Optimizer optimizer = adam(graph, 1e-4)) {
            TrainingStep step = new TrainingStep(network, Loss.softmaxCrossEntropy(), optimizer::step);
            Map<String, NDArray> inputs = Map.of("x", manager.randomNormal(new Shape(32, 32)));
            NDList labels = new NDList(manager.create(new long[32]));
            NDManager root = network.manager().getParentManager();
            run(step, inputs, labels, 2_000);
            int arrays = root.getManagedArrays().size();
            OptionalLong memory = allocatedBytes();
            run(step, inputs, labels, 8_000);
            assertEquals(arrays, root.getManagedArrays().size(), "arrays");
            if (memory.isPresent()) {
                long grown = allocatedBytes().orElseThrow() - memory.getAsLong();
                assertTrue(grown < 8 << 20, "native memory has grown by " + (grown >> 10) + " KiB");
            }
        }
    }

    private static void run(TrainingStep step, Map<String, NDArray> inputs, NDList labels, int times) {
        for (int i = 0; i < times; i++) {
            step.run(inputs, labels);
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
