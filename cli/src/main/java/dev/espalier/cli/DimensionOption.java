package dev.espalier.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;

/** {@code --dimension}: lengths of a model's free dimensions, for commands that count or time with some. */
final class DimensionOption {
    @Option(
            names = "--dimension",
            paramLabel = "NAME=N",
            description =
                    "Gives a free dimension of the model a length, for FLOPs and latency; may be given several times. Without"
                            + " it a batch is 1 and others have usual lengths, which are printed.")
    private Map<String, Long> lengths = new LinkedHashMap<>();

    boolean isGiven() {
        return !lengths.isEmpty();
    }

    /**
     * The lengths that were given.
     *
     * @param free the names of the model's free dimensions
     */
    Map<String, Long> lengths(Set<String> free) {
        lengths.forEach((name, length) -> {
            if (!free.contains(name)) {
                throw new IllegalArgumentException(
                        "--dimension: the model has no free dimension " + name + "; it has " + free);
            }
            if (length < 1) {
                throw new IllegalArgumentException(
                        "--dimension %s=%d is out of range: a length must be at least 1".formatted(name, length));
            }
        });
        return lengths;
    }

    /** What numbers were made for, in a sentence. */
    static String sentence(String what, Map<String, Long> lengths) {
        return "%s for %s; --dimension NAME=N sets others."
                .formatted(
                        what,
                        lengths.entrySet().stream()
                                .map(length -> length.getKey() + " = " + length.getValue())
                                .collect(Collectors.joining(", ")));
    }
}
