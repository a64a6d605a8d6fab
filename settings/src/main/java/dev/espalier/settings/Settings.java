package dev.espalier.settings;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** All values of a text of settings, section by section. Immutable and sound. {@link Form} reads it, and {@link #toToml} writes it. */
public final class Settings {
    private static final String UNSET = "unset";

    private final Form form;
    private final SequencedMap<String, Values> sections;

    private final SequencedMap<String, SequencedMap<String, List<String>>> open;

    private Settings(
            Form form,
            SequencedMap<String, Values> sections,
            SequencedMap<String, SequencedMap<String, List<String>>> open) {
        this.form = form;
        this.sections = sections;
        this.open = open;
    }

    /** Those of some sections only, to be looked at by checks. */
    static Settings partial(
            Form form, List<Values> sections, SequencedMap<String, SequencedMap<String, List<String>>> open) {
        SequencedMap<String, Values> byName = new LinkedHashMap<>();
        sections.forEach(values -> byName.put(values.section().name(), values));
        return new Settings(form, byName, open);
    }

    private Settings checked() {
        List<Conflict> conflicts = form.conflicts(this);
        if (!conflicts.isEmpty()) {
            throw new IllegalArgumentException(
                    conflicts.stream().map(Conflict::message).collect(Collectors.joining("; ")));
        }
        return this;
    }

    boolean has(Section section) {
        return sections.containsKey(section.name());
    }

    /** {@return what these settings can say} */
    public Form form() {
        return form;
    }

    /**
     * {@return the values of a section}
     *
     * @param section the section
     */
    public Values section(Section section) {
        Values values = sections.get(section.name());
        if (values == null) {
            throw new IllegalArgumentException("a " + form.noun() + " has no section " + section);
        }
        return values;
    }

    /**
     * What stands in a section whose keys are not known.
     *
     * @param section one of {@link Form#open}
     * @return values as TOML by key; of a list its elements, of anything else one. A table's entries are keys with a dot
     */
    public SequencedMap<String, List<String>> open(String section) {
        SequencedMap<String, List<String>> values = open.get(section);
        if (values == null) {
            throw new IllegalArgumentException("a " + form.noun() + " has no open section " + section);
        }
        return Collections.unmodifiableSequencedMap(values);
    }

    /**
     * {@return the value of a key}
     *
     * @param key the key
     * @param <T> its type
     */
    public <T> T of(Key<T> key) {
        return sectionOf(key).of(key);
    }

    /**
     * Whether a key has a value.
     *
     * @param key the key
     * @return false if it belongs to another kind of its section
     */
    public boolean has(Key<?> key) {
        return sectionOf(key).has(key);
    }

    private Values sectionOf(Key<?> key) {
        Values values = sections.get(key.section());
        if (values == null) {
            throw new IllegalArgumentException("a " + form.noun() + " has no key " + key);
        }
        return values;
    }

    /**
     * {@return the same with another value}
     *
     * @param key the key
     * @param value its value
     * @param <T> its type
     * @throws IllegalArgumentException if the value is not legal, or does not fit the others
     */
    public <T> Settings with(Key<T> key, T value) {
        return with(List.of(sectionOf(key).with(key, value)));
    }

    /**
     * {@return the same with other values of some sections}
     *
     * @param changed the values of these sections
     * @throws IllegalArgumentException if they do not fit the others
     */
    public Settings with(List<Values> changed) {
        SequencedMap<String, Values> all = new LinkedHashMap<>(sections);
        for (Values values : changed) {
            section(values.section());
            all.put(values.section().name(), values);
        }
        return new Settings(form, all, open).checked();
    }

    /**
     * {@return the same with other values, as on the command line}
     *
     * @param overrides such as {@code penalty.lambda=1e-3}
     * @throws SettingsException if they cannot be followed
     */
    public Settings with(String... overrides) {
        return form.parse("the " + form.noun(), toToml(), List.of(overrides));
    }

    /**
     * {@return the same with files and folders elsewhere}
     *
     * @param move from where they are to where they are then; not asked about empty texts
     */
    public Settings relocated(UnaryOperator<String> move) {
        Settings moved = this;
        for (Values values : sections.values()) {
            for (Key<?> key : values.keys()) {
                if (key.isLocation() && of(key) instanceof String before && !before.isEmpty()) {
                    String after = move.apply(before);
                    if (!after.equals(before)) {
                        @SuppressWarnings("unchecked") // a location is a text
                        Key<String> location = (Key<String>) key;
                        moved = moved.with(location, after);
                    }
                }
            }
        }
        return moved;
    }

    /**
     * What was changed and must not be, where something that was begun with other settings is to go on.
     *
     * @param before what it was begun with
     * @return a sentence for each key; none if it can go on
     */
    public List<String> changesSince(Settings before) {
        Map<String, String> old = before.texts();
        List<String> changes = new ArrayList<>();
        differences(before)
                .forEach((path, is) ->
                        changes.add("%s was %s, and is %s now".formatted(path, old.getOrDefault(path, UNSET), is)));
        return changes;
    }

    /**
     * What decides the outcome and is otherwise than in other settings.
     *
     * @param before the other settings
     * @return the values here as TOML by path; {@code unset} for a key that only the others have
     */
    public SequencedMap<String, String> differences(Settings before) {
        Map<String, String> old = before.texts();
        Map<String, String> now = texts();
        SequencedMap<String, String> differences = new LinkedHashMap<>();
        for (String path : binding(before, this)) {
            String is = now.getOrDefault(path, UNSET);
            if (!old.getOrDefault(path, UNSET).equals(is)) {
                differences.put(path, is);
            }
        }
        return differences;
    }

    /** The paths of all keys in force that must not change. */
    private static Set<String> binding(Settings... settings) {
        return Arrays.stream(settings)
                .flatMap(each -> each.sections.values().stream())
                .flatMap(values -> values.keys().stream())
                .filter(key -> !key.isChangeable())
                .map(Key::path)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /**
     * All values that are in force, defaults included.
     *
     * @return values as TOML by path, such as {@code training.epochs}, in the order of {@link #toToml}
     */
    public SequencedMap<String, String> texts() {
        SequencedMap<String, String> texts = new LinkedHashMap<>();
        sections.values().forEach(values -> texts.putAll(values.texts()));
        return texts;
    }

    /**
     * All values that are in force, defaults included. Reading it gives equal settings.
     *
     * @return TOML
     */
    public String toToml() {
        StringBuilder text =
                new StringBuilder(sections.values().stream().map(Values::toToml).collect(Collectors.joining("\n")));
        open.forEach((name, values) -> {
            if (!values.isEmpty()) {
                text.append("\n[").append(name).append("]\n");
                values.forEach((key, list) -> text.append(key)
                        .append(" = ")
                        .append(list.stream().collect(Collectors.joining(", ", "[", "]")))
                        .append('\n'));
            }
        });
        return text.toString();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Settings settings
                && form.equals(settings.form)
                && sections.equals(settings.sections)
                && open.equals(settings.open);
    }

    @Override
    public int hashCode() {
        return Objects.hash(form, sections, open);
    }

    @Override
    public String toString() {
        return toToml();
    }
}
