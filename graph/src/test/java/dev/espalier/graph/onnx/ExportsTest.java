package dev.espalier.graph.onnx;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.espalier.graph.Graph;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Exports of PyTorch: {@code NAME.onnx} with {@code NAME.in.INPUT.npy} and {@code NAME.out.0.npy}, … as PyTorch computed it.
 */
class ExportsTest {
    private static final double TOLERANCE = 1e-4;

    @TempDir
    Path folder;

    @TestFactory
    Stream<DynamicTest> exportsOfTheProjectComputeTheSame() throws Exception {
        URL exports = ExportsTest.class.getResource("/exports");
        if (exports == null) {
            return abort("there is no resource folder exports");
        }
        return tests(Path.of(exports.toURI()));
    }

    @TestFactory
    Stream<DynamicTest> exportsOfAnotherFolderComputeTheSame() throws IOException {
        String models = models();
        if (models == null) {
            return abort("neither the property nor the environment variable ESPALIER_MODELS names a folder of exports");
        }
        return tests(Path.of(models));
    }

    private static @Nullable String models() {
        String property = System.getProperty("ESPALIER_MODELS");
        return property != null ? property : System.getenv("ESPALIER_MODELS");
    }

    private Stream<DynamicTest> tests(Path exports) throws IOException {
        try (Stream<Path> files = Files.list(exports)) {
            List<Path> models = files.filter(file -> file.toString().endsWith(".onnx"))
                    .sorted()
                    .toList();
            return models.stream()
                    .map(model ->
                            DynamicTest.dynamicTest(String.valueOf(model.getFileName()), () -> check(model, folder)));
        }
    }

    static void check(Path model, Path folder) throws Exception {
        String name = String.valueOf(model.getFileName()).replaceFirst("\\.onnx$", "");
        Map<String, Tensor> feeds = arrays(model, name + ".in.");
        Graph graph = OnnxReader.read(model).graph();
        Path written = folder.resolve(name + ".written.onnx");
        OnnxWriter.write(graph, written);
        List<Tensor> outputs = OnnxRuntime.run(written, feeds);
        OnnxRuntime.assertClose(OnnxRuntime.run(model, feeds), outputs, TOLERANCE);
        Map<String, Tensor> expected = arrays(model, name + ".out.");
        for (int i = 0; i < outputs.size(); i++) {
            Tensor wanted = expected.get(Integer.toString(i));
            if (wanted != null) {
                OnnxRuntime.assertClose(List.of(wanted), List.of(outputs.get(i)), TOLERANCE);
            }
        }
        OnnxRuntime.assertSameInitializers(graph, OnnxReader.read(written).graph(), true);
    }

    private static Map<String, Tensor> arrays(Path model, String prefix) throws IOException {
        Map<String, Tensor> arrays = new TreeMap<>();
        try (Stream<Path> files =
                Files.list(Objects.requireNonNull(model.toAbsolutePath().getParent()))) {
            for (Path file : files.toList()) {
                String name = String.valueOf(file.getFileName());
                if (name.startsWith(prefix) && name.endsWith(".npy")) {
                    arrays.put(name.substring(prefix.length(), name.length() - ".npy".length()), Npy.read(file));
                }
            }
        }
        return arrays;
    }
}
