package dev.espalier.cli;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How much of a model shall be left, as people type it: {@code 30%}, {@code 0.3}, {@code flops=30%}.
 *
 * @param kind what is counted, by the names of {@code target.kind}
 * @param share how much of it, above 0 and below 1
 */
record Share(String kind, double share) {
    /** What is counted if nobody says. */
    private static final String PARAMETERS = "parameters";

    private static final List<String> KINDS = List.of(PARAMETERS, "flops", "groups");

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
                String kind = parts.group(1) == null ? PARAMETERS : parts.group(1);
                double number = Double.parseDouble(parts.group(2));
                double share = parts.group(3).isEmpty() ? number : number / 100;
                if (KINDS.contains(kind) && share > 0 && share < 1) {
                    return new Share(kind, share);
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
                                String.join(", ", KINDS.stream().map(kind -> kind + "=30%").toList())));
    }
}
