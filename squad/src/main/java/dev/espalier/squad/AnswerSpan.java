package dev.espalier.squad;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A piece of a text that a model takes for the answer.
 *
 * @param from where it starts, as an index into the string that the text is
 * @param to the index after its end
 * @param score the start's logit and the end's, added; larger is likelier
 */
record AnswerSpan(int from, int to, double score) {
    /** The likeliest first; among equals, what comes first in the text. */
    static final Comparator<AnswerSpan> ORDER = Comparator.comparingDouble(AnswerSpan::score)
            .reversed()
            .thenComparingInt(AnswerSpan::from)
            .thenComparingInt(AnswerSpan::to);

    private record Place(int from, int to) {}

    /** The likeliest of two lists. What both windows on a text have seen counts once, with its higher score. */
    static List<AnswerSpan> merge(List<AnswerSpan> some, List<AnswerSpan> others, int most) {
        List<AnswerSpan> both = new ArrayList<>(some);
        both.addAll(others);
        both.sort(ORDER);
        Set<Place> seen = new HashSet<>();
        both.removeIf(span -> !seen.add(new Place(span.from, span.to)));
        return List.copyOf(both.subList(0, Math.min(most, both.size())));
    }
}
