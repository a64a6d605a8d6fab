package dev.espalier.graph.prune;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Neighbouring axes of a tensor and the axes that a reshape makes of them: the same elements, counted otherwise.
 *
 * @param inputStart the first axis of the input
 * @param inputEnd behind the last axis of the input
 * @param outputStart the first axis of the output
 * @param outputEnd behind the last axis of the output
 */
record Regrouping(int inputStart, int inputEnd, int outputStart, int outputEnd) {

    boolean holdsInput(int axis) {
        return axis >= inputStart && axis < inputEnd;
    }

    boolean joins() {
        return inputEnd - inputStart > 1;
    }

    boolean cuts() {
        return outputEnd - outputStart > 1;
    }

    /** The smallest parts with equally many elements; null if symbols hide them. */
    static @Nullable List<Regrouping> between(Shape from, Shape to) {
        List<Regrouping> parts = new ArrayList<>();
        int input = 0;
        int output = 0;
        while (input < from.rank() && output < to.rank()) {
            int inputStart = input;
            int outputStart = output;
            Dimension left = from.get(input++);
            Dimension right = to.get(output++);
            while (!left.equals(right)) {
                boolean extendLeft = isSmaller(left, right);
                if (!extendLeft && !isSmaller(right, left)) {
                    return null;
                }
                if (extendLeft && input < from.rank()) {
                    left = left.times(from.get(input++));
                } else if (!extendLeft && output < to.rank()) {
                    right = right.times(to.get(output++));
                } else {
                    return null;
                }
            }
            parts.add(new Regrouping(inputStart, input, outputStart, output));
        }
        // Only ones can be left: they belong to the last part.
        if ((input < from.rank() || output < to.rank()) && !parts.isEmpty()) {
            Regrouping last = parts.removeLast();
            parts.add(new Regrouping(last.inputStart, from.rank(), last.outputStart, to.rank()));
        }
        return parts;
    }

    private static boolean isSmaller(Dimension left, Dimension right) {
        if (left.isKnown() && right.isKnown()) {
            return left.value() < right.value();
        }
        // A true divisor times its quotient is the dividend again; a rounded one is not.
        return !left.is(0)
                && !right.equals(Dimension.ONE)
                && right.dividedBy(left).times(left).equals(right);
    }

    /** From channels of the output to channels of the input; null if a length is not known. */
    static int @Nullable [] map(Shape from, Shape to, Channels input, Channels output, List<Regrouping> parts) {
        int[] map = new int[output.count()];
        List<Regrouping> moving = parts.stream()
                .filter(part -> input.axes().stream().anyMatch(part::holdsInput))
                .toList();
        for (int channel = 0; channel < map.length; channel++) {
            int[] outputPlaces = output.places(channel);
            int[] inputPlaces = new int[input.axes().size()];
            for (Regrouping part : moving) {
                if (!part.move(from, to, input, output, outputPlaces, inputPlaces)) {
                    return null;
                }
            }
            map[channel] = input.channel(inputPlaces);
        }
        return map;
    }

    private boolean move(Shape from, Shape to, Channels input, Channels output, int[] outputPlaces, int[] inputPlaces) {
        long flat = 0;
        for (int axis = outputStart; axis < outputEnd; axis++) {
            int position = output.axes().indexOf(axis);
            if (!to.get(axis).isKnown()) {
                return false;
            }
            flat = flat * to.get(axis).value() + (position < 0 ? 0 : outputPlaces[position]);
        }
        for (int axis = inputEnd - 1; axis >= inputStart; axis--) {
            if (!from.get(axis).isKnown()) {
                return false;
            }
            int position = input.axes().indexOf(axis);
            if (position >= 0) {
                inputPlaces[position] = (int) (flat % from.get(axis).value());
            }
            flat /= from.get(axis).value();
        }
        return true;
    }
}
