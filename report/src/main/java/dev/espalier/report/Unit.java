package dev.espalier.report;

import dev.espalier.train.journal.Spread;
import java.util.List;
import java.util.Locale;

/** How the numbers of a column are written. */
public enum Unit {
    /** A share of one, as a percentage with two digits, as in the paper's tables. */
    SHARE,
    /** Three significant digits. */
    NUMBER,
    /** A whole number. */
    COUNT;

    /**
     * A number for people.
     *
     * @param spread the number, with its standard deviation if there is one
     * @return such as {@code 22.03 ± 0.33 %}; a dash for what is not a number
     */
    public String write(Spread spread) {
        if (!Double.isFinite(spread.mean())) {
            return Numbers.NONE;
        }
        String deviation = Double.isFinite(spread.deviation()) ? " ± " + digits(spread.deviation()) : "";
        String written = digits(spread.mean()) + deviation;
        return this == SHARE ? written + " %" : written;
    }

    private String digits(double number) {
        return switch (this) {
            case SHARE -> String.format(Locale.ROOT, "%.2f", 100 * number);
            case NUMBER -> Numbers.compact(number);
            case COUNT -> Numbers.count(number);
        };
    }

    /**
     * A number for people.
     *
     * @param number the number
     * @return such as {@code 22.03 %}; a dash for what is not a number
     */
    public String write(double number) {
        return write(Spread.of(List.of(number)));
    }
}
