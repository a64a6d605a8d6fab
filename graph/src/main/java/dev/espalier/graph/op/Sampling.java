package dev.espalier.graph.op;

import java.util.Arrays;

/**
 * How a resized axis takes its elements from the axis before: where a position of the result lies on it, and which
 * elements around that count how much. In the precision in which ONNX Runtime does it, and with its tolerance: a position that
 * falls on an element, or just between two, must fall to the same side.
 *
 * @param mode which elements count
 * @param coordinates where a position lies
 * @param rounding which neighbour is the nearest
 * @param cubic the coefficient a of the cubic interpolation
 * @param excludesOutside whether elements that cubic interpolation would take from behind an end count nothing; if not, the
 *     last element stands for them
 */
public record Sampling(Mode mode, Coordinates coordinates, Rounding rounding, double cubic, boolean excludesOutside) {

    /** How far from the middle between two elements a position is taken to be in it. */
    private static final float MIDDLE = 1e-6f;

    /** Which elements around a position count. */
    public enum Mode {
        /** The nearest one. */
        NEAREST,
        /** The two beside it, by their distance. */
        LINEAR,
        /** Four, by a polynomial of the third degree. */
        CUBIC
    }

    /** Where position {@code i} of the result lies before, for a scale {@code s}. */
    public enum Coordinates {
        /** {@code (i + ½)/s − ½}. */
        HALF_PIXEL,
        /** The same around the middle, where the result's length was rounded. */
        HALF_PIXEL_SYMMETRIC,
        /** {@code (i + ½)/s − ½}, and 0 for a single element. */
        PYTORCH_HALF_PIXEL,
        /** {@code i · (length − 1)/(new length − 1)}. */
        ALIGN_CORNERS,
        /** {@code i/s}. */
        ASYMMETRIC
    }

    /** Which of two neighbours is the nearest. */
    public enum Rounding {
        /** The nearer one, in the middle the one before. */
        ROUND_PREFER_FLOOR,
        /** The nearer one, in the middle the one behind. */
        ROUND_PREFER_CEIL,
        /** The one before. */
        FLOOR,
        /** The one behind. */
        CEIL
    }

    /**
     * What one position of the result is made of.
     *
     * @param positions elements before
     * @param weights how much each counts; together one
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Taps(int[] positions, double[] weights) {}

    /**
     * {@return what every position of a resized axis is made of}
     *
     * @param from the length before, at least 1
     * @param to the length after
     * @param scale what the length was multiplied with
     */
    public Taps[] taps(long from, long to, float scale) {
        Taps[] taps = new Taps[Math.toIntExact(to)];
        for (int i = 0; i < taps.length; i++) {
            float at = coordinate(i, from, to, scale);
            taps[i] = switch (mode) {
                case NEAREST -> new Taps(new int[] {inside(nearest(at), from)}, new double[] {1});
                case LINEAR -> linear(at, from);
                case CUBIC -> cubic(at, from);
            };
        }
        return taps;
    }

    private float coordinate(int i, long from, long to, float scale) {
        return switch (coordinates) {
            case HALF_PIXEL -> (i + 0.5f) / scale - 0.5f;
            case HALF_PIXEL_SYMMETRIC -> {
                float adjustment = to / (scale * from);
                float offset = from / 2f * (1 - adjustment);
                yield (float) (offset + (i + 0.5) / scale - 0.5);
            }
            case PYTORCH_HALF_PIXEL -> to > 1 ? (i + 0.5f) / scale - 0.5f : 0;
            case ALIGN_CORNERS -> to == 1 ? 0 : i * (float) (from - 1) / (to - 1);
            case ASYMMETRIC -> i / scale;
        };
    }

    private long nearest(float at) {
        float before = (float) Math.floor(at);
        boolean middle = Math.abs(at - before - 0.5f) <= MIDDLE;
        return switch (rounding) {
            case ROUND_PREFER_FLOOR -> (long) (middle ? before : Math.ceil(at - 0.5f));
            case ROUND_PREFER_CEIL -> (long) (middle ? before + 1 : Math.floor(at + 0.5f));
            case FLOOR -> (long) Math.floor(at);
            case CEIL -> (long) Math.ceil(at);
        };
    }

    private static int inside(long position, long length) {
        return (int) Math.clamp(position, 0, length - 1);
    }

    private static Taps linear(float at, long length) {
        float clipped = Math.clamp(at, 0, (float) (length - 1));
        int before = (int) clipped;
        double share = (double) clipped - before;
        return new Taps(new int[] {before, inside(before + 1L, length)}, new double[] {1 - share, share});
    }

    private Taps cubic(float at, long length) {
        long before = (long) Math.floor(at);
        double share = (double) at - before;
        int[] positions = new int[4];
        double[] weights = {
            outer(share + 1), inner(share), inner(1 - share), outer(2 - share),
        };
        for (int i = 0; i < positions.length; i++) {
            long position = before - 1 + i;
            positions[i] = inside(position, length);
            if (excludesOutside && positions[i] != position) {
                weights[i] = 0;
            }
        }
        double sum = excludesOutside ? Arrays.stream(weights).sum() : 1;
        return new Taps(
                positions, Arrays.stream(weights).map(weight -> weight / sum).toArray());
    }

    /** {@code (a + 2)·x³ − (a + 3)·x² + 1}, for distances up to 1. */
    private double inner(double x) {
        return ((cubic + 2) * x - (cubic + 3)) * x * x + 1;
    }

    /** {@code a·x³ − 5a·x² + 8a·x − 4a}, for distances from 1 to 2. */
    private double outer(double x) {
        return ((cubic * x - 5 * cubic) * x + 8 * cubic) * x - 4 * cubic;
    }
}
