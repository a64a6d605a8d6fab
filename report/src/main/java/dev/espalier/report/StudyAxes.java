package dev.espalier.report;

import dev.espalier.report.Chart.Better;
import dev.espalier.report.Chart.Dimension;
import dev.espalier.report.Chart.Format;
import dev.espalier.report.Chart.Scale;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What a study varies.
 *
 * @param axes the axes, in the order of the study
 */
record StudyAxes(List<Axis> axes) {
    /** Numbers further apart than that many times are drawn by their ratios. */
    private static final double WIDE = 20;

    /** Numbers are written out beside an axis if they are no more than that. */
    private static final int FEW = 10;

    /**
     * A key of recipes with the values that there are.
     *
     * @param key such as {@code penalty.lambda}
     * @param name the same without the section, unless two axes share that
     * @param values its values, as people read them, each once; numbers in their order
     */
    record Axis(String key, String name, List<String> values) {
        boolean isNumeric() {
            return values.stream().allMatch(value -> Double.isFinite(number(value)));
        }

        private Scale scale() {
            if (!isNumeric() || values.size() <= FEW) {
                return Scale.WORDS;
            }
            double low = values.stream().mapToDouble(StudyAxes::number).min().orElse(0);
            double high = values.stream().mapToDouble(StudyAxes::number).max().orElse(0);
            return low > 0 && high / low > WIDE ? Scale.LOGARITHMIC : Scale.LINEAR;
        }

        Dimension dimension() {
            Scale scale = scale();
            return new Dimension(
                    name, Format.NUMBER, "", scale, scale == Scale.WORDS ? values : List.of(), Better.NEITHER);
        }

        /** Where a point is on the axis: at its number, or at that of its word. */
        double place(StudyRow row) {
            String value = of(row);
            return scale() == Scale.WORDS ? values.indexOf(value) : number(value);
        }

        /** The value that a point has here; empty if it has none. */
        String of(StudyRow row) {
            return plain(row.value(key));
        }
    }

    static StudyAxes of(List<StudyRow> rows) {
        List<String> keys = rows.stream()
                .flatMap(row -> row.branch().point().keySet().stream())
                .distinct()
                .toList();
        return new StudyAxes(keys.stream()
                .map(key -> new Axis(
                        key,
                        name(key, keys),
                        rows.stream()
                                .map(row -> plain(row.value(key)))
                                .distinct()
                                // Words are equal here, and stay in the order of the study.
                                .sorted(Comparator.comparingDouble(StudyAxes::number))
                                .toList()))
                .toList());
    }

    private static String name(String key, List<String> keys) {
        String name = key.substring(key.indexOf('.') + 1);
        boolean clear = keys.stream()
                        .filter(other -> other.substring(other.indexOf('.') + 1).equals(name))
                        .count()
                == 1;
        return clear ? name : key;
    }

    /** A TOML value without the quotes around a string. */
    private static String plain(String toml) {
        return toml.length() > 1
                        && (toml.startsWith("\"") || toml.startsWith("'"))
                        && toml.endsWith(toml.substring(0, 1))
                ? toml.substring(1, toml.length() - 1)
                : toml;
    }

    /** Not a number for words. */
    static double number(String value) {
        try {
            return Double.parseDouble(value.replace("_", ""));
        } catch (NumberFormatException _) {
            return Double.NaN;
        }
    }

    /** All that a point has otherwise than others, {@code lambda = 1e-3, rate = 0.1} for one. */
    String describe(StudyRow row) {
        return axes.stream().map(axis -> axis.name() + " = " + axis.of(row)).collect(Collectors.joining(", "));
    }
}
