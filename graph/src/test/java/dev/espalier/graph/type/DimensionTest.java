package dev.espalier.graph.type;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class DimensionTest {
    private static final Dimension BATCH = Dimension.symbol("batch");
    private static final Dimension TOKENS = Dimension.symbol("tokens");

    private static Dimension random(Random random) {
        Dimension sum = Dimension.of(random.nextInt(-3, 4));
        for (int i = random.nextInt(3); i > 0; i--) {
            Dimension term = Dimension.of(random.nextInt(-3, 4));
            for (int j = random.nextInt(3); j > 0; j--) {
                term = term.times(random.nextBoolean() ? BATCH : TOKENS);
            }
            sum = sum.plus(term);
        }
        return sum;
    }

    @Test
    void dimensionsFormARing() {
        Random random = new Random(1);
        for (int i = 0; i < 2000; i++) {
            Dimension a = random(random);
            Dimension b = random(random);
            Dimension c = random(random);
            String replay = a + ", " + b + ", " + c;
            assertEquals(a.plus(b), b.plus(a), replay);
            assertEquals(a.times(b), b.times(a), replay);
            assertEquals(a.plus(b).plus(c), a.plus(b.plus(c)), replay);
            assertEquals(a.times(b).times(c), a.times(b.times(c)), replay);
            assertEquals(a.times(b.plus(c)), a.times(b).plus(a.times(c)), replay);
            assertEquals(Dimension.ZERO, a.minus(a), replay);
            assertEquals(a, a.times(1).plus(0), replay);
            assertEquals(a.plus(b).hashCode(), b.plus(a).hashCode(), replay);
        }
    }

    @Test
    void whatWasMultipliedByATermIsDividedByItAgain() {
        Random random = new Random(2);
        for (int i = 0; i < 2000; i++) {
            Dimension a = random(random);
            Dimension term = Dimension.of(random.nextInt(1, 5)).times(random.nextBoolean() ? BATCH : Dimension.ONE);
            assertEquals(a, a.times(term).dividedBy(term), a + ", " + term);
        }
    }

    @Test
    void numbersAreRoundedDown() {
        assertEquals(Dimension.of(3), Dimension.of(7).dividedBy(2));
        assertEquals(Dimension.of(-4), Dimension.of(-7).dividedBy(2));
        assertEquals(Dimension.ONE, BATCH.plus(1).dividedBy(BATCH.plus(1)));
    }

    @Test
    void anInexactQuotientIsASymbolThatEqualsItself() {
        Dimension half = BATCH.plus(1).dividedBy(2);
        assertFalse(half.isKnown());
        assertEquals(half, Dimension.ONE.plus(BATCH).dividedBy(2));
        assertNotEquals(half, BATCH.dividedBy(2));
        assertEquals("floor((batch + 1)/(2))", half.toString());
    }

    @Test
    void textReadsLikeAFormula() {
        assertEquals("2*batch*tokens - 1", TOKENS.times(BATCH).times(2).plus(-1).toString());
        assertEquals("-batch", BATCH.times(-1).toString());
        assertEquals("0", BATCH.minus(BATCH).toString());
    }

    @Test
    void onlyNumbersHaveValues() {
        assertTrue(BATCH.minus(BATCH).is(0));
        assertFalse(BATCH.is(0));
        assertEquals(
                "the dimension batch is not known",
                assertThrows(IllegalStateException.class, BATCH::value).getMessage());
        assertTrue(BATCH.known().isEmpty());
        assertEquals(5, Dimension.of(5).known().orElseThrow());
    }

    @Test
    void overflowAndDivisionByZeroAreRefused() {
        assertThrows(ArithmeticException.class, () -> Dimension.of(1L << 40).times(1L << 40));
        assertThrows(
                ArithmeticException.class, () -> BATCH.times(Long.MAX_VALUE).plus(BATCH.times(Long.MAX_VALUE)));
        assertEquals(
                "division of batch by zero",
                assertThrows(IllegalArgumentException.class, () -> BATCH.dividedBy(0))
                        .getMessage());
        assertThrows(IllegalArgumentException.class, () -> Dimension.symbol(""));
    }

    @Test
    void aStarInANameIsNoProduct() {
        assertNotEquals(BATCH.times(TOKENS), Dimension.symbol("batch*tokens"));
    }

    @Test
    void polynomialsDoNotGrowWithoutEnd() {
        Dimension sum = Dimension.ZERO;
        for (int i = 0; i < 200; i++) {
            sum = sum.plus(Dimension.symbol("s" + i));
        }
        Dimension large = sum;
        assertThrows(IllegalArgumentException.class, () -> large.times(large));
    }
}
