package dev.espalier.graph.onnx;

import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.op.Fact;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Operands;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Computes what does not depend on the model's inputs, within bounds that a hostile file cannot stretch. */
final class Folding {
    /** A constant of more elements stays the node that makes it. */
    private static final long MOST_ELEMENTS = 1 << 22;
    /** Elements that all constants together may have. */
    private static final long MOST_KEPT = 1 << 25;
    /** Elements and operations that all folding together may take, besides reading the weights a few times. */
    private static final long MOST_WORK = 1 << 28;

    private long kept = MOST_KEPT;
    private long work;

    /** Folding for a model that brings along a number of elements. */
    Folding(long elements) {
        work = Math.addExact(MOST_WORK, Math.multiplyExact(4, Math.min(elements, Long.MAX_VALUE / 16)));
    }

    /** Whether an operator keeps all elements and changes but where, or as what, they are stored. */
    static boolean isLayout(Operator operator) {
        return operator instanceof Transpose
                || operator instanceof Reshape
                || operator instanceof Flatten
                || operator instanceof Squeeze
                || operator instanceof Unsqueeze
                || operator instanceof Cast;
    }

    /** The outputs, if inference alone can tell what is in them; else null. */
    static @Nullable List<Tensor> shapes(List<Fact> results) {
        List<Tensor> constants = new ArrayList<>();
        for (Fact result : results) {
            Tensor constant = result.constant();
            if (constant == null) {
                return null;
            }
            constants.add(constant);
        }
        return constants;
    }

    /** The outputs, computed; null if that would take too much. */
    @Nullable
    List<Tensor> fold(Operator operator, Operands operands, List<Fact> results, List<@Nullable Tensor> inputs) {
        if (operator instanceof Dropout) {
            return null;
        }
        long read = inputs.stream()
                .mapToLong(input -> input == null ? 0 : input.size())
                .sum();
        Dimension flops = operator.flops(operands, results);
        long made = 0;
        for (Fact result : results) {
            Dimension size = result.shape().size();
            if (!size.isKnown()) {
                // Ranges of fractions, for which only evaluation tells the length, are bounded by the evaluator.
                made += MOST_ELEMENTS;
            } else if (size.value() < 0 || size.value() > Math.max(MOST_ELEMENTS, read)) {
                return null;
            } else {
                made += size.value();
            }
        }
        long effort = made + read + (flops.isKnown() ? Math.clamp(flops.value(), 0, MOST_WORK) : MOST_ELEMENTS);
        boolean layout = isLayout(operator);
        if (effort > work || (!layout && made > kept)) {
            return null;
        }
        List<Tensor> tensors = Evaluator.fold(operator, inputs);
        if (tensors != null) {
            work -= effort;
            kept -= layout ? 0 : tensors.stream().mapToLong(Tensor::size).sum();
        }
        return tensors;
    }
}
