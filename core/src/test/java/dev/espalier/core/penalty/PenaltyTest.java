package dev.espalier.core.penalty;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.Profile.Piece;
import dev.espalier.core.prox.Cases;
import dev.espalier.core.prox.Cases.Kind;
import dev.espalier.core.prox.NaiveProx;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Penalties and their profiles against the formulas of their definitions. */
class PenaltyTest {

    /** {@code λ_g = λ √|g|}, one rule for value, subgradient, threshold and knee. */
    @Test
    void theGroupWeightIsOneRule() {
        double[] x = {1, 1, 1, 1}; // norm 2, λ_g = 3·2
        Penalty lasso = new GroupLasso(3);
        assertEquals(6, lasso.strength(4));
        assertEquals(12, lasso.value(x));
        assertArrayEquals(new double[] {3, 3, 3, 3}, lasso.subgradient(x));
        assertEquals(0, lasso.stationarityDistance(new double[4], new double[] {6, 0, 0, 0}));
        assertEquals(1, lasso.stationarityDistance(new double[4], new double[] {7, 0, 0, 0}));
        assertEquals(6, new GroupLasso(3, GroupWeight.NONE).value(x));
        assertEquals(3, new GroupLasso(3, GroupWeight.NONE).strength(4));
        assertEquals(12, new GroupMcp(3, 2).profileOfSize(4).end(0), "knee at βλ_g");
        assertEquals(6, new GroupMcp(3, 2, GroupWeight.NONE).profileOfSize(4).end(0), "knee at βλ");
        assertSame(GroupWeight.SQRT_SIZE, new GroupMcp(3, 2).weight());
    }

    @Test
    void groupsOfOneAreTheScalarPenalties() {
        assertEquals(6, new GroupLasso(3).value(new double[] {-2}));
        assertArrayEquals(new double[] {-3}, new GroupLasso(3).subgradient(new double[] {-2}));
        assertEquals(3 * 2 - 4 / 8.0, new GroupMcp(3, 4).value(new double[] {-2}));
    }

    /** The definitions, next to the integrals of the profiles. */
    @Test
    void valuesAreThoseOfTheDefinitions() {
        for (long seed : Cases.seeds(2000)) {
            SplittableRandom random = new SplittableRandom(seed);
            double lambda = Cases.logUniform(random, 1e-3, 1e3);
            double beta = Cases.logUniform(random, 1e-3, 1e3);
            double a = 1 + Cases.logUniform(random, 0.02, 1e3);
            double r = lambda * Cases.logUniform(random, 1e-4, 1e4);
            double mcp = r <= beta * lambda ? lambda * r - r * r / (2 * beta) : beta * lambda * lambda / 2;
            double scad = r <= lambda
                    ? lambda * r
                    : r <= a * lambda
                            ? (2 * a * lambda * r - r * r - lambda * lambda) / (2 * (a - 1))
                            : lambda * lambda * (a + 1) / 2;
            assertEquals(lambda * r, new GroupLasso(lambda).profile(lambda).value(r), 1e-12 * lambda * r);
            assertEquals(mcp, new GroupMcp(lambda, beta).profile(lambda).value(r), 1e-12 * lambda * r, "seed " + seed);
            assertEquals(
                    scad,
                    GroupScad.classical(lambda, a, GroupWeight.NONE)
                            .profile(lambda)
                            .value(r),
                    1e-12 * lambda * r * a / (a - 1),
                    "seed " + seed);
        }
    }

    static Stream<Penalty> penalties() {
        return Stream.of(
                new GroupLasso(0.7),
                new GroupLasso(0.7, GroupWeight.NONE),
                new GroupMcp(0.7, 1.5),
                new GroupMcp(0.7, 1e6, GroupWeight.NONE),
                GroupScad.classical(0.7, 3.7, GroupWeight.NONE),
                new GroupScad(0.7, 1.5, 0.3),
                new LassoAndMcp(0.7, 1.5, 0.3, GroupWeight.SQRT_SIZE),
                new NestedLasso(0.7, 0.4),
                new SparseGroupLasso(0.7, 0.4));
    }

    @Test
    void sparseGroupLassoCountsGroupsAndWeights() {
        double[] x = {3, 0, -4, 0}; // norm 5, λ_g = 2λ
        Penalty sparse = new SparseGroupLasso(10, 0.3);
        assertEquals(0.7 * 20 * 5 + 0.3 * 10 * 7, sparse.value(x), 1e-12);
        assertArrayEquals(new double[] {14 * 0.6 + 3, 0, -14 * 0.8 - 3, 0}, sparse.subgradient(x), 1e-12);
        // A weight that is zero bears a gradient of λ₁, a group that is zero one of λ_g beyond that.
        double[] gradient = sparse.subgradient(x);
        Arrays.setAll(gradient, i -> -gradient[i] + (i == 1 ? 3 : i == 3 ? 5 : 0));
        assertEquals(2, sparse.stationarityDistance(x, gradient), 1e-12);
        double[] zero = new double[4];
        assertEquals(0, sparse.stationarityDistance(zero, new double[] {17, -3, 0, 2}), 1e-12);
        assertEquals(1, sparse.stationarityDistance(zero, new double[] {18, -3, 0, 2}), 1e-12);
        assertEquals(new GroupLasso(10).value(x), new SparseGroupLasso(10, 0).value(x), 1e-12);
        assertEquals(70, new SparseGroupLasso(10, 1).value(x), 1e-12);
    }

    @Test
    void nestedLassoCountsBothLevels() {
        double[] x = {3, 4, 0, 12};
        int[] owners = {0, 0, 1, NestedProfile.NONE};
        NestedProfile both = new NestedLasso(10, 0.3).over(owners);
        double inner = 3 * Math.sqrt(2);
        assertEquals(14 * 13 + inner * 5, both.value(x), 1e-12);
        assertArrayEquals(
                new double[] {14 * 3 / 13.0 + inner * 0.6, 14 * 4 / 13.0 + inner * 0.8, 0, 14 * 12 / 13.0},
                both.subgradient(x),
                1e-12);
        double[] gradient = both.subgradient(x);
        Arrays.setAll(gradient, i -> -gradient[i] + (i == 2 ? 5 : 0));
        assertEquals(5 - 3, both.stationarityDistance(x, gradient), 1e-12);
        double[] zero = new double[4];
        double edge = 14 + inner; // of the first inner group alone
        assertEquals(0, both.stationarityDistance(zero, new double[] {edge - 1e-9, 0, 3, 0}), 1e-12);
        assertEquals(1, both.stationarityDistance(zero, new double[] {edge + 1, 0, 3, 0}), 1e-12);
        // Without groups within, and with λ the same at either level, it is the plain penalty.
        assertEquals(new GroupLasso(10).value(x), new NestedLasso(10, 0.3).value(x));
        assertEquals(
                new GroupLasso(10).value(x), new NestedLasso(10, 0).over(owners).value(x), 1e-12);
    }

    @ParameterizedTest
    @MethodSource("penalties")
    void theSubgradientIsTheDerivativeOfTheValue(Penalty penalty) {
        for (long seed : Cases.seeds(500)) {
            SplittableRandom random = new SplittableRandom(seed);
            double[] x = Cases.normal(random, random.nextInt(1, 6));
            double[] subgradient = penalty.subgradient(x);
            double step = 1e-6;
            for (int i = 0; i < x.length; i++) {
                double[] after = x.clone();
                double[] before = x.clone();
                after[i] += step;
                before[i] -= step;
                assertEquals(
                        (penalty.value(after) - penalty.value(before)) / (2 * step),
                        subgradient[i],
                        1e-5,
                        "seed " + seed);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("penalties")
    void atZeroTheSubgradientIsZeroAndTheThresholdIsTheStrength(Penalty penalty) {
        double[] zero = {0, 0, -0.0};
        double strength = penalty.strength(3) + penalty.singleStrength();
        assertArrayEquals(new double[3], penalty.subgradient(zero));
        assertEquals(0, penalty.value(zero));
        assertEquals(0, penalty.stationarityDistance(zero, new double[] {0, strength, 0}), 1e-15);
        assertEquals(1, penalty.stationarityDistance(zero, new double[] {0, strength + 1, 0}), 1e-15);
    }

    @ParameterizedTest
    @MethodSource("penalties")
    void awayFromZeroTheDistanceIsTheNormOfTheWholeGradient(Penalty penalty) {
        double[] x = {0.3, -0.4};
        double[] minus = penalty.subgradient(x);
        for (int i = 0; i < minus.length; i++) {
            minus[i] = -minus[i];
        }
        assertEquals(0, penalty.stationarityDistance(x, minus));
        minus[0] += 3;
        minus[1] += 4;
        assertEquals(5, penalty.stationarityDistance(x, minus), 1e-14);
    }

    @ParameterizedTest
    @EnumSource
    void profilesAreContinuousAndNeverFall(Kind kind) {
        Cases.check(kind, 1000, problem -> {
            Profile profile = problem.profile();
            for (int k = 1; k < profile.pieces().size(); k++) {
                Piece left = profile.pieces().get(k - 1);
                Piece right = profile.pieces().get(k);
                assertEquals(left.slope(right.from()), right.slope(right.from()), 1e-12 * profile.slope(0));
                assertEquals(right.from(), profile.end(k - 1));
            }
            assertEquals(Double.POSITIVE_INFINITY, profile.end(profile.pieces().size() - 1));
            assertEquals(problem.penalty().strength(problem.x().length), profile.slope(0));
            double before = 0;
            for (double r = 0; r < 3 * Norm.of(problem.x()); r += Norm.of(problem.x()) / 50) {
                assertTrue(profile.slope(r) >= 0 && profile.value(r) >= before * (1 - 1e-14), "falls at " + r);
                before = profile.value(r);
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void theClosedFormIsTheMinimiserOfTheScalarProblem(Kind kind) {
        Cases.check(kind, 500, problem -> {
            double norm = Norm.of(problem.x());
            double[] metric = {problem.d()[0]};
            double theta = problem.profile().proximalNorm(norm, metric[0], problem.stepSize());
            double[] twin = NaiveProx.apply(problem.profile(), new double[] {norm}, metric, problem.stepSize());
            double ours = NaiveProx.objective(
                    problem.profile(), new double[] {norm}, metric, problem.stepSize(), new double[] {theta});
            double twins =
                    NaiveProx.objective(problem.profile(), new double[] {norm}, metric, problem.stepSize(), twin);
            assertTrue(ours <= twins * (1 + 1e-12), () -> "θ = %s is worse than %s".formatted(theta, twin[0]));
            assertTrue(theta >= 0 && theta <= norm * (1 + 1e-15), () -> "θ = " + theta);
        });
    }

    @Test
    void noStrengthIsNoPenalty() {
        for (Penalty penalty : new Penalty[] {new GroupLasso(0), new GroupMcp(0, 3), new GroupScad(0, 3, 0.3)}) {
            assertEquals(0, penalty.value(new double[] {3, 4}));
            assertArrayEquals(new double[2], penalty.subgradient(new double[] {3, 4}));
            assertEquals(5, penalty.stationarityDistance(new double[] {1, 1}, new double[] {3, 4}));
            assertEquals(5, penalty.stationarityDistance(new double[2], new double[] {3, 4}));
        }
    }
}
