package dev.espalier.core.prox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.Profile;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * The paper's theorems, lemma and propositions on the weighted operators, on random groups. Each is named after its number
 * in the paper. What it states is written down here; what is tested is the operator that trains.
 *
 * <p>Symbols: x, D = diag(d), α, λ, β as in the paper; θ* is the norm of the operator's result.
 */
class PaperPropositionsTest {
    private static final int CASES = 2000;

    /** Bisections end where double precision does. */
    private static final double EXACT = 1e-9;

    /**
     * A random group for which the operator shrinks.
     *
     * @param seed seed that replays the case
     * @param x the candidate
     * @param d the diagonal of the metric
     * @param alpha the step size
     * @param lambda the strength
     * @param beta MCP's β; infinite for ℓ2
     * @param theta θ* of the operator that trains
     * @param z its result
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Shrunk(
            long seed, double[] x, double[] d, double alpha, double lambda, double beta, double theta, double[] z) {

        double smallest() {
            return min(d);
        }

        double largest() {
            return -min(scaled(d, _ -> -1));
        }

        /** {@code d_i x_i / ((d_i − α/β)θ + αλ)}: the theorems' terms, and their result divided by θ. */
        double term(int i, double at) {
            return d[i] * x[i] / ((d[i] - alpha / beta) * at + alpha * lambda);
        }

        /** The sum that the theorems set to 1. */
        double sum(double at) {
            double sum = 0;
            for (int i = 0; i < x.length; i++) {
                sum += term(i, at) * term(i, at);
            }
            return sum;
        }

        /** The theorems' formula with some θ in place of θ*. */
        double[] formula(double at) {
            double[] result = new double[x.length];
            for (int i = 0; i < result.length; i++) {
                result[i] = at * term(i, at);
            }
            return result;
        }
    }

    private interface PerWeight {
        double at(int i);
    }

    private static double[] scaled(double[] x, PerWeight factor) {
        double[] scaled = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            scaled[i] = factor.at(i) * x[i];
        }
        return scaled;
    }

    private static double min(double[] x) {
        double min = Double.POSITIVE_INFINITY;
        for (double number : x) {
            min = Math.min(min, number);
        }
        return min;
    }

    /** ℓ1/ℓ2 on random groups of 1 to 12 weights, metrics over four decades. */
    private static void forL2(Consumer<Shrunk> check) {
        forEach(false, check);
    }

    /** Group MCP likewise, where {@code α < β d_min} and {@code ‖x‖ ≤ βλ}. */
    private static void forMcp(Consumer<Shrunk> check) {
        forEach(true, check);
    }

    private static void forEach(boolean mcp, Consumer<Shrunk> check) {
        int checked = 0;
        for (long seed = 0; checked < CASES; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            int n = random.nextInt(1, 13);
            double[] x = new double[n];
            double[] d = new double[n];
            for (int i = 0; i < n; i++) {
                x[i] = random.nextDouble(-1, 1);
                d[i] = Math.pow(10, random.nextDouble(-2, 2));
            }
            double alpha = Math.pow(10, random.nextDouble(-3, 0));
            double lambda = Norm.of(scaled(d, i -> x[i])) / alpha * random.nextDouble(0.01, 0.99);
            double beta = Double.POSITIVE_INFINITY;
            if (mcp) {
                beta = Math.max(alpha / min(d), Norm.of(x) / lambda) * random.nextDouble(1.01, 10);
            }
            Profile profile = mcp
                    ? new GroupMcp(lambda, beta, GroupWeight.NONE).profileOfSize(n)
                    : new GroupLasso(lambda, GroupWeight.NONE).profileOfSize(n);
            double[] z = new double[n];
            Outcome outcome = WeightedProx.EXACT.apply(profile, x, d, alpha, z);
            assertEquals(Branch.SHRUNK, outcome.branch(), "seed " + seed);
            check.accept(new Shrunk(seed, x, d, alpha, lambda, beta, outcome.theta(), z));
            checked++;
        }
    }

    /** Root of f(θ) = 1 for a decreasing f. */
    private static double root(DoubleUnaryOperator falling, double upper) {
        double low = 0;
        double high = upper;
        while (falling.applyAsDouble(high) > 1) {
            high *= 2;
        }
        for (int i = 0; i < 200; i++) {
            double middle = (low + high) / 2;
            if (falling.applyAsDouble(middle) > 1) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return high;
    }

    private static void assertSame(double[] expected, double[] actual, long seed) {
        for (int i = 0; i < expected.length; i++) {
            assertEquals(expected[i], actual[i], EXACT * Math.max(1, Norm.of(expected)), "seed " + seed);
        }
    }

    @Test
    void theorem1IsTheOperatorOfL2() {
        forL2(group -> {
            double theta = root(group::sum, 1);
            assertEquals(theta, group.theta(), EXACT * theta, "seed " + group.seed());
            assertSame(group.formula(theta), group.z(), group.seed());
        });
    }

    @Test
    void theorem2IsTheOperatorOfMcp() {
        forMcp(group -> {
            double theta = root(group::sum, 1);
            assertEquals(theta, group.theta(), EXACT * theta, "seed " + group.seed());
            assertSame(group.formula(theta), group.z(), group.seed());
        });
    }

    /** Both thresholds, and MCP's flat part, from either side. */
    @Test
    void theorems1And2HaveTheirZerosAndTheirIdentityWhereTheySay() {
        forL2(group -> assertThreshold(group, new GroupLasso(1, GroupWeight.NONE)));
        forMcp(group -> {
            double norm = Norm.of(group.x());
            double within = norm / group.beta(); // λ at which ‖x‖ = βλ
            Profile flat =
                    new GroupMcp(within * (1 - 1e-6), group.beta(), GroupWeight.NONE).profileOfSize(group.x().length);
            double[] z = new double[group.x().length];
            WeightedProx.EXACT.apply(flat, group.x(), group.d(), group.alpha(), z);
            assertSame(group.x(), z, group.seed());
        });
    }

    private static void assertThreshold(Shrunk group, GroupLasso unit) {
        double edge = Norm.of(scaled(group.d(), i -> group.x()[i])) / group.alpha();
        for (double side : new double[] {1 + 1e-9, 1 - 1e-6}) {
            Profile profile = new GroupLasso(edge * side, unit.weight()).profileOfSize(group.x().length);
            double[] z = new double[group.x().length];
            Outcome outcome = WeightedProx.EXACT.apply(profile, group.x(), group.d(), group.alpha(), z);
            assertEquals(side > 1 ? Branch.ZEROED : Branch.SHRUNK, outcome.branch(), "seed " + group.seed());
        }
    }

    /** {@code prox_{αh}^A(x) = A^{-1/2} prox_{αh∘A^{-1/2}}(A^{1/2} x)}, the right side by its definition: it minimises. */
    @Test
    void lemma1TheWeightedOperatorIsAnUnweightedOneOfAScaledPenalty() {
        Consumer<Shrunk> check = group -> {
            double[] scaledX = scaled(group.x(), i -> Math.sqrt(group.d()[i]));
            double[] scaledZ = scaled(group.z(), i -> Math.sqrt(group.d()[i]));
            double best = unweighted(group, scaledX, scaledZ);
            SplittableRandom random = new SplittableRandom(group.seed());
            for (int other = 0; other < 20; other++) {
                double size = Math.pow(10, random.nextDouble(-4, 0));
                double[] moved = scaled(scaledZ, i -> 1 + size * random.nextDouble(-1, 1));
                assertTrue(
                        unweighted(group, scaledX, moved) >= best - 1e-12 * Math.max(1, best), "seed " + group.seed());
            }
        };
        forL2(check);
        forMcp(check);
    }

    /** {@code ½‖z − x‖² + αh(A^{-1/2} z)}. */
    private static double unweighted(Shrunk group, double[] x, double[] z) {
        double norm = Norm.of(scaled(z, i -> 1 / Math.sqrt(group.d()[i])));
        double squared = 0;
        for (int i = 0; i < x.length; i++) {
            squared += (z[i] - x[i]) * (z[i] - x[i]);
        }
        double mcp = norm <= group.beta() * group.lambda()
                ? group.lambda() * norm - norm * norm / (2 * group.beta())
                : group.beta() * group.lambda() * group.lambda() / 2;
        return squared / 2 + group.alpha() * mcp;
    }

    @Test
    void proposition1TheErrorOfL2IsAtMostThatOfTheta() {
        forL2(PaperPropositionsTest::assertErrorIsAtMostThatOfTheta);
    }

    @Test
    void proposition5TheErrorOfMcpIsAtMostThatOfTheta() {
        forMcp(PaperPropositionsTest::assertErrorIsAtMostThatOfTheta);
    }

    private static void assertErrorIsAtMostThatOfTheta(Shrunk group) {
        SplittableRandom random = new SplittableRandom(group.seed());
        for (int other = 0; other < 10; other++) {
            double theta = group.theta() * Math.pow(10, random.nextDouble(-3, 3));
            double[] formula = group.formula(theta);
            double[] difference = scaled(formula, _ -> 1);
            for (int i = 0; i < difference.length; i++) {
                difference[i] -= group.z()[i];
            }
            double epsilon = Math.abs(theta - group.theta());
            assertTrue(Norm.of(difference) <= epsilon * (1 + EXACT) + 1e-14, "seed " + group.seed());
        }
    }

    /** In the paper's D, which is {@code A^{-1/2}} here, and its x, which is {@code A^{1/2} x}. */
    @Test
    void proposition2IsTheOperatorOfAScaledL2() {
        forL2(PaperPropositionsTest::assertScaledFormula);
    }

    @Test
    void proposition4IsTheOperatorOfAScaledMcp() {
        forMcp(PaperPropositionsTest::assertScaledFormula);
    }

    private static void assertScaledFormula(Shrunk group) {
        double[] scale = scaled(group.d(), i -> Math.pow(group.d()[i], -1.5)); // 1/√d
        double[] x = scaled(group.x(), i -> Math.sqrt(group.d()[i]));
        double theta = root(at -> scaledSum(group, scale, x, at), 1);
        double[] z = new double[x.length];
        for (int i = 0; i < z.length; i++) {
            double weight = group.alpha() * scale[i] * scale[i] * (group.lambda() - theta / group.beta());
            z[i] = theta * x[i] / (theta + weight);
        }
        assertSame(scaled(group.z(), i -> Math.sqrt(group.d()[i])), z, group.seed());
        assertEquals(theta, Norm.of(scaled(z, i -> scale[i])), EXACT * theta, "seed " + group.seed());
    }

    /** G of Propositions 2 (β infinite) and 4. */
    private static double scaledSum(Shrunk group, double[] scale, double[] x, double theta) {
        double sum = 0;
        for (int i = 0; i < x.length; i++) {
            double square = scale[i] * scale[i];
            double quotient = scale[i]
                    * x[i]
                    / (theta * (1 - group.alpha() * square / group.beta()) + group.alpha() * group.lambda() * square);
            sum += quotient * quotient;
        }
        return sum;
    }

    @Test
    void proposition3BoundsThetaOfL2() {
        forL2(PaperPropositionsTest::assertBounds);
    }

    @Test
    void proposition6BoundsThetaOfMcp() {
        forMcp(PaperPropositionsTest::assertBounds);
    }

    /** {@code (‖Dx‖ − αλ)/(d_max − α/β) ≤ θ* ≤ (‖Dx‖ − αλ)/(d_min − α/β)}, and above zero. */
    private static void assertBounds(Shrunk group) {
        double excess = Norm.of(scaled(group.d(), i -> group.x()[i])) - group.alpha() * group.lambda();
        double lower = excess / (group.largest() - group.alpha() / group.beta());
        double upper = excess / (group.smallest() - group.alpha() / group.beta());
        assertTrue(lower > 0, "seed " + group.seed());
        assertTrue(lower <= group.theta() * (1 + EXACT), "seed " + group.seed());
        assertTrue(group.theta() <= upper * (1 + EXACT), "seed " + group.seed());
    }
}
