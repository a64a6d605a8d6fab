package dev.espalier.graph.prune;

import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The axes of a tensor along which it can be made smaller, and with them its channels: one for each combination of places
 * along these axes, in row-major order. The channels of an image are along axis 1; those of a tensor of attention heads
 * are along two axes, the heads and the dimensions of a head.
 *
 * @param axes which axes, the most significant first; none if the tensor can only be taken whole
 * @param lengths how long they are
 */
record Channels(List<Integer> axes, List<Integer> lengths) {
    /** Of a tensor that can only be taken whole. */
    static final Channels NONE = new Channels(List.of(), List.of());

    /** Beyond this many, channels are not followed one by one. */
    private static final long MOST = 1L << 20;

    Channels {
        axes = List.copyOf(axes);
        lengths = List.copyOf(lengths);
    }

    /** The channels of a tensor along some axes; none if a length is not known, or if there is nothing to follow. */
    static Channels along(Shape shape, List<Integer> axes) {
        long size = 1;
        List<Integer> lengths = new ArrayList<>();
        for (int axis : axes) {
            if (!shape.get(axis).isKnown()) {
                return NONE;
            }
            size *= shape.get(axis).value();
            if (size == 0 || size > MOST) {
                return NONE;
            }
            lengths.add((int) shape.get(axis).value());
        }
        return new Channels(axes, lengths);
    }

    static Channels along(Shape shape, int axis) {
        return along(shape, List.of(shape.axis(axis)));
    }

    boolean none() {
        return axes.isEmpty();
    }

    int count() {
        int count = 1;
        for (int length : lengths) { // no stream: asked for at every turn of many loops
            count = Math.multiplyExact(count, length);
        }
        return count;
    }

    /** The places of a channel along each axis. */
    int[] places(int channel) {
        int[] places = new int[axes.size()];
        int rest = channel;
        for (int i = places.length - 1; i >= 0; i--) {
            places[i] = rest % lengths.get(i);
            rest /= lengths.get(i);
        }
        return places;
    }

    /** The channel at given places. */
    int channel(int[] places) {
        int channel = 0;
        for (int i = 0; i < places.length; i++) {
            channel = channel * lengths.get(i) + places[i];
        }
        return channel;
    }

    /** All channels. */
    int[] all() {
        return IntStream.range(0, count()).toArray();
    }
}
