package dev.espalier.graph.prune;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
        // What is left along the axes so far, counted like channels of these axes alone.
        List<Integer> prefixes = List.of(0);
        int inner = channels.count();
        for (int length : channels.lengths()) {
            inner /= length;
            Map<Integer, BitSet> live = livePlaces(wanted, length, inner);
            int count = prefixes.stream()
                    .mapToInt(prefix -> live.getOrDefault(prefix, new BitSet()).cardinality())
                    .max()
                    .orElse(0);
            lengths.add(count);
            List<Integer> longer = new ArrayList<>();
            for (int prefix : prefixes) {
                fill(live.getOrDefault(prefix, new BitSet()), count).stream()
                        .forEach(place -> longer.add(prefix * length + place));
            }
            prefixes = longer;
        }
        return new Kept(channels, prefixes.stream().mapToInt(Integer::intValue).toArray(), lengths);
    }

    /** For every combination of places along the axes before, the places along an axis at which there is a wanted channel. */
    private static Map<Integer, BitSet> livePlaces(BitSet wanted, int length, int inner) {
        Map<Integer, BitSet> live = new HashMap<>();
        wanted.stream()
                .map(channel -> channel / inner)
                .forEach(place -> live.computeIfAbsent(place / length, prefix -> new BitSet())
                        .set(place % length));
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

    /** How much shorter the smaller tensor is along each axis, of those that no channels are along too. */
    long[] gone(int rank) {
        long[] gone = new long[rank];
        for (int i = 0; i < lengths.size(); i++) {
            gone[channels.axes().get(i)] = (long) channels.lengths().get(i) - lengths.get(i);
        }
        return gone;
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
