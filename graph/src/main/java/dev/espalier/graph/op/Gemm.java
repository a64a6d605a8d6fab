package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.List;

/**
 * {@code alpha · A B + beta · C} of matrices; C is optional and broadcast.
 *
 * @param alpha the weight of the product
 * @param beta the weight of the bias
 * @param transposeA true to use Aᵀ
 * @param transposeB true to use Bᵀ, as the linear layers of PyTorch do
 */
public record Gemm(double alpha, double beta, boolean transposeA, boolean transposeB) implements Operator {

    /** A linear layer with weights {@code [out, in]}: {@code A Bᵀ + C}. */
    public static final Gemm LINEAR = new Gemm(1, 1, false, true);

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
        inputs.requireType(0, Types.WIDE);
        inputs.requireRank(0, 2);
        inputs.requireRank(1, 2);
        Shape a = inputs.shape(0);
        Shape b = inputs.shape(1);
        Operands.requireSame("the inner lengths", a.get(transposeA ? 0 : 1), b.get(transposeB ? 1 : 0));
        Shape product = Shape.of(a.get(transposeA ? 1 : 0), b.get(transposeB ? 0 : 1));
        if (inputs.has(2)) {
            inputs.requireBroadcastTo(2, product);
        }
        return List.of(Fact.of(inputs.data(0), product));
    }

    @Override
    public Dimension flops(Operands inputs, List<Fact> outputs) {
        Dimension inner = inputs.shape(1).get(transposeB ? 1 : 0);
        return outputs.getFirst().shape().size().times(inner.times(2).plus(inputs.has(2) ? 1 : 0));
    }
}
