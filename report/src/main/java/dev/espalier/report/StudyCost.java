package dev.espalier.report;

import dev.espalier.report.Chart.Better;
import dev.espalier.report.Chart.Dimension;
import dev.espalier.report.Chart.Format;
import dev.espalier.report.Chart.Scale;
import dev.espalier.train.journal.RunResult;
import java.util.List;
import java.util.Locale;

/** What a model costs. */
enum StudyCost {
    /** The share of parameters that are left. */
    PARAMETERS("parameters kept", "Fewest parameters", Format.PERCENT, ""),
    /** The share of operations that are left. */
    FLOPS("FLOPs kept", "Fewest FLOPs", Format.PERCENT, ""),
    /** How long a sample takes. */
    LATENCY("latency", "Lowest latency", Format.NUMBER, " ms");

    private final String words;
    private final String least;
    private final Format format;
    private final String unit;

    StudyCost(String words, String least, Format format, String unit) {
        this.words = words;
        this.least = least;
        this.format = format;
        this.unit = unit;
    }

    String words() {
        return words;
    }

    /** What the one is called that has least of it. */
    String least() {
        return least;
    }

    /** What it is known by in the page. */
    String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    private double of(RunResult result) {
        return switch (this) {
            case PARAMETERS -> result.parametersLeft();
            case FLOPS -> result.flopsLeft();
            case LATENCY -> result.latencyMillisecondsAfter();
        };
    }

    /** The mean over seeds; not a number if none is finished. */
    double of(StudyRow row) {
        return StudyRow.mean(row.values(this::of));
    }

    String write(StudyRow row) {
        List<Double> values = row.values(this::of);
        if (format == Format.PERCENT) {
            return Numbers.percent(values);
        }
        // The deviation has as many places as the mean, of which three digits are written.
        int places = Math.clamp(2 - (int) Math.floor(Math.log10(StudyRow.mean(values))), 0, 9);
        return Numbers.spread(values, one -> String.format(Locale.ROOT, "%." + places + "f", one), unit);
    }

    Dimension dimension(Scale scale) {
        return new Dimension(words, format, unit, scale, List.of(), Better.LOWER);
    }
}
