package dev.espalier.core.group;

import java.util.List;

/**
 * Groups that span several tensors: group {@code g} is the union of every part's group {@code g}.
 *
 * <p>Query, key and value of one input dimension of an attention layer are the typical case.
 *
 * @param parts the groups of each tensor, equal in number
 */
public record JointGroups(List<AxisGroups> parts) implements Groups {

    /** Checks that the parts can be joined. */
    public JointGroups {
        parts = List.copyOf(parts);
        if (parts.isEmpty()) {
            throw new IllegalArgumentException("parts = [] is out of range: it must hold at least one tensor's groups");
        }
        List<Integer> counts = parts.stream().map(AxisGroups::count).distinct().toList();
        if (counts.size() != 1) {
            throw new IllegalArgumentException(
                    "parts have " + counts + " groups: joint groups need the same number in every tensor");
        }
    }

    @Override
    public int count() {
        return parts.getFirst().count();
    }

    @Override
    public int size(int group) {
        return parts.stream().mapToInt(part -> part.size(group)).reduce(0, Math::addExact);
    }

    @Override
    public List<Long> tensorSizes() {
        return parts.stream().map(part -> part.tensorSizes().getFirst()).toList();
    }

    @Override
    public void forEach(int group, PlaceVisitor visitor) {
        for (int tensor = 0; tensor < parts.size(); tensor++) {
            int here = tensor;
            parts.get(tensor).forEach(group, (zero, index) -> visitor.visit(here, index));
        }
    }
}
