package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.TensorType;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Numbers in equal steps. Inputs: the first, the end, which is left out, and the step. */
public record Range() implements Operator {

    @Override
    public int leastInputs() {
        return 3;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        Dimension start = scalar(inputs, 0);
        Dimension end = scalar(inputs, 1);
        Dimension step = scalar(inputs, 2);
        if (start == null || end == null || step == null || !step.isKnown()) {
            return List.of(Fact.of(inputs.data(0), Shape.of(inputs.unknown("length"))));
        }
        Operands.require(!step.is(0), "a step of 0");
        Dimension span = end.minus(start);
        Dimension count = span.plus(step.value() - Long.signum(step.value()))
                .dividedBy(step)
                .max(Dimension.ZERO);
        boolean known = count.isKnown() && count.value() <= 64;
        return List.of(new Fact(
                new TensorType(inputs.data(0), Shape.of(count)),
                known
                        ? LongStream.range(0, count.value())
                                .mapToObj(i -> start.plus(step.times(i)))
                                .toList()
                        : null));
    }

    private static @Nullable Dimension scalar(Operands inputs, int index) {
        List<Dimension> elements = inputs.elements(index);
        return elements == null || elements.size() != 1 ? null : elements.getFirst();
    }
}
