package dev.espalier.graph.onnx;

import static dev.espalier.graph.onnx.OnnxBuilder.whole;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.pass.SinglePrecision;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Models of half precision keep their types, and can be had in single precision. */
final class HalfPrecisionTest {
    private static final int HALF = 10;

    /** As converters to half precision write it: casts behind the inputs, or none. */
    private static OnnxBuilder model(boolean casts) {
        OnnxBuilder builder = new OnnxBuilder(17);
        builder.typed("x", casts ? DataType.FLOAT32 : DataType.FLOAT16, 0, "N", 8);
        if (casts) {
            builder.node("Cast", "x", "h", whole("to", HALF));
        } else {
            builder.node("Identity", "x", "h");
        }
        builder.initializer("w", Tensor.compute(DataType.FLOAT16, new long[] {8, 6}, i -> Math.sin((double) i)))
                .initializer("b", Tensor.compute(DataType.FLOAT16, new long[] {6}, i -> i / 7.0))
                .node("MatMul", "h w", "p")
                .node("Add", "p b", "s")
                .node("Relu", "s", "r");
        if (casts) {
            return builder.node("Cast", "r", "y", whole("to", 1)).output("y");
        }
        return builder.output("r");
    }

    @Test
    void whatIsWrittenComputesTheSameInTheSameTypes() throws Exception {
        for (boolean casts : new boolean[] {true, false}) {
            OnnxBuilder builder = model(casts);
            Graph graph = OnnxReader.read(builder.bytes()).graph();
            graph.tensors(Kind.PARAMETER).values().forEach(weight -> assertEquals(DataType.FLOAT16, weight.type()));
            assertEquals(2, graph.tensors(Kind.PARAMETER).size());
            byte[] written = OnnxWriter.toBytes(graph, OnnxWriter.Options.DEFAULT);
            List<Tensor> expected = OnnxRuntime.run(builder.bytes(), builder.feeds);
            OnnxRuntime.assertClose(expected, OnnxRuntime.run(written, builder.feeds), 0);
            OnnxRuntime.assertSameInitializers(graph, OnnxReader.read(written).graph(), true);
        }
    }

    @Test
    void inSinglePrecisionItComputesNearlyTheSame() throws Exception {
        for (boolean casts : new boolean[] {true, false}) {
            OnnxBuilder builder = model(casts);
            Graph graph = OnnxReader.read(builder.bytes()).graph();
            Graph single = SinglePrecision.of(graph);
            assertSame(single, SinglePrecision.of(single));
            Map<String, Tensor> feeds = new TreeMap<>();
            builder.feeds.forEach((name, tensor) -> feeds.put(name, tensor.cast(DataType.FLOAT32)));
            List<Tensor> expected = OnnxRuntime.run(builder.bytes(), builder.feeds).stream()
                    .map(tensor -> tensor.cast(DataType.FLOAT32))
                    .toList();
            OnnxRuntime.assertClose(
                    expected, List.copyOf(Evaluator.run(single, feeds).values()), 5e-3);
            Graph outside = SinglePrecision.outside(graph);
            assertEquals(casts, outside == graph);
            byte[] written = OnnxWriter.toBytes(outside, OnnxWriter.Options.DEFAULT);
            // A processor without arithmetic in half precision leaves out roundings between two casts.
            OnnxRuntime.assertClose(expected, OnnxRuntime.run(written, feeds), 1e-3);
            assertTrue(outside.tensors(Kind.PARAMETER).values().stream()
                    .allMatch(weight -> weight.type() == DataType.FLOAT16));
        }
    }
}
