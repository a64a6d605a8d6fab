package dev.espalier.recipe;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A key of a recipe: where it stands, what it takes, what it is if nobody says, and what it means. The default and the
 * legal range of a value live here and nowhere else: the reader, the records' constructors and the documentation ask.
 *
 * <p>A key may belong to some kinds of its section only, such as {@code optimizer.momentum} to
 * {@code optimizer.kind = "momentum"}; then several keys may share a path, with a default of their own each.
 *
 * @param <T> the Java type of its values
 */
public final class Key<T> {
    private final String path;
    private final ValueType<T> type;
    private final Optional<Range<T>> range;
    private final Optional<T> standard;
    private final List<String> kinds;
    private final boolean mayChange;
    private final String meaning;

    private Key(
            String path,
            ValueType<T> type,
            Optional<Range<T>> range,
            Optional<T> standard,
            List<String> kinds,
            boolean mayChange,
            String meaning) {
        this.path = path;
        this.type = type;
        this.range = range;
        this.standard = standard;
        this.kinds = List.copyOf(kinds);
        this.mayChange = mayChange;
        this.meaning = meaning;
    }

    private static <T> Key<T> of(String path, ValueType<T> type, String meaning) {
        return new Key<>(path, type, Optional.empty(), Optional.empty(), List.of(), false, meaning);
    }

    static Key<String> text(String path, String meaning) {
        return of(path, new ValueType.Text(), meaning);
    }

    static Key<Integer> whole(String path, String meaning) {
        return of(path, new ValueType.Whole(), meaning);
    }

    static Key<Long> longWhole(String path, String meaning) {
        return of(path, new ValueType.LongWhole(), meaning);
    }

    static Key<Double> decimal(String path, String meaning) {
        return of(path, new ValueType.Decimal(), meaning);
    }

    static Key<Boolean> flag(String path, String meaning) {
        return of(path, new ValueType.Flag(), meaning);
    }

    static <E extends Enum<E>> Key<E> choice(String path, Class<E> choices, String meaning) {
        return of(path, new ValueType.Choice<>(choices), meaning);
    }

    static Key<List<String>> texts(String path, String meaning) {
        return of(path, new ValueType.ListOf<>(new ValueType.Text(), "a list of texts"), meaning);
    }

    static Key<List<Integer>> wholes(String path, String meaning) {
        return of(path, new ValueType.ListOf<>(new ValueType.Whole(), "a list of whole numbers"), meaning);
    }

    static Key<List<Long>> longWholes(String path, String meaning) {
        return of(path, new ValueType.ListOf<>(new ValueType.LongWhole(), "a list of whole numbers"), meaning);
    }

    Key<T> in(Range<T> legal) {
        return new Key<>(path, type, Optional.of(legal), standard, kinds, mayChange, meaning);
    }

    /** The same, with what holds if a recipe is silent. */
    Key<T> otherwise(T value) {
        return new Key<>(path, type, range, Optional.of(value), kinds, mayChange, meaning);
    }

    /** The same, for some kinds of the section only. */
    Key<T> only(Enum<?>... owners) {
        List<String> labels = Arrays.stream(owners).map(ValueType.Choice::label).toList();
        return new Key<>(path, type, range, standard, labels, mayChange, meaning);
    }

    /** The same for what decides nothing of the outcome: a run that goes on may have another value. */
    Key<T> changeable() {
        return new Key<>(path, type, range, standard, kinds, true, meaning);
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
     * What holds if a recipe is silent.
     *
     * @return the default as TOML; empty if the key is required
     */
    public Optional<String> standard() {
        return standard.map(type::print);
    }

    /**
     * The kinds of the section that it belongs to.
     *
     * @return their names; empty if it belongs to all
     */
    public List<String> kinds() {
        return kinds;
    }

    /**
     * Whether a run that goes on may have another value than it began with, because the outcome is the same: where files
     * lie, how they are loaded, how often the state is saved.
     *
     * @return false if another value would make it another run
     */
    public boolean mayChange() {
        return mayChange;
    }

    /**
     * What it means.
     *
     * @return half a sentence
     */
    public String meaning() {
        return meaning;
    }

    Optional<T> standardValue() {
        return standard;
    }

    boolean belongsTo(String kind) {
        return kinds.isEmpty() || kinds.contains(kind);
    }

    boolean takesText() {
        return type instanceof ValueType.Text;
    }

    /** The value that the parser's object stands for; null if it is of another type or out of range. */
    @Nullable
    T from(Object parsed) {
        T value = type.from(parsed);
        return value != null && legal(value) ? value : null;
    }

    private boolean legal(T value) {
        return range.map(legal -> legal.legal().test(value)).orElse(true);
    }

    /** A line of TOML. */
    String line(T value) {
        return name() + " = " + type.print(value);
    }

    /** The value, if it is legal. */
    T require(T value) {
        if (!legal(value)) {
            throw new IllegalArgumentException(refusal(type.print(value)));
        }
        return value;
    }

    String refusal(String printed) {
        return path + " = " + printed + " is not possible: it must be " + takes();
    }

    @Override
    public String toString() {
        return path;
    }
}
