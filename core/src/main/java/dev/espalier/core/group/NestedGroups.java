package dev.espalier.core.group;

import dev.espalier.core.check.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Groups with groups within them, a tree of two levels: the groups are the outer ones, and each weight of an outer group is
 * in one of its inner groups, or in none.
 *
 * <p>Query, key and value of one input dimension of an attention layer are the typical case: one outer group for the three,
 * and each of the three an inner one.
 *
 * @param outer the outer groups
 * @param inner what lies within them
 */
public record NestedGroups(Groups outer, Inner inner) implements Groups {
    /** The owner of a weight that is in no inner group. */
    private static final int NONE = -1;

    /** What lies within the outer groups. */
    public sealed interface Inner {
        /** Every tensor's share of a joint group. */
        record Parts() implements Inner {}

        /**
         * Anything, place by place.
         *
         * @param owners for every outer group and each of its places, in their order, the number of the inner group, from 0;
         *     −1 for a weight that is in none
         */
        record Listed(List<List<Integer>> owners) implements Inner {
            /** Takes a copy. */
            public Listed {
                owners = owners.stream().map(List::copyOf).toList();
            }
        }
    }

    /** Checks that the two levels fit. */
    public NestedGroups {
        if (outer instanceof NestedGroups) {
            throw new IllegalArgumentException("outer = " + outer + " nests already: there are two levels, not three");
        }
        switch (inner) {
            case Inner.Parts() -> {
                if (!(outer instanceof JointGroups)) {
                    throw new IllegalArgumentException(
                            "outer = " + outer + " has no parts: give joint groups, or the inner groups by name");
                }
            }
            case Inner.Listed(var owners) -> {
                Check.sameSize("list of owners", owners.size(), "the outer groups", outer.count());
                for (int group = 0; group < outer.count(); group++) {
                    requireNumbered(group, owners.get(group), outer.size(group));
                }
            }
        }
    }

    private static void requireNumbered(int group, List<Integer> owners, int size) {
        Check.sameSize("owners of group " + group, owners.size(), "the group", size);
        int[] distinct =
                owners.stream().mapToInt(Integer::intValue).distinct().sorted().toArray();
        int first = distinct[0] == NONE ? NONE : 0;
        for (int i = 0; i < distinct.length; i++) {
            if (distinct[i] != first + i) {
                throw new IllegalArgumentException("group %d has inner groups %s: they must be numbered 0, 1, …"
                        .formatted(group, Arrays.toString(distinct)));
            }
        }
    }

    /**
     * {@return a joint group, and within it each tensor's share of it}
     *
     * @param joint the outer groups
     */
    public static NestedGroups ofParts(JointGroups joint) {
        return new NestedGroups(joint, new Inner.Parts());
    }

    /**
     * Any groups within any others of the same tensors. A weight of an outer group may be in no inner one.
     *
     * @param outer the outer groups
     * @param inner the inner groups; each lies within one outer group
     * @return the groups
     */
    public static NestedGroups of(Groups outer, Groups inner) {
        if (!outer.tensorSizes().equals(inner.tensorSizes())) {
            throw new IllegalArgumentException("the outer groups lie in tensors of %s elements, the inner ones of %s"
                    .formatted(outer.tensorSizes(), inner.tensorSizes()));
        }
        List<int[]> innerAt = new ArrayList<>();
        for (long size : outer.tensorSizes()) {
            int[] none = new int[Math.toIntExact(size)];
            Arrays.fill(none, NONE);
            innerAt.add(none);
        }
        for (int group = 0; group < inner.count(); group++) {
            int here = group;
            inner.forEach(group, (tensor, index) -> innerAt.get(tensor)[Math.toIntExact(index)] = here);
        }
        int[] seen = new int[inner.count()];
        List<List<Integer>> owners = new ArrayList<>();
        for (int group = 0; group < outer.count(); group++) {
            owners.add(numbered(outer, group, innerAt, seen));
        }
        for (int group = 0; group < seen.length; group++) {
            if (seen[group] != inner.size(group)) {
                throw new IllegalArgumentException(
                        "inner group %d has %d weights but only %d of them in one outer group: groups must nest"
                                .formatted(group, inner.size(group), seen[group]));
            }
        }
        return new NestedGroups(outer, new Inner.Listed(owners));
    }

    /** The inner groups of an outer one, numbered in the order in which they come. Counts the weights of each. */
    private static List<Integer> numbered(Groups outer, int group, List<int[]> innerAt, int[] seen) {
        List<Integer> owners = new ArrayList<>();
        Map<Integer, Integer> numbers = new HashMap<>();
        outer.forEach(group, (tensor, index) -> {
            int inner = innerAt.get(tensor)[Math.toIntExact(index)];
            if (inner == NONE) {
                owners.add(NONE);
                return;
            }
            Integer number = numbers.get(inner);
            if (number == null) {
                number = numbers.size();
                numbers.put(inner, number);
                seen[inner] = 0; // anew: it must lie in this outer group with all its weights
            }
            seen[inner]++;
            owners.add(number);
        });
        return owners;
    }

    /**
     * Which inner group each weight of an outer group is in.
     *
     * @param group which outer group, from 0
     * @return for every place, in order, the number of the inner group, from 0; −1 for none
     */
    public int[] owners(int group) {
        return switch (inner) {
            case Inner.Parts() -> {
                int[] owners = new int[size(group)];
                int next = 0;
                List<AxisGroups> parts = ((JointGroups) outer).parts();
                for (int part = 0; part < parts.size(); part++) {
                    int end = next + parts.get(part).size(group);
                    Arrays.fill(owners, next, end, part);
                    next = end;
                }
                yield owners;
            }
            case Inner.Listed(var owners) ->
                owners.get(group).stream().mapToInt(Integer::intValue).toArray();
        };
    }

    @Override
    public int count() {
        return outer.count();
    }

    @Override
    public int size(int group) {
        return outer.size(group);
    }

    @Override
    public List<Long> tensorSizes() {
        return outer.tensorSizes();
    }

    @Override
    public void forEach(int group, PlaceVisitor visitor) {
        outer.forEach(group, visitor);
    }
}
