package dev.espalier.squad;

import dev.espalier.core.check.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * How answers are made from a model's opinion on where one starts and where it ends: the likeliest starts are combined with
 * the likeliest ends, {@code score = start logit + end logit}.
 *
 * @param best how many starts, how many ends, and how many answers are kept
 * @param answerLength tokens that an answer has at most
 */
public record AnswerSearch(int best, int answerLength) {
    /** What is usual for SQuAD. */
    public static final AnswerSearch DEFAULT = new AnswerSearch(20, 30);

    private static final Comparator<TokenPair> ORDER = Comparator.comparingDouble(TokenPair::score)
            .reversed()
            .thenComparingInt(TokenPair::start)
            .thenComparingInt(TokenPair::end);

    /** Checks the numbers. */
    public AnswerSearch {
        Check.atLeast("best", best, 1);
        Check.atLeast("answerLength", answerLength, 1);
    }

    /**
     * The likeliest answers in a window.
     *
     * @param starts for each token of the text, the logit of being an answer's first
     * @param ends the same for its last
     * @return the likeliest first; empty if no start can be combined with an end
     */
    List<TokenPair> search(double[] starts, double[] ends) {
        List<TokenPair> pairs = new ArrayList<>();
        int[] bestEnds = largest(ends);
        for (int start : largest(starts)) {
            for (int end : bestEnds) {
                if (end >= start && end - start < answerLength) {
                    pairs.add(new TokenPair(start, end, starts[start] + ends[end]));
                }
            }
        }
        pairs.sort(ORDER);
        return pairs.subList(0, Math.min(best, pairs.size()));
    }

    /** Where the largest values are, the largest first; among equals the first. */
    private int[] largest(double[] values) {
        int[] places = new int[Math.min(best, values.length)];
        int count = 0;
        for (int place = 0; place < values.length; place++) {
            int rank = count;
            while (rank > 0 && values[place] > values[places[rank - 1]]) {
                rank--;
            }
            if (rank < places.length) {
                count = Math.min(count + 1, places.length);
                System.arraycopy(places, rank, places, rank + 1, count - rank - 1);
                places[rank] = place;
            }
        }
        return Arrays.copyOf(places, count);
    }
}
