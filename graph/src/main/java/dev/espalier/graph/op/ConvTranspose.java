package dev.espalier.graph.op;

import dev.espalier.core.check.Check;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * The transpose of a convolution: every element of {@code [batch, in, …]} adds its multiple of the weights
 * {@code [in, out / groups, …]} to the output, in steps of the stride; and, optionally, a bias {@code [out]}.
 *
 * @param windows how the weights slide over the output; pads are cut off it
 * @param added elements added behind the end of each axis
 * @param groups number of parts that the channels fall into, each on its own
 */
public record ConvTranspose(Windows windows, List<Long> added, long groups) implements Operator {

    /** Checks that everything fits. */
    public ConvTranspose {
        added = List.copyOf(added);
        Check.atLeast("groups", groups, 1);
        Operands.require(
                added.size() == windows.axes() && added.stream().allMatch(count -> count >= 0),
                "output_padding " + added + " must be one number, not below 0, for each of " + windows.axes()
                        + " axes");
    }

    @Override
    public int leastInputs() {
        return 2;
    }

    @Override
    public int mostInputs() {
        return 3;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        inputs.requireType(0, Types.FLOATS);
        Shape input = inputs.shape(0);
        Shape weight = inputs.shape(1);
        inputs.requireRank(1, windows.axes() + 2);
        inputs.requireRank(0, windows.axes() + 2);
        Operands.requireSame("channels of the input and of the weights", input.get(1), weight.get(0));
        Dimension in = weight.get(0);
        Operands.require(
                !in.isKnown() || in.value() % groups == 0, in + " channels do not fall into " + groups + " groups");
        Dimension out = weight.get(1).times(groups);
        if (inputs.has(2)) {
            inputs.requireRank(2, 1);
            Operands.requireSame("filters and biases", out, inputs.shape(2).get(0));
        }
        List<Dimension> shape = new ArrayList<>(List.of(input.get(0), out));
        for (int axis = 0; axis < windows.axes(); axis++) {
            shape.add(length(axis, input.get(axis + 2), weight.get(axis + 2).value()));
        }
        return List.of(Fact.of(inputs.data(0), new Shape(shape)));
    }

    private Dimension length(int axis, Dimension length, long kernel) {
        long window = Math.addExact(Math.multiplyExact(windows.dilations().get(axis), kernel - 1), 1);
        long cut = Math.addExact(windows.pads().get(axis), windows.pads().get(axis + windows.axes()));
        Dimension result =
                length.plus(-1).times(windows.strides().get(axis)).plus(Math.addExact(window, added.get(axis)) - cut);
        Operands.require(
                !result.isKnown() || result.value() >= 1, "pads " + windows.pads() + " leave nothing of axis " + axis);
        return result;
    }

    /** For every input element a product and a sum for every weight of its channel, and the bias. */
    @Override
    public Dimension flops(Operands inputs, List<Fact> outputs) {
        Shape weight = inputs.shape(1);
        Dimension perElement = weight.size().dividedBy(weight.get(0)).times(2);
        Dimension sums = inputs.shape(0).size().times(perElement);
        return inputs.has(2) ? sums.plus(outputs.getFirst().shape().size()) : sums;
    }
}
