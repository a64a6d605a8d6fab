package dev.espalier.report;

import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Spread;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;

/** Numbers for people. What is not a number is a dash. */
final class Numbers {
    static final String NONE = "–";

    private static final String[] PREFIXES = {"", " k", " M", " G", " T", " P"};

    private Numbers() {}

    /** A share, such as {@code 97.2 %}. */
    static String percent(double share) {
        return Double.isFinite(share) ? Spread.of(List.of(share)).percent() : NONE;
    }

    /** A difference of shares, such as {@code −0.6 points}. */
    static String points(double difference) {
        double points = Math.round(1000 * difference) / 10.0;
        String sign = points > 0 ? "+" : points < 0 ? "−" : "±";
        return String.format(Locale.ROOT, "%s%.1f points", sign, Math.abs(points));
    }

    /** A whole number, such as {@code 14,724,042}. */
    static String count(double number) {
        return Double.isFinite(number) ? count(Math.round(number)) : NONE;
    }

    static String count(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    /** A large number, such as {@code 627 M}. */
    static String large(double number) {
        if (!Double.isFinite(number)) {
            return NONE;
        }
        int prefix = 0;
        double scaled = number;
        while (Math.abs(scaled) >= 999.5 && prefix < PREFIXES.length - 1) {
            scaled /= 1000;
            prefix++;
        }
        return compact(scaled) + PREFIXES[prefix];
    }

    /** The size of a file, such as {@code 90.4 MB}. */
    static String bytes(double number) {
        String large = large(number);
        return large.contains(" ") ? large + "B" : large + " B";
    }

    /** Three significant digits, such as {@code 0.0125} or {@code 1e-5}. */
    static String compact(double number) {
        if (!Double.isFinite(number)) {
            return NONE;
        }
        if (number == 0) {
            return "0";
        }
        BigDecimal rounded = new BigDecimal(number).round(new MathContext(3)).stripTrailingZeros();
        int exponent = rounded.precision() - rounded.scale() - 1;
        return exponent < -3 || exponent > 5
                ? rounded.movePointLeft(exponent).stripTrailingZeros().toPlainString() + "e" + exponent
                : rounded.toPlainString();
    }

    /** Such as {@code 3 h 20 min}: the two largest units are enough. */
    static String duration(double seconds) {
        if (!Double.isFinite(seconds)) {
            return NONE;
        }
        long whole = Math.round(seconds);
        if (whole < 60) {
            return seconds < 10 ? compact(seconds) + " s" : whole + " s";
        }
        if (whole < 3600) {
            return whole / 60 + " min " + whole % 60 + " s";
        }
        return whole / 3600 + " h " + whole % 3600 / 60 + " min";
    }

    /** Factors, such as {@code 2.41 ×}. */
    static String times(List<Double> factors) {
        return spread(factors, factor -> String.format(Locale.ROOT, "%.2f", factor), " ×");
    }

    /** Mean and standard deviation over seeds; just the number if there is one, or always the same. */
    static String spread(List<Double> values, DoubleFunction<String> format, String unit) {
        if (values.isEmpty() || !values.stream().allMatch(Double::isFinite)) {
            return NONE;
        }
        Spread spread = Spread.of(values);
        return values.stream().distinct().count() == 1
                ? format.apply(spread.mean()) + unit
                : format.apply(spread.mean()) + " ± " + format.apply(spread.deviation()) + unit;
    }

    /** Mean and standard deviation of a metric's values over seeds. */
    static String metric(Metric metric, List<Double> values) {
        boolean finite = !values.isEmpty() && values.stream().allMatch(Double::isFinite);
        return finite ? metric.write(Spread.of(values)) : NONE;
    }

    /** How far one value is from another: {@code −0.6 points}, or {@code +0.12}. */
    static String difference(Metric metric, double value, double other) {
        return switch (metric.unit()) {
            case SHARE -> points(value - other);
            case NUMBER, LABEL ->
                value == other ? "±0" : (value > other ? "+" : "−") + compact(Math.abs(value - other));
        };
    }

    /** Mean and standard deviation of shares over seeds. */
    static String percent(List<Double> shares) {
        boolean finite = !shares.isEmpty() && shares.stream().allMatch(Double::isFinite);
        return finite ? Spread.of(shares).percent() : NONE;
    }
}
