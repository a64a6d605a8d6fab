package dev.espalier.train.task;

import dev.espalier.train.journal.FidelityFigure;
import dev.espalier.train.journal.FidelityFigure.Measure;
import java.util.Arrays;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Agreement of two models on which scores are the highest: of the original's top 1 %, the share that is in the smaller model's top 1 %. It tells
 * whether a detector finds the same few objects among thousands of candidates that are nearly all background.
 *
 * <p>Scores of all samples are ranked together. Of many, a uniform sample is kept (reservoir sampling, Vitter 1985), so that memory is bounded.
 */
final class TopAgreement {
    private static final double TOP = 0.01;

    /** So many numbers of each model are kept. */
    private static final int CAPACITY = 1 << 20;

    /** Of fewer candidates, the top 1 % says nothing. */
    private static final int MIN_CANDIDATES = 100;

    private final int width;
    private final int capacity;
    private final SplittableRandom random = new SplittableRandom(1);
    private float[] original = {};
    private float[] smaller = {};
    private long seen;

    /**
     * Nothing seen yet.
     *
     * @param width numbers of a candidate: one score, or one for each class
     */
    TopAgreement(int width) {
        this.width = width;
        this.capacity = CAPACITY / Math.max(1, width);
    }

    /** Adds a candidate: what both models say of it, from a place on. */
    void add(float[] left, float[] right, int from) {
        long place = seen < capacity ? seen : random.nextLong(seen + 1);
        seen++;
        if (place >= capacity) {
            return;
        }
        int at = (int) place * width;
        if (at >= original.length) {
            int length = Math.min(capacity * width, Math.max(64 * width, 2 * original.length));
            original = Arrays.copyOf(original, length);
            smaller = Arrays.copyOf(smaller, length);
        }
        System.arraycopy(left, from, original, at, width);
        System.arraycopy(right, from, smaller, at, width);
    }

    /**
     * The agreement by one of the numbers of a candidate. Equal scores share their places, so that a model whose scores are all equal has as
     * much of the top as chance gives it: that is the trivial model.
     *
     * @param column which of the numbers
     * @param highest whether the highest are the top, or the lowest
     * @return empty if there are too few candidates
     */
    Optional<FidelityFigure> of(int column, boolean highest) {
        int count = (int) Math.min(seen, capacity);
        if (count < MIN_CANDIDATES) {
            return Optional.empty();
        }
        double[] left = memberships(original, count, column, highest);
        double[] right = memberships(smaller, count, column, highest);
        double both = 0;
        double own = 0;
        double top = 0;
        for (int i = 0; i < count; i++) {
            both += left[i] * right[i];
            own += left[i] * left[i];
            top += left[i];
        }
        return Optional.of(new FidelityFigure(Measure.TOP_AGREEMENT, both / own, top * top / count / own));
    }

    /** How much each candidate belongs to the top: 1 above the limit, and those at the limit share what is left. */
    private double[] memberships(float[] scores, int count, int column, boolean highest) {
        float[] ranked = new float[count];
        for (int i = 0; i < count; i++) {
            float score = scores[i * width + column];
            ranked[i] = highest ? -score : score;
        }
        float[] sorted = ranked.clone();
        Arrays.sort(sorted);
        int top = (int) Math.max(1, Math.round(TOP * count));
        float limit = sorted[top - 1];
        int better = 0;
        int equal = 0;
        for (float score : ranked) {
            better += score < limit ? 1 : 0;
            equal += score == limit ? 1 : 0;
        }
        double share = (double) (top - better) / equal;
        double[] memberships = new double[count];
        for (int i = 0; i < count; i++) {
            memberships[i] = ranked[i] < limit ? 1 : ranked[i] == limit ? share : 0;
        }
        return memberships;
    }
}
