package dev.espalier.core.numeric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NormTest {

    @Test
    void valuesByHand() {
        assertEquals(5, Norm.of(new double[] {3, -4}));
        assertEquals(0, Norm.of(new double[0]));
        assertEquals(0, Norm.of(new double[] {0, -0.0}));
        assertEquals(4, Norm.largest(new double[] {3, -4}));
        assertEquals(0, Norm.largest(new double[0]));
        assertEquals(Double.POSITIVE_INFINITY, Norm.of(new double[] {1, Double.NEGATIVE_INFINITY}));
    }

    /** Squares leave the range of double long before the numbers do. */
    @ParameterizedTest
    @ValueSource(ints = {-1073, -1050, -1000, -600, -451, -450, -449, -300, 0, 300, 449, 450, 451, 600, 1000, 1020})
    void noRangeIsLost(int exponent) {
        double[] x = {Math.scalb(3.0, exponent), Math.scalb(-4.0, exponent), 0};
        assertEquals(Math.scalb(5.0, exponent), Norm.of(x), Math.ulp(Math.scalb(5.0, exponent)));
    }

    @Test
    void onlyANormBeyondTheRangeIsInfinite() {
        assertEquals(Double.MAX_VALUE, Norm.of(new double[] {Double.MAX_VALUE}));
        assertEquals(Double.POSITIVE_INFINITY, Norm.of(new double[] {Double.MAX_VALUE, Double.MAX_VALUE}));
        assertEquals(Double.MIN_VALUE, Norm.of(new double[] {Double.MIN_VALUE}));
    }

    /** Pairwise sums: a plain loop would be off in the 12th digit. */
    @Test
    void aMillionNumbersKeepTheirDigits() {
        SplittableRandom random = new SplittableRandom(1);
        double[] x = random.doubles(1_000_000, -1, 1).toArray();
        BigDecimal sum = Arrays.stream(x)
                .mapToObj(BigDecimal::new)
                .map(value -> value.multiply(value, MathContext.DECIMAL128))
                .reduce(BigDecimal.ZERO, (left, right) -> left.add(right, MathContext.DECIMAL128));
        double expected = sum.sqrt(MathContext.DECIMAL128).doubleValue();
        assertEquals(expected, Norm.of(x), 4 * Math.ulp(expected));
    }
}
