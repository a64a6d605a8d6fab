package dev.espalier.recipe;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.stream.Collectors;

/** The values of a section's keys, on their way between text and records. */
final class Values {
    private final SequencedMap<String, Setting<?>> settings = new LinkedHashMap<>();

    private record Setting<T>(Key<T> key, T value) {
        String line() {
            return key.line(value);
        }
    }

    <T> Values with(Key<T> key, T value) {
        settings.put(key.path(), new Setting<>(key, value));
        return this;
    }

    @SuppressWarnings("unchecked") // Keys of one path are of one type, and with() lets nothing else in.
    <T> T of(Key<T> key) {
        Setting<?> setting = settings.get(key.path());
        if (setting == null) {
            throw new IllegalStateException("no value for " + key);
        }
        return (T) setting.value();
    }

    /** As lines of TOML. */
    String lines() {
        return settings.values().stream().map(setting -> setting.line() + "\n").collect(Collectors.joining());
    }
}
