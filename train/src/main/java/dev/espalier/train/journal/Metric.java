package dev.espalier.train.journal;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;
import java.util.Objects;

/**
 * What a model is measured by. Only the task that makes one knows what it means; everybody else knows how to write its values,
 * and which are better.
 *
 * @param name lower case, with underscores: {@code exact_match}
 * @param unit what its values are
 * @param direction which of its values are better
 */
public record Metric(String name, Unit unit, Direction direction) {
    /** Requires all of it: a file may lack some. */
    public Metric {
        Objects.requireNonNull(name, "a metric without a name");
        Objects.requireNonNull(unit, () -> "the metric " + name + " has no unit");
        Objects.requireNonNull(direction, () -> "the metric " + name + " has no direction");
    }

    /** What values are. */
    public enum Unit {
        /** From 0 to 1, written as percentages. */
        @JsonProperty("share")
        SHARE,
        /** Any numbers. */
        @JsonProperty("number")
        NUMBER,
        /** Numbers in the unit of what is estimated: metres, if a length is. */
        @JsonProperty("label")
        LABEL
    }

    /** Which values are better. */
    public enum Direction {
        /** Higher ones. */
        @JsonProperty("higher")
        HIGHER,
        /** Lower ones. */
        @JsonProperty("lower")
        LOWER
    }

    /**
     * A share of what is right.
     *
     * @param name its name
     * @return a metric from 0 to 1; higher is better
     */
    public static Metric share(String name) {
        return new Metric(name, Unit.SHARE, Direction.HIGHER);
    }

    /** {@return the name for people: without underscores} */
    @JsonIgnore
    public String words() {
        return name.replace('_', ' ');
    }

    /**
     * Whether a value is better than another.
     *
     * @param one a value
     * @param other another
     * @return false if they are equal, or one is not a number
     */
    public boolean isBetter(double one, double other) {
        return switch (direction) {
            case HIGHER -> one > other;
            case LOWER -> one < other;
        };
    }

    /**
     * A value for people.
     *
     * @param value the value
     * @return such as {@code 97.2 %} or {@code 0.0125}; a dash for what is not finite
     */
    public String write(double value) {
        return write(value, 1);
    }

    /**
     * A value for people.
     *
     * @param value the value
     * @param places how many places after the point a percentage has; other numbers have four digits
     * @return such as {@code 97.21 %} or {@code 0.0125}; a dash for what is not finite
     */
    public String write(double value, int places) {
        return Double.isFinite(value) ? digits(value, places) + suffix() : "–";
    }

    /**
     * Values of several runs, for people.
     *
     * @param spread their mean and deviation
     * @return such as {@code 97.2 ± 0.3 %}; a dash for what is not finite
     */
    public String write(Spread spread) {
        return spread.runs() == 1 || !Double.isFinite(spread.mean())
                ? write(spread.mean())
                : digits(spread.mean(), 1) + " ± " + digits(spread.deviation(), 1) + suffix();
    }

    private String suffix() {
        return unit == Unit.SHARE ? " %" : "";
    }

    private String digits(double value, int places) {
        return switch (unit) {
            case SHARE -> String.format(Locale.ROOT, "%." + places + "f", 100 * value);
            case NUMBER, LABEL -> significant(value);
        };
    }

    private static String significant(double value) {
        if (value == 0) {
            return "0";
        }
        BigDecimal rounded = new BigDecimal(value).round(new MathContext(4)).stripTrailingZeros();
        int exponent = rounded.precision() - rounded.scale() - 1;
        return exponent < -4 || exponent > 8
                ? rounded.movePointLeft(exponent).toPlainString() + "e" + exponent
                : rounded.toPlainString();
    }
}
