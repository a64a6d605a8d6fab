package dev.espalier.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Input;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Models as PyTorch's two exporters write them: run like the naive evaluator does, and with gradients. */
final class ExportedModelsTest {
    private static final String VARIABLE = "ESPALIER_MODELS";
    private static final Path EXPORTS = Path.of("graph", "src", "test", "resources", "exports");
    private static final long BATCH = 2;
    private static final long LENGTH = 6;

    /** Those in the repository, and those in the folder that an environment variable names. */
    @TestFactory
    Stream<DynamicTest> exportsRunAndTrain() throws IOException {
        String more = System.getenv(VARIABLE);
        Stream<Path> files = models(repository().resolve(EXPORTS)).stream();
        if (more != null) {
            files = Stream.concat(files, models(Path.of(more)).stream());
        }
        return files.map(file -> DynamicTest.dynamicTest(String.valueOf(file.getFileName()), () -> check(file)));
    }

    private static List<Path> models(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".onnx"))
                    .sorted()
                    .toList();
        }
    }

    private static Path repository() {
        Path here = Path.of("").toAbsolutePath();
        for (Path folder = here; folder != null; folder = folder.getParent()) {
            if (Files.isDirectory(folder.resolve(EXPORTS))) {
                return folder;
            }
        }
        throw new IllegalStateException("found no " + EXPORTS + " in " + here + " or above it");
    }

    private static void check(Path file) throws IOException {
        Graph graph = OnnxReader.read(file).graph();
        Map<String, Tensor> inputs = inputs(graph);
        Map<String, Tensor> expected = Evaluator.run(graph, inputs);
        try (Network network = new Network(graph, Device.CPU)) {
            Map<String, Tensor> actual = network.predict(inputs);
            expected.forEach((name, tensor) -> assertClose(name, tensor, Objects.requireNonNull(actual.get(name))));
            try (Pass pass = network.forward(inputs, Mode.TRAINING)) {
                pass.outputs().values().stream()
                        .filter(output -> output.getDataType().isFloating())
                        .map(output -> output.square().sum())
                        .reduce(NDArray::add)
                        .ifPresent(loss -> pass.backward(loss, 1));
            }
            assertEquals(
                    graph.tensors(Kind.PARAMETER).keySet(), network.gradients().keySet());
            network.gradients().forEach((name, gradient) -> assertTrue(isFinite(gradient), name));
        }
    }

    private static boolean isFinite(TensorView gradient) {
        for (long i = 0; i < gradient.size(); i++) {
            if (!Double.isFinite(gradient.get(i))) {
                return false;
            }
        }
        return true;
    }

    private static void assertClose(String name, Tensor expected, Tensor actual) {
        double scale = 1;
        for (long i = 0; i < expected.size(); i++) {
            double size = Math.abs(expected.getDouble(i));
            scale = Math.max(scale, Double.isFinite(size) ? size : 1);
        }
        assertEquals(expected.size(), actual.size(), name);
        for (long i = 0; i < expected.size(); i++) {
            assertEquals(expected.getDouble(i), actual.getDouble(i), 1e-4 * scale, name + " " + i);
        }
    }

    /** Fractions at random; whole numbers and truth values of ones, which are tokens that exist and masks that hide none. */
    private static Map<String, Tensor> inputs(Graph graph) {
        SplittableRandom random = new SplittableRandom(1);
        Map<String, Tensor> inputs = new LinkedHashMap<>();
        for (Input input : graph.inputs()) {
            Shape shape = input.type().shape();
            long[] lengths = new long[shape.rank()];
            for (int axis = 0; axis < lengths.length; axis++) {
                lengths[axis] = shape.get(axis).known().orElse(axis == 0 ? BATCH : LENGTH);
            }
            DataType type = input.type().data();
            inputs.put(input.name(), Tensor.compute(type, lengths, i -> type.isFloat() ? random.nextDouble(-1, 1) : 1));
        }
        return inputs;
    }
}
