package dev.espalier.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

final class NumbersTest {
    @Test
    void numbersAreShort() {
        assertEquals("0", Numbers.compact(0));
        assertEquals("0.00123", Numbers.compact(0.0012345));
        assertEquals("1e-5", Numbers.compact(1e-5));
        assertEquals("-1.25e-7", Numbers.compact(-1.2481e-7));
        assertEquals("1", Numbers.compact(0.99999));
        assertEquals("12300", Numbers.compact(12_345));
        assertEquals("1.5e6", Numbers.compact(1_500_000));
        assertEquals("–", Numbers.compact(Double.NaN));
    }

    @Test
    void largeNumbersHavePrefixes() {
        assertEquals("999", Numbers.large(999));
        assertEquals("1 k", Numbers.large(999.9));
        assertEquals("627 M", Numbers.large(627_400_000));
        assertEquals("–", Numbers.large(Double.POSITIVE_INFINITY));
    }

    @Test
    void durationsHaveTwoUnits() {
        assertEquals("0.25 s", Numbers.duration(0.25));
        assertEquals("59 s", Numbers.duration(59.4));
        assertEquals("1 min 0 s", Numbers.duration(59.6));
        assertEquals("2 h 5 min", Numbers.duration(7530));
    }

    @Test
    void differencesHaveSigns() {
        assertEquals("+1.2 points", Numbers.points(0.0123));
        assertEquals("−0.7 points", Numbers.points(-0.007));
        assertEquals("±0.0 points", Numbers.points(-0.0001));
    }

    @Test
    void oneSeedHasNoDeviation() {
        assertEquals("2.00 ×", Numbers.times(List.of(2.0)));
        assertEquals("2.00 ± 1.41 ×", Numbers.times(List.of(1.0, 3.0)));
        assertEquals("2.00 ×", Numbers.times(List.of(2.0, 2.0)));
        assertEquals("–", Numbers.times(List.of()));
        assertEquals("–", Numbers.percent(List.of(0.5, Double.NaN)));
    }
}
