package dev.espalier.graph.op;

import dev.espalier.graph.type.Shape;
import java.util.List;
import java.util.stream.LongStream;

/**
 * The same elements with the axes in another order.
 *
 * @param permutation for each axis of the output, the axis of the input it comes from
 */
public record Transpose(List<Long> permutation) implements Operator {

    /** Checks that it is a permutation. */
    public Transpose {
        permutation = List.copyOf(permutation);
        Operands.require(
                permutation.stream()
                        .sorted()
                        .toList()
                        .equals(LongStream.range(0, permutation.size()).boxed().toList()),
                permutation + " is no permutation of axes");
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        Shape input = inputs.shape(0);
        inputs.requireRank(0, permutation.size());
        Fact result = Fact.of(
                inputs.data(0), new Shape(permutation.stream().map(input::get).toList()));
        return List.of(input.rank() <= 1 ? inputs.get(0) : result);
    }
}
