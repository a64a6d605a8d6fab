package dev.espalier.squad;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class AnswerSearchTest {
    @Test
    void theBestPairIsInOrderAndNotTooLong() {
        double[] starts = {0, 5, 0, 4, 0};
        double[] ends = {9, 0, 2, 0, 3};
        // The best end, at 0, lies before the best starts.
        assertEquals(
                new TokenPair(0, 0, 9),
                new AnswerSearch(20, 30).search(starts, ends).getFirst());
        ends[0] = 0;
        assertEquals(
                new TokenPair(1, 4, 8),
                new AnswerSearch(20, 30).search(starts, ends).getFirst());
        assertEquals(
                new TokenPair(1, 4, 8),
                new AnswerSearch(20, 4).search(starts, ends).getFirst());
        // At most three tokens: 1…2 and 3…4 both have 7, and the first one wins.
        assertEquals(
                new TokenPair(1, 2, 7),
                new AnswerSearch(20, 3).search(starts, ends).getFirst());
        assertEquals(
                new TokenPair(3, 4, 7),
                new AnswerSearch(20, 3).search(starts, ends).get(1));
        assertEquals(
                new TokenPair(1, 1, 5),
                new AnswerSearch(20, 1).search(starts, ends).getFirst());
    }

    @Test
    void onlyTheLikeliestStartsAndEndsAreCombined() {
        double[] starts = {0, 0, 1};
        double[] ends = {1, 0, 0};
        assertEquals(List.of(), new AnswerSearch(1, 30).search(starts, ends));
        assertEquals(
                List.of(new TokenPair(0, 0, 1)),
                new AnswerSearch(2, 30).search(starts, ends).subList(0, 1));
    }

    @Test
    void withoutTokensThereIsNoAnswer() {
        assertEquals(List.of(), new AnswerSearch(20, 30).search(new double[0], new double[0]));
    }

    /** The definition, written down. */
    private static List<TokenPair> naive(AnswerSearch search, double[] starts, double[] ends) {
        List<TokenPair> pairs = new ArrayList<>();
        for (int start = 0; start < starts.length; start++) {
            for (int end = start; end < ends.length && end < start + search.answerLength(); end++) {
                if (rank(starts, start) < search.best() && rank(ends, end) < search.best()) {
                    pairs.add(new TokenPair(start, end, starts[start] + ends[end]));
                }
            }
        }
        // Stable: among equals, the first start and then the first end.
        pairs.sort(Comparator.comparingDouble(TokenPair::score).reversed());
        return pairs.stream().limit(search.best()).toList();
    }

    private static long rank(double[] values, int place) {
        return IntStream.range(0, values.length)
                .filter(other -> values[other] > values[place] || (values[other] == values[place] && other < place))
                .count();
    }

    @Test
    void findsWhatTheDefinitionFinds() {
        Random random = new Random(11);
        for (int round = 0; round < 500; round++) {
            int tokens = random.nextInt(40);
            // Few values, so that many are equal.
            double[] starts =
                    random.doubles(tokens).map(value -> Math.rint(value * 6)).toArray();
            double[] ends =
                    random.doubles(tokens).map(value -> Math.rint(value * 6)).toArray();
            AnswerSearch search = new AnswerSearch(1 + random.nextInt(25), 1 + random.nextInt(12));
            assertEquals(naive(search, starts, ends), search.search(starts, ends), search + " of " + tokens);
        }
    }

    @Test
    void theNumbersMustBePositive() {
        assertThrows(IllegalArgumentException.class, () -> new AnswerSearch(0, 30));
        assertThrows(IllegalArgumentException.class, () -> new AnswerSearch(20, 0));
    }

    @Test
    void mergedAnswersAreInOrderAndCountOnce() {
        AnswerSpan sea = new AnswerSpan(0, 3, 5);
        AnswerSpan seaAgain = new AnswerSpan(0, 3, 7);
        AnswerSpan ship = new AnswerSpan(4, 8, 6);
        AnswerSpan moon = new AnswerSpan(9, 13, 6);
        assertEquals(List.of(seaAgain, ship, moon), AnswerSpan.merge(List.of(moon, sea), List.of(seaAgain, ship), 20));
        assertEquals(List.of(seaAgain, ship), AnswerSpan.merge(List.of(seaAgain, ship), List.of(moon, sea), 2));
    }
}
