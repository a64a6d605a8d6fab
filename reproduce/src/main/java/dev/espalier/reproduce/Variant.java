package dev.espalier.reproduce;

import dev.espalier.train.recipe.Recipe;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.Collectors;

/**
 * What a training has otherwise than the protocol that it varies. It is found by comparing recipes, not words that were typed: a
 * key that is set to what it is anyway makes no variant, nor does one that decides nothing of the outcome. The precision makes none
 * either, as the paper leaves it open, and every result tells it.
 *
 * @param changes values as TOML, by the path of their key
 */
record Variant(SequencedMap<String, String> changes) {
    /** Begins every change in the name of a folder; no recipe has it in its name. */
    private static final String SEPARATOR = "__";

    /** What runs of one row may differ in; how often a network is looked at changes nothing of it. */
    private static final List<String> OPEN =
            List.of("training.precision", "training.seeds", "evaluation.every", "evaluation.batch_size");

    /** Copies the map. */
    Variant {
        changes = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(changes));
    }

    /** What a recipe has otherwise than a protocol. */
    static Variant of(Recipe protocol, Recipe recipe) {
        SequencedMap<String, String> changes = new LinkedHashMap<>(recipe.differences(protocol));
        OPEN.forEach(changes::remove);
        return new Variant(changes);
    }

    /** The protocol itself. */
    boolean isNone() {
        return changes.isEmpty();
    }

    /** The folder of this variant, of what has the folder {@code name} itself. */
    String folder(String name) {
        return name
                + changes.entrySet().stream()
                        .map(change -> SEPARATOR + change.getKey() + "-" + plain(change.getValue()))
                        .collect(Collectors.joining());
    }

    /** Whether a folder is that of something, or of a variant of it. */
    static boolean isFolderOf(String name, String folder) {
        return folder.equals(name) || folder.startsWith(name + SEPARATOR);
    }

    private static String plain(String value) {
        return value.replace("\"", "").replaceAll("[^A-Za-z0-9._-]+", "_");
    }

    /** For people: {@code training.epochs = 10}. */
    @Override
    public String toString() {
        return changes.entrySet().stream()
                .map(change -> change.getKey() + " = " + change.getValue())
                .collect(Collectors.joining(", "));
    }
}
