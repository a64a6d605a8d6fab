package dev.espalier.settings;

import java.util.List;

/**
 * Two settings that are sound one by one, but cannot both hold.
 *
 * @param path the key to change, rather than the other
 * @param message what is wrong, and what would be right
 */
public record Conflict(String path, String message) {
    /**
     * A conflict, if there is one.
     *
     * @param fits whether the settings can both hold
     * @param path the key to change, rather than the other
     * @param message what is wrong, and what would be right
     * @return none or one
     */
    public static List<Conflict> unless(boolean fits, String path, String message) {
        return fits ? List.of() : List.of(new Conflict(path, message));
    }
}
