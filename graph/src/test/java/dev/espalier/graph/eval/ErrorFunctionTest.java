package dev.espalier.graph.eval;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ErrorFunctionTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0, 1",
        "1e-300, 1.1283791670955126e-300, 1",
        "0.5, 0.5204998778130465, 0.4795001221869535",
        "1, 0.8427007929497149, 0.15729920705028513",
        "1.9999, 0.9953201979070294, 0.004679802092970608",
        "2, 0.9953222650189527, 0.004677734981047266",
        "3, 0.9999779095030014, 2.209049699858544e-5",
        "5, 0.9999999999984626, 1.5374597944280349e-12",
        "10, 1, 2.088487583762545e-45",
    })
    void agreesWithTables(double x, double erf, double complement) {
        assertEquals(erf, ErrorFunction.erf(x), 4e-16 * erf);
        assertEquals(-erf, ErrorFunction.erf(-x), 4e-16 * erf);
        assertEquals(complement, ErrorFunction.complement(x), 1e-13 * complement);
        assertEquals(1 + erf, ErrorFunction.complement(-x), 1e-15);
    }

    @Test
    void seriesAndFractionMeetAtTheBorder() {
        double below = Math.nextDown(2.0);
        assertEquals(ErrorFunction.erf(2), ErrorFunction.erf(below), 4e-16);
        assertEquals(ErrorFunction.complement(2), ErrorFunction.complement(below), 4e-16);
    }

    @Test
    void growsAndKeepsWithinItsBounds() {
        double last = -1;
        for (double x = -7; x <= 7; x += 1.0 / 64) {
            double value = ErrorFunction.erf(x);
            assertTrue(value >= last && Math.abs(value) <= 1, "erf(" + x + ") = " + value + " after " + last);
            assertEquals(1, value + ErrorFunction.complement(x), 4e-16);
            last = value;
        }
    }

    @Test
    void endsAreReachedAndNotANumberStaysOne() {
        assertEquals(1, ErrorFunction.erf(Double.POSITIVE_INFINITY));
        assertEquals(-1, ErrorFunction.erf(Double.NEGATIVE_INFINITY));
        assertEquals(0, ErrorFunction.complement(Double.POSITIVE_INFINITY));
        assertEquals(2, ErrorFunction.complement(Double.NEGATIVE_INFINITY));
        assertTrue(Double.isNaN(ErrorFunction.erf(Double.NaN)));
    }
}
