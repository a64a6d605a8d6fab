package dev.espalier.train.run;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Sums since the last evaluation, in one piece of memory, so that a resumed run goes on adding. */
final class Meter {
    private static final int LOSS = 0;
    private static final int BATCHES = 1;
    private static final int RIGHT = 2;
    private static final int SAMPLES = 3;
    private static final int ITERATIONS = 4;
    private static final int GROUPS = 5;
    private static final int SECONDS = 6;

    private final double[] sums = new double[7];

    void addBatch(double loss, double right, int samples) {
        sums[LOSS] += loss;
        sums[BATCHES]++;
        sums[RIGHT] += right;
        sums[SAMPLES] += samples;
    }

    void addStep(long iterations, int groups, double seconds) {
        sums[ITERATIONS] += iterations;
        sums[GROUPS] += groups;
        sums[SECONDS] += seconds;
    }

    void reset() {
        Arrays.fill(sums, 0);
    }

    double loss() {
        return mean(LOSS, BATCHES);
    }

    double score() {
        return mean(RIGHT, SAMPLES);
    }

    double iterationsPerGroup() {
        return mean(ITERATIONS, GROUPS);
    }

    double samplesPerSecond() {
        return mean(SAMPLES, SECONDS);
    }

    private double mean(int sum, int count) {
        return sums[count] == 0 ? 0 : sums[sum] / sums[count];
    }

    MemorySegment memory() {
        return MemorySegment.ofArray(sums);
    }
}
