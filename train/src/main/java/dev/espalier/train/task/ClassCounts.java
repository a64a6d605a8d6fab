package dev.espalier.train.task;

import dev.espalier.train.journal.FidelityFigure;
import dev.espalier.train.journal.FidelityFigure.Measure;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** How often two models say the same class, class by class; and how often a model would that always says the most frequent one. */
final class ClassCounts {
    /** A trivial model that agrees as often says that agreement is the wrong measure. */
    static final double TRIVIAL = 0.9;

    private long[] positions = new long[2];
    private long[] agreeing = new long[2];
    /** Samples that are of one class at all positions. */
    private long[] uniform = new long[2];

    private long samples;
    private long agreeingSamples;

    /** Adds a sample: the classes of its positions, at least one. */
    void add(int[] original, int[] smaller) {
        int same = 0;
        boolean isUniform = true;
        for (int i = 0; i < original.length; i++) {
            int one = original[i];
            if (one >= positions.length) {
                int size = Math.max(one + 1, 2 * positions.length);
                positions = Arrays.copyOf(positions, size);
                agreeing = Arrays.copyOf(agreeing, size);
                uniform = Arrays.copyOf(uniform, size);
            }
            positions[one]++;
            agreeing[one] += smaller[i] == one ? 1 : 0;
            same += smaller[i] == one ? 1 : 0;
            isUniform &= one == original[0];
        }
        uniform[original[0]] += isUniform ? 1 : 0;
        agreeingSamples += same == original.length ? 1 : 0;
        samples++;
    }

    private long all() {
        return Arrays.stream(positions).sum();
    }

    /** {@return whether nothing was added} */
    boolean isEmpty() {
        return samples == 0;
    }

    /** {@return the class that the original says most often} */
    int mostFrequent() {
        return IntStream.range(0, positions.length)
                .reduce((one, other) -> positions[other] > positions[one] ? other : one)
                .orElseThrow();
    }

    /** {@return how many classes the original says at all} */
    int classes() {
        return Math.toIntExact(
                Arrays.stream(positions).filter(count -> count > 0).count());
    }

    /** {@return the share of positions with the same class} */
    FidelityFigure agreement() {
        double all = all();
        return new FidelityFigure(
                Measure.AGREEMENT, Arrays.stream(agreeing).sum() / all, positions[mostFrequent()] / all);
    }

    /** {@return the share of samples with the same class at every position} */
    FidelityFigure wholeAgreement() {
        return new FidelityFigure(
                Measure.WHOLE_AGREEMENT,
                (double) agreeingSamples / samples,
                (double) uniform[mostFrequent()] / samples);
    }

    /** {@return the mean recall of the original's classes, however rare they are} */
    FidelityFigure balancedAgreement() {
        double recalls = IntStream.range(0, positions.length)
                .filter(one -> positions[one] > 0)
                .mapToDouble(one -> (double) agreeing[one] / positions[one])
                .sum();
        return new FidelityFigure(Measure.BALANCED_AGREEMENT, recalls / classes(), 1.0 / classes());
    }

    /** {@return whether a model that always says the same class agrees so often that agreement tells nothing} */
    boolean isRare() {
        return agreement().trivial() >= TRIVIAL;
    }

    /** {@return the figures of classes, the telling one first} */
    List<FidelityFigure> figures() {
        return isRare()
                ? List.of(balancedAgreement(), agreement(), wholeAgreement())
                : List.of(agreement(), wholeAgreement(), balancedAgreement());
    }
}
