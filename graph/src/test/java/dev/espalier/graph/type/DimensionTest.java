package dev.espalier.graph.type;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Random;
import java.util.Set;
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

    /** A formula of two lengths, as a function of what stands for them: symbols, or numbers. */
    private interface Formula {
        Dimension of(Dimension batch, Dimension tokens);
    }

    private static Formula formula(Random random, int depth) {
        int number = random.nextInt(-4, 5);
        if (depth == 0) {
            return switch (random.nextInt(3)) {
                case 0 -> (batch, tokens) -> batch;
                case 1 -> (batch, tokens) -> tokens;
                default -> (batch, tokens) -> Dimension.of(number);
            };
        }
        Formula left = formula(random, depth - 1);
        Formula right = formula(random, random.nextInt(depth));
        return switch (random.nextInt(7)) {
            case 0 -> (batch, tokens) -> left.of(batch, tokens).plus(right.of(batch, tokens));
            case 1 -> (batch, tokens) -> left.of(batch, tokens).minus(right.of(batch, tokens));
            case 2 -> (batch, tokens) -> left.of(batch, tokens).times(number);
            case 3 -> (batch, tokens) -> left.of(batch, tokens).max(right.of(batch, tokens));
            case 4 -> (batch, tokens) -> left.of(batch, tokens).dividedBy(Math.abs(number) + 1);
            default -> (batch, tokens) -> left.of(batch, tokens).min(right.of(batch, tokens));
        };
    }

    /** The twin of every simplification: whatever a formula became, it has the value that numbers give at once. */
    @Test
    void formulasHaveTheValueThatNumbersGive() {
        for (int seed = 0; seed < 3000; seed++) {
            Random random = new Random(seed);
            Formula formula = formula(random, 1 + random.nextInt(5));
            Dimension symbolic = formula.of(BATCH, TOKENS);
            for (int i = 0; i < 12; i++) {
                long batch = random.nextInt(8);
                long tokens = random.nextInt(8);
                long expected =
                        formula.of(Dimension.of(batch), Dimension.of(tokens)).value();
                Dimension actual = symbolic.with(Map.of("batch", batch, "tokens", tokens));
                String replay = "seed " + seed + ": " + symbolic + " for " + batch + ", " + tokens;
                assertEquals(Dimension.of(expected), actual, replay);
                long bound = expected + random.nextInt(-2, 3);
                assertTrue(!symbolic.isAtLeast(bound) || expected >= bound, replay + " at least " + bound);
                assertTrue(!symbolic.isAtMost(bound) || expected <= bound, replay + " at most " + bound);
            }
        }
    }

    @Test
    void smallerAndLargerOneAreSimplifiedWhereThatIsCertain() {
        Dimension four = Dimension.of(4);
        Dimension first = four.min(TOKENS);
        assertEquals("min(4, tokens)", first.toString());
        assertEquals(first, TOKENS.min(four));
        assertEquals(first, first.min(TOKENS));
        assertEquals(first, first.min(Dimension.of(9)));
        assertEquals(TOKENS, TOKENS.max(first));
        assertEquals(TOKENS, TOKENS.max(Dimension.ZERO));
        assertEquals(Dimension.ZERO, TOKENS.min(Dimension.ZERO));
        assertEquals(TOKENS, TOKENS.min(TOKENS.plus(3)));
        assertEquals(TOKENS, first.plus(TOKENS.minus(four).max(Dimension.ZERO)));
        assertEquals(first.plus(2), Dimension.of(6).min(TOKENS.plus(2)));
        assertEquals(Dimension.of(3), Dimension.of(3).min(Dimension.of(8)));
        assertEquals("min(4, batch, tokens)", first.min(BATCH).toString());
        assertTrue(TOKENS.minus(first).isAtLeast(0));
        assertTrue(first.isAtMost(4));
        assertFalse(first.isAtLeast(1));
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
        // What is left of an axis by strides of two, times a number of channels: a reshape that asks for the rest gets
        // these.
        Dimension strided = BATCH.dividedBy(2).plus(1);
        assertEquals(Dimension.of(512), strided.times(512).dividedBy(strided));
        assertEquals(
                BATCH.minus(TOKENS),
                BATCH.times(BATCH).minus(TOKENS.times(TOKENS)).dividedBy(BATCH.plus(TOKENS)));
        assertNotEquals(Dimension.of(512), strided.times(512).plus(1).dividedBy(strided));
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

    private static void assertDifferent(Dimension left, Dimension right) {
        assertNotEquals(left, right);
        assertFalse(left.minus(right).isKnown(), () -> left + " and " + right + " cancel out");
        assertNotEquals(left.times(BATCH), right.times(BATCH));
        assertNotEquals(left.dividedBy(7), right.dividedBy(7));
    }

    /** The ends differ by a short vector of a lattice: a hash that is a polynomial of the characters, modulo 2⁶⁴, is the same. */
    @Test
    void longNamesThatAreMadeToCollideAreDifferent() {
        int[] differences = {-142, -73, -16, 63, 158, 0, 23, -97};
        StringBuilder one = new StringBuilder("x".repeat(300));
        StringBuilder other = new StringBuilder(one);
        for (int difference : differences) {
            one.append((char) 1000);
            other.append((char) (1000 + difference));
        }
        assertDifferent(Dimension.symbol(one.toString()), Dimension.symbol(other.toString()));
        assertDifferent(
                Dimension.symbol(one.toString()).min(TOKENS),
                Dimension.symbol(other.toString()).min(TOKENS));
        assertEquals(Dimension.symbol(one.toString()), Dimension.symbol(one.toString()));
    }

    @Test
    void namesThatLookLikeExpressionsAreLengthsOfTheirOwn() {
        Dimension four = Dimension.of(4);
        assertDifferent(TOKENS.min(four), Dimension.symbol("min(4, tokens)"));
        assertDifferent(TOKENS.dividedBy(2), Dimension.symbol("floor((tokens)/(2))"));
        assertDifferent(Dimension.symbol("a*b"), Dimension.symbol("a·b"));
        assertDifferent(
                Dimension.symbol("a").times(Dimension.symbol("b")),
                Dimension.symbol("a").times(Dimension.symbol("a*b")));
        Dimension odd = Dimension.symbol("tokens, 4");
        assertDifferent(Dimension.symbol("x").min(odd), Dimension.symbol("x, 4").min(TOKENS));
    }

    @Test
    void numbersAreGivenToLengthsByTheirFullNames() {
        String name = "a*b, " + "x".repeat(300);
        Dimension length = Dimension.symbol(name).plus(Dimension.symbol("a·b"));
        assertEquals(Set.of(name, "a·b"), length.symbols());
        assertEquals(7, length.with(Map.of(name, 3L, "a·b", 4L)).value());
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
