package dev.espalier.settings;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Collectors;
import org.tomlj.Toml;
import org.tomlj.TomlArray;
import org.tomlj.TomlParseError;
import org.tomlj.TomlParseResult;
import org.tomlj.TomlTable;

/**
 * Reads settings. Whatever is wrong is told at once: unknown keys with the nearest that is known, values of a wrong type or out
 * of range, keys that are missing, sections that do not fit each other.
 */
final class SettingsReader {
    private final Form form;
    private final Set<String> sectionNames;
    private final Set<String> paths;
    private final SequencedMap<String, Entry> entries = new LinkedHashMap<>();
    private final Map<String, Integer> sectionLines = new LinkedHashMap<>();
    private final SequencedMap<String, SequencedMap<String, List<String>>> open = new LinkedHashMap<>();
    private final List<Problem> problems = new ArrayList<>();

    /** Sections that the form does not have, by their lines. */
    private final SequencedMap<Integer, String> others = new LinkedHashMap<>();

    SettingsReader(Form form) {
        this.form = form;
        this.sectionNames =
                form.sections().stream().map(Section::name).collect(Collectors.toCollection(LinkedHashSet::new));
        form.open().forEach(name -> open.put(name, new LinkedHashMap<>()));
        this.paths = form.keys().stream().map(Key::path).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /**
     * What stands behind a key.
     *
     * @param value as the parser understands it
     * @param line where; 0 for an override
     * @param text of an override: its value as it was written; empty for a line of the file
     */
    private record Entry(Object value, int line, String text) {
        boolean isOverride() {
            return line == 0;
        }

        /** Whether it is a whole number beyond 32 bits, which only seeds may be. */
        boolean isHuge() {
            return value instanceof Long number && number > Integer.MAX_VALUE;
        }

        String printed() {
            return switch (value) {
                case String string -> "\"" + string + "\"";
                case TomlArray array -> array.toList().toString();
                default -> value.toString();
            };
        }
    }

    Settings read(String source, TomlParseResult parsed, List<String> overrides) {
        Set<Integer> lines = new HashSet<>();
        for (TomlParseError error : parsed.errors()) {
            // The first error of a line tends to cause its others.
            if (lines.add(error.position().line())) {
                problem(error.position().line(), String.valueOf(error.getMessage()));
            }
        }
        flatten(parsed, List.of());
        if (form.alone() || sectionNames.stream().noneMatch(sectionLines::containsKey)) {
            others.forEach((line, name) -> problem(line, unknownSection(name)));
        }
        overrides.forEach(this::override);
        if (parsed.hasErrors()) {
            // The parser may have skipped lines: what seems to be missing or unknown now need not be.
            throw new SettingsException(source, problems);
        }
        entries.entrySet().removeIf(entry -> isOpen(entry.getKey(), entry.getValue()));
        entries.forEach(this::requireKnown);
        List<Values> sound = new ArrayList<>();
        form.sections().forEach(section -> section(section).ifPresent(sound::add));
        Settings settings = Settings.partial(form, sound, open);
        form.conflicts(settings).forEach(conflict -> problem(line(conflict.path()), conflict.message()));
        if (!problems.isEmpty()) {
            throw new SettingsException(source, problems);
        }
        return settings;
    }

    private void flatten(TomlTable table, List<String> prefix) {
        for (String name : table.keySet()) {
            List<String> local = List.of(name);
            List<String> path = new ArrayList<>(prefix);
            path.add(name);
            String dotted = String.join(".", path);
            Object value = table.get(local);
            int line = Optional.ofNullable(table.inputPositionOf(local))
                    .map(position -> position.line())
                    .orElse(0);
            if (value instanceof TomlTable inner) {
                sectionLines.put(dotted, line);
                if (prefix.isEmpty() && !sectionNames.contains(name) && !open.containsKey(name)) {
                    others.put(line, name);
                } else {
                    flatten(inner, path);
                }
            } else if (value != null) {
                entries.put(dotted, new Entry(value, line, ""));
            }
        }
    }

    private void override(String override) {
        int equals = override.indexOf('=');
        if (equals <= 0) {
            problem(0, "the override " + override + " must be of the form section.key=value");
            return;
        }
        String path = override.substring(0, equals).strip();
        String text = override.substring(equals + 1).strip();
        entries.put(path, new Entry(value(text), 0, text));
    }

    /** What a value on the command line means: TOML if it is such, otherwise the text, which needs no quotes then. */
    private static Object value(String text) {
        if (Nesting.problem(text).isPresent()) {
            return text;
        }
        TomlParseResult parsed = Toml.parse("value = " + text);
        Object value = parsed.hasErrors() || parsed.size() != 1 ? null : parsed.get(List.of("value"));
        return value == null ? text : value;
    }

    /** Takes what stands in a section whose keys are not known here. */
    private boolean isOpen(String path, Entry entry) {
        int dot = path.indexOf('.');
        SequencedMap<String, List<String>> values = dot < 0 ? null : open.get(path.substring(0, dot));
        if (values == null) {
            return false;
        }
        values.put(
                path.substring(dot + 1),
                entry.value() instanceof TomlArray array
                        ? array.toList().stream().map(SettingsReader::text).toList()
                        : List.of(text(entry.value())));
        return true;
    }

    /** A value as TOML. */
    private static String text(Object value) {
        return switch (value) {
            case String string -> new ValueType.Text().print(string);
            case Double number -> new ValueType.Decimal().print(number);
            case TomlArray array ->
                array.toList().stream().map(SettingsReader::text).collect(Collectors.joining(", ", "[", "]"));
            default -> value.toString();
        };
    }

    private void requireKnown(String path, Entry entry) {
        if (sectionNames.contains(path)) {
            problem(entry, "%s is a section: write [%s] and its keys below".formatted(path, path));
        } else if (!paths.contains(path)) {
            problem(entry, unknownKey(path));
        }
    }

    private String unknownSection(String name) {
        return "[%s] is no section of a %s; ".formatted(name, form.noun())
                + Nearest.path(name, sectionNames)
                        .map("the nearest is [%s]"::formatted)
                        .orElse("there are " + String.join(", ", sectionNames));
    }

    /** With the nearest key; or else those of its section, or the sections if it is in none. */
    private String unknownKey(String path) {
        return "%s is no key of a %s; ".formatted(path, form.noun())
                + Nearest.path(path, paths).map("the nearest is "::concat).orElseGet(() -> choices(path));
    }

    private String choices(String path) {
        String section = path.substring(0, Math.max(0, path.indexOf('.')));
        return sectionNames.contains(section)
                ? "[%s] has %s"
                        .formatted(
                                section,
                                form.keys().stream()
                                        .filter(key -> key.section().equals(section))
                                        .map(Key::name)
                                        .distinct()
                                        .collect(Collectors.joining(", ")))
                : "a key is SECTION.KEY, and the sections are " + String.join(", ", sectionNames);
    }

    /** The section's values; empty if something is wrong with them. */
    private Optional<Values> section(Section section) {
        int before = problems.size();
        Optional<String> kind = kind(section);
        Values.Builder values = new Values.Builder(section, kind.orElse(""));
        if (kind.isPresent()) {
            section.kindKey().ifPresent(key -> values.put(key, kind.get()));
            section.keys(kind.get()).forEach(key -> read(key, values));
            refuseOtherKinds(section, kind.get());
        } else {
            // Without a kind nobody knows which keys apply; then those that are read in one way only are checked.
            section.keys().stream().filter(key -> isOnlyReading(key, section)).forEach(key -> read(key, values));
        }
        if (problems.size() > before) {
            return Optional.empty();
        }
        try {
            return Optional.of(values.build());
        } catch (IllegalArgumentException impossible) {
            problem(
                    sectionLines.getOrDefault(section.name(), 0),
                    Optional.ofNullable(impossible.getMessage()).orElse("section " + section.name()));
            return Optional.empty();
        }
    }

    /** Which kind it is, the empty name for a section of one kind; empty if that is missing or wrong. */
    private Optional<String> kind(Section section) {
        if (section.kindKey().isEmpty()) {
            return Optional.of("");
        }
        Key<String> key = section.kindKey().get();
        Entry entry = entries.get(key.path());
        if (entry == null) {
            if (key.defaultValue().isEmpty()) {
                missing(key);
            }
            return key.defaultValue();
        }
        Optional<String> kind = Optional.ofNullable(key.from(entry.value()));
        if (kind.isEmpty()) {
            problem(entry, key.refusal(entry.printed()));
        }
        return kind;
    }

    /** Whether a key would be read in one way, whatever the kind: then its value can be checked. */
    private boolean isOnlyReading(Key<?> key, Section section) {
        boolean first = section.keys().stream()
                .filter(other -> other.path().equals(key.path()))
                .findFirst()
                .filter(other -> other == key)
                .isPresent();
        boolean isKind = section.kindKey().filter(kind -> kind == key).isPresent();
        return first && !isKind && (section.owners(key).isEmpty() || entries.containsKey(key.path()));
    }

    private <T> void read(Key<T> key, Values.Builder values) {
        Entry entry = entries.get(key.path());
        if (entry == null) {
            key.defaultValue().ifPresentOrElse(value -> values.put(key, value), () -> missing(key));
            return;
        }
        boolean bareWord = entry.isOverride() && key.takesText() && !key.understands(entry.value());
        T value = key.from(bareWord ? entry.text() : entry.value());
        if (value == null) {
            problem(entry, key.refusal(entry.printed()) + (entry.isHuge() ? ", and below 2147483648" : ""));
        } else {
            values.put(key, value);
        }
    }

    private void missing(Key<?> key) {
        Integer line = sectionLines.get(key.section());
        String message = "%s is missing: %s (%s)".formatted(key.path(), key.meaning(), key.takes());
        problem(line == null ? 0 : line, message);
    }

    /** Keys that another kind of the section has. If the kind was overridden, the file's belong to the old one: they go. */
    private void refuseOtherKinds(Section section, String kind) {
        boolean overridden = section.kindKey()
                .map(key -> entries.get(key.path()))
                .filter(Entry::isOverride)
                .isPresent();
        Set<String> applying = section.keys(kind).stream().map(Key::path).collect(Collectors.toSet());
        section.kindKey().ifPresent(key -> applying.add(key.path()));
        for (Key<?> key : section.keys()) {
            Entry entry = entries.get(key.path());
            if (entry == null || applying.contains(key.path()) || (overridden && !entry.isOverride())) {
                continue;
            }
            applying.add(key.path());
            String owners = section.kinds().stream()
                    .filter(other ->
                            other.keys().stream().anyMatch(own -> own.path().equals(key.path())))
                    .map(Kind::name)
                    .collect(Collectors.joining(", "));
            problem(
                    entry,
                    "%s is no key of %s.kind = %s; it belongs to %s"
                            .formatted(key.path(), section.name(), kind, owners));
        }
    }

    private int line(String path) {
        Entry entry = entries.get(path);
        return entry != null ? entry.line() : sectionLines.getOrDefault(path.substring(0, path.indexOf('.')), 0);
    }

    private void problem(Entry entry, String message) {
        problem(entry.line(), entry.isOverride() ? "override: " + message : message);
    }

    private void problem(int line, String message) {
        problems.add(new Problem(line, message));
    }
}
