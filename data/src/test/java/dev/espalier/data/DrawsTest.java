package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class DrawsTest {
    @Test
    void allOrdersOfThreeAreEquallyLikely() {
        Map<String, Integer> counts = new HashMap<>();
        for (int seed = 0; seed < 6000; seed++) {
            int[] numbers = {0, 1, 2};
            new Draws(seed, 1).shuffle(numbers);
            counts.merge(Arrays.toString(numbers), 1, Integer::sum);
        }
        assertEquals(6, counts.size());
        // Five deviations of the binomial distribution.
        counts.values().forEach(count -> assertEquals(1000, count, 145));
    }

    @Test
    void theSequenceNeverChanges() {
        // A golden number on purpose: resumed runs of older versions must find their batches again.
        int[] order = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
        new Draws(1, 2).shuffle(order);
        assertEquals("[3, 8, 7, 4, 6, 5, 1, 0, 2, 9]", Arrays.toString(order));
    }

    /** Mean and variance of Beta(α, α), and that nothing is off its range however small α is. */
    @Test
    void betaHasItsMoments() {
        int count = 20_000;
        for (double alpha : new double[] {1, 0.4, 0.1, 1e-4, 1e-99, Double.MIN_VALUE}) {
            double sum = 0;
            double squares = 0;
            Draws draws = new Draws(3, Double.doubleToLongBits(alpha));
            for (int i = 0; i < count; i++) {
                double share = draws.beta(alpha);
                assertTrue(share >= 0 && share <= 1, "share " + share);
                sum += share;
                squares += share * share;
            }
            double mean = sum / count;
            double variance = 1 / (4 * (2 * alpha + 1));
            // Five deviations of a mean; the largest a variance of numbers from 0 to 1 can have is 1/4.
            assertEquals(0.5, mean, 5 * Math.sqrt(variance / count));
            assertEquals(variance, squares / count - mean * mean, 5 * 0.25 / Math.sqrt(count));
        }
    }
}
