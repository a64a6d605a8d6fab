package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import java.util.List;

/**
 * A tensor with some elements replaced: {@code result[…, indices[…, i, …], …] = updates[…, i, …]}. Inputs: the tensor, the
 * indices, the updates; negative indices count from the end.
 *
 * @param axis the axis that the indices are positions along
 * @param reduction what becomes of the element that was there
 */
public record ScatterElements(long axis, Reduction reduction) implements Operator {

    /** What becomes of the element that was there. */
    public enum Reduction {
        /** It is replaced. */
        NONE,
        /** The update is added to it. */
        ADD,
        /** It is multiplied with the update. */
        MUL,
        /** The larger of the two. */
        MAX,
        /** The smaller of the two. */
        MIN
    }

    @Override
    public int leastInputs() {
        return 3;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        inputs.shape(0).axis(axis);
        inputs.requireRank(1, inputs.shape(0).rank());
        inputs.requireRank(2, inputs.shape(0).rank());
        Operands.require(
                inputs.data(2) == inputs.data(0),
                "updates of " + inputs.data(2) + " do not fit a tensor of " + inputs.data(0));
        for (int i = 0; i < inputs.shape(1).rank(); i++) {
            Dimension length = inputs.shape(1).get(i);
            Operands.requireSame("indices and updates", length, inputs.shape(2).get(i));
        }
        return List.of(Fact.of(inputs.data(0), inputs.shape(0)));
    }
}
