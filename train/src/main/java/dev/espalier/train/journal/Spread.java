package dev.espalier.train.journal;

import java.util.Collection;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * Mean and standard deviation of a figure over runs that differ in their seeds.
 *
 * @param mean the mean
 * @param deviation the standard deviation of a sample (divided by n − 1); NaN for a single run
 * @param runs number of runs
 */
public record Spread(double mean, double deviation, int runs) {

    /**
     * Over some runs.
     *
     * @param values one for each run; at least one
     * @return the spread
     */
    public static Spread of(Collection<Double> values) {
        double mean = values.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
        double squares = values.stream()
                .mapToDouble(value -> (value - mean) * (value - mean))
                .sum();
        return new Spread(
                mean, values.size() == 1 ? Double.NaN : Math.sqrt(squares / (values.size() - 1)), values.size());
    }

    /**
     * Of a figure over some runs.
     *
     * @param <R> what tells of a run
     * @param runs the runs; at least one
     * @param figure the figure of one
     * @return the spread
     */
    public static <R> Spread of(Collection<R> runs, ToDoubleFunction<? super R> figure) {
        return of(runs.stream().map(figure::applyAsDouble).toList());
    }

    /**
     * As a percentage, for people.
     *
     * @return such as {@code 97.2 ± 0.3 %}
     */
    public String percent() {
        return runs == 1
                ? String.format(Locale.ROOT, "%.1f %%", 100 * mean)
                : String.format(Locale.ROOT, "%.1f ± %.1f %%", 100 * mean, 100 * deviation);
    }
}
