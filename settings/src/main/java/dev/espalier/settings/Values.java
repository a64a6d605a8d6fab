package dev.espalier.settings;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.stream.Collectors;

/** The values of all keys of a section, defaults included. Immutable and sound: whatever is illegal is refused when it is made. */
public final class Values {
    private final Section section;
    private final String kind;
    private final SequencedMap<String, Setting<?>> settings;

    private record Setting<T>(Key<T> key, T value) {
        String text() {
            return key.print(value);
        }
    }

    private Values(Section section, String kind, SequencedMap<String, Setting<?>> settings) {
        this.section = section;
        this.kind = kind;
        this.settings = settings;
    }

    /** Collects values one by one. */
    static final class Builder {
        private final Section section;
        private final String kind;
        private final SequencedMap<String, Setting<?>> settings = new LinkedHashMap<>();

        Builder(Section section, String kind) {
            this.section = section;
            this.kind = kind;
        }

        <T> void put(Key<T> key, T value) {
            settings.put(key.path(), new Setting<>(key, key.require(value)));
        }

        Values build() {
            return new Values(section, kind, settings).checked();
        }
    }

    private Values checked() {
        section.kinds().stream().filter(one -> one.name().equals(kind)).forEach(one -> one.check(this));
        return this;
    }

    /**
     * {@return what holds if nobody says anything}
     *
     * @param section the section
     * @param kind which kind of it; empty for a section of one kind
     * @throws IllegalArgumentException if there is no such kind, or a key of it has no default
     */
    public static Values defaults(Section section, String kind) {
        Builder builder = new Builder(section, kind);
        section.kindKey().ifPresent(key -> builder.put(key, kind));
        section.keys(kind).forEach(key -> putDefault(builder, key));
        return builder.build();
    }

    private static <T> void putDefault(Builder builder, Key<T> key) {
        builder.put(
                key,
                key.defaultValue()
                        .orElseThrow(() ->
                                new IllegalArgumentException("%s has no default: say %s".formatted(key, key.takes()))));
    }

    /**
     * The section.
     *
     * @return whose values these are
     */
    public Section section() {
        return section;
    }

    /**
     * The kind of the section.
     *
     * @return its name; empty for a section of one kind
     */
    public String kind() {
        return kind;
    }

    /**
     * Whether a key has a value.
     *
     * @param key a key
     * @return false if it is none of this section, or belongs to another kind
     */
    public boolean has(Key<?> key) {
        Setting<?> setting = settings.get(key.path());
        return setting != null && setting.key() == key;
    }

    /**
     * {@return the value of a key}
     *
     * @param key a key of the section's kind
     * @param <T> its type
     */
    @SuppressWarnings("unchecked") // A key is kept with a value of its type.
    public <T> T of(Key<T> key) {
        Setting<?> setting = settings.get(key.path());
        if (setting == null || setting.key() != key) {
            throw new IllegalArgumentException(
                    "%s has no value in section %s of the kind \"%s\"".formatted(key, section, kind));
        }
        return (T) setting.value();
    }

    /**
     * {@return the same with another value}
     *
     * @param key a key of the section's kind
     * @param value the value
     * @param <T> its type
     * @throws IllegalArgumentException if the value is not legal
     */
    public <T> Values with(Key<T> key, T value) {
        of(key);
        SequencedMap<String, Setting<?>> changed = new LinkedHashMap<>(settings);
        changed.put(key.path(), new Setting<>(key, key.require(value)));
        return new Values(section, kind, changed).checked();
    }

    /**
     * The same of another kind. Keys that both kinds have keep their values; the others have their defaults.
     *
     * @param other the name of the kind
     * @return the values
     * @throws IllegalArgumentException if there is no such kind, or a key that only it has is required
     */
    public Values withKind(String other) {
        Builder builder = new Builder(section, other);
        section.kindKey().ifPresentOrElse(key -> builder.put(key, other), () -> {
            throw new IllegalArgumentException("section %s has no kinds".formatted(section));
        });
        for (Key<?> key : section.keys(other)) {
            if (has(key)) {
                copy(builder, key);
            } else {
                putDefault(builder, key);
            }
        }
        return builder.build();
    }

    private <T> void copy(Builder builder, Key<T> key) {
        builder.put(key, of(key));
    }

    /**
     * All keys that have a value.
     *
     * @return the keys, in the order in which they are written
     */
    public List<Key<?>> keys() {
        return settings.values().stream().<Key<?>>map(Setting::key).toList();
    }

    /**
     * The values as text.
     *
     * @return TOML by path, in the order in which they are written
     */
    public SequencedMap<String, String> texts() {
        SequencedMap<String, String> texts = new LinkedHashMap<>();
        settings.forEach((path, setting) -> texts.put(path, setting.text()));
        return texts;
    }

    /**
     * The section as text.
     *
     * @return lines of TOML, beginning with the section's name
     */
    public String toToml() {
        return settings.values().stream()
                .map(setting -> setting.key().name() + " = " + setting.text() + "\n")
                .collect(Collectors.joining("", section + "\n", ""));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Values values
                && section.equals(values.section)
                && kind.equals(values.kind)
                && settings.equals(values.settings);
    }

    @Override
    public int hashCode() {
        return Objects.hash(section, kind, settings);
    }

    @Override
    public String toString() {
        return toToml();
    }
}
