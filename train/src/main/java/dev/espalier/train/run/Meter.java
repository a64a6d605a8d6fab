package dev.espalier.train.run;

import dev.espalier.graph.objective.Terms;
import dev.espalier.train.task.Sums;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** Sums since the last evaluation, in one piece of memory, so that a resumed run goes on adding. */
final class Meter {
    private static final int LOSS = 0;
    private static final int BATCHES = 1;

    /** Where the objective's sums begin. */
    private static final int TERMS = 2;

    private final List<String> terms;
    private final int samples;
    private final int iterations;
    private final int groups;
    private final int seconds;
    private final double[] sums;

    /** A meter for an objective with such sums. */
    Meter(List<String> terms) {
        this.terms = List.copyOf(terms);
        this.samples = TERMS + terms.size();
        this.iterations = samples + 1;
        this.groups = samples + 2;
        this.seconds = samples + 3;
        this.sums = new double[samples + 4];
    }

    void addBatch(Terms batch, int size) {
        sums[LOSS] += batch.loss();
        sums[BATCHES]++;
        for (int i = 0; i < terms.size(); i++) {
            sums[TERMS + i] += batch.get(terms.get(i));
        }
        sums[samples] += size;
    }

    void addStep(long iterationsDone, int groupsSolved, double secondsSpent) {
        sums[iterations] += iterationsDone;
        sums[groups] += groupsSolved;
        sums[seconds] += secondsSpent;
    }

    void reset() {
        Arrays.fill(sums, 0);
    }

    double loss() {
        return mean(LOSS, BATCHES);
    }

    Sums sums() {
        SequencedMap<String, Double> values = new LinkedHashMap<>();
        for (int i = 0; i < terms.size(); i++) {
            values.put(terms.get(i), sums[TERMS + i]);
        }
        return new Sums(values, (long) sums[samples]);
    }

    double iterationsPerGroup() {
        return mean(iterations, groups);
    }

    double samplesPerSecond() {
        return mean(samples, seconds);
    }

    private double mean(int sum, int count) {
        return sums[count] == 0 ? 0 : sums[sum] / sums[count];
    }

    MemorySegment memory() {
        return MemorySegment.ofArray(sums);
    }
}
