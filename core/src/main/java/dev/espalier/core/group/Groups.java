package dev.espalier.core.group;

import dev.espalier.core.tensor.TensorView;
import java.util.List;

/**
 * Disjoint groups of weights in one or more tensors.
 *
 * <p>A group is a list of places; a place is a tensor of the list and a logical index in it. Weights in no group are
 * free: no penalty touches them.
 */
public sealed interface Groups permits AxisGroups, JointGroups, IndexGroups, NestedGroups {

    /** Receives the places of a group, one by one, always in the same order. */
    @FunctionalInterface
    interface PlaceVisitor {
        /**
         * One place.
         *
         * @param tensor which tensor of the list
         * @param index logical index of the weight in it
         */
        void visit(int tensor, long index);
    }

    /**
     * Number of groups.
     *
     * @return how many there are
     */
    int count();

    /**
     * Number of weights of a group, the |g| of the formulas.
     *
     * @param group which group, from 0
     * @return its size
     */
    int size(int group);

    /**
     * Sizes of the tensors that the groups lie in.
     *
     * @return number of elements of each tensor, in the order the groups address them
     */
    List<Long> tensorSizes();

    /**
     * Visits the places of a group.
     *
     * @param group which group, from 0
     * @param visitor receives them
     */
    void forEach(int group, PlaceVisitor visitor);

    /**
     * Reads the weights of a group.
     *
     * @param group which group, from 0
     * @param tensors the tensors to read
     * @return its weights, in the order of its places
     */
    default double[] gather(int group, List<TensorView> tensors) {
        double[] values = new double[size(group)];
        int[] next = {0};
        forEach(
                group,
                (tensor, index) -> values[next[0]++] = tensors.get(tensor).get(index));
        return values;
    }

    /**
     * Writes the weights of a group, rounded to the tensors' element types.
     *
     * @param group which group, from 0
     * @param values its weights, in the order of its places
     * @param tensors the tensors to write
     */
    default void scatter(int group, double[] values, List<TensorView> tensors) {
        int[] next = {0};
        forEach(group, (tensor, index) -> tensors.get(tensor).set(index, values[next[0]++]));
    }

    /**
     * Requires a list of tensors to be what the groups were made for.
     *
     * @param name what the caller calls the list
     * @param tensors the list
     */
    default void requireFit(String name, List<TensorView> tensors) {
        List<Long> expected = tensorSizes();
        List<Long> actual = tensors.stream().map(TensorView::size).toList();
        if (!expected.equals(actual)) {
            throw new IllegalArgumentException(
                    "%s does not fit the groups: its tensors have %s elements, the groups need %s"
                            .formatted(name, actual, expected));
        }
    }
}
