package dev.espalier.graph.type;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The length of a tensor along one axis, or any whole number made of such lengths: a polynomial in named symbols with
 * whole coefficients, such as {@code 128}, {@code batch} or {@code 2*batch*tokens + 1}.
 *
 * <p>Two dimensions are equal when their polynomials are, so {@code batch*4} and {@code 4*batch} are. What a polynomial
 * cannot say, a rounded quotient for one, becomes a symbol named after the expression: equal expressions are then
 * still equal.
 */
public final class Dimension {
    /** Zero. */
    public static final Dimension ZERO = of(0);

    /** One. */
    public static final Dimension ONE = of(1);

    /** Beyond this many terms nobody reads a polynomial any more: a hostile file is stopped here. */
    private static final int MOST_TERMS = 256;

    private static final int MOST_SYMBOLS = 1024;
    private static final int LONGEST_NAME = 256;

    /** From a product of symbols, sorted and joined by stars, to its coefficient; the empty product is the constant. */
    private final TreeMap<String, Long> terms;

    @SuppressWarnings("NonApiType") // private: the map was made for this object, and is kept
    private Dimension(TreeMap<String, Long> terms) {
        terms.values().removeIf(coefficient -> coefficient == 0);
        if (terms.size() > MOST_TERMS) {
            throw new IllegalArgumentException("a dimension with more than " + MOST_TERMS + " terms");
        }
        if (terms.keySet().stream().anyMatch(symbols -> symbols.length() > MOST_SYMBOLS)) {
            throw new IllegalArgumentException("a dimension with a product of too many symbols");
        }
        this.terms = terms;
    }

    /**
     * A known length.
     *
     * @param value the number
     * @return the dimension
     */
    public static Dimension of(long value) {
        return term("", value);
    }

    /**
     * An unknown length by name. The same name is the same length, all over a graph.
     *
     * @param name its name, not empty
     * @return the dimension
     */
    public static Dimension symbol(String name) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("a symbolic dimension needs a name");
        }
        // Stars join symbols, so a name must not have one.
        return term(shorten(name.replace('*', '·')), 1);
    }

    /** Names of symbols are made from other names, and without a bound they could double with every node. */
    private static String shorten(String name) {
        if (name.length() <= LONGEST_NAME) {
            return name;
        }
        long hash = 0;
        for (int i = 0; i < name.length(); i++) {
            hash = hash * 0x9E3779B97F4A7C15L + name.charAt(i);
        }
        return name.substring(0, LONGEST_NAME / 2) + "…" + Long.toHexString(hash);
    }

    private static Dimension term(String symbols, long coefficient) {
        TreeMap<String, Long> terms = new TreeMap<>();
        terms.put(symbols, coefficient);
        return new Dimension(terms);
    }

    /**
     * Whether the length is a number.
     *
     * @return true if no symbol is left in it
     */
    public boolean isKnown() {
        return terms.isEmpty() || (terms.size() == 1 && terms.containsKey(""));
    }

    /**
     * Whether this is a given number.
     *
     * @param value the number
     * @return true if the length is known and equal to it
     */
    public boolean is(long value) {
        return isKnown() && value() == value;
    }

    /**
     * The length as a number.
     *
     * @return the number
     * @throws IllegalStateException if it is not known
     */
    public long value() {
        if (!isKnown()) {
            throw new IllegalStateException("the dimension " + this + " is not known");
        }
        return terms.getOrDefault("", 0L);
    }

    /**
     * The length as a number, if it is one.
     *
     * @return the number, or nothing
     */
    public OptionalLong known() {
        return isKnown() ? OptionalLong.of(value()) : OptionalLong.empty();
    }

    /**
     * The sum.
     *
     * @param other what is added
     * @return {@code this + other}
     */
    public Dimension plus(Dimension other) {
        TreeMap<String, Long> sum = new TreeMap<>(terms);
        other.terms.forEach((symbols, coefficient) -> sum.merge(symbols, coefficient, Math::addExact));
        return new Dimension(sum);
    }

    /**
     * The sum with a number.
     *
     * @param other what is added
     * @return {@code this + other}
     */
    public Dimension plus(long other) {
        return plus(of(other));
    }

    /**
     * The difference.
     *
     * @param other what is taken away
     * @return {@code this − other}
     */
    public Dimension minus(Dimension other) {
        return plus(other.times(of(-1)));
    }

    /**
     * The product.
     *
     * @param other the other factor
     * @return {@code this · other}
     */
    public Dimension times(Dimension other) {
        TreeMap<String, Long> product = new TreeMap<>();
        terms.forEach((left, a) -> other.terms.forEach(
                (right, b) -> product.merge(join(left, right), Math.multiplyExact(a, b), Math::addExact)));
        return new Dimension(product);
    }

    /**
     * The product with a number.
     *
     * @param other the other factor
     * @return {@code this · other}
     */
    public Dimension times(long other) {
        return times(of(other));
    }

    /**
     * The quotient, rounded down. Exact where the polynomials divide; otherwise a symbol named after the expression.
     *
     * @param divisor what to divide by, not zero
     * @return {@code ⌊this / divisor⌋}
     */
    public Dimension dividedBy(Dimension divisor) {
        if (divisor.terms.isEmpty()) {
            throw new IllegalArgumentException("division of " + this + " by zero");
        }
        if (isKnown() && divisor.isKnown()) {
            return of(Math.floorDiv(value(), divisor.value()));
        }
        if (divisor.terms.size() == 1) {
            Map.Entry<String, Long> by = divisor.terms.firstEntry();
            TreeMap<String, Long> quotient = new TreeMap<>();
            for (Map.Entry<String, Long> term : terms.entrySet()) {
                List<String> left = split(term.getKey());
                boolean divides = term.getValue() % by.getValue() == 0
                        && split(by.getKey()).stream().allMatch(left::remove);
                if (!divides) {
                    return rounded(divisor);
                }
                quotient.put(String.join("*", left), term.getValue() / by.getValue());
            }
            return new Dimension(quotient);
        }
        return equals(divisor) ? ONE : rounded(divisor);
    }

    /**
     * The quotient by a number, rounded down.
     *
     * @param divisor what to divide by, not zero
     * @return {@code ⌊this / divisor⌋}
     */
    public Dimension dividedBy(long divisor) {
        return dividedBy(of(divisor));
    }

    private Dimension rounded(Dimension divisor) {
        return symbol("floor((" + this + ")/(" + divisor + "))");
    }

    private static String join(String left, String right) {
        List<String> symbols = split(left);
        symbols.addAll(split(right));
        return symbols.stream().sorted().collect(Collectors.joining("*"));
    }

    private static List<String> split(String symbols) {
        return symbols.isEmpty() ? new ArrayList<>() : new ArrayList<>(List.of(symbols.split("\\*", -1)));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Dimension that && terms.equals(that.terms);
    }

    @Override
    public int hashCode() {
        return terms.hashCode();
    }

    @Override
    public String toString() {
        if (terms.isEmpty()) {
            return "0";
        }
        // The constant, whose key is empty and so sorts first, reads better at the end.
        return terms.descendingMap().entrySet().stream()
                .map(term -> write(term.getKey(), term.getValue()))
                .collect(Collectors.joining(" + "))
                .replace("+ -", "- ");
    }

    private static String write(String symbols, long coefficient) {
        if (symbols.isEmpty()) {
            return Long.toString(coefficient);
        }
        return coefficient == 1 ? symbols : coefficient == -1 ? "-" + symbols : coefficient + "*" + symbols;
    }
}
