/**
 * Settings that people write as text: sections of keys, each with a type, a range, a default and a meaning; kinds that own their
 * keys and are found by name; and a reader that tells all mistakes at once.
 */
@NullMarked
package dev.espalier.settings;

import org.jspecify.annotations.NullMarked;
