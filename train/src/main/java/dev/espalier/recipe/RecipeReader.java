package dev.espalier.recipe;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tomlj.Toml;
import org.tomlj.TomlArray;
import org.tomlj.TomlParseError;
import org.tomlj.TomlParseResult;
import org.tomlj.TomlTable;

/**
 * Reads recipes. Whatever is wrong in one is told at once: unknown keys with the nearest that is known, values of a wrong
 * type or out of range, keys that are missing, sections that do not fit each other.
 */
public final class RecipeReader {
    private static final Set<String> SECTION_NAMES =
            Recipe.SECTIONS.stream().map(Section::name).collect(Collectors.toCollection(LinkedHashSet::new));
    private static final Set<String> PATHS =
            Recipe.keys().stream().map(Key::path).collect(Collectors.toCollection(LinkedHashSet::new));

    private final SequencedMap<String, Entry> entries = new LinkedHashMap<>();
    private final Map<String, Integer> sectionLines = new LinkedHashMap<>();
    private final List<Problem> problems = new ArrayList<>();

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

    private RecipeReader() {}

    /**
     * Reads a recipe from a file.
     *
     * @param file the file
     * @param overrides values that replace those of the file, each as {@code section.key=value}
     * @return the recipe
     * @throws IOException if the file cannot be read
     * @throws RecipeException if the recipe cannot be followed
     */
    public static Recipe read(Path file, List<String> overrides) throws IOException {
        try {
            return parse(file.toString(), Files.readString(file), overrides);
        } catch (CharacterCodingException _) {
            throw new RecipeException(
                    file.toString(), List.of(new Problem(0, "it is no text in UTF-8, as a recipe must be")));
        }
    }

    /**
     * Reads a recipe from a text.
     *
     * @param source what messages call it
     * @param toml the text
     * @param overrides values that replace those of the text, each as {@code section.key=value}
     * @return the recipe
     * @throws RecipeException if the recipe cannot be followed
     */
    public static Recipe parse(String source, String toml, List<String> overrides) {
        RecipeReader reader = new RecipeReader();
        Optional<Recipe> recipe = reader.recipe(toml, overrides);
        return recipe.orElseThrow(() -> new RecipeException(source, reader.problems));
    }

    private Optional<Recipe> recipe(String toml, List<String> overrides) {
        TomlParseResult parsed = Toml.parse(toml);
        Set<Integer> lines = new HashSet<>();
        for (TomlParseError error : parsed.errors()) {
            // The first error of a line tends to cause its others.
            if (lines.add(error.position().line())) {
                problem(error.position().line(), String.valueOf(error.getMessage()));
            }
        }
        flatten(parsed, List.of());
        overrides.forEach(this::override);
        if (parsed.hasErrors()) {
            // The parser may have skipped lines: what seems to be missing or unknown now need not be.
            return Optional.empty();
        }
        entries.forEach(this::requireKnown);
        return build();
    }

    private Optional<Recipe> build() {
        DataRecipe data = section(DataRecipe.SECTION);
        ModelRecipe model = section(ModelKeys.SECTION);
        MethodRecipe method = section(MethodRecipe.SECTION);
        PenaltyRecipe penalty = section(PenaltyKeys.SECTION);
        GroupRecipe groups = section(GroupRecipe.SECTION);
        OptimizerRecipe optimizer = section(OptimizerRecipe.SECTION);
        ScheduleRecipe schedule = section(ScheduleRecipe.SECTION);
        PhaseRecipe phases = section(PhaseRecipe.SECTION);
        TargetRecipe target = section(TargetRecipe.SECTION);
        TrainingRecipe training = section(TrainingRecipe.SECTION);
        EvaluationRecipe evaluation = section(EvaluationRecipe.SECTION);
        CheckpointRecipe checkpoint = section(CheckpointRecipe.SECTION);
        DivergenceRecipe divergence = section(DivergenceRecipe.SECTION);
        Conflicts.between(data, model, method, penalty, groups, schedule, phases, target, training)
                .forEach(conflict -> problem(line(conflict.path()), conflict.message()));
        if (!problems.isEmpty()
                || data == null
                || model == null
                || method == null
                || penalty == null
                || groups == null
                || optimizer == null
                || schedule == null
                || phases == null
                || target == null
                || training == null
                || evaluation == null
                || checkpoint == null
                || divergence == null) {
            return Optional.empty();
        }
        return Optional.of(new Recipe(
                data,
                model,
                method,
                penalty,
                groups,
                optimizer,
                schedule,
                phases,
                target,
                training,
                evaluation,
                checkpoint,
                divergence));
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
                if (prefix.isEmpty() && !SECTION_NAMES.contains(name)) {
                    problem(line, unknownSection(name));
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
            problem(
                    0,
                    "the override " + override + " must be of the form section.key=value, optimizer.rate=0.01 for one");
            return;
        }
        String path = override.substring(0, equals).strip();
        String text = override.substring(equals + 1).strip();
        entries.put(path, new Entry(value(text), 0, text));
    }

    /** What a value on the command line means: TOML if it is such, otherwise the text, which needs no quotes then. */
    private static Object value(String text) {
        TomlParseResult parsed = Toml.parse("value = " + text);
        Object value = parsed.hasErrors() || parsed.size() != 1 ? null : parsed.get(List.of("value"));
        return value == null ? text : value;
    }

    private void requireKnown(String path, Entry entry) {
        if (SECTION_NAMES.contains(path)) {
            problem(entry, "%s is a section: write [%s] and its keys below".formatted(path, path));
        } else if (!PATHS.contains(path)) {
            problem(entry, unknownKey(path));
        }
    }

    private static String unknownSection(String name) {
        return "[%s] is no section of a recipe; ".formatted(name)
                + Nearest.path(name, SECTION_NAMES)
                        .map("the nearest is [%s]"::formatted)
                        .orElse("there are " + String.join(", ", SECTION_NAMES));
    }

    /** With the nearest key; or else those of its section, or the sections if it is in none. */
    private static String unknownKey(String path) {
        return path + " is no key of a recipe; "
                + Nearest.path(path, PATHS).map("the nearest is "::concat).orElseGet(() -> choices(path));
    }

    private static String choices(String path) {
        String section = path.substring(0, Math.max(0, path.indexOf('.')));
        return SECTION_NAMES.contains(section)
                ? "[%s] has %s"
                        .formatted(
                                section,
                                Recipe.keys().stream()
                                        .filter(key -> key.section().equals(section))
                                        .map(Key::name)
                                        .distinct()
                                        .collect(Collectors.joining(", ")))
                : "a key is SECTION.KEY, and the sections are " + String.join(", ", SECTION_NAMES);
    }

    /** The section's record; null if something is wrong with it. */
    private <T> @Nullable T section(Section<T> section) {
        int before = problems.size();
        Values values = new Values();
        Optional<String> kind = Optional.of("");
        if (section.kind().isPresent()) {
            Key<?> key = section.kind().get();
            read(key, values);
            kind = problems.size() == before ? Optional.of(kindLabel(key)) : Optional.empty();
        }
        // Without a kind nobody knows which keys apply; then those that the file has are checked.
        for (Key<?> key : section.keys()) {
            if (key.name().equals("kind")) {
                continue;
            }
            if (kind.isEmpty() ? isOnlyReading(key, section.keys()) : key.belongsTo(kind.get())) {
                read(key, values);
            }
        }
        kind.ifPresent(label -> refuseOtherKinds(section, label));
        if (problems.size() > before) {
            return null;
        }
        try {
            return section.build().apply(values);
        } catch (IllegalArgumentException impossible) {
            problem(
                    sectionLines.getOrDefault(section.name(), 0),
                    Optional.ofNullable(impossible.getMessage()).orElse("section " + section.name()));
            return null;
        }
    }

    private String kindLabel(Key<?> key) {
        Entry entry = entries.get(key.path());
        return entry != null
                ? entry.value().toString()
                : key.standard().orElseThrow().replace("\"", "");
    }

    /** Whether a key is there and would be read in one way, whatever the kind: then its value can be checked. */
    private boolean isOnlyReading(Key<?> key, Collection<Key<?>> keys) {
        boolean first = keys.stream()
                .filter(other -> other.path().equals(key.path()))
                .findFirst()
                .filter(other -> other == key)
                .isPresent();
        return first && (key.kinds().isEmpty() || entries.containsKey(key.path()));
    }

    private <T> void read(Key<T> key, Values values) {
        Entry entry = entries.get(key.path());
        if (entry == null) {
            key.standardValue().ifPresentOrElse(value -> values.with(key, value), () -> missing(key));
            return;
        }
        T value = key.from(
                key.takesText() && entry.isOverride() && !(entry.value() instanceof String)
                        ? entry.text()
                        : entry.value());
        if (value == null) {
            problem(entry, key.refusal(entry.printed()) + (entry.isHuge() ? ", and below 2147483648" : ""));
        } else {
            values.with(key, value);
        }
    }

    private void missing(Key<?> key) {
        Integer line = sectionLines.get(key.section());
        String message = "%s is missing: %s (%s)".formatted(key.path(), key.meaning(), key.takes());
        problem(line == null ? 0 : line, message);
    }

    /** Keys that another kind of the section has. If the kind was overridden, the file's belong to the old one: they go. */
    private void refuseOtherKinds(Section<?> section, String kind) {
        boolean overridden = section.kind()
                .map(key -> entries.get(key.path()))
                .filter(Entry::isOverride)
                .isPresent();
        Set<String> applying = section.keys().stream()
                .filter(key -> key.belongsTo(kind))
                .map(Key::path)
                .collect(Collectors.toSet());
        for (Key<?> key : section.keys()) {
            Entry entry = entries.get(key.path());
            if (entry == null || applying.contains(key.path()) || (overridden && !entry.isOverride())) {
                continue;
            }
            applying.add(key.path());
            String owners = section.keys().stream()
                    .filter(other -> other.path().equals(key.path()))
                    .flatMap(other -> other.kinds().stream())
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
