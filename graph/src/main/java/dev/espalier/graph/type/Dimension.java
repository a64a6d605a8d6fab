package dev.espalier.graph.type;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The length of a tensor along one axis, or any whole number made of such lengths: a polynomial in named symbols with
 * whole coefficients, such as {@code 128}, {@code batch} or {@code 2*batch*tokens + 1}. A symbol is a length, so it is
 * never negative.
 *
 * <p>Two dimensions are equal when their polynomials are, so {@code batch*4} and {@code 4*batch} are. What a polynomial
 * cannot say, the smaller of two lengths or a rounded quotient, becomes a symbol that stands for the expression: equal
 * expressions are then still equal, and different ones different, whatever they look like. Of such symbols {@code min} is enough: the larger one of two is what the smaller
 * one leaves of their sum, so that the first four tokens and the others, {@code min(4, tokens)} and
 * {@code tokens - min(4, tokens)}, are {@code tokens} again.
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

    /** Digits of a hash that stand for what is left out of a long text. */
    private static final int SHOWN_DIGITS = 16;

    /** The most lengths that one minimum is taken of; beyond that minima are nested. */
    private static final int MOST_PARTS = 4;

    /** The most terms of which bounds are looked for by cases, and how many cases deep. */
    private static final int MOST_TERMS_BY_CASES = 6;

    private static final int DEEPEST_CASES = 2;

    /** The coefficients of products of symbols; that of the empty product is the constant. */
    private final TreeMap<Product, Long> terms;

    /** What a symbol stands for. */
    private enum Kind {
        /** A length that is known at run time. */
        FREE,
        /** The smallest of its parts. */
        LEAST,
        /** The first part by the second, rounded down. */
        QUOTIENT,
        /** What two lengths are broadcast to. */
        COMMON
    }

    /**
     * A factor of a product.
     *
     * @param name its name, for a free length; empty for an expression
     * @param text how it is shown: for reading only, as two symbols may look alike
     * @param key what it is known by: a free length by its name, an expression by its kind and its parts
     * @param parts what an expression is made of; none of a free length
     * @param range what it can be
     */
    private record Symbol(String name, String text, String key, Kind kind, List<Dimension> parts, Range range) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Symbol that && key.equals(that.key);
        }

        @Override
        public int hashCode() {
            return key.hashCode();
        }
    }

    /**
     * Symbols, sorted by their texts.
     *
     * @param text how it is shown, and what products are ordered by first
     * @param key the symbols' keys: no two products have the same
     */
    private record Product(List<Symbol> symbols, String text, String key) implements Comparable<Product> {
        static final Product EMPTY = of(List.of());

        static Product of(List<Symbol> symbols) {
            List<Symbol> sorted = symbols.stream()
                    .sorted(Comparator.comparing(Symbol::text).thenComparing(Symbol::key))
                    .toList();
            return new Product(
                    sorted,
                    sorted.stream().map(Symbol::text).collect(Collectors.joining("*")),
                    sorted.stream().map(Symbol::key).collect(Collectors.joining()));
        }

        Product times(Product other) {
            List<Symbol> all = new ArrayList<>(symbols);
            all.addAll(other.symbols);
            return of(all);
        }

        boolean isEmpty() {
            return symbols.isEmpty();
        }

        @Override
        public int compareTo(Product other) {
            int order = text.compareTo(other.text);
            return order != 0 ? order : key.compareTo(other.key);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Product that && key.equals(that.key);
        }

        @Override
        public int hashCode() {
            return key.hashCode();
        }
    }

    /**
     * All that a number can be, with the ends of {@code long} for infinity.
     *
     * @param least the smallest
     * @param most the largest
     */
    private record Range(long least, long most) {
        static final Range ANY = new Range(Long.MIN_VALUE, Long.MAX_VALUE);
        static final Range LENGTH = new Range(0, Long.MAX_VALUE);

        Range plus(Range other) {
            return new Range(
                    least == Long.MIN_VALUE || other.least == Long.MIN_VALUE ? Long.MIN_VALUE : add(least, other.least),
                    most == Long.MAX_VALUE || other.most == Long.MAX_VALUE ? Long.MAX_VALUE : add(most, other.most));
        }

        private static long add(long left, long right) {
            long sum = left + right;
            return ((left ^ sum) & (right ^ sum)) < 0 ? (left < 0 ? Long.MIN_VALUE : Long.MAX_VALUE) : sum;
        }

        Range times(Range other) {
            long[] corners = {
                multiply(least, other.least),
                multiply(least, other.most),
                multiply(most, other.least),
                multiply(most, other.most)
            };
            return new Range(
                    Arrays.stream(corners).min().getAsLong(),
                    Arrays.stream(corners).max().getAsLong());
        }

        private static long multiply(long left, long right) {
            long high = Math.multiplyHigh(left, right);
            long low = left * right;
            boolean fits = high == low >> (Long.SIZE - 1);
            return fits ? low : high < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }

    @SuppressWarnings("NonApiType") // private: the map was made for this object, and is kept
    private Dimension(TreeMap<Product, Long> terms) {
        terms.values().removeIf(coefficient -> coefficient == 0);
        if (terms.size() > MOST_TERMS) {
            throw new IllegalArgumentException("a dimension with more than " + MOST_TERMS + " terms");
        }
        if (terms.keySet().stream().anyMatch(product -> product.text().length() > MOST_SYMBOLS)) {
            throw new IllegalArgumentException("a dimension with a product of too many symbols");
        }
        this.terms = terms;
    }

    /**
     * {@return a known length}
     *
     * @param value the number
     */
    public static Dimension of(long value) {
        return term(Product.EMPTY, value);
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
        // No key is the beginning of another one, so that a product's is made of those of its symbols in one way only.
        String key = name.length() <= LONGEST_NAME ? "s" + name.length() + ":" + name : "h" + hash(name);
        return symbol(name, name, key, Kind.FREE, List.of(), Range.LENGTH);
    }

    private static Dimension composite(String text, Kind kind, List<Dimension> parts, Range range) {
        String exact = parts.stream().map(Dimension::exact).collect(Collectors.joining(";"));
        char letter = switch (kind) {
            case LEAST -> 'l';
            case QUOTIENT -> 'q';
            case COMMON -> 'c';
            case FREE -> throw new IllegalArgumentException("a free length is no expression");
        };
        return symbol("", text, letter + hash(exact), kind, parts, range);
    }

    private static Dimension symbol(
            String name, String text, String key, Kind kind, List<Dimension> parts, Range range) {
        // Stars join symbols, so that one within a text would be misread.
        Symbol symbol = new Symbol(name, shorten(text.replace('*', '·')), key, kind, parts, range);
        return term(Product.of(List.of(symbol)), 1);
    }

    /** Texts of expressions are made from other texts, and without a bound they could double with every node. */
    private static String shorten(String text) {
        return text.length() <= LONGEST_NAME
                ? text
                : text.substring(0, LONGEST_NAME / 2) + "…" + hash(text).substring(0, SHOWN_DIGITS);
    }

    /** Coefficients and keys of all terms: no two dimensions have the same. */
    private String exact() {
        return terms.entrySet().stream()
                .map(term -> term.getValue() + " " + term.getKey().key())
                .collect(Collectors.joining("+"));
    }

    /** One that nobody can make collide. */
    private static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_16BE));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java platform has SHA-256", impossible);
        }
    }

    private static Dimension term(Product product, long coefficient) {
        TreeMap<Product, Long> terms = new TreeMap<>();
        terms.put(product, coefficient);
        return new Dimension(terms);
    }

    /**
     * Whether the length is a number.
     *
     * @return true if no symbol is left in it
     */
    public boolean isKnown() {
        return terms.isEmpty() || (terms.size() == 1 && terms.containsKey(Product.EMPTY));
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
     * {@return the length as a number}
     *
     * @throws IllegalStateException if it is not known
     */
    public long value() {
        if (!isKnown()) {
            throw new IllegalStateException("the dimension " + this + " is not known");
        }
        return constant();
    }

    private long constant() {
        return terms.getOrDefault(Product.EMPTY, 0L);
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
     * Whether this cannot be below a number, whatever lengths its symbols stand for.
     *
     * @param bound the number
     * @return true if that is certain
     */
    public boolean isAtLeast(long bound) {
        return least(DEEPEST_CASES) >= bound;
    }

    /**
     * Whether this cannot be above a number, whatever lengths its symbols stand for.
     *
     * @param bound the number
     * @return true if that is certain
     */
    public boolean isAtMost(long bound) {
        return of(bound).minus(this).isAtLeast(0);
    }

    /** A lower bound; by cases where a minimum is taken: it is one of its parts, and none of them is smaller. */
    private long least(int cases) {
        long bound = range().least();
        if (cases == 0 || terms.size() > MOST_TERMS_BY_CASES) {
            return bound;
        }
        for (Map.Entry<Product, Long> term : terms.entrySet()) {
            List<Symbol> symbols = term.getKey().symbols();
            if (symbols.size() == 1 && symbols.getFirst().kind() == Kind.LEAST) {
                Dimension others = minus(term(term.getKey(), term.getValue()));
                LongStream bounds = symbols.getFirst().parts().stream()
                        .mapToLong(
                                part -> others.plus(part.times(term.getValue())).least(cases - 1));
                OptionalLong found = term.getValue() < 0 ? bounds.max() : bounds.min();
                bound = Math.max(bound, found.orElse(bound));
            }
        }
        return bound;
    }

    private Range range() {
        Range sum = new Range(0, 0);
        for (Map.Entry<Product, Long> term : terms.entrySet()) {
            Range product = new Range(term.getValue(), term.getValue());
            for (Symbol symbol : term.getKey().symbols()) {
                product = product.times(symbol.range());
            }
            sum = sum.plus(product);
        }
        return sum;
    }

    /**
     * The sum.
     *
     * @param other what is added
     * @return {@code this + other}
     */
    public Dimension plus(Dimension other) {
        TreeMap<Product, Long> sum = new TreeMap<>(terms);
        other.terms.forEach((product, coefficient) -> sum.merge(product, coefficient, Dimension::add));
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
        TreeMap<Product, Long> product = new TreeMap<>();
        terms.forEach((left, a) ->
                other.terms.forEach((right, b) -> product.merge(left.times(right), multiply(a, b), Dimension::add)));
        return new Dimension(product);
    }

    /** With a message of its own: that of the JDK is left out once the code is hot. */
    private static long add(long left, long right) {
        try {
            return Math.addExact(left, right);
        } catch (ArithmeticException overflow) {
            throw tooLarge(left + " + " + right, overflow);
        }
    }

    private static long multiply(long left, long right) {
        try {
            return Math.multiplyExact(left, right);
        } catch (ArithmeticException overflow) {
            throw tooLarge(left + " · " + right, overflow);
        }
    }

    private static ArithmeticException tooLarge(String what, ArithmeticException cause) {
        ArithmeticException explained = new ArithmeticException("overflow: " + what + " is no length");
        explained.initCause(cause);
        return explained;
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
     * The quotient, rounded down. Exact where the polynomials divide; otherwise a symbol that stands for the expression.
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
        Dimension exact = exactly(divisor);
        return exact == null ? rounded(divisor) : exact;
    }

    /** The polynomial that this is a multiple by; null if there is none. Term by term, as numbers are divided on paper. */
    private @Nullable Dimension exactly(Dimension divisor) {
        Map.Entry<Product, Long> by = divisor.leading();
        Dimension quotient = ZERO;
        Dimension rest = this;
        for (int i = 0; i < MOST_TERMS && !rest.terms.isEmpty(); i++) {
            Map.Entry<Product, Long> term = rest.leading();
            List<Symbol> left = new ArrayList<>(term.getKey().symbols());
            boolean divides = term.getValue() % by.getValue() == 0
                    && by.getKey().symbols().stream().allMatch(left::remove);
            if (!divides) {
                return null;
            }
            Dimension part = term(Product.of(left), term.getValue() / by.getValue());
            quotient = quotient.plus(part);
            rest = rest.minus(part.times(divisor));
        }
        return rest.terms.isEmpty() ? quotient : null;
    }

    /** The term of the most symbols. */
    private Map.Entry<Product, Long> leading() {
        return terms.entrySet().stream()
                .max(Comparator.comparingInt((Map.Entry<Product, Long> term) ->
                                term.getKey().symbols().size())
                        .thenComparing(Map.Entry::getKey))
                .orElseThrow();
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
        boolean length = isAtLeast(0) && divisor.isAtLeast(0);
        return composite(
                "floor((" + this + ")/(" + divisor + "))",
                Kind.QUOTIENT,
                List.of(this, divisor),
                length ? Range.LENGTH : Range.ANY);
    }

    /**
     * The smaller one. A number, or one of the two, where that is certain; otherwise a symbol that stands for the expression.
     *
     * @param other the other length
     * @return {@code min(this, other)}
     */
    public Dimension min(Dimension other) {
        List<Dimension> parts = new ArrayList<>(parts());
        parts.addAll(other.parts());
        if (parts.size() > MOST_PARTS) {
            parts = new ArrayList<>(List.of(this, other));
        }
        List<Dimension> smallest = withoutLarger(parts);
        if (smallest.size() == 1) {
            return smallest.getFirst();
        }
        // What is added to all parts is taken out, so that min(6, tokens + 2) and min(4, tokens) + 2 are equal.
        long added = smallest.stream()
                .filter(part -> !part.isKnown())
                .min(Comparator.comparing(part -> part.plus(-part.constant()).toString()))
                .orElseThrow()
                .constant();
        List<Dimension> shifted = smallest.stream()
                .map(part -> part.minus(of(added)))
                .sorted(Comparator.comparing((Dimension part) -> !part.isKnown())
                        .thenComparing(Dimension::toString))
                .toList();
        String text = shifted.stream().map(Dimension::toString).collect(Collectors.joining(", ", "min(", ")"));
        Range range = new Range(
                shifted.stream().mapToLong(part -> part.range().least()).min().getAsLong(),
                shifted.stream().mapToLong(part -> part.range().most()).min().getAsLong());
        return composite(text, Kind.LEAST, shifted, range).plus(added);
    }

    /**
     * The larger one.
     *
     * @param other the other length
     * @return {@code max(this, other)}, which is {@code this + other − min(this, other)}
     */
    public Dimension max(Dimension other) {
        return plus(other).minus(min(other));
    }

    /** What this is the smallest of: itself alone, unless it is a minimum, to which a number may be added. */
    private List<Dimension> parts() {
        Symbol minimum = expression(plus(-constant()), Kind.LEAST);
        return minimum == null
                ? List.of(this)
                : minimum.parts().stream().map(part -> part.plus(constant())).toList();
    }

    /** The symbol that a dimension is, if it is a single one of a kind; else null. */
    private static @Nullable Symbol expression(Dimension dimension, Kind kind) {
        boolean single = dimension.terms.size() == 1
                && dimension.terms.firstEntry().getValue() == 1
                && dimension.terms.firstKey().symbols().size() == 1;
        Symbol symbol = single ? dimension.terms.firstKey().symbols().getFirst() : null;
        return symbol != null && symbol.kind() == kind ? symbol : null;
    }

    /** Without those that cannot be below another one. */
    private static List<Dimension> withoutLarger(List<Dimension> parts) {
        List<Dimension> left = new ArrayList<>();
        for (Dimension part : parts) {
            if (left.stream().noneMatch(other -> part.minus(other).isAtLeast(0))) {
                left.removeIf(other -> other.minus(part).isAtLeast(0));
                left.add(part);
            }
        }
        return left;
    }

    /**
     * The length that two lengths are broadcast to, neither of them known: they are equal when it comes to that, or one
     * of them is one.
     */
    Dimension common(Dimension other) {
        if (equals(other) || isClipped(other) || holds(other)) {
            return isClipped(other) ? other : this;
        }
        if (other.isClipped(this) || other.holds(this)) {
            return other.isClipped(this) ? this : other;
        }
        List<Dimension> parts = Stream.of(this, other)
                .sorted(Comparator.comparing(Dimension::toString))
                .toList();
        return composite("max(" + parts.getFirst() + ", " + parts.getLast() + ")", Kind.COMMON, parts, Range.LENGTH);
    }

    /** Whether this is another length, cut to a number of at least one: then it is one if the other is. */
    private boolean isClipped(Dimension other) {
        List<Dimension> parts = parts();
        return parts.size() > 1
                && parts.contains(other)
                && parts.stream().allMatch(part -> part.equals(other) || (part.isKnown() && part.value() >= 1));
    }

    /** Whether another length was broadcast to this already. */
    private boolean holds(Dimension other) {
        Symbol common = expression(this, Kind.COMMON);
        return common != null && common.parts().contains(other);
    }

    /**
     * The names of all symbols that it depends on.
     *
     * @return what {@link #with} takes numbers for
     */
    public SortedSet<String> symbols() {
        SortedSet<String> names = new TreeSet<>();
        for (Product product : terms.keySet()) {
            for (Symbol symbol : product.symbols()) {
                if (symbol.kind() == Kind.FREE) {
                    names.add(symbol.name());
                }
                symbol.parts().forEach(part -> names.addAll(part.symbols()));
            }
        }
        return names;
    }

    /**
     * The same with numbers in place of some symbols.
     *
     * @param lengths numbers by the symbols' names
     * @return the dimension, known if no other symbol is in it
     */
    public Dimension with(Map<String, Long> lengths) {
        return isKnown() ? this : with(lengths, new HashMap<>());
    }

    /** An expression may be part of several others: each is computed once. */
    private Dimension with(Map<String, Long> lengths, Map<String, Dimension> computed) {
        Dimension sum = ZERO;
        for (Map.Entry<Product, Long> term : terms.entrySet()) {
            Dimension product = of(term.getValue());
            for (Symbol symbol : term.getKey().symbols()) {
                Dimension value = computed.get(symbol.key());
                if (value == null) {
                    value = with(symbol, lengths, computed);
                    computed.put(symbol.key(), value);
                }
                product = product.times(value);
            }
            sum = sum.plus(product);
        }
        return sum;
    }

    private static Dimension with(Symbol symbol, Map<String, Long> lengths, Map<String, Dimension> computed) {
        Long length = symbol.kind() == Kind.FREE ? lengths.get(symbol.name()) : null;
        if (length != null) {
            return of(length);
        }
        List<Dimension> parts = symbol.parts().stream()
                .map(part -> part.with(lengths, computed))
                .toList();
        return switch (symbol.kind()) {
            case FREE -> term(Product.of(List.of(symbol)), 1);
            case LEAST -> parts.stream().reduce(Dimension::min).orElseThrow();
            case QUOTIENT -> parts.getFirst().dividedBy(parts.getLast());
            case COMMON ->
                Shape.of(parts.getFirst()).broadcast(Shape.of(parts.getLast())).get(0);
        };
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
        // What is added reads better before what is taken away, and the constant, whose text is empty, at the end.
        return terms.descendingMap().entrySet().stream()
                .sorted(Comparator.comparing(
                        (Map.Entry<Product, Long> term) -> term.getKey().isEmpty() ? 2 : term.getValue() < 0 ? 1 : 0))
                .map(term -> write(term.getKey(), term.getValue()))
                .collect(Collectors.joining(" + "))
                .replace("+ -", "- ");
    }

    private static String write(Product product, long coefficient) {
        if (product.isEmpty()) {
            return Long.toString(coefficient);
        }
        return coefficient == 1
                ? product.text()
                : coefficient == -1 ? "-" + product.text() : coefficient + "*" + product.text();
    }
}
