package dev.espalier.graph.op;

import dev.espalier.core.check.Check;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * Convolution of {@code [batch, in, …]} with weights {@code [out, in / groups, …]} and, optionally, a bias
 * {@code [out]}.
 *
 * @param windows how the weights slide over the input
 * @param groups number of parts that the channels fall into, each convolved on its own
 */
public record Conv(Windows windows, long groups) implements Operator {

    /** Checks the number of groups. */
    public Conv {
        Check.atLeast("groups", groups, 1);
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
        Operands.requireSame(
                "channels of the input and of the weights",
                input.get(1),
                weight.get(1).times(groups));
        Dimension out = weight.get(0);
        Operands.require(
                !out.isKnown() || out.value() % groups == 0, out + " filters do not fall into " + groups + " groups");
        if (inputs.has(2)) {
            inputs.requireRank(2, 1);
            Operands.requireSame("filters and biases", out, inputs.shape(2).get(0));
        }
        List<Dimension> shape = new ArrayList<>(List.of(input.get(0), out));
        shape.addAll(windows.slide(input, kernel(weight), false));
        return List.of(Fact.of(inputs.data(0), new Shape(shape)));
    }

    private static List<Long> kernel(Shape weight) {
        return weight.dimensions().stream().skip(2).map(Dimension::value).toList();
    }

    /** For every output element a product and a sum for every weight of its filter, and the bias. */
    @Override
    public Dimension flops(Operands inputs, List<Fact> outputs) {
        Shape weight = inputs.shape(1);
        Dimension perElement = weight.size().dividedBy(weight.get(0)).times(2).plus(inputs.has(2) ? 1 : 0);
        return outputs.getFirst().shape().size().times(perElement);
    }
}
