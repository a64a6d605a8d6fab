package dev.espalier.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Foreign;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Range;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class NetworkTest {
    private final Random random = new Random(1);

    @AfterEach
    void nothingIsLeftOn() {
        assertFalse(JniUtils.isGradMode(), "recording for gradients was left on");
    }

    private Tensor random(long... shape) {
        return Tensor.compute(DataType.FLOAT32, shape, _ -> random.nextGaussian());
    }

    private static Tensor ones(long count) {
        return Tensor.compute(DataType.FLOAT32, new long[] {count}, _ -> 1);
    }

    private static Tensor run(Network network, Map<String, Tensor> inputs, Mode mode) {
        try (Pass pass = network.forward(inputs, mode)) {
            return Tensors.tensor(pass.outputs().firstEntry().getValue());
        }
    }

    private static TensorView view(Map<String, TensorView> views, String name) {
        return Objects.requireNonNull(views.get(name), name);
    }

    private static Tensor tensor(Graph graph, String name) {
        return Objects.requireNonNull(graph.tensor(name), name);
    }

    private static void assertClose(Tensor expected, Tensor actual, double tolerance) {
        assertEquals(expected.toString(), actual.toString());
        for (int i = 0; i < expected.size(); i++) {
            assertEquals(expected.getDouble(i), actual.getDouble(i), tolerance, "element " + i);
        }
    }

    @Test
    void aTransformerComputesWhatTheNaiveEvaluatorComputes() {
        Graph graph = Models.transformer();
        try (Network network = new Network(graph, Device.CPU)) {
            for (long length : new long[] {3, 5, 1}) {
                Tensor tokens = Tensor.computeLongs(DataType.INT64, new long[] {2, length}, i -> i * 7 % 10);
                Tensor expected = Objects.requireNonNull(
                        Evaluator.run(graph, Map.of("tokens", tokens)).get("logits"));
                Map<String, Tensor> inputs = Map.of("tokens", tokens);
                assertClose(expected, run(network, inputs, Mode.INFERENCE), 1e-5);
                assertClose(expected, run(network, inputs, Mode.TRAINING), 1e-5);
            }
        }
    }

    @Test
    void manyShapesOneAfterTheOtherKeepOnlyAFewPlans() {
        Graph graph = Models.transformer();
        try (Network network = new Network(graph, Device.CPU)) {
            List<Integer> held = new ArrayList<>();
            for (int round = 0; round < 3; round++) {
                for (int length = 1; length <= 12; length++) {
                    Tensor tokens = Tensor.of(new long[length], 1, length);
                    run(network, Map.of("tokens", tokens), Mode.INFERENCE);
                }
                held.add(network.manager().getManagedArrays().size());
            }
            assertEquals(held.get(0), held.get(1));
            assertEquals(held.get(1), held.get(2));
        }
    }

    @Test
    void plansOfAllShapesShareTheConstants() {
        GraphBuilder builder = new GraphBuilder("shifted");
        Value x = builder.input("x", DataType.FLOAT32, "batch", 7);
        Value shift = builder.constant("shift", Tensor.compute(DataType.FLOAT32, new long[] {7}, i -> 10.0 * i));
        Value factor = builder.parameter("factor", Tensor.of(new float[] {2}, 1, 1));
        Value sum = builder.add("sum", new Binary(Binary.Function.ADD), x, shift);
        Graph graph = builder.outputs(builder.add("logits", new Binary(Binary.Function.MULTIPLY), sum, factor));
        try (Network network = new Network(graph, Models.CLASSES, Device.CPU)) {
            for (int batch = 1; batch <= 3; batch++) {
                Map<String, Tensor> inputs = Map.of("x", random(batch, 7));
                Tensor expected =
                        Objects.requireNonNull(Evaluator.run(graph, inputs).get("logits"));
                assertClose(expected, run(network, inputs, Mode.INFERENCE), 1e-5);
                network.terms(inputs, Map.of("class", Tensor.of(new long[batch])));
            }
            long copies = network.manager().getManagedArrays().stream()
                    .filter(array -> array.getShape().equals(Tensors.shape(7)))
                    .count();
            assertEquals(1, copies);
        }
    }

    @Test
    void inferenceMayRunOnSeveralThreads() throws Exception {
        try (Network network = new Network(Models.perceptron(16, 3), Device.CPU);
                ExecutorService threads = Executors.newFixedThreadPool(4)) {
            Map<String, Tensor> inputs = Map.of("x", random(5, 16));
            Tensor expected = run(network, inputs, Mode.INFERENCE);
            List<Future<Tensor>> results = IntStream.range(0, 200)
                    .mapToObj(i -> threads.submit(() -> run(network, inputs, Mode.INFERENCE)))
                    .toList();
            for (Future<Tensor> result : results) {
                assertClose(expected, result.get(), 1e-6);
            }
        }
    }

    @Test
    void whatIsWrittenToWeightsIsSeenByTheNextPass() {
        try (Network network = new Network(Models.perceptron(4, 3), Device.CPU)) {
            Map<String, Tensor> inputs = Map.of("x", random(2, 4));
            run(network, inputs, Mode.INFERENCE);
            Map<String, TensorView> weights = network.weights();
            TensorView weight = view(weights, "logits.weight");
            for (int i = 0; i < weight.size(); i++) {
                weight.set(i, 0);
            }
            view(weights, "logits.bias").set(1, 2.5);
            Tensor output = run(network, inputs, Mode.INFERENCE);
            assertEquals(0, output.getDouble(0));
            assertEquals(2.5, output.getDouble(1));
            assertEquals(2.5, tensor(network.graph(), "logits.bias").getDouble(1));
        }
    }

    /** Steps that half precision cannot tell one by one add up. */
    @Test
    void aModelOfHalfPrecisionIsTrainedInSinglePrecision() {
        Objective sum = formula -> Objective.terms(formula.sum(formula.model("y")));
        for (DataType half : List.of(DataType.FLOAT16, DataType.BFLOAT16)) {
            GraphBuilder builder = new GraphBuilder("half");
            Value x = builder.input("x", half, "batch", 2);
            Tensor start = Tensor.of(new float[] {1, -2, 3, 4}, 2, 2).cast(half);
            Value weight = builder.parameter("weight", start);
            Graph model = builder.outputs(
                    builder.add("y", new Unary(Unary.Function.RELU), builder.add("product", new MatMul(), x, weight)));
            Map<String, Tensor> inputs =
                    Map.of("x", Tensor.of(new float[] {1, 2}, 1, 2).cast(half));
            try (Network network = new Network(model, sum, Device.CPU)) {
                assertEquals(
                        half, tensor(Map.copyOf(network.predict(inputs)), "y").type());
                for (int i = 0; i < 1000; i++) {
                    network.addGradients(inputs, Map.of(), 1);
                    TensorView gradient = view(network.gradients(), "weight");
                    network.changeWeights(views -> {
                        for (int j = 0; j < 4; j++) {
                            view(views, "weight").set(j, view(views, "weight").get(j) - 1e-4 * gradient.get(j));
                        }
                    });
                    network.zeroGradients();
                }
                Tensor trained = tensor(network.graph(), "weight");
                assertClose(
                        Tensor.of(new float[] {0.9f, -2.1f, 2.8f, 3.8f}, 2, 2).cast(half), trained, 0.02);
                assertEquals(
                        16,
                        Objects.requireNonNull(network.state().get("tensor/weight"))
                                .byteSize());
                network.load(model);
                assertTrue(start.sameAs(tensor(network.graph(), "weight")));
            }
        }
    }

    private static Tensor tensor(Map<String, Tensor> tensors, String name) {
        return Objects.requireNonNull(tensors.get(name), name);
    }

    @Test
    void aSnapshotStaysAsItWasAndCanBeLoadedAgain() {
        Graph start = Models.convolutional();
        try (Network network = new Network(start, Device.CPU)) {
            Map<String, Tensor> inputs = Map.of("image", random(4, 1, 8, 8));
            Graph before = network.graph();
            assertTrue(tensor(start, "layer1.conv.weight").sameAs(tensor(before, "layer1.conv.weight")));
            Tensor output = run(network, inputs, Mode.INFERENCE);
            run(network, inputs, Mode.TRAINING);
            view(network.weights(), "layer1.conv.weight").set(0, 7);
            assertFalse(tensor(network.graph(), "layer1.norm.mean").sameAs(tensor(before, "layer1.norm.mean")));
            assertTrue(tensor(start, "layer1.conv.weight").sameAs(tensor(before, "layer1.conv.weight")));
            network.load(before);
            assertTrue(output.sameAs(run(network, inputs, Mode.INFERENCE)));
        }
    }

    /** Batch statistics, dropout and weights: all that training changes. */
    @Test
    void aNetworkWithTheStateOfAnotherGoesOnLikeIt() {
        for (Graph graph : List.of(Models.convolutional(), dropout(0.5))) {
            try (Network one = new Network(graph, Device.CPU).seed(5);
                    Network other = new Network(graph, Device.CPU).seed(6)) {
                Graph.Input input = graph.inputs().getFirst();
                Tensor values = Tensor.compute(
                        DataType.FLOAT32,
                        input.type().shape().rank() == 4 ? new long[] {2, 1, 8, 8} : new long[] {1000},
                        index -> Math.sin((double) index));
                Map<String, Tensor> inputs = Map.of(input.name(), values);
                run(one, inputs, Mode.TRAINING);
                Map<String, MemorySegment> state = one.state();
                other.state().forEach((name, memory) -> memory.copyFrom(Objects.requireNonNull(state.get(name))));
                Tensor expected = run(one, inputs, Mode.TRAINING);
                assertTrue(expected.sameAs(run(other, inputs, Mode.TRAINING)), graph.name());
                assertTrue(one.predict(Map.of(input.name(), values))
                        .firstEntry()
                        .getValue()
                        .sameAs(run(other, inputs, Mode.INFERENCE)));
            }
        }
    }

    /** Libtorch has one source of random numbers for the whole process. */
    @Test
    void whatIsDroppedDoesNotDependOnWhatOtherThreadsDrop() throws Exception {
        Graph graph = dropout(0.5);
        Map<String, Tensor> inputs =
                Map.of(graph.inputs().getFirst().name(), Tensor.compute(DataType.FLOAT32, new long[] {1000}, _ -> 1));
        List<Tensor> alone = passes(graph, inputs, 1);
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Callable<List<Tensor>>> all = new ArrayList<>();
            for (int seed = 1; seed <= 4; seed++) {
                int own = seed;
                all.add(() -> passes(graph, inputs, own));
            }
            List<Tensor> beside = threads.invokeAll(all).getFirst().get();
            for (int i = 0; i < alone.size(); i++) {
                assertTrue(alone.get(i).sameAs(beside.get(i)), "pass " + i);
            }
        }
    }

    private static List<Tensor> passes(Graph graph, Map<String, Tensor> inputs, long seed) {
        try (Network network = new Network(graph, Device.CPU).seed(seed)) {
            List<Tensor> outputs = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                outputs.add(run(network, inputs, Mode.TRAINING));
            }
            return outputs;
        }
    }

    @Test
    void aGraphOfOtherShapesCannotBeLoaded() {
        try (Network network = new Network(Models.perceptron(4, 3), Device.CPU)) {
            assertMessage("logits.weight", () -> network.load(Models.perceptron(4, 2)));
        }
    }

    @Test
    void gradientsAddUpUntilTheyAreSetToZero() {
        try (Network network = new Network(Models.perceptron(4, 3), Device.CPU)) {
            assertTrue(network.gradients().isEmpty());
            Map<String, Tensor> inputs = Map.of("x", random(2, 4));
            backward(network, inputs);
            TensorView gradient = view(network.gradients(), "logits.bias");
            double once = gradient.get(0);
            assertNotEquals(0, once);
            backward(network, inputs);
            assertEquals(2 * once, gradient.get(0), 1e-6 * Math.abs(once));
            network.zeroGradients();
            assertEquals(0, gradient.get(0));
            backward(network, inputs);
            assertEquals(once, gradient.get(0), 1e-6 * Math.abs(once), "the memory moved");
        }
    }

    private static void backward(Network network, Map<String, Tensor> inputs) {
        try (Pass pass = network.forward(inputs, Mode.TRAINING)) {
            pass.backward(pass.outputs().firstEntry().getValue().square().sum(), 1);
        }
    }

    @Test
    void frozenParametersGetNoGradient() {
        try (Network network = new Network(Models.perceptron(4, 3), Device.CPU)) {
            Map<String, Tensor> inputs = Map.of("x", random(2, 4));
            network.freeze(name -> name.startsWith("hidden"));
            backward(network, inputs);
            assertEquals(
                    Set.of("logits.weight", "logits.bias"), network.gradients().keySet());
            assertEquals(4, network.weights().size());
            network.freeze(name -> true);
            run(network, inputs, Mode.TRAINING);
            assertTrue(network.gradients().isEmpty());
            network.freeze(name -> name.equals("logits.bias"));
            run(network, inputs, Mode.TRAINING);
            assertEquals(Set.of(0.0), values(view(network.gradients(), "logits.weight")), "left from before");
            backward(network, inputs);
            assertEquals(
                    Set.of("hidden.weight", "hidden.bias", "logits.weight"),
                    network.gradients().keySet());
            TensorView gradient = view(network.gradients(), "logits.weight");
            assertNotEquals(Set.of(0.0), values(gradient));
        }
    }

    private static Set<Double> values(TensorView view) {
        return IntStream.range(0, (int) view.size()).mapToObj(view::get).collect(Collectors.toSet());
    }

    private static Graph normalisation(double epsilon, double momentum) {
        GraphBuilder builder = new GraphBuilder("norm");
        Value x = builder.input("x", DataType.FLOAT64, "batch", 2, "length");
        return builder.outputs(builder.add(
                "norm",
                new BatchNorm(epsilon, momentum),
                x,
                builder.parameter("scale", doubles(2, 3)),
                builder.parameter("shift", doubles(5, 7)),
                builder.buffer("mean", doubles(0.5, -0.5)),
                builder.buffer("variance", doubles(4, 9))));
    }

    private static Tensor buffer(Network network, String name) {
        return Objects.requireNonNull(network.graph().tensor(name));
    }

    @Test
    void aFrozenNormalisationGoesByItsStatisticsAndLeavesThem() {
        try (Network network = new Network(normalisation(1e-5, 0.8), Device.CPU)) {
            Map<String, Tensor> inputs = Map.of("x", OperatorCases.normal(4, 2, 3));
            Tensor judged = run(network, inputs, Mode.INFERENCE);
            network.freeze(name -> true);
            assertTrue(judged.sameAs(run(network, inputs, Mode.TRAINING)));
            assertTrue(doubles(0.5, -0.5).sameAs(buffer(network, "mean")));
            assertTrue(doubles(4, 9).sameAs(buffer(network, "variance")));
            network.freeze("scale"::equals);
            assertFalse(judged.sameAs(run(network, inputs, Mode.TRAINING)));
            assertFalse(doubles(0.5, -0.5).sameAs(buffer(network, "mean")));
        }
    }

    @Test
    void batchesAreNormalisedByTheirOwnStatisticsInTraining() {
        double epsilon = 1e-5;
        double momentum = 0.8;
        Graph graph = normalisation(epsilon, momentum);
        Tensor input = OperatorCases.normal(4, 2, 3);
        try (Network network = new Network(graph, Device.CPU)) {
            Map<String, Tensor> inputs = Map.of("x", input);
            Tensor output = run(network, inputs, Mode.TRAINING);
            Graph after = network.graph();
            for (int channel = 0; channel < 2; channel++) {
                int offset = channel * 3;
                double[] values = IntStream.range(0, 24)
                        .filter(i -> i % 6 / 3 * 3 == offset)
                        .mapToDouble(input::getDouble)
                        .toArray();
                double mean = IntStream.range(0, 12).mapToDouble(i -> values[i]).sum() / 12;
                double squares = IntStream.range(0, 12)
                        .mapToDouble(i -> (values[i] - mean) * (values[i] - mean))
                        .sum();
                double expected = (input.getDouble(offset) - mean) / Math.sqrt(squares / 12 + epsilon) * (2 + channel)
                        + 5
                        + 2 * channel;
                assertEquals(expected, output.getDouble(offset), 1e-12);
                double oldMean = channel == 0 ? 0.5 : -0.5;
                double oldVariance = channel == 0 ? 4 : 9;
                // What is stored is the estimate for the whole population, as in PyTorch.
                assertEquals(
                        momentum * oldMean + (1 - momentum) * mean,
                        tensor(after, "mean").getDouble(channel),
                        1e-12);
                assertEquals(
                        momentum * oldVariance + (1 - momentum) * squares / 11,
                        tensor(after, "variance").getDouble(channel),
                        1e-12);
            }
            Tensor inferred = run(network, inputs, Mode.INFERENCE);
            Tensor naive = Objects.requireNonNull(
                    Evaluator.run(after, Map.of("x", input)).get("norm"));
            assertClose(naive, inferred, 1e-12);
            assertTrue(tensor(after, "mean").sameAs(tensor(network.graph(), "mean")), "inference changed statistics");
        }
    }

    private static Tensor doubles(double... values) {
        return Tensor.compute(DataType.FLOAT64, new long[] {values.length}, i -> values[(int) i]);
    }

    private static Graph dropout(double ratio) {
        GraphBuilder builder = new GraphBuilder("dropout");
        Value x = builder.input("x", DataType.FLOAT32, "n");
        return builder.outputs(builder.add("y", new Dropout(ratio), x));
    }

    @Test
    void aShareIsDroppedOutInTrainingAndTheRestScaledUp() {
        try (Network network = new Network(dropout(0.3), Device.CPU)) {
            Map<String, Tensor> inputs = Map.of("x", ones(100_000));
            float[] trained = run(network, inputs, Mode.TRAINING).toFloats();
            int dropped = 0;
            for (float value : trained) {
                assertTrue(value == 0 || Math.abs(value - 1 / 0.7) < 1e-6, () -> "value " + value);
                dropped += value == 0 ? 1 : 0;
            }
            // Six standard deviations of a hundred thousand draws.
            assertEquals(0.3, dropped / 100_000.0, 0.009);
            for (float value : run(network, inputs, Mode.INFERENCE).toFloats()) {
                assertEquals(1, value);
            }
        }
    }

    @Test
    void whatIsDroppedOutFollowsFromTheSeed() {
        Map<String, Tensor> inputs = Map.of("x", ones(1000));
        try (Network one = new Network(dropout(0.5), Device.CPU).seed(3);
                Network same = new Network(dropout(0.5), Device.CPU).seed(3);
                Network other = new Network(dropout(0.5), Device.CPU).seed(1000)) {
            Tensor first = run(one, inputs, Mode.TRAINING);
            Tensor second = run(one, inputs, Mode.TRAINING);
            JniUtils.setSeed(77);
            assertTrue(first.sameAs(run(same, inputs, Mode.TRAINING)));
            assertTrue(second.sameAs(run(same, inputs, Mode.TRAINING)));
            assertFalse(first.sameAs(second));
            assertFalse(first.sameAs(run(other, inputs, Mode.TRAINING)));
        }
    }

    @Test
    void outputsMayBeInputsAndWeightsThemselves() {
        GraphBuilder builder = new GraphBuilder("through");
        Value x = builder.input("x", DataType.FLOAT32, 2);
        Value weight = builder.parameter("weight", Tensor.of(new float[] {1, 2}));
        Value copy = builder.add("copy", new Unary(Unary.Function.IDENTITY), weight);
        try (Network network = new Network(builder.outputs(x, weight, copy), Device.CPU)) {
            try (Pass pass = network.forward(Map.of("x", Tensor.of(new float[] {3, 4})), Mode.TRAINING)) {
                assertEquals(
                        List.of("x", "weight", "copy"),
                        List.copyOf(pass.outputs().keySet()));
                assertEquals(4, pass.output("x").getFloat(1));
                pass.backward(pass.output("weight").add(pass.output("copy")), 1);
            }
            assertEquals(2, view(network.gradients(), "weight").get(0));
            assertEquals(2, view(network.weights(), "weight").get(1));
        }
    }

    @Test
    void aProductIsKeptWhereItsSumIsNotAllThatIsAskedFor() {
        GraphBuilder builder = new GraphBuilder("product");
        Value x = builder.input("x", DataType.FLOAT32, 1, 2);
        Value weight = builder.parameter("weight", Tensor.of(new float[] {1, 2, 3, 4}, 2, 2));
        Value bias = builder.parameter("bias", Tensor.of(new float[] {10, 20}));
        Value product = builder.add("product", new dev.espalier.graph.op.MatMul(), x, weight);
        Value sum = builder.add("sum", new Binary(Binary.Function.ADD), product, bias);
        try (Network network = new Network(builder.outputs(product, sum), Device.CPU);
                Pass pass = network.forward(Map.of("x", Tensor.of(new float[] {1, 1}, 1, 2)), Mode.INFERENCE)) {
            assertEquals(4, pass.output("product").getFloat(0, 0));
            assertEquals(26, pass.output("sum").getFloat(0, 1));
        }
    }

    @Test
    void whatDoesNotFitIsRefusedWithTheReason() {
        try (Network network = new Network(Models.perceptron(4, 3), Device.CPU)) {
            assertMessage("x is missing", () -> network.forward(Map.of(), Mode.INFERENCE));
            assertMessage(
                    "exactly [x]", () -> network.forward(Map.of("x", random(1, 4), "y", random(1)), Mode.INFERENCE));
            assertMessage("FLOAT32", () -> network.forward(Map.of("x", Tensor.of(new long[4], 1, 4)), Mode.INFERENCE));
            assertMessage("[1, 5]", () -> network.forward(Map.of("x", random(1, 5)), Mode.INFERENCE));
            try (Pass pass = network.forward(Map.of("x", random(1, 4)), Mode.INFERENCE)) {
                assertMessage("TRAINING", () -> pass.backward(pass.output("logits"), 1));
                assertMessage("[logits]", () -> pass.output("probabilities"));
            }
        }
    }

    @Test
    void whatDependsOnContentsIsRefused() {
        GraphBuilder builder = new GraphBuilder("range");
        Value end = builder.input("end", DataType.INT64);
        Value zero = builder.constant("zero", Tensor.scalar(DataType.INT64, 0));
        Value one = builder.constant("one", Tensor.scalar(DataType.INT64, 1));
        try (Network network =
                new Network(builder.outputs(builder.add("range", new Range(), zero, end, one)), Device.CPU)) {
            int held = network.manager().getManagedArrays().size();
            assertMessage(
                    "depends on the contents",
                    () -> network.forward(Map.of("end", Tensor.scalar(DataType.INT64, 3)), Mode.INFERENCE));
            assertEquals(held, network.manager().getManagedArrays().size());
        }
    }

    @Test
    void aNodeThatFailsIsNamedAndNothingStaysBehind() {
        GraphBuilder builder = new GraphBuilder("pick");
        Value table = builder.parameter("table", Tensor.of(new float[] {1, 2, 3, 4}, 2, 2));
        Value index = builder.input("index", DataType.INT64, 1);
        Graph graph = builder.outputs(builder.add("row", new dev.espalier.graph.op.Gather(0), table, index));
        try (Network network = new Network(graph, Device.CPU)) {
            run(network, Map.of("index", Tensor.of(new long[] {1})), Mode.TRAINING);
            int held = network.manager().getManagedArrays().size();
            assertMessage(
                    "row (Gather)", () -> network.forward(Map.of("index", Tensor.of(new long[] {5})), Mode.TRAINING));
            assertEquals(held, network.manager().getManagedArrays().size());
            assertFalse(JniUtils.isGradMode());
        }
    }

    @Test
    void operatorsThatAreKeptAsTheyAreAreAllToldAtOnce() {
        GraphBuilder builder = new GraphBuilder("boxes");
        Value value = builder.input("x", DataType.FLOAT32, 3);
        for (String name : List.of("Shrink", "Hardmax", "Shrink")) {
            Optional<TensorType> type = Optional.of(new TensorType(DataType.FLOAT32, Shape.of(3)));
            Foreign kept = new Foreign(
                    "",
                    name,
                    new TreeMap<>(Map.of("", 13)),
                    new Foreign.Attributes(new byte[0]),
                    List.of(),
                    List.of(type),
                    List.of(type));
            value = builder.add(value.name() + "/" + name, kept, value);
        }
        Graph graph = builder.outputs(value);
        assertMessage("boxes cannot be trained", () -> new Network(graph, Device.CPU));
        assertMessage("1 × Hardmax, 2 × Shrink", () -> new Network(graph, Device.CPU));
    }

    private static void assertMessage(String part, org.junit.jupiter.api.function.Executable call) {
        RuntimeException problem = assertThrows(RuntimeException.class, call);
        assertTrue(String.valueOf(problem.getMessage()).contains(part), problem.getMessage());
    }
}
