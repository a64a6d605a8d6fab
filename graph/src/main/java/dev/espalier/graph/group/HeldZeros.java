package dev.espalier.graph.group;

import dev.espalier.group.AxisGroups;
import dev.espalier.group.IndexGroups;
import dev.espalier.group.JointGroups;
import dev.espalier.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * Groups that stay zero while the rest of the model is trained on: what heals a sparse model from the shrinkage of its
 * penalty. {@link #hold} says which, once; {@link #apply} sets them to exactly zero again after every step.
 */
public final class HeldZeros {
    private static final byte HELD = 1;

    private final List<Layer> layers;

    /** A layer, and {@link #HELD} for each of its groups that is held. */
    @SuppressWarnings("ArrayRecordComponent") // live state; nobody compares these records
    private record Layer(LayerGroups groups, byte[] held) {}

    /**
     * Zero groups of a model, none to begin with.
     *
     * @param groups the model's groups
     */
    public HeldZeros(ModelGroups groups) {
        layers = groups.layers().stream()
                .map(layer -> new Layer(layer, new byte[layer.groups().count()]))
                .toList();
    }

    /**
     * From now on holds the groups that are small, and no others. The weights are left as they are until {@link #apply}.
     *
     * @param weights the model's weights by name
     * @param threshold t: groups with {@code ‖x_g‖ ≤ t·√|g|} are held; 0 for those that are exactly zero
     */
    public void hold(Map<String, TensorView> weights, double threshold) {
        for (Layer layer : layers) {
            boolean[] small = layer.groups().small(weights, threshold);
            for (int group = 0; group < small.length; group++) {
                layer.held()[group] = small[group] ? HELD : 0;
            }
        }
    }

    /**
     * Number of groups that are held.
     *
     * @return of all layers
     */
    public int count() {
        int count = 0;
        for (Layer layer : layers) {
            for (byte held : layer.held()) {
                count += held;
            }
        }
        return count;
    }

    /**
     * Sets the held groups to exactly zero.
     *
     * @param weights the model's weights by name; written in place
     */
    public void apply(Map<String, TensorView> weights) {
        for (Layer layer : layers) {
            List<TensorView> views = layer.groups().views(weights);
            byte[] held = layer.held();
            switch (layer.groups().groups()) {
                case AxisGroups axis -> clear(axis, held, views.getFirst());
                case JointGroups joint -> {
                    for (int tensor = 0; tensor < views.size(); tensor++) {
                        clear(joint.parts().get(tensor), held, views.get(tensor));
                    }
                }
                case IndexGroups indexed -> {
                    for (int group = 0; group < held.length; group++) {
                        if (held[group] == HELD) {
                            indexed.forEach(
                                    group, (tensor, index) -> views.get(tensor).set(index, 0));
                        }
                    }
                }
            }
        }
    }

    /** Row by row, as the memory lies, and neighbours in one go. */
    private static void clear(AxisGroups axis, byte[] held, TensorView view) {
        List<Stretch> stretches = stretches(held, axis.inner());
        long columns = (long) axis.count() * axis.inner();
        for (long row = 0; row < axis.outer(); row++) {
            for (Stretch stretch : stretches) {
                clear(view, row * columns + stretch.from(), stretch.length());
            }
        }
    }

    /** Consecutive columns of held groups. */
    private record Stretch(long from, long length) {}

    private static List<Stretch> stretches(byte[] held, int inner) {
        List<Stretch> stretches = new ArrayList<>();
        int from = 0;
        for (int group = 0; group <= held.length; group++) {
            if (group == held.length || held[group] != HELD) {
                if (group > from) {
                    stretches.add(new Stretch((long) from * inner, (long) (group - from) * inner));
                }
                from = group + 1;
            }
        }
        return stretches;
    }

    private static void clear(TensorView view, long from, long length) {
        if (view.contiguous()) {
            long bytes = view.type().bytes();
            view.segment().asSlice(from * bytes, length * bytes).fill((byte) 0);
        } else {
            for (long index = from; index < from + length; index++) {
                view.set(index, 0);
            }
        }
    }

    /**
     * Which groups are held, as live memory by name: whoever saves it and later reads it back holds the same ones.
     *
     * @return the memory, in a fixed order
     */
    public SequencedMap<String, MemorySegment> state() {
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        for (Layer layer : layers) {
            state.put("held/" + layer.groups().name(), MemorySegment.ofArray(layer.held()));
        }
        return state;
    }
}
