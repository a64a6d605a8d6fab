package dev.espalier.cli;

import dev.espalier.graph.prune.PruneReport;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How much of a model shall be left, as people type it: {@code 30%}, {@code 0.3}, {@code flops=30%}.
 *
 * @param kind what is counted, by the names of {@code target.kind}
 * @param share how much of it, above 0 and below 1
 */
record Share(Kind kind, double share) {
    /** What can be counted; the first if nobody says. */
    enum Kind {
        PARAMETERS,
        FLOPS,
        GROUPS,
        /** Of the run's price list: only training has one. */
        LATENCY;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** How much pruning leaves of it. */
        double left(PruneReport report) {
            return switch (this) {
                case PARAMETERS -> report.parametersLeft();
                case FLOPS -> (double) report.flopsAfter() / Math.max(report.flopsBefore(), 1);
                case GROUPS -> report.groupsLeft();
                case LATENCY ->
                    throw new IllegalArgumentException(
                            "how long a model takes that is only planned is not known: name parameters, flops or groups; train --keep latency=50% has a price list to go by");
            };
        }
    }

    private static final Pattern FORM = Pattern.compile("(?:([a-z]+)=)?([0-9.]+(?:e-?[0-9]+)?)\\s*(%?)");

    /**
     * Reads one.
     *
     * @param option the option that it is a value of
     * @param text the value
     */
    static Share parse(String option, String text) {
        Matcher parts = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        try {
            if (parts.matches()) {
                Optional<Kind> kind = kind(parts.group(1));
                double number = Double.parseDouble(parts.group(2));
                double share = parts.group(3).isEmpty() ? number : number / 100;
                if (kind.isPresent() && share > 0 && share < 1) {
                    return new Share(kind.get(), share);
                }
            }
        } catch (NumberFormatException _) {
            // The message below says all there is to say.
        }
        throw new IllegalArgumentException(
                "%s %s is not possible: it must be a share above 0 and below 1, such as 30%% or 0.3, of the parameters, or of what is named before it: %s"
                        .formatted(
                                option,
                                text,
                                Arrays.stream(Kind.values())
                                        .map(kind -> kind.label() + "=30%")
                                        .collect(Collectors.joining(", "))));
    }

    private static Optional<Kind> kind(@Nullable String name) {
        return name == null
                ? Optional.of(Kind.PARAMETERS)
                : Arrays.stream(Kind.values())
                        .filter(kind -> kind.label().equals(name))
                        .findFirst();
    }
}
