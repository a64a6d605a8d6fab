package dev.espalier.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.SequencedMap;

/** What the parts of training steps took, in milliseconds. */
final class TrainingParts {
    /** Behind the name of a part: how long it took the host to ask for it. */
    static final String ASKED = ", asking for it";

    private final SequencedMap<String, List<Double>> times = new LinkedHashMap<>();

    void add(String part, double milliseconds) {
        times.computeIfAbsent(part, _ -> new ArrayList<>()).add(milliseconds);
    }

    double median(String part) {
        List<Double> sorted = sorted(part);
        return sorted.get(sorted.size() / 2);
    }

    double least(String part) {
        return sorted(part).getFirst();
    }

    private List<Double> sorted(String part) {
        return Objects.requireNonNull(times.get(part), part).stream().sorted().toList();
    }

    /** A line for each part, with its median. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        times.sequencedKeySet()
                .forEach(part -> text.append(String.format(Locale.ROOT, "  %-32s %8.3f ms%n", part, median(part))));
        return text.toString();
    }
}
