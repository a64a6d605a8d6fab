package dev.espalier.graph.prune;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The channels of a tensor that are left, in ascending order, and the lengths of the smaller tensor along the axes of its
 * channels: the product of the lengths is the number of channels, so the tensor is dense again.
 *
 * @param channels all channels
 * @param left those that are left
 * @param lengths of the smaller tensor, one for each axis of the channels
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares these records, and nobody outside the package sees them
record Kept(Channels channels, int[] left, List<Integer> lengths) {

    static Kept all(Channels channels) {
        return new Kept(channels, channels.all(), channels.lengths());
    }

    /**
     * The smallest dense tensor that holds the wanted channels. Along one axis that is just these. Along two, every place
     * of the first axis must have equally many places of the second: a head with fewer live dimensions than another is
     * filled up with dead ones.
     */
    static Kept of(Channels channels, BitSet wanted) {
        if (channels.axes().size() <= 1) {
            int[] left = wanted.stream().toArray();
            return new Kept(channels, left, channels.none() ? List.of() : List.of(left.length));
        }
        List<Integer> lengths = new ArrayList<>();
        List<int[]> prefixes = List.of(new int[0]);
        for (int axis = 0; axis < channels.axes().size(); axis++) {
            List<BitSet> live = new ArrayList<>();
            for (int[] prefix : prefixes) {
                live.add(livePlaces(channels, wanted, prefix));
            }
            int count = live.stream().mapToInt(BitSet::cardinality).max().orElse(0);
            lengths.add(count);
            List<int[]> longer = new ArrayList<>();
            for (int i = 0; i < prefixes.size(); i++) {
                int[] prefix = prefixes.get(i);
                fill(live.get(i), count).stream()
                        .forEach(place -> longer.add(IntStream.concat(Arrays.stream(prefix), IntStream.of(place))
                                .toArray()));
            }
            prefixes = longer;
        }
        return new Kept(channels, prefixes.stream().mapToInt(channels::channel).toArray(), lengths);
    }

    private static BitSet livePlaces(Channels channels, BitSet wanted, int[] prefix) {
        BitSet live = new BitSet();
        wanted.stream().mapToObj(channels::places).forEach(places -> {
            if (Arrays.equals(places, 0, prefix.length, prefix, 0, prefix.length)) {
                live.set(places[prefix.length]);
            }
        });
        return live;
    }

    /** Adds the lowest places until there are enough. */
    static BitSet fill(BitSet places, int count) {
        while (places.cardinality() < count) {
            places.set(places.nextClearBit(0));
        }
        return places;
    }

    boolean whole() {
        return left.length == channels.count();
    }

    boolean sameAs(Kept other) {
        return channels.equals(other.channels) && Arrays.equals(left, other.left);
    }

    /** What is left in the order in which it lies in the tensor: by the axes as they follow each other. */
    int[] inOrderOfAxes() {
        List<Integer> axes = channels.axes();
        List<Integer> order = IntStream.range(0, axes.size())
                .boxed()
                .sorted(Comparator.comparing(axes::get))
                .toList();
        Channels own = new Channels(axes, lengths);
        Channels sorted = new Channels(
                order.stream().map(axes::get).toList(),
                order.stream().map(lengths::get).toList());
        return Arrays.stream(sorted.all())
                .map(position -> {
                    int[] sortedPlaces = sorted.places(position);
                    int[] places = new int[sortedPlaces.length];
                    for (int i = 0; i < places.length; i++) {
                        places[order.get(i)] = sortedPlaces[i];
                    }
                    return left[own.channel(places)];
                })
                .toArray();
    }

    BitSet set() {
        return bits(left);
    }

    static BitSet bits(int[] members) {
        BitSet set = new BitSet();
        Arrays.stream(members).forEach(set::set);
        return set;
    }
}
