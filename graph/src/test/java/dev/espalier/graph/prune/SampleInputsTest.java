package dev.espalier.graph.prune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class SampleInputsTest {
    private static final SampleInputs SAMPLES = new SampleInputs(8, 40, 1);

    /** Words and kinds of words by their places in tables, the former by way of other operators; a mask and bytes. */
    private static Graph model() {
        GraphBuilder graph = new GraphBuilder("tables");
        Value ids = graph.input("ids", DataType.INT32, "batch", "words");
        Value kinds = graph.input("kinds", DataType.INT64, "batch", "words");
        Value mask = graph.input("mask", DataType.INT64, "batch", "words");
        Value bytes = graph.input("bytes", DataType.UINT8, "batch", "words");
        Value turned =
                graph.add("turn", new Transpose(List.of(1L, 0L)), graph.add("cast", new Cast(DataType.INT64), ids));
        Value words = graph.add("words", new Gather(0), graph.parameter("table", table(20)), turned);
        Value kind = graph.add("kind", new Gather(0), graph.parameter("kinds.table", table(3)), kinds);
        Value masked = graph.add("masked", new Cast(DataType.FLOAT32), mask);
        Value light = graph.add("light", new Cast(DataType.FLOAT32), bytes);
        return graph.outputs(words, kind, graph.add("sum", new Binary(Binary.Function.ADD), masked, light));
    }

    private static Tensor table(long rows) {
        return Tensor.compute(DataType.FLOAT32, new long[] {rows, 2}, Math::sin);
    }

    private static Set<Long> values(Map<String, Tensor> inputs, String name) {
        Tensor tensor = Objects.requireNonNull(inputs.get(name));
        Set<Long> values = new TreeSet<>();
        LongStream.range(0, tensor.size()).forEach(i -> values.add((long) tensor.getDouble(i)));
        return values;
    }

    @Test
    void lengthsAreLongerWhereWindowsDoNotFit() {
        GraphBuilder graph = new GraphBuilder("windows");
        Value sound = graph.input("sound", DataType.FLOAT32, "batch", 1, "samples");
        Value kernel = graph.parameter("kernel", Tensor.compute(DataType.FLOAT32, new long[] {1, 1, 100}, Math::sin));
        Conv conv = new Conv(new Windows(List.of(1L), List.of(0L, 0L), List.of(1L)), 1);
        Graph model = graph.outputs(graph.add("conv", conv, sound, kernel));
        SampleInputs samples = new SampleInputs(1, 16, 1);
        assertEquals(Map.of("batch", 1L, "samples", 128L), samples.accepted(model, Map.of()));
        assertEquals(Map.of("batch", 3L, "samples", 128L), samples.accepted(model, Map.of("batch", 3L)));
        assertThrows(GraphException.class, () -> samples.accepted(model, Map.of("samples", 50L)));
    }

    @Test
    void wholeNumbersTakeEveryValueThatTheyMay() {
        Map<String, Tensor> inputs = SAMPLES.draw(model());
        assertEquals(Set.copyOf(LongStream.range(0, 20).boxed().toList()), values(inputs, "ids"));
        assertEquals(Set.of(0L, 1L, 2L), values(inputs, "kinds"));
        assertEquals(Set.of(0L, 1L), values(inputs, "mask"));
        assertTrue(values(inputs, "bytes").size() > 100);
        Tensor mask = Objects.requireNonNull(inputs.get("mask"));
        for (long row = 0; row < 8; row++) {
            assertEquals(1, mask.getDouble(40 * row), "a sequence without a first word");
        }
    }

    @Test
    void lengthsAreThoseThatWereAskedFor() {
        Map<String, Tensor> inputs = SAMPLES.draw(model(), Map.of("batch", 2L, "words", 5L), 1, false);
        inputs.values().forEach(tensor -> assertEquals(10, tensor.size()));
        assertEquals(Set.of(1L), values(inputs, "mask"));
        assertThrows(IllegalArgumentException.class, () -> SAMPLES.draw(model(), Map.of("batch", 2L), 1, true));
    }

    /** A window of 50, and three channels. */
    @Test
    void aLengthThatDoesNotFitIsAnother() {
        GraphBuilder graph = new GraphBuilder("window");
        Value x = graph.input("x", DataType.FLOAT32, "batch", "channels", "height", "width");
        Tensor kernel = Tensor.compute(DataType.FLOAT32, new long[] {1, 3, 50, 50}, Math::sin);
        Graph model = graph.outputs(
                graph.add("conv", new Conv(Windows.square(1, 0), 1), x, graph.parameter("kernel", kernel)));
        assertEquals(
                Map.of("batch", 2L, "channels", 3L, "height", 64L, "width", 64L),
                SampleInputs.DEFAULT.dimensions(model));
        assertEquals(
                Map.of("batch", 2L, "channels", 3L, "height", 51L, "width", 51L),
                new SampleInputs(2, 51, 1).dimensions(model));
        assertEquals(Map.of("batch", 2L, "words", 16L), SampleInputs.DEFAULT.dimensions(model()));
    }
}
