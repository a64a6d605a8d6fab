package dev.espalier.graph.op;

import java.util.List;

/**
 * The lengths of a tensor, as a list of whole numbers.
 *
 * @param start the first axis; negative ones count from the end
 * @param end behind the last axis; negative ones count from the end, and it is clipped
 */
public record ShapeOf(long start, long end) implements Operator {

    /** All axes. */
    public static final ShapeOf ALL = new ShapeOf(0, Long.MAX_VALUE);

    @Override
    public String label() {
        return "Shape";
    }

    @Override
    public boolean readsOnlyShape() {
        return true;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        int rank = inputs.shape(0).rank();
        return List.of(Fact.ofElements(inputs.shape(0).dimensions().subList(from(rank), to(rank))));
    }

    /**
     * The first axis that is told.
     *
     * @param rank how many axes the tensor has
     * @return its index from the front
     */
    public int from(int rank) {
        return clip(start, rank);
    }

    /**
     * Behind the last axis that is told.
     *
     * @param rank how many axes the tensor has
     * @return an index from the front, not before {@link #from}
     */
    public int to(int rank) {
        return Math.max(clip(end, rank), from(rank));
    }

    private static int clip(long axis, int rank) {
        return (int) Math.clamp(axis < 0 ? axis + rank : axis, 0L, (long) rank);
    }
}
