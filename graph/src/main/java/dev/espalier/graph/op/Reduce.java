package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.TensorType;
import java.util.List;
import java.util.SortedSet;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * One number in place of all elements along some axes.
 *
 * @param function how they are summed up
 * @param axes which axes; negative ones count from the end; none for all
 * @param keep true to keep those axes with a length of one
 */
public record Reduce(Function function, List<Long> axes, boolean keep) implements Operator {

    /** The functions, under ONNX's names. */
    public enum Function {
        /** The mean. */
        MEAN("ReduceMean"),
        /** The sum. */
        SUM("ReduceSum"),
        /** The largest. */
        MAX("ReduceMax"),
        /** The smallest. */
        MIN("ReduceMin"),
        /** The product. */
        PRODUCT("ReduceProd"),
        /** The sum of absolute values. */
        L1("ReduceL1"),
        /** The root of the sum of squares. */
        L2("ReduceL2"),
        /** The sum of squares. */
        SUM_OF_SQUARES("ReduceSumSquare"),
        /** The logarithm of the sum of exponentials. */
        LOG_SUM_EXP("ReduceLogSumExp");

        private final String label;

        Function(String label) {
            this.label = label;
        }
    }

    /** Takes a copy. */
    public Reduce {
        axes = List.copyOf(axes);
    }

    @Override
    public String label() {
        return function.label;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        boolean extreme = function == Function.MAX || function == Function.MIN;
        inputs.requireType(0, extreme ? Types.WIDE_OR_BYTES : Types.WIDE);
        Shape shape =
                Axes.collapse(inputs.shape(0), resolvedAxes(inputs.shape(0).rank()), keep);
        return List.of(new Fact(new TensorType(inputs.data(0), shape), elements(inputs)));
    }

    /**
     * The axes as indices from the front.
     *
     * @param rank how many axes the input has
     * @return the axes, sorted
     */
    public SortedSet<Integer> resolvedAxes(int rank) {
        return Axes.resolve(axes.isEmpty() ? LongStream.range(0, rank).boxed().toList() : axes, rank);
    }

    private @Nullable List<Dimension> elements(Operands inputs) {
        List<Dimension> elements = inputs.elements(0);
        if (elements == null || inputs.shape(0).rank() != 1) {
            return null;
        }
        try {
            return switch (function) {
                case SUM -> List.of(elements.stream().reduce(Dimension.ZERO, Dimension::plus));
                case PRODUCT -> List.of(elements.stream().reduce(Dimension.ONE, Dimension::times));
                case MEAN, MAX, MIN, L1, L2, SUM_OF_SQUARES, LOG_SUM_EXP -> null;
            };
        } catch (ArithmeticException wrapsAround) {
            // Such numbers are no lengths.
            return null;
        }
    }

    @Override
    public Dimension flops(Operands inputs, List<Fact> outputs) {
        return inputs.shape(0).size();
    }
}
