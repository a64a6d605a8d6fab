package dev.espalier.graph.op;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the inputs of a node.
 *
 * @param facts one for each input; null for an optional one that is left out
 * @param label the name of the node, from which the names of unknown lengths are made
 */
public record Operands(List<@Nullable Fact> facts, String label) {
    private static final int MOST_AXES = 64;

    /**
     * Number of inputs, those left out included.
     *
     * @return how many
     */
    public int count() {
        return facts.size();
    }

    /**
     * Whether an optional input is there.
     *
     * @param index which input
     * @return false if it is left out
     */
    public boolean has(int index) {
        return index < facts.size() && facts.get(index) != null;
    }

    /**
     * {@return what is known of an input}
     *
     * @param index which input
     */
    public Fact get(int index) {
        Fact fact = index < facts.size() ? facts.get(index) : null;
        if (fact == null) {
            throw new IllegalArgumentException("input " + index + " is missing");
        }
        return fact;
    }

    /**
     * {@return the shape of an input}
     *
     * @param index which input
     */
    public Shape shape(int index) {
        return get(index).shape();
    }

    /**
     * How the numbers of an input are stored.
     *
     * @param index which input
     * @return their type
     */
    public DataType data(int index) {
        return get(index).data();
    }

    /**
     * The contents of an input that came from shapes.
     *
     * @param index which input
     * @return its numbers; null if they are not known
     */
    public @Nullable List<Dimension> elements(int index) {
        return get(index).elements();
    }

    /**
     * A length that cannot be known before the graph is run.
     *
     * @param what what it is the length of, in a word
     * @return a symbol of its own
     */
    public Dimension unknown(String what) {
        return Dimension.symbol(label + "." + what);
    }

    /**
     * A shape that cannot be known before the graph is run.
     *
     * @param rank how many axes it has
     * @return a symbol of its own for each axis
     */
    public Shape unknownShape(Dimension rank) {
        require(rank.isKnown() && rank.value() <= MOST_AXES, "the number of axes is not known");
        return new Shape(LongStream.range(0, rank.value())
                .mapToObj(axis -> unknown("length" + axis))
                .toList());
    }

    /**
     * Requires an input to have a number of axes.
     *
     * @param index which input
     * @param rank how many axes it must have
     */
    public void requireRank(int index, int rank) {
        if (shape(index).rank() != rank) {
            throw new IllegalArgumentException(
                    "input %d has shape %s but needs %d axes".formatted(index, shape(index), rank));
        }
    }

    /**
     * Requires an input to be of a type that ONNX admits.
     *
     * @param index which input
     * @param admitted the types
     */
    void requireType(int index, Set<DataType> admitted) {
        require(
                admitted.contains(data(index)),
                "input %d is of type %s: it must be one of %s".formatted(index, data(index), admitted));
    }

    /**
     * Requires two lengths to agree, as far as they are known.
     *
     * @param what what the lengths are, for the message
     * @param length one
     * @param other the other
     */
    public static void requireSame(String what, Dimension length, Dimension other) {
        if (length.isKnown() && other.isKnown() && !length.equals(other)) {
            throw new IllegalArgumentException(what + " do not fit: " + length + " and " + other);
        }
    }

    /**
     * Requires an input to be stretched to a shape without stretching the shape, as far as lengths are known.
     *
     * @param index which input
     * @param target the shape
     */
    public void requireBroadcastTo(int index, Shape target) {
        Shape own = shape(index);
        boolean fits = own.rank() <= target.rank();
        for (int fromEnd = 1; fits && fromEnd <= own.rank(); fromEnd++) {
            Dimension length = own.get(-fromEnd);
            Dimension wanted = target.get(-fromEnd);
            fits = length.is(1) || !length.isKnown() || !wanted.isKnown() || length.equals(wanted);
        }
        require(fits, "input " + index + " of shape " + own + " does not broadcast to " + target);
    }

    /**
     * Requires a condition.
     *
     * @param holds the condition
     * @param problem what is wrong if it does not hold
     */
    public static void require(boolean holds, String problem) {
        if (!holds) {
            throw new IllegalArgumentException(problem);
        }
    }
}
