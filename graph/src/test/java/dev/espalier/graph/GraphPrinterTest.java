package dev.espalier.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import org.junit.jupiter.api.Test;

final class GraphPrinterTest {

    private static Graph model() {
        GraphBuilder graph = new GraphBuilder("two \"layers\"");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 3);
        Value weight = graph.parameter("fc.weight", Tensor.of(new float[6], 2, 3));
        Value bias = graph.parameter("fc.bias", Tensor.of(new float[2]));
        return graph.outputs(
                graph.add("relu", new Unary(Unary.Function.RELU), graph.add("fc", Gemm.LINEAR, x, weight, bias)));
    }

    @Test
    void theTableCountsWeightsAndOperations() {
        assertEquals("""
                node   operator  output       parameters     FLOPs
                fc     Gemm      [batch × 2]           8  14*batch
                relu   Relu      [batch × 2]               2*batch
                total                                  8  16*batch
                """, GraphPrinter.table(model()));
    }

    @Test
    void theDrawingHasEveryNodeAndEdge() {
        String drawing = GraphPrinter.graphviz(model());
        assertTrue(drawing.startsWith("digraph \"two \\\"layers\\\"\" {\n"), drawing);
        for (String line : new String[] {
            "\"in:x\" -> \"fc\" [label=\"[batch × 3]\"];",
            "\"fc\" -> \"relu\" [label=\"[batch × 2]\"];",
            "\"relu\" -> \"out:relu\" [label=\"[batch × 2]\"];",
            "\"fc\" [label=\"Gemm\\nfc\\nfc.weight [2 × 3]\\nfc.bias [2]\"];",
        }) {
            assertTrue(drawing.contains(line), () -> line + " is missing in\n" + drawing);
        }
    }
}
