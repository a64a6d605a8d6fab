package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.OnnxRuntimeModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SequencedMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TestimonyTest {
    private static final Graph MODEL = Mlp.ofVectors(4, 3, List.of(5), Weights.seeded(1));
    private static final String INPUT = MODEL.inputs().getFirst().name();
    private static final int BATCHES = 4;
    private static final int BATCH = 3;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private OnnxRuntimeModel runtime;

    private final List<String> notes = new ArrayList<>();
    private int asked;

    @BeforeEach
    void write() throws IOException {
        OnnxWriter.write(MODEL, folder.resolve("model.onnx"));
        runtime = new OnnxRuntimeModel(folder.resolve("model.onnx"), 1);
    }

    @AfterEach
    void close() {
        runtime.close();
    }

    private SequencedMap<String, Tensor> ask(Map<String, Tensor> inputs) {
        asked++;
        return runtime.run(inputs);
    }

    private Testimony testimony(long wanted, Supplier<Network> network) {
        return new Testimony(this::ask, wanted, network, notes::add);
    }

    private static Network sound() {
        return new Network(MODEL, Device.CPU);
    }

    /** What is said of all batches. */
    private static List<Double> all(Function<Map<String, Tensor>, SequencedMap<String, Tensor>> said) {
        Random random = new Random(5);
        List<Double> numbers = new ArrayList<>();
        for (int i = 0; i < BATCHES; i++) {
            Tensor batch = Tensor.compute(DataType.FLOAT32, new long[] {BATCH, 3}, _ -> random.nextGaussian());
            Tensor output = said.apply(Map.of(INPUT, batch)).firstEntry().getValue();
            for (long j = 0; j < output.size(); j++) {
                numbers.add(output.getDouble(j));
            }
        }
        return numbers;
    }

    @Test
    void whatWasSaidIsNotAskedForAgain() {
        try (Testimony first = testimony(0, TestimonyTest::sound);
                Testimony second = testimony(0, TestimonyTest::sound).heldAgainst(first)) {
            List<Double> said = all(first);
            assertEquals(BATCHES, asked);
            assertEquals(said, all(second));
            assertEquals(2 * BATCHES, asked);
            assertEquals(0, second.difference());
            assertEquals(0, second.judged());
        }
    }

    @Test
    void aNetworkThatSaysTheSameIsAskedAboutTheRest() {
        try (Testimony judge = testimony(0, TestimonyTest::sound);
                Testimony few = testimony(BATCH + 1, TestimonyTest::sound).heldAgainst(judge)) {
            List<Double> expected = all(judge);
            asked = 0;
            List<Double> said = all(few);
            assertEquals(2, asked);
            assertEquals(BATCH + 1, few.judged());
            for (int i = 0; i < said.size(); i++) {
                assertEquals(expected.get(i), said.get(i), 1e-5);
            }
            assertTrue(few.difference() < 1e-5, () -> "difference " + few.difference());
            assertTrue(notes.isEmpty(), notes::toString);
            all(few::again);
            assertEquals(2, asked, "the network was believed, and is asked");
        }
    }

    @Test
    void aNetworkThatSaysSomethingElseIsNotBelieved() {
        Graph other = Mlp.ofVectors(4, 3, List.of(5), Weights.seeded(2));
        try (Testimony few = testimony(BATCH, () -> new Network(other, Device.CPU))) {
            List<Double> said = all(few);
            assertEquals(BATCHES, asked);
            assertEquals(0, few.judged());
            assertEquals(1, notes.size(), notes::toString);
            assertEquals(all(runtime::run), said);
            assertEquals(said, all(few::again));
            assertEquals(2 * BATCHES, asked);
        }
    }

    /** The difference is that of the batches in which they differ. */
    @Test
    void aDifferenceIsSeen() {
        try (Testimony first = testimony(0, TestimonyTest::sound);
                Testimony second = new Testimony(
                                inputs -> {
                                    SequencedMap<String, Tensor> moved = new LinkedHashMap<>();
                                    ask(inputs)
                                            .forEach((name, tensor) -> moved.put(
                                                    name,
                                                    Tensor.compute(
                                                            tensor.type(),
                                                            tensor.shape(),
                                                            i -> tensor.getDouble(i)
                                                                    + (asked == 7 && i == 2 ? 0.5 : 0))));
                                    return moved;
                                },
                                0,
                                TestimonyTest::sound,
                                notes::add)
                        .heldAgainst(first)) {
            all(first);
            all(second);
            assertEquals(0.5, second.difference(), 1e-6);
        }
    }
}
