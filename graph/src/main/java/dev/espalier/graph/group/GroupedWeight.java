package dev.espalier.graph.group;

import dev.espalier.graph.Node;
import java.util.List;

/**
 * A weight in groups: mostly its input channels.
 *
 * @param parameter its name
 * @param axis the axis of the parameter that the groups lie along: that of its input channels (where a convolution falls into
 *     parts, those of one part), or of the outputs that are dealt out to heads
 * @param nodes the nodes that read it along that axis; more than one if it is shared
 */
public record GroupedWeight(String parameter, int axis, List<Node> nodes) {
    /** Takes a copy. */
    public GroupedWeight {
        nodes = List.copyOf(nodes);
    }
}
