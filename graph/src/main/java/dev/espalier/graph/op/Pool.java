package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * The largest element or the mean of each window, channel by channel.
 *
 * @param function which of the two
 * @param kernel the lengths of the window
 * @param windows how it slides over the input
 * @param roundUp true to keep a last window that hangs over the end
 * @param countPadding true if a mean counts the padding's zeros too
 */
public record Pool(Function function, List<Long> kernel, Windows windows, boolean roundUp, boolean countPadding)
        implements Operator {

    /** What is made of a window. */
    public enum Function {
        /** Its largest element. */
        MAX("MaxPool", "GlobalMaxPool"),
        /** The mean of its elements. */
        AVERAGE("AveragePool", "GlobalAveragePool");

        private final String label;
        private final String globalLabel;

        Function(String label, String globalLabel) {
            this.label = label;
            this.globalLabel = globalLabel;
        }

        String globalLabel() {
            return globalLabel;
        }
    }

    /** Checks the window. */
    public Pool {
        kernel = List.copyOf(kernel);
        Operands.require(
                kernel.size() == windows.axes() && kernel.stream().allMatch(length -> length >= 1),
                "window " + kernel + " must have " + windows.axes() + " lengths of at least 1");
    }

    @Override
    public String label() {
        return function.label;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        inputs.requireType(0, function == Function.MAX ? Types.FLOATS_OR_BYTES : Types.FLOATS);
        Shape input = inputs.shape(0);
        inputs.requireRank(0, windows.axes() + 2);
        List<Dimension> shape = new ArrayList<>(List.of(input.get(0), input.get(1)));
        shape.addAll(windows.slide(input, kernel, roundUp));
        return List.of(Fact.of(inputs.data(0), new Shape(shape)));
    }

    @Override
    public Dimension flops(Operands inputs, List<Fact> outputs) {
        return outputs.getFirst().shape().size().times(kernel.stream().reduce(1L, Math::multiplyExact));
    }
}
