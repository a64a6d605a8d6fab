package dev.espalier.settings;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * A key of a text of settings: where it stands, what it takes, what it is if nobody says, and what it means. The default and the
 * legal range of a value live here and nowhere else: the reader, programs and the documentation ask.
 *
 * <p>Kinds of a section have keys of their own, such as {@code optimizer.momentum} of {@code optimizer.kind = "momentum"};
 * several of them may share a path, each with a default of its own.
 *
 * @param <T> the Java type of its values
 */
public final class Key<T> {
    private final String path;
    private final ValueType<T> type;
    private final Optional<Range<T>> range;
    private final Optional<T> defaultValue;
    private final boolean changeable;
    private final String meaning;

    private Key(
            String path,
            ValueType<T> type,
            Optional<Range<T>> range,
            Optional<T> defaultValue,
            boolean changeable,
            String meaning) {
        if (!path.matches("[a-z][a-z0-9_]*\\.[a-z][a-z0-9_]*")) {
            throw new IllegalArgumentException(
                    "the key " + path + " must be of the form section.name, of lower case letters, digits and _");
        }
        this.path = path;
        this.type = type;
        this.range = range;
        this.defaultValue = defaultValue;
        this.changeable = changeable;
        this.meaning = meaning;
    }

    private static <T> Key<T> of(String path, ValueType<T> type, String meaning) {
        return new Key<>(path, type, Optional.empty(), Optional.empty(), false, meaning);
    }

    /**
     * A text.
     *
     * @param path section and name
     * @param meaning what it means, half a sentence
     * @return the key, required
     */
    public static Key<String> text(String path, String meaning) {
        return of(path, new ValueType.Text(), meaning);
    }

    /**
     * A file or a folder: a path, or a URI. A text like others, but whoever takes settings to another machine must know which texts are
     * places: see {@link Settings#relocated}.
     *
     * @param path section and name
     * @param meaning what it means, half a sentence
     * @return the key, required
     */
    public static Key<String> location(String path, String meaning) {
        return of(path, new ValueType.Location(), meaning);
    }

    /** {@return whether its values are places} */
    boolean isLocation() {
        return type instanceof ValueType.Location;
    }

    /**
     * A whole number of 32 bits.
     *
     * @param path section and name
     * @param meaning what it means, half a sentence
     * @return the key, required
     */
    public static Key<Integer> whole(String path, String meaning) {
        return of(path, new ValueType.Whole(), meaning);
    }

    /**
     * A whole number of 64 bits, such as a seed.
     *
     * @param path section and name
     * @param meaning what it means, half a sentence
     * @return the key, required
     */
    public static Key<Long> longWhole(String path, String meaning) {
        return of(path, new ValueType.LongWhole(), meaning);
    }

    /**
     * A number.
     *
     * @param path section and name
     * @param meaning what it means, half a sentence
     * @return the key, required
     */
    public static Key<Double> decimal(String path, String meaning) {
        return of(path, new ValueType.Decimal(), meaning);
    }

    /**
     * A number, or {@code "auto"} for one that is found while things go on.
     *
     * @param path section and name
     * @param range which numbers
     * @param meaning what it means, half a sentence
     * @return the key, {@code "auto"} unless somebody says
     */
    public static Key<OptionalDouble> decimalOrAuto(String path, Range<Double> range, String meaning) {
        return of(path, new ValueType.DecimalOrAuto(range), meaning).withDefault(OptionalDouble.empty());
    }

    /**
     * True or false.
     *
     * @param path section and name
     * @param meaning what it means, half a sentence
     * @return the key, required
     */
    public static Key<Boolean> flag(String path, String meaning) {
        return of(path, new ValueType.Flag(), meaning);
    }

    /**
     * One of the constants of an enum, in lower case and with hyphens.
     *
     * @param path section and name
     * @param choices the enum
     * @param meaning what it means, half a sentence
     * @param <E> the enum
     * @return the key, required
     */
    public static <E extends Enum<E>> Key<E> choice(String path, Class<E> choices, String meaning) {
        return of(path, new ValueType.Choice<>(choices), meaning);
    }

    /**
     * One of some names.
     *
     * @param path section and name
     * @param names what it can be
     * @param meaning what it means, half a sentence
     * @return the key, required
     */
    public static Key<String> oneOf(String path, List<String> names, String meaning) {
        return of(path, new ValueType.OneOf(names), meaning);
    }

    /**
     * Several texts.
     *
     * @param path section and name
     * @param meaning what it means, half a sentence
     * @return the key, required
     */
    public static Key<List<String>> texts(String path, String meaning) {
        return of(path, new ValueType.ListOf<>(new ValueType.Text(), "a list of texts"), meaning);
    }

    /**
     * One text, or several: {@code "a"} and {@code ["a"]} are the same.
     *
     * @param path section and name
     * @param meaning what it means, half a sentence
     * @return the key, required
     */
    public static Key<List<String>> someTexts(String path, String meaning) {
        return of(path, new ValueType.OneOrMore<>(new ValueType.Text(), "a text or a list of texts"), meaning);
    }

    /**
     * Several whole numbers of 32 bits.
     *
     * @param path section and name
     * @param meaning what it means, half a sentence
     * @return the key, required
     */
    public static Key<List<Integer>> wholes(String path, String meaning) {
        return of(path, new ValueType.ListOf<>(new ValueType.Whole(), "a list of whole numbers"), meaning);
    }

    /**
     * Several whole numbers of 64 bits.
     *
     * @param path section and name
     * @param meaning what it means, half a sentence
     * @return the key, required
     */
    public static Key<List<Long>> longWholes(String path, String meaning) {
        return of(path, new ValueType.ListOf<>(new ValueType.LongWhole(), "a list of whole numbers"), meaning);
    }

    /**
     * Several numbers.
     *
     * @param path section and name
     * @param meaning what it means, half a sentence
     * @return the key, required
     */
    public static Key<List<Double>> decimals(String path, String meaning) {
        return of(path, new ValueType.ListOf<>(new ValueType.Decimal(), "a list of numbers"), meaning);
    }

    /**
     * {@return the same for some values only}
     *
     * @param legal which
     */
    public Key<T> in(Range<T> legal) {
        return new Key<>(path, type, Optional.of(legal), defaultValue, changeable, meaning);
    }

    /**
     * The same, with what holds if nobody says.
     *
     * @param value the default
     * @return the key, not required any more
     */
    public Key<T> withDefault(T value) {
        return new Key<>(path, type, range, Optional.of(value), changeable, meaning);
    }

    /**
     * The same, with another value allowed when something that was begun goes on: it does not change the outcome.
     *
     * @return the key
     */
    public Key<T> changeable() {
        return new Key<>(path, type, range, defaultValue, true, meaning);
    }

    /**
     * Where it stands.
     *
     * @return section and name, {@code optimizer.rate} for one
     */
    public String path() {
        return path;
    }

    /**
     * The section that it stands in.
     *
     * @return {@code optimizer} for {@code optimizer.rate}
     */
    public String section() {
        return path.substring(0, path.indexOf('.'));
    }

    /**
     * Its name within the section.
     *
     * @return {@code rate} for {@code optimizer.rate}
     */
    public String name() {
        return path.substring(path.indexOf('.') + 1);
    }

    /**
     * What it takes: type and legal range.
     *
     * @return {@code a number, finite and above 0} for one
     */
    public String takes() {
        return type.description() + range.map(legal -> ", " + legal.text()).orElse("");
    }

    /**
     * {@return the words that can be its value, for who would rather choose than type: {@code true} and {@code false} of a flag; none if
     * there is no list of them}
     */
    public List<String> words() {
        return type.words();
    }

    /**
     * What holds if nobody says.
     *
     * @return the default; empty if the key is required
     */
    public Optional<T> defaultValue() {
        return defaultValue;
    }

    /**
     * What holds if nobody says, as text.
     *
     * @return the default as TOML; empty if the key is required
     */
    public Optional<String> defaultText() {
        return defaultValue.map(type::print);
    }

    /**
     * Whether its value may change when something that was begun goes on.
     *
     * @return true if it does not change the outcome
     */
    public boolean isChangeable() {
        return changeable;
    }

    /**
     * What it means.
     *
     * @return half a sentence
     */
    public String meaning() {
        return meaning;
    }

    /**
     * A value as text.
     *
     * @param value the value
     * @return TOML
     */
    public String print(T value) {
        return type.print(value);
    }

    /**
     * Refuses what is not legal.
     *
     * @param value a value
     * @return the value
     * @throws IllegalArgumentException if it is out of range
     */
    public T require(T value) {
        if (!legal(value)) {
            throw new IllegalArgumentException(refusal(type.print(value)));
        }
        return value;
    }

    boolean takesText() {
        return type.takesText();
    }

    /** Whether the parser's object is of its type, in range or not. */
    boolean understands(Object parsed) {
        return type.from(parsed) != null;
    }

    /** The value that the parser's object stands for; null if it is of another type or out of range. */
    @Nullable
    T from(Object parsed) {
        T value = type.from(parsed);
        return value != null && legal(value) ? value : null;
    }

    private boolean legal(T value) {
        return type.holds(value)
                && range.map(legal -> legal.legal().test(value)).orElse(true);
    }

    String refusal(String printed) {
        String without = printed.indexOf('\0') < 0 ? "" : ", without the character U+0000";
        return path + " = " + printed.replace("\0", "\\u0000") + " is not possible: it must be " + takes() + without;
    }

    @Override
    public String toString() {
        return path;
    }
}
