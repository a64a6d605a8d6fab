package dev.espalier.settings;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

/**
 * What a text of settings can say: its sections in order, and what must hold between them.
 *
 * @param noun what such a text is called, {@code recipe} for one
 * @param sections the sections, in the order in which they are written
 * @param checks what must hold between sections
 * @param open names of sections whose keys are not known here: they are read as they are, see {@link Settings#open}
 * @param alone whether there may be no other sections; if not, they are passed over beside one of these
 */
public record Form(String noun, List<Section> sections, List<Check> checks, List<String> open, boolean alone) {
    /** Copies the lists. */
    public Form {
        sections = List.copyOf(sections);
        checks = List.copyOf(checks);
        open = List.copyOf(open);
    }

    /**
     * A form all of whose keys are known.
     *
     * @param noun what such a text is called
     * @param sections the sections, in the order in which they are written
     * @param checks what must hold between sections
     */
    public Form(String noun, List<Section> sections, List<Check> checks) {
        this(noun, sections, checks, List.of());
    }

    /**
     * A form.
     *
     * @param noun what such a text is called
     * @param sections the sections, in the order in which they are written
     * @param checks what must hold between sections
     * @param open names of sections whose keys are not known here
     */
    public Form(String noun, List<Section> sections, List<Check> checks, List<String> open) {
        this(noun, sections, checks, open, true);
    }

    /**
     * One section of a text that may have others.
     *
     * @param noun what such a text is called
     * @param section the section
     * @return its form
     */
    public static Form part(String noun, Section section) {
        return new Form(noun, List.of(section), List.of(), List.of(), false);
    }

    /**
     * Something that must hold between sections.
     *
     * @param sections what it looks at; it is left out if one of these is wrong by itself
     * @param conflicts finds what does not fit
     */
    public record Check(List<Section> sections, Function<Settings, List<Conflict>> conflicts) {
        /** Copies the list. */
        public Check {
            sections = List.copyOf(sections);
        }
    }

    /**
     * Every key. A path may occur more than once, for different kinds of its section.
     *
     * @return the keys, section by section
     */
    public List<Key<?>> keys() {
        return sections.stream()
                .<Key<?>>flatMap(section -> section.keys().stream())
                .toList();
    }

    /**
     * Reads a file.
     *
     * @param file the file, TOML
     * @param overrides values that replace those of the file, each as {@code section.key=value}
     * @return the settings
     * @throws IOException if the file cannot be read
     * @throws SettingsException if they cannot be followed
     */
    public Settings read(Path file, List<String> overrides) throws IOException {
        try {
            return parse(file.toString(), Files.readString(file), overrides);
        } catch (CharacterCodingException _) {
            throw new SettingsException(
                    file.toString(), List.of(new Problem(0, "it is no text in UTF-8, as a " + noun + " must be")));
        }
    }

    /**
     * Reads a text.
     *
     * @param source what messages call it
     * @param toml the text
     * @param overrides values that replace those of the text, each as {@code section.key=value}
     * @return the settings
     * @throws SettingsException if they cannot be followed
     */
    public Settings parse(String source, String toml, List<String> overrides) {
        return draft(source, toml).read(source, overrides);
    }

    /**
     * Parses a text, to be read several times.
     *
     * @param source what messages call it
     * @param toml the text
     * @return the text, of which nothing is known yet but that it can be parsed, or where it cannot
     * @throws SettingsException if it is no TOML at all
     */
    public Draft draft(String source, String toml) {
        return new Draft(this, source, toml);
    }

    /** What does not fit, of the checks whose sections are there. */
    List<Conflict> conflicts(Settings settings) {
        return checks.stream()
                .filter(check -> check.sections.stream().allMatch(settings::has))
                .flatMap(check -> check.conflicts.apply(settings).stream())
                .toList();
    }
}
