package dev.espalier.graph.onnx;

import dev.espalier.graph.op.Elementwise.Gelu;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.type.Shape;
import java.util.List;
import java.util.stream.LongStream;

/** Operators that older versions do not have, written as what they are made of. */
final class Decomposition {
    private Decomposition() {}

    /** {@code x/2 · (1 + erf(x/√2))}, or {@code x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))}. */
    static void gelu(Gelu gelu, NodeWriting node) {
        if (node.opset() >= 20) {
            node.text("approximate", gelu.approximate() ? "tanh" : "none");
            return;
        }
        String x = node.input(0);
        String inner;
        if (gelu.approximate()) {
            String cube = node.step("Mul", node.step("Mul", x, x), x);
            String sum = node.step("Add", x, node.step("Mul", cube, node.scalar(0.044715)));
            inner = node.step("Tanh", node.step("Mul", sum, node.scalar(Math.sqrt(2 / Math.PI))));
        } else {
            inner = node.step("Erf", node.step("Div", x, node.scalar(Math.sqrt(2))));
        }
        String half = node.step("Mul", x, node.scalar(0.5));
        node.become("Mul", half, node.step("Add", inner, node.scalar(1)));
    }

    /** {@code (x − mean) / √(variance + epsilon) · scale + shift}. */
    static void layerNorm(LayerNorm norm, NodeWriting node) {
        if (node.opset() >= 17) {
            node.whole("axis", norm.axis()).number("epsilon", norm.epsilon());
            return;
        }
        int rank = node.rank(0);
        List<Long> axes =
                LongStream.range(Shape.axis(norm.axis(), rank), rank).boxed().toList();
        String x = node.input(0);
        String centred = node.step("Sub", x, node.mean(x, axes));
        String variance = node.mean(node.step("Mul", centred, centred), axes);
        String deviation = node.step("Sqrt", node.step("Add", variance, node.scalar(norm.epsilon())));
        String normal = node.step("Div", centred, deviation);
        if (node.has(2)) {
            node.become("Add", node.step("Mul", normal, node.input(1)), node.input(2));
        } else {
            node.become("Mul", normal, node.input(1));
        }
    }
}
