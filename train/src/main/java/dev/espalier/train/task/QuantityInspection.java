package dev.espalier.train.task;

import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Findings.Histogram;
import dev.espalier.train.journal.Findings.Quantity;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Keeps estimates and their errors. The worst are those that are off by the most deviations. */
final class QuantityInspection implements Inspection {
    /** Errors are counted in so many stretches. */
    private static final int STRETCHES = 41;

    /** What is larger than nearly all others is counted at the border, lest a single one makes a needle of all others. */
    private static final double NEARLY_ALL = 0.99;

    private final List<Estimated> numbers;
    private final int kept;
    private final float[][] truths;
    private final float[][] estimates;
    private int samples;

    /**
     * One number that is estimated.
     *
     * @param output the name of the target that it is part of, which is also the task's name for the model's output
     * @param place its place there
     * @param size how many numbers the target has
     * @param name what it is called
     * @param deviation what it has in the training part
     */
    record Estimated(String output, int place, int size, String name, double deviation) {
        double of(Map<String, Tensor> tensors, int sample) {
            return Objects.requireNonNull(tensors.get(output)).getDouble((long) sample * size + place);
        }
    }

    /**
     * An inspection.
     *
     * @param numbers what is estimated
     * @param rows how many samples there are
     */
    QuantityInspection(List<Estimated> numbers, int rows) {
        this.numbers = List.copyOf(numbers);
        this.kept = Math.min(numbers.size(), Findings.MOST_QUANTITIES);
        this.truths = new float[kept][rows];
        this.estimates = new float[kept][rows];
    }

    @Override
    public Optional<Miss> look(Map<String, Tensor> answer, Map<String, Tensor> targets, int sample) {
        double worst = 0;
        int worstAt = 0;
        double error = 0;
        for (int i = 0; i < numbers.size(); i++) {
            Estimated number = numbers.get(i);
            double estimate = number.of(answer, sample);
            double truth = number.of(targets, sample);
            double deviations = Math.abs(estimate - truth) / number.deviation();
            if (deviations > worst) {
                worst = deviations;
                worstAt = i;
                error = estimate - truth;
            }
            if (i < kept) {
                truths[i][samples] = (float) truth;
                estimates[i][samples] = (float) estimate;
            }
        }
        int row = samples++;
        if (worst == 0) {
            return Optional.empty();
        }
        String where = numbers.size() == 1 ? "" : numbers.get(worstAt).name() + " ";
        double by = error;
        double inDeviations = worst;
        return Optional.of(new Miss(
                worst,
                () -> listed(i -> truths[i][row]),
                () -> listed(i -> estimates[i][row]),
                () -> String.format(
                        Locale.ROOT,
                        "%soff by %s%s, %.2g deviations",
                        where,
                        by > 0 ? "+" : "−",
                        Mistakes.number(Math.abs(by)),
                        inDeviations)));
    }

    private String listed(IntFunction<Float> values) {
        String listed = IntStream.range(0, kept)
                .mapToObj(i ->
                        (numbers.size() == 1 ? "" : numbers.get(i).name() + " ") + Mistakes.number(values.apply(i)))
                .collect(Collectors.joining(", "));
        return kept == numbers.size() ? listed : listed + ", …";
    }

    @Override
    public Findings.Outcome outcome() {
        List<Quantity> quantities = new ArrayList<>();
        for (int i = 0; i < kept; i++) {
            quantities.add(quantity(numbers.get(i).name(), truths[i], estimates[i]));
        }
        return new Findings.Outcome.Quantities(quantities, numbers.size());
    }

    private Quantity quantity(String name, float[] truth, float[] estimate) {
        double[] errors = new double[samples];
        double[] sizes = new double[samples];
        double sum = 0;
        for (int i = 0; i < samples; i++) {
            errors[i] = (double) estimate[i] - truth[i];
            sizes[i] = Math.abs(errors[i]);
            sum += errors[i];
        }
        Arrays.sort(sizes);
        int step = (samples + Findings.MOST_POINTS - 1) / Findings.MOST_POINTS;
        return new Quantity(
                name,
                sum / samples,
                quantile(sizes, 0.5),
                quantile(sizes, 0.9),
                histogram(errors, quantile(sizes, NEARLY_ALL)),
                every(step, truth),
                every(step, estimate));
    }

    private static double quantile(double[] sorted, double share) {
        return sorted[(int) Math.round(share * (sorted.length - 1))];
    }

    /** Around 0, which is in the middle of a stretch. */
    private static Histogram histogram(double[] errors, double largest) {
        double width = largest > 0 ? 2 * largest / STRETCHES : 1;
        double from = -width * STRETCHES / 2;
        List<Long> counts = new ArrayList<>(Collections.nCopies(STRETCHES, 0L));
        for (double error : errors) {
            int stretch = (int) Math.clamp(Math.floor((error - from) / width), 0, STRETCHES - 1);
            counts.set(stretch, counts.get(stretch) + 1);
        }
        return new Histogram(from, width, counts);
    }

    /** Every so many of them, without the digits that a float does not have. */
    private List<Double> every(int step, float[] values) {
        return IntStream.iterate(0, i -> i < samples, i -> i + step)
                .mapToObj(i -> Double.valueOf(Float.toString(values[i])))
                .toList();
    }
}
