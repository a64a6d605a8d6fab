package dev.espalier.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SequencedMap;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ThreadTunedModelTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private Path model() throws Exception {
        GraphBuilder builder = new GraphBuilder("small");
        Value x = builder.input("x", DataType.FLOAT32, "batch", 3);
        Tensor weights = Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 3, 2);
        Graph graph = builder.outputs(builder.add("y", new MatMul(), x, builder.parameter("w", weights)));
        Path file = folder.resolve("small.onnx");
        OnnxWriter.write(graph, file, OnnxWriter.Options.DEFAULT);
        return file;
    }

    @Test
    void theNumberOfThreadsIsMeasuredOnceAndToldWithItsReason() throws Exception {
        Map<String, Tensor> inputs = Map.of("x", Tensor.of(new float[] {1, 0, 0, 0, 1, 0}, 2, 3));
        List<String> told = new ArrayList<>();
        try (ThreadTunedModel model = new ThreadTunedModel(model(), 2, OptionalInt.empty(), told::add)) {
            for (int run = 0; run < 3; run++) {
                Tensor y = model.run(inputs).get("y");
                assertTrue(y != null && y.getDouble(0) == 1 && y.getDouble(3) == 4, String.valueOf(y));
            }
        }
        assertEquals(1, told.size(), told::toString);
        assertTrue(
                told.getFirst().matches("ONNX Runtime uses \\d threads? \\(\\S+ ms a batch, \\S+ with \\d\\)"),
                told::toString);
    }

    @Test
    void whoChoosesIsNotMeasured() throws Exception {
        List<String> told = new ArrayList<>();
        try (ThreadTunedModel model = new ThreadTunedModel(model(), 2, OptionalInt.of(2), told::add)) {
            model.run(Map.of("x", Tensor.of(new float[3], 1, 3)));
        }
        assertEquals(List.of(), told);
    }

    @Test
    void moreThreadsMustSaveATenthOfTheTime() {
        assertEquals(1, ThreadTunedModel.fewest(times(0.02, 0.1, 0.4)));
        assertEquals(1, ThreadTunedModel.fewest(times(1, 0.95, 0.91)));
        assertEquals(8, ThreadTunedModel.fewest(times(8, 1.05, 1)));
        assertEquals(16, ThreadTunedModel.fewest(times(8, 2, 1)));
    }

    private static SequencedMap<Integer, Double> times(double one, double half, double all) {
        SequencedMap<Integer, Double> times = new LinkedHashMap<>();
        times.put(1, one);
        times.put(8, half);
        times.put(16, all);
        return times;
    }

    @Test
    void oneHalfAndAllOfTheCoresAreTried() {
        assertEquals(Set.of(1), ThreadTunedModel.candidates(1));
        assertEquals(Set.of(1, 2), ThreadTunedModel.candidates(2));
        assertEquals(Set.of(1, 8, 16), ThreadTunedModel.candidates(16));
    }
}
