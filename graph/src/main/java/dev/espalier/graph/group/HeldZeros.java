package dev.espalier.graph.group;

import dev.espalier.core.check.Check;
import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.group.ZeroPlaces;
import dev.espalier.core.numeric.Norm;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Groups that stay zero while the rest of the model is trained on: what heals a sparse model from the shrinkage of its
 * penalty. {@link #hold} says which, once; {@link #apply} sets them to exactly zero again after every step. Groups within
 * groups are held as well.
 */
public final class HeldZeros {
    private static final byte HELD = 1;

    private final List<Layer> layers;

    /**
     * A layer.
     *
     * @param groups its groups
     * @param held {@link #HELD} for each of them that is held
     * @param within the same for the groups within them: first the first of each, then the second of each, and so on; empty
     *     if they do not nest
     */
    @SuppressWarnings("ArrayRecordComponent") // live state; nobody compares these records
    private record Layer(LayerGroups groups, byte[] held, byte[] within) {
        static Layer of(LayerGroups groups) {
            int count = groups.groups().count();
            int mostWithin = groups.groups() instanceof NestedGroups nested
                    ? IntStream.range(0, count)
                            .map(group -> innerGroups(nested.owners(group)))
                            .max()
                            .orElse(0)
                    : 0;
            return new Layer(groups, new byte[count], new byte[Math.multiplyExact(count, mostWithin)]);
        }

        int place(int group, int inner) {
            return inner * held.length + group;
        }
    }

    private static int innerGroups(int[] owners) {
        return Arrays.stream(owners).max().orElse(-1) + 1;
    }

    /**
     * Zero groups of a model, none to begin with.
     *
     * @param groups the model's groups
     */
    public HeldZeros(ModelGroups groups) {
        layers = groups.layers().stream().map(Layer::of).toList();
    }

    /**
     * From now on holds the groups that are small, and no others. The weights are left as they are until {@link #apply}. Where
     * groups nest, an outer one is small if it is so without the inner ones that are, as in
     * {@link dev.espalier.core.prox.Regularizer#threshold}.
     *
     * @param weights the model's weights by name
     * @param threshold t: groups with {@code ‖x_g‖ ≤ t·√|g|} are held; 0 for those that are exactly zero
     */
    public void hold(Map<String, TensorView> weights, double threshold) {
        for (Layer layer : layers) {
            if (layer.groups().groups() instanceof NestedGroups nested) {
                Check.notNegative("threshold", threshold);
                hold(layer, nested, layer.groups().views(weights), threshold);
                continue;
            }
            boolean[] small = layer.groups().small(weights, threshold);
            for (int group = 0; group < small.length; group++) {
                layer.held()[group] = small[group] ? HELD : 0;
            }
        }
    }

    /**
     * From now on holds some groups more.
     *
     * @param chosen the numbers of groups, by their layer
     */
    public void hold(Map<LayerGroups, List<Integer>> chosen) {
        for (Layer layer : layers) {
            chosen.getOrDefault(layer.groups(), List.of()).forEach(group -> layer.held()[group] = HELD);
        }
    }

    private static void hold(Layer layer, NestedGroups nested, List<TensorView> views, double threshold) {
        for (int group = 0; group < layer.held().length; group++) {
            double[] values = nested.gather(group, views);
            int[] owners = nested.owners(group);
            for (int inner = 0; inner < innerGroups(owners); inner++) {
                int here = inner;
                int[] members = IntStream.range(0, owners.length)
                        .filter(i -> owners[i] == here)
                        .toArray();
                boolean small = isSmall(
                        Arrays.stream(members).mapToDouble(i -> values[i]).toArray(), threshold);
                layer.within()[layer.place(group, inner)] = small ? HELD : 0;
                if (small) {
                    Arrays.stream(members).forEach(i -> values[i] = 0);
                }
            }
            layer.held()[group] = isSmall(values, threshold) ? HELD : 0;
        }
    }

    private static boolean isSmall(double[] values, double threshold) {
        return Norm.of(values) <= threshold * Math.sqrt(values.length);
    }

    /**
     * Whether nothing is held.
     *
     * @return true if {@link #apply} has nothing to do
     */
    public boolean isEmpty() {
        return layers.stream().allMatch(layer -> isClear(layer.held()) && isClear(layer.within()));
    }

    private static boolean isClear(byte[] held) {
        for (byte one : held) {
            if (one == HELD) {
                return false;
            }
        }
        return true;
    }

    /**
     * Number of groups that are held, without those within groups.
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
            List<ZeroPlaces> places = places(layer);
            for (int tensor = 0; tensor < views.size(); tensor++) {
                places.get(tensor).clear(views.get(tensor));
            }
        }
    }

    /**
     * Which weights {@link #apply} sets to zero.
     *
     * @return where they are in each parameter that has any, by name
     */
    public SequencedMap<String, List<ZeroPlaces>> places() {
        SequencedMap<String, List<ZeroPlaces>> found = new LinkedHashMap<>();
        for (Layer layer : layers) {
            List<ZeroPlaces> places = places(layer);
            for (int tensor = 0; tensor < places.size(); tensor++) {
                if (!places.get(tensor).places().isEmpty()) {
                    found.computeIfAbsent(layer.groups().parameters().get(tensor), _ -> new ArrayList<>())
                            .add(places.get(tensor));
                }
            }
        }
        return found;
    }

    /** The same of each of a layer's tensors, whether it has any or not. */
    private static List<ZeroPlaces> places(Layer layer) {
        return switch (layer.groups().groups()) {
            case AxisGroups axis -> List.of(new ZeroPlaces(axis, bits(layer.held())));
            case JointGroups joint ->
                joint.parts().stream()
                        .map(part -> new ZeroPlaces(part, bits(layer.held())))
                        .toList();
            case NestedGroups(JointGroups joint, NestedGroups.Inner.Parts _) ->
                IntStream.range(0, joint.parts().size())
                        .mapToObj(part -> new ZeroPlaces(joint.parts().get(part), bits(held(layer, part))))
                        .toList();
            case NestedGroups nested -> single(nested, (group, owner) -> isHeld(layer, group, owner), nested::owners);
            case IndexGroups index ->
                single(index, (group, _) -> layer.held()[group] == HELD, group -> new int[index.size(group)]);
        };
    }

    private static BitSet bits(byte[] held) {
        BitSet bits = new BitSet();
        for (int group = 0; group < held.length; group++) {
            bits.set(group, held[group] == HELD);
        }
        return bits;
    }

    /** Which groups are held in one part of a joint group: by themselves, or with the whole. */
    private static byte[] held(Layer layer, int part) {
        byte[] held = layer.held().clone();
        for (int group = 0; group < held.length; group++) {
            held[group] |= layer.within()[layer.place(group, part)];
        }
        return held;
    }

    private static boolean isHeld(Layer layer, int group, int owner) {
        return layer.held()[group] == HELD || (owner >= 0 && layer.within()[layer.place(group, owner)] == HELD);
    }

    /** Whether a weight is held, by its group and by which one within that owns it. */
    @FunctionalInterface
    private interface Holds {
        boolean test(int group, int owner);
    }

    /** Weight by weight, where groups do not lie along an axis. */
    private static List<ZeroPlaces> single(Groups groups, Holds holds, IntFunction<int[]> owners) {
        List<BitSet> held = groups.tensorSizes().stream().map(_ -> new BitSet()).toList();
        for (int group = 0; group < groups.count(); group++) {
            int here = group;
            int[] own = owners.apply(group);
            int[] next = {0};
            groups.forEach(group, (tensor, index) -> {
                if (holds.test(here, own[next[0]++])) {
                    held.get(tensor).set(Math.toIntExact(index));
                }
            });
        }
        return IntStream.range(0, held.size())
                .mapToObj(tensor ->
                        new ZeroPlaces(AxisGroups.single(groups.tensorSizes().get(tensor)), held.get(tensor)))
                .toList();
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
            if (layer.within().length > 0) {
                state.put("held within/" + layer.groups().name(), MemorySegment.ofArray(layer.within()));
            }
        }
        return state;
    }
}
