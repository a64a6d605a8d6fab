package dev.espalier.graph.pass;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Gives the inputs of a graph other shapes where exporters have written one shape down: a model that was shown a single sample may
 * say so in its inputs, and again in the constants of its reshapes. What a reshape does to the batch is told by the axes before it:
 * they hold as many elements on both sides.
 */
public final class FreeBatch {
    private final Graph fixed;
    private final GraphBuilder free;

    private FreeBatch(Graph fixed) {
        this.fixed = fixed;
        this.free = new GraphBuilder(fixed.name());
    }

    /**
     * Frees the batch.
     *
     * @param fixed the graph
     * @param inputs its inputs, with symbols in place of some lengths
     * @return the graph with these inputs; where its own lengths fit, it computes the same
     * @throws GraphException if some node needs the lengths that were there
     */
    public static Graph of(Graph fixed, List<Graph.Input> inputs) {
        return new FreeBatch(fixed).rewritten(inputs).withMetadata(fixed.metadata());
    }

    private Graph rewritten(List<Graph.Input> inputs) {
        for (Graph.Input input : inputs) {
            free.input(
                    input.name(),
                    input.type().data(),
                    input.type().shape().dimensions().toArray());
        }
        fixed.initializers().forEach((name, initializer) -> {
            switch (initializer.kind()) {
                case PARAMETER -> free.parameter(name, initializer.tensor());
                case BUFFER -> free.buffer(name, initializer.tensor());
                case CONSTANT -> free.constant(name, initializer.tensor());
            }
        });
        fixed.nodes()
                .forEach(node -> free.addAll(node.operator() instanceof Reshape reshape ? freed(node, reshape) : node));
        return DeadNodes.remove(
                free.outputs(fixed.outputs().stream().map(free::value).toArray(Value[]::new)));
    }

    private Node freed(Node node, Reshape reshape) {
        Shape before = fixed.shape(node.input(0));
        Shape now = free.value(node.input(0)).shape();
        long @Nullable [] target = target(node);
        if (target == null || before.equals(now)) {
            return node;
        }
        Shape shaped = fixed.shape(node.output());
        int from = IntStream.range(0, now.rank())
                .filter(axis -> !now.get(axis).equals(before.get(axis)))
                .findFirst()
                .orElseThrow();
        OptionalInt to = place(before, from, shaped);
        if (to.isEmpty() || target[to.getAsInt()] <= 0) {
            return node; // it keeps the length there, or takes what is left
        }
        int axis = to.getAsInt();
        boolean same = axis == from && shaped.get(axis).equals(before.get(from));
        if (same && !reshape.zeroIsZero()) {
            target[axis] = 0;
        } else if (IntStream.range(0, shaped.rank())
                .allMatch(other -> other == axis || shaped.get(other).isKnown())) {
            for (int other = 0; other < target.length; other++) {
                target[other] = other == axis ? -1 : shaped.get(other).value();
            }
        } else {
            return node;
        }
        String name = node.name() + "/free_shape";
        free.constant(name, Tensor.computeLongs(DataType.INT64, new long[] {target.length}, i -> target[(int) i]));
        return new Node(node.name(), reshape, List.of(node.input(0), name), node.outputs());
    }

    /** The shape that a reshape has as a constant; null if it is computed, and follows by itself. */
    private long @Nullable [] target(Node node) {
        Tensor constant = fixed.tensor(node.input(1));
        if (constant == null) {
            return null;
        }
        return IntStream.range(0, (int) constant.size())
                .mapToLong(constant::getLong)
                .toArray();
    }

    /** The axis behind which an axis of another shape lies after a reshape: its own number if that is possible. */
    private static OptionalInt place(Shape before, int from, Shape after) {
        Dimension outer = outer(before, from);
        List<Integer> possible = new ArrayList<>();
        for (int axis = 0; axis < after.rank(); axis++) {
            if (outer(after, axis).equals(outer)) {
                possible.add(axis);
            }
        }
        return possible.contains(from)
                ? OptionalInt.of(from)
                : possible.stream().mapToInt(Integer::intValue).findFirst();
    }

    /** How many elements the axes before an axis have. */
    private static Dimension outer(Shape shape, int axis) {
        return new Shape(shape.dimensions().subList(0, axis)).size();
    }
}
