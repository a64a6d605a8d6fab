package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
}
