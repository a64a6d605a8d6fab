package dev.espalier.settings;

import java.util.List;
import org.tomlj.Toml;
import org.tomlj.TomlParseError;
import org.tomlj.TomlParseResult;

/** A text of settings that was parsed, to be read over and over with other overrides: parsing it takes as long as all the rest. */
public final class Draft {
    private final Form form;
    private final TomlParseResult parsed;

    Draft(Form form, String source, String toml) {
        this.form = form;
        Nesting.problem(toml).ifPresent(deep -> {
            throw new SettingsException(source, List.of(deep));
        });
        this.parsed = parse(source, toml);
    }

    /** Most errors the parser notes down; those in the name of a table it throws. */
    private static TomlParseResult parse(String source, String toml) {
        try {
            return Toml.parse(toml);
        } catch (TomlParseError error) {
            throw new SettingsException(
                    source, List.of(new Problem(error.position().line(), String.valueOf(error.getMessage()))));
        }
    }

    /**
     * Reads it.
     *
     * @param source what messages call it
     * @param overrides values that replace those of the text, each as {@code section.key=value}
     * @return the settings
     * @throws SettingsException if they cannot be followed
     */
    public Settings read(String source, List<String> overrides) {
        return new SettingsReader(form).read(source, parsed, overrides);
    }
}
