package dev.espalier.settings;

/**
 * Two settings that are sound one by one, but cannot both hold.
 *
 * @param path the key to change, rather than the other
 * @param message what is wrong, and what would be right
 */
public record Conflict(String path, String message) {}
