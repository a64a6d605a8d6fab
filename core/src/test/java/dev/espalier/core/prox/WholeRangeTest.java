package dev.espalier.core.prox;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.SparseGroupLasso;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Groups from anywhere in the range of double, against {@link BigProx}: a result that says it has converged is right to 1e-9, weight
 * by weight, and nearly all that can be represented are solved.
 */
class WholeRangeTest {
    private static final BigDecimal MIN_NORMAL = new BigDecimal(Double.MIN_NORMAL);
    private static final MathContext DIGITS = new MathContext(20);

    /** Range of the numbers of a group. */
    enum Spread {
        /** Every number by itself, log-uniform over 1e-305 to 1e305. */
        WHOLE_RANGE(10_000, 305),
        /** The same over what single precision holds. */
        SINGLE_PRECISION(1_000, 37),
        /** Weights of any size whose u are alike, and a strength near the threshold: most are shrunk. */
        NEAR_THRESHOLD(1_000, 150);

        final int count;
        final double orders;

        Spread(int count, double orders) {
            this.count = count;
            this.orders = orders;
        }
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Problem(long seed, Penalty outer, NestedProfile penalty, double[] x, double[] d, double stepSize) {
        @Override
        public String toString() {
            return "seed %d, %s, x = %s, d = %s, alpha = %s"
                    .formatted(seed, outer, Arrays.toString(x), Arrays.toString(d), Double.toString(stepSize));
        }
    }

    private static Problem problem(Spread spread, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int n = random.nextInt(1, 21);
        double[] x = new double[n];
        double[] d = new double[n];
        double stepSize = anywhere(random, spread.orders);
        double lambda = anywhere(random, spread.orders);
        double beta = anywhere(random, random.nextBoolean() ? spread.orders : 3);
        for (int i = 0; i < n; i++) {
            d[i] = anywhere(random, spread.orders);
            x[i] = (random.nextBoolean() ? 1 : -1) * anywhere(random, spread.orders);
        }
        if (spread == Spread.NEAR_THRESHOLD) {
            double level = anywhere(random, 1);
            Arrays.setAll(x, i -> Math.copySign(level * anywhere(random, 2) / d[i], x[i]));
            double strongest = level * Math.pow(10, random.nextDouble(-3, 2));
            stepSize = anywhere(random, spread.orders);
            lambda = strongest / stepSize;
            double longest = Arrays.stream(x).map(Math::abs).max().orElseThrow();
            beta = random.nextBoolean() ? longest / lambda * Math.pow(10, random.nextDouble(-3, 3)) : beta;
        }
        int[] owners = new int[n];
        int children = random.nextInt(1, Math.min(n, 5) + 1);
        Arrays.setAll(owners, i -> i < children ? i : random.nextInt(-1, children));
        double share = random.nextDouble(0.05, 0.95);
        Penalty outer = switch ((int) (seed % 5)) {
            case 0 -> new GroupLasso(lambda, GroupWeight.NONE);
            case 1 -> new GroupMcp(lambda, beta, GroupWeight.NONE);
            case 2 -> new GroupScad(lambda, beta, share, GroupWeight.NONE);
            case 3 -> new SparseGroupLasso(lambda, share, GroupWeight.NONE);
            default -> new NestedLasso(lambda, share, GroupWeight.NONE);
        };
        NestedProfile penalty = outer instanceof NestedLasso nested ? nested.over(owners) : outer.wholeOfSize(n);
        return new Problem(seed, outer, penalty, x, d, stepSize);
    }

    private static double anywhere(SplittableRandom random, double orders) {
        return Math.pow(10, random.nextDouble(-orders, orders));
    }

    @ParameterizedTest
    @EnumSource
    void whatHasConvergedIsRightAndMostHas(Spread spread) {
        AtomicInteger normal = new AtomicInteger();
        AtomicInteger solved = new AtomicInteger();
        LongStream.range(0, spread.count).parallel().forEach(seed -> {
            Problem problem = problem(spread, seed);
            try {
                check(problem, normal, solved);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(e.getMessage() + "; " + problem, e);
            }
        });
        assertTrue(normal.get() > spread.count / 4, () -> "only " + normal + " minimisers are normal doubles");
        assertTrue(
                solved.get() >= 0.99 * normal.get(),
                () -> "solved are %s of %s in %s".formatted(solved, normal, spread));
    }

    private static void check(Problem problem, AtomicInteger normal, AtomicInteger solved) {
        double[] z = new double[problem.x.length];
        Outcome outcome =
                WeightedProx.EXACT.apply(problem.penalty, problem.x, problem.d, problem.stepSize, Double.NaN, z);
        assertTrue(Double.isFinite(outcome.theta()) && Double.isFinite(outcome.residual()), outcome::toString);
        ProxPropertiesTest.assertShrunkTowardsZero(problem.x, z);
        List<BigDecimal[]> minimisers =
                BigProx.solve(problem.outer, problem.penalty, problem.x, problem.d, problem.stepSize);
        double error = minimisers.stream()
                .mapToDouble(minimiser -> error(z, minimiser))
                .min()
                .orElseThrow();
        assertTrue(
                error <= 1e-9 || !outcome.converged(),
                () -> "error %.2g although %s; z = %s, not %s"
                        .formatted(error, outcome, Arrays.toString(z), text(minimisers.getFirst())));
        if (!outcome.converged()) {
            assertTrue(outcome.residual() > 0, outcome::toString);
        }
        if (minimisers.stream()
                .flatMap(Arrays::stream)
                .allMatch(value -> value.signum() == 0 || value.compareTo(MIN_NORMAL) >= 0)) {
            normal.incrementAndGet();
            if (outcome.converged()) {
                solved.incrementAndGet();
            }
        }
    }

    private static String text(BigDecimal[] minimiser) {
        return Arrays.toString(
                Arrays.stream(minimiser).map(value -> value.round(DIGITS)).toArray());
    }

    /** The largest relative error of a weight. */
    private static double error(double[] z, BigDecimal[] minimiser) {
        double largest = 0;
        for (int i = 0; i < z.length; i++) {
            BigDecimal expected = minimiser[i];
            BigDecimal difference =
                    new BigDecimal(Math.abs(z[i])).subtract(expected).abs();
            if (difference.signum() != 0) {
                largest = Math.max(
                        largest,
                        expected.signum() == 0
                                ? Double.POSITIVE_INFINITY
                                : difference.divide(expected, DIGITS).doubleValue());
            }
        }
        return largest;
    }

    /** The first weight's u is 3e-305 beside a threshold of 1e-6, the second's 4e305: {@code z = (4·3e-305/1e-6, 4)}. */
    @Test
    void aMetricOfBothEndsOfTheRange() {
        double[] z = new double[2];
        Outcome outcome = WeightedProx.EXACT.apply(
                new GroupLasso(1e-3, GroupWeight.NONE).profileOfSize(2),
                new double[] {3, 4},
                new double[] {1e-305, 1e305},
                1e-3,
                z);
        assertTrue(outcome.converged(), outcome::toString);
        assertArrayEquals(new double[] {1, 1}, new double[] {z[0] / 1.2e-298, z[1] / 4}, 1e-12);
    }

    /** Digits are lost in {@code ‖u‖ − l}, not in the range: the norm is above the threshold by one part in 1e12. */
    @Test
    void justAboveTheThresholdWeightsKeepTheirDigits() {
        double[] x = {3, 1};
        double[] d = {1, 4};
        GroupLasso penalty = new GroupLasso(5 * (1 - 1e-12), GroupWeight.NONE);
        double[] z = new double[2];
        Outcome outcome = WeightedProx.EXACT.apply(penalty.profileOfSize(2), x, d, 1, z);
        assertTrue(outcome.converged(), outcome::toString);
        BigDecimal[] expected =
                BigProx.solve(penalty, penalty.wholeOfSize(2), x, d, 1).getFirst();
        assertTrue(error(z, expected) <= 1e-12, () -> Arrays.toString(z) + " is not " + text(expected));
    }
}
