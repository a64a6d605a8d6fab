package dev.espalier.engine;

import static dev.espalier.graph.Initializer.Kind.CONSTANT;
import static dev.espalier.graph.Initializer.Kind.PARAMETER;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDScope;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.engine.OperatorCases.Case;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.op.Fact;
import dev.espalier.graph.op.Operands;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torch.Torch;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every operator against the naive evaluator, and its gradient against differences. */
class OperatorTest {
    private static final double STEP = 1e-6;

    /** On arrays as small as these, threads would only wait for each other. */
    @BeforeAll
    static void useOneThread() {
        Torch.tune();
        JniUtils.setNumThreads(1);
    }

    static List<Case> cases() {
        return OperatorCases.all();
    }

    static Stream<Case> differentiable() {
        return cases().stream()
                .filter(example ->
                        facts(example).stream().allMatch(fact -> fact.data().isFloat()))
                .filter(example -> example.inputs().stream().allMatch(tensor -> tensor == null || isFinite(tensor)))
                .filter(example -> example.inputs().stream()
                        .anyMatch(tensor -> tensor != null && tensor.type().isFloat()));
    }

    private static boolean isFinite(Tensor tensor) {
        return IntStream.range(0, (int) tensor.size()).allMatch(i -> Double.isFinite(tensor.getDouble(i)));
    }

    private static List<Fact> facts(Case example) {
        List<@Nullable Fact> known = new ArrayList<>();
        example.inputs().forEach(tensor -> known.add(tensor == null ? null : Fact.of(tensor)));
        return example.operator().infer(new Operands(known, "node"));
    }

    /** What the inputs of an operator are to a graph. */
    private enum Role {
        /** Fed in, except for shapes and positions. */
        INPUTS,
        /** Trained if they have fractions, else constants. */
        PARAMETERS,
        /** Constants. */
        CONSTANTS
    }

    private static Graph graph(Case example, Role role) {
        List<Graph.Input> inputs = new ArrayList<>();
        SequencedMap<String, Initializer> initializers = new LinkedHashMap<>();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < example.inputs().size(); i++) {
            Tensor tensor = example.inputs().get(i);
            String name = tensor == null ? "" : "x" + i;
            names.add(name);
            if (tensor != null) {
                boolean built = i >= Kernels.arrays(example.operator());
                boolean trained = i < example.trained() && tensor.type().isFloat();
                if (role == Role.INPUTS && !built) {
                    inputs.add(new Graph.Input(name, tensor.tensorType()));
                } else {
                    Initializer.Kind kind = role == Role.PARAMETERS && trained ? PARAMETER : CONSTANT;
                    initializers.put(name, new Initializer(tensor, kind));
                }
            }
        }
        List<String> outputs =
                IntStream.range(0, facts(example).size()).mapToObj(i -> "y" + i).toList();
        Node node = new Node("node", example.operator(), names, outputs);
        return new Graph(example.name(), inputs, initializers, List.of(node), outputs);
    }

    private static void check(Case example, Role role, double tolerance) {
        check(example, role, tolerance, Device.CPU);
    }

    private static void check(Case example, Role role, double tolerance, Device device) {
        Graph graph = graph(example, role);
        List<Tensor> expected = Objects.requireNonNull(Evaluator.evaluate(example.operator(), example.inputs()));
        try (Network network = new Network(graph, device)) {
            Map<String, Tensor> inputs = new LinkedHashMap<>();
            for (Graph.Input input : graph.inputs()) {
                int index = Integer.parseInt(input.name().substring(1));
                inputs.put(input.name(), Objects.requireNonNull(example.inputs().get(index)));
            }
            int held = held(network);
            for (int run = 0; run < 2; run++) {
                try (Pass pass = network.forward(inputs, Mode.INFERENCE)) {
                    List<NDArray> outputs = List.copyOf(pass.outputs().values());
                    assertEquals(expected.size(), outputs.size());
                    for (int i = 0; i < outputs.size(); i++) {
                        assertSame(expected.get(i), Tensors.tensor(outputs.get(i)), tolerance);
                    }
                    assertEquals(
                            inputs.size() + outputs.size(),
                            pass.manager().getManagedArrays().size(),
                            "arrays left in the pass");
                }
                if (run > 0) {
                    assertEquals(held, held(network), "arrays left with the network");
                }
                held = held(network);
            }
        }
    }

    private static int held(Network network) {
        return network.manager().getManagedArrays().size();
    }

    private static void assertSame(Tensor expected, Tensor actual, double tolerance) {
        assertEquals(expected.type(), actual.type());
        assertArrayEquals(expected.shape(), actual.shape());
        for (int i = 0; i < expected.size(); i++) {
            double value = expected.getDouble(i);
            double scale = Double.isFinite(value) ? 1 + Math.abs(value) : 1;
            double allowed = expected.type().isFloat() ? tolerance * scale : 0;
            assertEquals(value, actual.getDouble(i), allowed, "element " + i);
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void agreesWithTheNaiveEvaluatorOnInputs(Case example) {
        check(example, Role.INPUTS, example.operator().label().equals("Cast") ? 1e-7 : 1e-9);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void agreesWithTheNaiveEvaluatorOnParameters(Case example) {
        check(example, Role.PARAMETERS, example.operator().label().equals("Cast") ? 1e-7 : 1e-9);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void agreesWithTheNaiveEvaluatorOnConstants(Case example) {
        check(example, Role.CONSTANTS, 1e-7);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void agreesWithTheNaiveEvaluatorInSinglePrecision(Case example) {
        check(example.stored(DataType.FLOAT32), Role.INPUTS, 2e-6);
    }

    /** All cases in one test, which is skipped as one. */
    @Test
    void agreesWithTheNaiveEvaluatorOnAGpu() {
        assumeTrue(Device.gpu(0).whyNot().isEmpty(), "there is no GPU here");
        assertAll(cases().stream()
                .flatMap(example -> Stream.of(
                        () -> check(example, Role.PARAMETERS, 1e-6, Device.gpu(0)),
                        () -> check(example.stored(DataType.FLOAT32), Role.INPUTS, 1e-5, Device.gpu(0)))));
    }

    @Test
    void hasTheGradientOfTheProcessorOnAGpu() {
        assumeTrue(Device.gpu(0).whyNot().isEmpty(), "there is no GPU here");
        assertAll(differentiable().map(example -> () -> {
            Map<String, Tensor> near = gradients(example, Device.CPU);
            Map<String, Tensor> far = gradients(example, Device.gpu(0));
            near.forEach((name, gradient) -> assertSame(gradient, Objects.requireNonNull(far.get(name)), 1e-6));
        }));
    }

    private static Map<String, Tensor> gradients(Case example, Device device) {
        try (Network network = new Network(graph(example, Role.PARAMETERS), device)) {
            try (Pass pass = network.forward(Map.of(), Mode.TRAINING)) {
                pass.backward(weighted(pass), 1);
            }
            Map<String, Tensor> found = new LinkedHashMap<>();
            network.gradients().keySet().forEach(name -> found.put(name, Tensors.tensor(network.gradient(name))));
            return found;
        }
    }

    /** A square root has none at zero: a model whose norm may be of zeros could not be trained. */
    @Test
    void theNormOfZerosHasAGradient() {
        Tensor zeros = Tensor.compute(DataType.FLOAT32, new long[] {2, 3}, _ -> 0);
        Reduce norm = new Reduce(Reduce.Function.L2, List.of(1L), false);
        Tensor gradient = gradients(new Case("zeros", norm, List.of(zeros), 1), Device.CPU)
                .get("x0");
        assertSame(zeros, Objects.requireNonNull(gradient), 0);
    }

    /** A weighted sum of all outputs, so that every element of the gradient is its own. */
    private static NDArray weighted(Pass pass) {
        SplittableRandom random = new SplittableRandom(1);
        NDArray total = null;
        for (NDArray output : pass.outputs().values()) {
            Tensor weights =
                    Tensor.compute(DataType.FLOAT64, output.getShape().getShape(), i -> random.nextDouble(-1, 1));
            NDArray exact = Tensors.cast((PtNDArray) output, ai.djl.ndarray.types.DataType.FLOAT64);
            NDArray sum = exact.mul(Tensors.upload(pass.manager(), weights)).sum();
            total = total == null ? sum : total.add(sum);
        }
        return Objects.requireNonNull(total);
    }

    private static double value(Network network) {
        try (Pass pass = network.forward(Map.of(), Mode.TRAINING);
                NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            return Tensors.tensor(weighted(pass)).getDouble(0);
        }
    }

    @ParameterizedTest
    @MethodSource("differentiable")
    void hasTheGradientThatDifferencesTell(Case example) {
        // What is rounded to single precision tells its slope only over a wider distance.
        boolean rounded = facts(example).getFirst().data() != DataType.FLOAT64;
        double step = rounded ? 1e-2 : STEP;
        double tolerance = rounded ? 1e-4 : 1e-6;
        try (Network network = new Network(graph(example, Role.PARAMETERS), Device.CPU)) {
            try (Pass pass = network.forward(Map.of(), Mode.TRAINING)) {
                pass.backward(weighted(pass), 1);
            }
            Map<String, TensorView> gradients = network.gradients();
            network.weights().forEach((name, weights) -> {
                TensorView gradient = Objects.requireNonNull(gradients.get(name));
                for (long i = 0; i < weights.size(); i++) {
                    double before = weights.get(i);
                    weights.set(i, before + step);
                    double above = value(network);
                    weights.set(i, before - step);
                    double below = value(network);
                    weights.set(i, before);
                    double slope = (above - below) / (2 * step);
                    assertEquals(
                            slope, gradient.get(i), tolerance * (1 + Math.abs(slope)), "element " + i + " of " + name);
                }
            });
        }
        assertFalse(JniUtils.isGradMode(), "recording for gradients was left on");
    }
}
