package dev.espalier.reproduce;

import dev.espalier.report.Unit;
import dev.espalier.reproduce.Comparison.Cell;
import dev.espalier.reproduce.Comparison.Column;
import dev.espalier.reproduce.Comparison.Row;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Numbers of training steps, summed up: how it began, how it ended. */
final class Tenths {
    static final String FIRST = "first tenth";
    static final String LAST = "last tenth";
    static final String ALL = "all steps";
    static final String WORST = "largest";

    private Tenths() {}

    static List<Column> columns(Unit unit) {
        return List.of(new Column(FIRST, unit), new Column(LAST, unit), new Column(ALL, unit), new Column(WORST, unit));
    }

    /**
     * A row.
     *
     * @param name its name
     * @param samples what was seen, step by step
     * @param paperAtTheEnd what the paper says of the end of training; NaN if nothing
     * @param value a number of a step; NaN where there is none
     */
    static <T> Row row(String name, List<T> samples, double paperAtTheEnd, ToDoubleFunction<T> value) {
        int tenth = Math.max(1, samples.size() / 10);
        return Row.of(
                name,
                Cell.ours(mean(samples.subList(0, tenth), value)),
                new Cell(
                        Quote.number(paperAtTheEnd),
                        Quote.number(mean(samples.subList(samples.size() - tenth, samples.size()), value))),
                Cell.ours(mean(samples, value)),
                Cell.ours(samples.stream()
                        .mapToDouble(value)
                        .filter(Double::isFinite)
                        .max()
                        .orElse(Double.NaN)));
    }

    private static <T> double mean(List<T> samples, ToDoubleFunction<T> value) {
        return samples.stream()
                .mapToDouble(value)
                .filter(Double::isFinite)
                .average()
                .orElse(Double.NaN);
    }
}
