package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The second input where the first is true, else the third; all three are broadcast to each other. */
public record Where() implements Operator {

    @Override
    public int leastInputs() {
        return 3;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        Operands.require(
                inputs.data(1) == inputs.data(2),
                "inputs of types " + inputs.data(1) + " and " + inputs.data(2) + " cannot be combined");
        inputs.requireType(0, Types.TRUTHS);
        Shape shape = inputs.shape(0).broadcast(inputs.shape(1)).broadcast(inputs.shape(2));
        return List.of(new Fact(new TensorType(inputs.data(1), shape), elements(inputs)));
    }

    private static @Nullable List<Dimension> elements(Operands inputs) {
        List<Dimension> condition = inputs.elements(0);
        List<Dimension> yes = inputs.elements(1);
        List<Dimension> no = inputs.elements(2);
        if (condition == null || yes == null || no == null) {
            return null;
        }
        boolean alike =
                inputs.shape(0).equals(inputs.shape(1)) && inputs.shape(0).equals(inputs.shape(2));
        if (!alike || !condition.stream().allMatch(Dimension::isKnown)) {
            return null;
        }
        List<Dimension> chosen = new ArrayList<>();
        for (int i = 0; i < condition.size(); i++) {
            chosen.add(condition.get(i).is(0) ? no.get(i) : yes.get(i));
        }
        return chosen;
    }

    @Override
    public Dimension flops(Operands inputs, List<Fact> outputs) {
        return outputs.getFirst().shape().size();
    }
}
