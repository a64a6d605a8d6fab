package dev.espalier.report;

import dev.espalier.report.Chart.Better;
import dev.espalier.report.Chart.Dimension;
import dev.espalier.report.Chart.Format;
import dev.espalier.report.Chart.Scale;
import dev.espalier.train.journal.RunResult;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** What a model costs. */
enum StudyCost {
    /** The share of parameters that are left. */
    PARAMETERS("parameters left", "Fewest parameters", Format.PERCENT, "", RunResult::parametersLeft),
    /** The share of operations that are left. */
    FLOPS("FLOPs left", "Fewest FLOPs", Format.PERCENT, "", Results::flopsLeft),
    /** How long a sample takes. */
    LATENCY("latency", "Lowest latency", Format.NUMBER, " ms", RunResult::latencyMillisecondsAfter);

    private final String words;
    private final String least;
    private final Format format;
    private final String unit;
    private final ToDoubleFunction<RunResult> value;

    StudyCost(String words, String least, Format format, String unit, ToDoubleFunction<RunResult> value) {
        this.words = words;
        this.least = least;
        this.format = format;
        this.unit = unit;
        this.value = value;
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

    /** The mean over seeds; not a number if none is finished. */
    double of(StudyRow row) {
        return StudyRow.mean(row.values(value));
    }

    String write(StudyRow row) {
        List<Double> values = row.values(value);
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
