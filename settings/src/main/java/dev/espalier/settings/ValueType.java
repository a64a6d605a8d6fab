package dev.espalier.settings;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tomlj.Toml;
import org.tomlj.TomlArray;

/**
 * What a key takes, and how that looks in TOML.
 *
 * @param <T> the Java type of its values
 */
sealed interface ValueType<T> {

    /** What people call it, with an article. */
    String description();

    /** The value that the parser's object stands for; null if it is of another type. */
    @Nullable
    T from(Object parsed);

    /** The value as TOML. */
    String print(T value);

    /** Whether a Java value is one of its: what {@link #from} cannot give, a program might. */
    default boolean holds(T value) {
        return true;
    }

    /** Whether a word without quotes can be a value of its, where somebody types one. */
    default boolean takesText() {
        return false;
    }

    /** All words that can be values, or some of them where others are no words; none if there is no list of them. */
    default List<String> words() {
        return List.of();
    }

    /** A text in quotes. */
    record Text() implements ValueType<String> {
        @Override
        public boolean takesText() {
            return true;
        }

        @Override
        public String description() {
            return "a text";
        }

        /** Many texts are names of files, and no file system takes this character. */
        @Override
        public boolean holds(String value) {
            return value.indexOf('\0') < 0;
        }

        @Override
        public @Nullable String from(Object parsed) {
            return parsed instanceof String text ? text : null;
        }

        @Override
        public String print(String value) {
            return "\"" + Toml.tomlEscape(value) + "\"";
        }
    }

    /** The path of a file or a folder, or a URI. */
    record Location() implements ValueType<String> {
        private static final Text TEXT = new Text();

        @Override
        public boolean takesText() {
            return TEXT.takesText();
        }

        @Override
        public String description() {
            return TEXT.description();
        }

        @Override
        public boolean holds(String value) {
            return TEXT.holds(value);
        }

        @Override
        public @Nullable String from(Object parsed) {
            return TEXT.from(parsed);
        }

        @Override
        public String print(String value) {
            return TEXT.print(value);
        }
    }

    /** An integer of 32 bits. */
    record Whole() implements ValueType<Integer> {
        @Override
        public String description() {
            return "a whole number";
        }

        @Override
        public @Nullable Integer from(Object parsed) {
            return parsed instanceof Long number && number == number.intValue() ? (Integer) number.intValue() : null;
        }

        @Override
        public String print(Integer value) {
            return value.toString();
        }
    }

    /** An integer of 64 bits. */
    record LongWhole() implements ValueType<Long> {
        @Override
        public String description() {
            return "a whole number";
        }

        @Override
        public @Nullable Long from(Object parsed) {
            return parsed instanceof Long number ? number : null;
        }

        @Override
        public String print(Long value) {
            return value.toString();
        }
    }

    /** A floating-point number; a whole one is one too. */
    record Decimal() implements ValueType<Double> {
        @Override
        public String description() {
            return "a number";
        }

        @Override
        public @Nullable Double from(Object parsed) {
            return parsed instanceof Number number ? (Double) number.doubleValue() : null;
        }

        @Override
        public String print(Double value) {
            return value.toString().toLowerCase(Locale.ROOT);
        }
    }

    /** A floating-point number in some range, or {@code "auto"}: nobody says, and it is found. */
    record DecimalOrAuto(Range<Double> range) implements ValueType<OptionalDouble> {
        private static final String AUTO = "auto";

        @Override
        public List<String> words() {
            return List.of(AUTO);
        }

        @Override
        public String description() {
            return "\"" + AUTO + "\", or a number, " + range.text();
        }

        @Override
        public @Nullable OptionalDouble from(Object parsed) {
            if (AUTO.equals(parsed)) {
                return OptionalDouble.empty();
            }
            return parsed instanceof Number number && range.legal().test(number.doubleValue())
                    ? OptionalDouble.of(number.doubleValue())
                    : null;
        }

        @Override
        public boolean holds(OptionalDouble value) {
            return value.isEmpty() || range.legal().test(value.getAsDouble());
        }

        @Override
        public String print(OptionalDouble value) {
            return value.isEmpty() ? "\"" + AUTO + "\"" : new Decimal().print(value.getAsDouble());
        }
    }

    /** True or false. */
    record Flag() implements ValueType<Boolean> {
        @Override
        public List<String> words() {
            return List.of("true", "false");
        }

        @Override
        public String description() {
            return String.join(" or ", words());
        }

        @Override
        public @Nullable Boolean from(Object parsed) {
            return parsed instanceof Boolean flag ? flag : null;
        }

        @Override
        public String print(Boolean value) {
            return value.toString();
        }
    }

    /** One of the constants of an enum, in lower case and with hyphens. */
    record Choice<E extends Enum<E>>(Class<E> choices) implements ValueType<E> {
        @Override
        public List<String> words() {
            return Arrays.stream(choices.getEnumConstants()).map(Choice::label).toList();
        }

        @Override
        public String description() {
            return oneOf(words());
        }

        @Override
        public @Nullable E from(Object parsed) {
            return Arrays.stream(choices.getEnumConstants())
                    .filter(choice -> label(choice).equals(parsed))
                    .findFirst()
                    .orElse(null);
        }

        @Override
        public String print(E value) {
            return "\"" + label(value) + "\"";
        }

        static String label(Enum<?> choice) {
            return choice.name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** One of some names. */
    record OneOf(List<String> names) implements ValueType<String> {
        public OneOf {
            names = List.copyOf(names);
        }

        @Override
        public List<String> words() {
            return names;
        }

        @Override
        public String description() {
            return oneOf(names);
        }

        @Override
        public @Nullable String from(Object parsed) {
            return parsed instanceof String name && holds(name) ? name : null;
        }

        @Override
        public boolean holds(String value) {
            return names.contains(value);
        }

        @Override
        public String print(String value) {
            return "\"" + Toml.tomlEscape(value) + "\"";
        }
    }

    private static String oneOf(List<String> names) {
        return names.stream().map(name -> "\"" + name + "\"").collect(Collectors.joining(", ", "one of ", ""));
    }

    /** Several values of one type, in brackets. */
    record ListOf<T>(ValueType<T> element, String description) implements ValueType<List<T>> {
        @Override
        public @Nullable List<T> from(Object parsed) {
            if (!(parsed instanceof TomlArray array)) {
                return null;
            }
            List<T> values = new ArrayList<>();
            for (Object item : array.toList()) {
                T value = element.from(item);
                if (value == null) {
                    return null;
                }
                values.add(value);
            }
            return List.copyOf(values);
        }

        @Override
        public String print(List<T> value) {
            return value.stream().map(element::print).collect(Collectors.joining(", ", "[", "]"));
        }
    }

    /** A single value, or several in brackets. */
    record OneOrMore<T>(ValueType<T> element, String description) implements ValueType<List<T>> {
        @Override
        public boolean takesText() {
            return element.takesText();
        }

        @Override
        public @Nullable List<T> from(Object parsed) {
            T single = element.from(parsed);
            return single != null ? List.of(single) : several().from(parsed);
        }

        @Override
        public String print(List<T> value) {
            return value.size() == 1
                    ? element.print(value.getFirst())
                    : several().print(value);
        }

        private ListOf<T> several() {
            return new ListOf<>(element, description);
        }
    }
}
