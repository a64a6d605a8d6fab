package dev.espalier.core.group;

import dev.espalier.core.check.Check;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Arbitrary groups of one tensor, each a list of logical indices. Weights in no list are free.
 *
 * @param tensorSize number of elements of the tensor
 * @param indices the members of each group
 */
public record IndexGroups(long tensorSize, List<List<Long>> indices) implements Groups {

    /** Copies the lists and checks that they are disjoint, inside the tensor and not empty. */
    public IndexGroups {
        Check.atLeast("tensorSize", tensorSize, 1);
        Check.atLeast("number of groups", indices.size(), 1);
        List<List<Long>> copies = new ArrayList<>();
        Map<Long, Integer> owners = new HashMap<>();
        for (int group = 0; group < indices.size(); group++) {
            List<Long> members = List.copyOf(indices.get(group));
            Check.atLeast("size of group " + group, members.size(), 1);
            for (long index : members) {
                if (index < 0 || index >= tensorSize) {
                    throw new IllegalArgumentException("index %d of group %d is out of range: it must be 0 to %d"
                            .formatted(index, group, tensorSize - 1));
                }
                Integer owner = owners.put(index, group);
                if (owner != null) {
                    throw new IllegalArgumentException(
                            "index %d is in group %d and again in group %d: groups must be disjoint"
                                    .formatted(index, owner, group));
                }
            }
            copies.add(members);
        }
        indices = List.copyOf(copies);
    }

    @Override
    public int count() {
        return indices.size();
    }

    @Override
    public int size(int group) {
        return indices.get(group).size();
    }

    @Override
    public List<Long> tensorSizes() {
        return List.of(tensorSize);
    }

    @Override
    public void forEach(int group, PlaceVisitor visitor) {
        for (long index : indices.get(group)) {
            visitor.visit(0, index);
        }
    }
}
