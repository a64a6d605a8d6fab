package dev.espalier.train.study;

import dev.espalier.core.check.Check;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * A key of recipes that a study varies, and its values.
 *
 * @param key such as {@code penalty.lambda}
 * @param values TOML, in the order in which they are tried
 */
public record Axis(String key, List<String> values) {
    private static final List<String> RANGE = List.of("from", "to", "count", "scale");

    /** Copies the list. */
    public Axis {
        values = List.copyOf(values);
        if (values.isEmpty()) {
            throw new IllegalArgumentException("axes.%s has no values: give at least one".formatted(key));
        }
    }

    /**
     * Reads the section {@code [axes]} of a study.
     *
     * @param section values as TOML by key: {@code penalty.beta} with a list, or {@code penalty.lambda.from}, {@code .to}, {@code .count}
     *     and {@code .scale} for a range
     * @return the axes, in the order of the file
     * @throws IllegalArgumentException if one cannot be understood, with what it must be
     */
    static List<Axis> of(SequencedMap<String, List<String>> section) {
        SequencedMap<String, Map<String, String>> ranges = new LinkedHashMap<>();
        SequencedMap<String, Optional<Axis>> axes = new LinkedHashMap<>();
        section.forEach((key, values) -> {
            int dot = key.lastIndexOf('.');
            String part = key.substring(dot + 1);
            // A key of a recipe has one dot: what follows a second one is a part of a range.
            if (key.indexOf('.') != dot && RANGE.contains(part)) {
                ranges.computeIfAbsent(key.substring(0, dot), _ -> new LinkedHashMap<>())
                        .put(part, String.join(", ", values));
                axes.putIfAbsent(key.substring(0, dot), Optional.empty());
            } else {
                axes.put(key, Optional.of(new Axis(key, values)));
            }
        });
        return axes.entrySet().stream()
                .map(axis -> axis.getValue()
                        .orElseGet(() -> range(axis.getKey(), ranges.getOrDefault(axis.getKey(), Map.of()))))
                .toList();
    }

    private static Axis range(String key, Map<String, String> parts) {
        try {
            return range(
                    key,
                    new BigDecimal(need(parts, "from")),
                    new BigDecimal(need(parts, "to")),
                    Integer.parseInt(need(parts, "count")),
                    need(parts, "scale"));
        } catch (NumberFormatException _) {
            throw new IllegalArgumentException(unclear(key));
        } catch (IllegalArgumentException unclear) {
            throw new IllegalArgumentException(unclear(key) + ": " + unclear.getMessage(), unclear);
        }
    }

    private static String unclear(String key) {
        return "axes.%s is not possible: it must be a list of values, or a range such as { from = 1e-4, to = 1e-2, count = 5, scale = \"log\" }"
                .formatted(key);
    }

    private static String need(Map<String, String> parts, String name) {
        return Optional.ofNullable(parts.get(name))
                .map(text -> text.replace("\"", ""))
                .orElseThrow(() -> new IllegalArgumentException(name + " is missing"));
    }

    /**
     * Values between two numbers.
     *
     * @param key the key
     * @param from the first
     * @param to the last
     * @param count how many, the ends included
     * @param scale {@code log} for the same ratio from one to the next, {@code linear} for the same difference
     * @return the axis; numbers have three digits, and are whole where both ends are and they come out so
     */
    public static Axis range(String key, BigDecimal from, BigDecimal to, int count, String scale) {
        Check.atLeast("count", count, 1);
        Check.atMost("count", count, Study.MOST_POINTS);
        boolean log = switch (scale) {
            case "log" -> true;
            case "linear" -> false;
            default -> throw new IllegalArgumentException("scale must be \"log\" or \"linear\"");
        };
        if (log && (from.signum() <= 0 || to.signum() <= 0)) {
            throw new IllegalArgumentException("from and to must be above 0 where scale is \"log\"");
        }
        double first = from.doubleValue();
        double last = to.doubleValue();
        List<String> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            double share = count == 1 ? 0 : (double) i / (count - 1);
            double value =
                    i == 0 ? first : log ? first * Math.pow(last / first, share) : first + (last - first) * share;
            values.add(print(value, isWhole(from) && isWhole(to)));
        }
        return new Axis(key, values);
    }

    private static boolean isWhole(BigDecimal number) {
        return number.stripTrailingZeros().scale() <= 0;
    }

    private static String print(double value, boolean whole) {
        return whole && Math.abs(value - Math.rint(value)) < 1e-6
                ? Long.toString(Math.round(value))
                : number(new BigDecimal(value).round(new MathContext(3)).doubleValue());
    }

    /** {@return the values, all of which are numbers} */
    public List<Double> numbers() {
        return values.stream().map(Double::valueOf).toList();
    }

    /**
     * A number as people write it: 0.01, 5e-4.
     *
     * @param value the number
     * @return TOML that reads back as the same
     */
    public static String number(double value) {
        return Double.toString(value).replaceFirst("\\.0(?=E|$)", "").replace('E', 'e');
    }
}
