package dev.espalier.core.prox;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.penalty.SparseGroupLasso;
import dev.espalier.core.prox.NestedCases.Problem;
import dev.espalier.core.root.Bisection;
import dev.espalier.core.root.NestedEquation;
import dev.espalier.core.root.ReciprocalNewton;
import dev.espalier.core.root.Tolerance;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The operator of a group with groups within it: certificates, twins, limits, closed forms. */
class NestedProxTest {
    private static final int COUNT = 1500;

    @Test
    void thePenaltyCertifiesTheSolutionOfEverySolver() {
        Map<Branch, Integer> seen = new EnumMap<>(Branch.class);
        int[] innerZeros = {0};
        NestedCases.check(COUNT, 7, problem -> {
            for (Solver solver : Cases.ROOT_SOLVERS) {
                Cases.Solution solution = problem.solve(solver, Double.NaN);
                Outcome outcome = solution.outcome();
                double distance = problem.relativeDistance(solution.z());
                assertTrue(distance <= 1e-12, () -> "%s: distance %.2g".formatted(solver, distance));
                assertTrue(outcome.converged(), () -> "not converged: " + solver);
                assertEquals(Norm.of(solution.z()), outcome.theta(), 1e-12 * Norm.of(problem.x()));
                assertTrue(outcome.residual() <= 1e-12, () -> "residual " + outcome.residual());
                assertEquals(outcome.branch() == Branch.ZEROED, Norm.of(solution.z()) == 0);
                ProxPropertiesTest.assertShrunkTowardsZero(problem.x(), solution.z());
                seen.merge(outcome.branch(), 1, Integer::sum);
                if (outcome.branch() == Branch.SHRUNK) {
                    innerZeros[0] += (int) Arrays.stream(problem.penalty().innerNorms(solution.z()))
                            .filter(norm -> norm == 0)
                            .count();
                }
            }
        });
        if (!Cases.replaying()) {
            assertTrue(
                    Math.min(seen.getOrDefault(Branch.ZEROED, 0), seen.getOrDefault(Branch.SHRUNK, 0)) > COUNT / 10,
                    seen::toString);
            assertTrue(innerZeros[0] > COUNT / 10, () -> innerZeros[0] + " inner groups died in living groups");
        }
    }

    /** A method that knows no trees; the metrics are tame, so that it gets there. */
    @Test
    void theTwinAgrees() {
        NestedCases.check(200, 1.5, problem -> {
            double[] twin = NaiveProx.apply(problem.penalty(), problem.x(), problem.d(), problem.stepSize(), 400);
            double[] z = problem.solve();
            double size = Norm.of(problem.x());
            double best = problem.objective(z);
            assertTrue(best <= problem.objective(twin) * (1 + 1e-13), "the twin is better");
            assertEquals(0, Cases.distance(z, twin) / size, 1e-6);
        });
    }

    @Test
    void adaProxGetsThereToo() {
        Solver patient = new Solver.AdaProx(new Tolerance(1e-15, 3000));
        NestedCases.check(200, 1, problem -> {
            double[] z = problem.solve(patient, Double.NaN).z();
            assertEquals(0, Cases.distance(z, problem.solve()) / Norm.of(problem.x()), 1e-9);
        });
    }

    @Test
    void noPerturbationLowersTheObjective() {
        NestedCases.check(COUNT, 7, problem -> {
            double[] z = problem.solve();
            double best = problem.objective(z);
            SplittableRandom random = new SplittableRandom(~problem.seed());
            for (int trial = 0; trial < 20; trial++) {
                double step = Norm.of(problem.x()) * Cases.logUniform(random, 1e-8, 1);
                int only = random.nextInt(-1, problem.penalty().inner().size()); // one inner group, or all
                double[] rival = z.clone();
                for (int i = 0; i < z.length; i++) {
                    rival[i] += only < 0 || problem.penalty().owner(i) == only ? step * random.nextGaussian() : 0;
                }
                assertTrue(problem.objective(rival) >= best * (1 - 1e-13), () -> "a step of %s helps".formatted(step));
            }
        });
    }

    @Test
    void itDoesNotExpandTheDistanceInTheMetric() {
        NestedCases.check(COUNT, 4, problem -> {
            SplittableRandom random = new SplittableRandom(~problem.seed());
            double step = Norm.of(problem.x()) * Cases.logUniform(random, 1e-6, 10);
            double[] other = problem.x().clone();
            for (int i = 0; i < other.length; i++) {
                other[i] += step * random.nextGaussian();
            }
            Problem neighbour = new Problem(problem.seed(), problem.penalty(), other, problem.d(), problem.stepSize());
            double[] roots = Arrays.stream(problem.d()).map(Math::sqrt).toArray();
            double before = Cases.distance(Cases.times(roots, problem.x()), Cases.times(roots, other));
            double after = Cases.distance(Cases.times(roots, problem.solve()), Cases.times(roots, neighbour.solve()));
            assertTrue(after <= before + 1e-13 * Norm.of(Cases.times(roots, problem.x())), before + " to " + after);
        });
    }

    @Test
    void withoutInnerPenaltiesItIsThePlainGroup() {
        NestedCases.check(COUNT, 7, problem -> {
            Profile outer = problem.penalty().outer();
            List<Profile> none = Collections.nCopies(problem.penalty().inner().size(), Profile.norm(0));
            double[] expected = new double[problem.x().length];
            WeightedProx.EXACT.apply(outer, problem.x(), problem.d(), problem.stepSize(), expected);
            assertArrayEquals(
                    expected,
                    problem.with(NestedProfile.of(outer, problem.owners(), none))
                            .solve());
        });
    }

    /** And the same with a penalty so small that it still counts as one, through the root of the tree. */
    @Test
    void nearThatLimitNothingJumps() {
        NestedCases.check(COUNT, 3, problem -> {
            Profile outer = problem.penalty().outer();
            Profile tiny = Profile.norm(1e-13 * Norm.of(problem.u()) / problem.stepSize());
            List<Profile> all = Collections.nCopies(problem.penalty().inner().size(), tiny);
            double[] expected = new double[problem.x().length];
            WeightedProx.EXACT.apply(outer, problem.x(), problem.d(), problem.stepSize(), expected);
            double[] z =
                    problem.with(NestedProfile.of(outer, problem.owners(), all)).solve();
            assertEquals(0, Cases.distance(expected, z) / Norm.of(problem.x()), 1e-8);
        });
    }

    @Test
    void withoutTheOuterPenaltyItIsThePlainInnerGroups() {
        NestedCases.check(COUNT, 7, problem -> {
            NestedProfile apart = NestedProfile.of(
                    Profile.norm(0), problem.owners(), problem.penalty().inner());
            double[] z = problem.with(apart).solve();
            double[] expected = problem.x().clone();
            for (int child = 0; child < apart.inner().size(); child++) {
                int here = child;
                int[] members = IntStream.range(0, z.length)
                        .filter(i -> apart.owner(i) == here)
                        .toArray();
                double[] part =
                        Arrays.stream(members).mapToDouble(i -> problem.x()[i]).toArray();
                double[] d =
                        Arrays.stream(members).mapToDouble(i -> problem.d()[i]).toArray();
                WeightedProx.EXACT.apply(apart.inner().get(child), part, d, problem.stepSize(), part);
                for (int i = 0; i < members.length; i++) {
                    expected[members[i]] = part[i];
                }
            }
            for (int i = 0; i < z.length; i++) {
                assertEquals(expected[i], z[i], 1e-15 * Math.abs(problem.x()[i]));
            }
        });
    }

    @Test
    void oneInnerGroupThatIsTheWholeAddsItsStrength() {
        NestedCases.check(COUNT, 7, problem -> {
            double first = problem.penalty().outer().slope(0);
            double second = problem.penalty().inner().getLast().slope(0);
            NestedProfile twice =
                    NestedProfile.of(Profile.norm(first), new int[problem.x().length], List.of(Profile.norm(second)));
            double[] expected = new double[problem.x().length];
            WeightedProx.EXACT.apply(
                    Profile.norm(first + second), problem.x(), problem.d(), problem.stepSize(), expected);
            assertArrayEquals(expected, problem.with(twice).solve(), 1e-12 * Norm.of(problem.x()));
        });
    }

    /** In a spherical metric, inner groups first and then the outer one; one bit beside it the root must say the same. */
    @Test
    void aSphericalMetricHasTheClosedForm() {
        NestedCases.check(COUNT, 0, problem -> {
            double metric = problem.d()[0];
            double shift = problem.stepSize() / metric;
            double[] norms = problem.penalty().innerNorms(problem.x());
            double[] expected = problem.x().clone();
            for (int i = 0; i < expected.length; i++) {
                int owner = problem.penalty().owner(i);
                if (owner != NestedProfile.NONE && norms[owner] > 0) {
                    double strength = problem.penalty().inner().get(owner).slope(0);
                    expected[i] *= Math.max(0, 1 - shift * strength / norms[owner]);
                }
            }
            double norm = Norm.of(expected);
            double strength = problem.penalty().outer().slope(0);
            double scale = norm == 0 ? 0 : Math.max(0, 1 - shift * strength / norm);
            Arrays.setAll(expected, i -> expected[i] * scale);
            double[] even = new double[expected.length];
            Arrays.fill(even, metric);
            double[] beside = even.clone();
            beside[0] = Math.nextUp(metric);
            for (double[] d : List.of(even, beside)) {
                Problem flat = new Problem(problem.seed(), problem.penalty(), problem.x(), d, problem.stepSize());
                assertArrayEquals(expected, flat.solve(), 1e-12 * Norm.of(problem.x()));
            }
        });
    }

    /** The other order of the two, or the composition in another metric, is something else. */
    @Test
    void theCompositionIsNotTheOperatorInOtherMetrics() {
        double[] x = {3, 4, 2, 1};
        double[] d = {1, 30, 5, 0.1};
        Profile outer = Profile.norm(4);
        Profile inner = Profile.norm(2);
        int[] owners = {0, 0, 1, 1};
        double[] composed = x.clone();
        WeightedProx.EXACT.apply(
                NestedProfile.of(Profile.norm(0), owners, List.of(inner, inner)), composed, d, 1, Double.NaN, composed);
        WeightedProx.EXACT.apply(outer, composed, d, 1, composed);
        Problem problem = new Problem(0, NestedProfile.of(outer, owners, List.of(inner, inner)), x, d, 1);
        assertTrue(problem.relativeDistance(composed) > 1e-3, "composition would do");
        assertTrue(problem.relativeDistance(problem.solve()) < 1e-14);
    }

    @Test
    void theGroupDiesExactlyWhereTheTestSaysSo() {
        NestedCases.check(COUNT, 7, problem -> {
            double[] norms = problem.penalty().innerNorms(problem.u());
            double sum = 0;
            for (int i = 0; i < problem.x().length; i++) {
                sum += problem.penalty().owner(i) == NestedProfile.NONE ? problem.u()[i] * problem.u()[i] : 0;
            }
            for (int child = 0; child < norms.length; child++) {
                double strength = problem.penalty().inner().get(child).slope(0);
                double excess = Math.max(0, norms[child] - problem.stepSize() * strength);
                sum += excess * excess;
            }
            double threshold = Math.sqrt(sum) / problem.stepSize();
            if (threshold > 1e-9 * Norm.of(problem.u()) / problem.stepSize()) {
                for (double factor : new double[] {1 - 1e-6, 1 + 1e-6}) {
                    NestedProfile near = NestedProfile.of(
                            Profile.norm(threshold * factor),
                            problem.owners(),
                            problem.penalty().inner());
                    assertEquals(factor > 1, Norm.of(problem.with(near).solve()) == 0, "at " + factor);
                }
            }
        });
    }

    @Test
    void aGuessChangesTheCostNotTheResult() {
        long[] evaluations = new long[2];
        NestedCases.check(COUNT, 4, problem -> {
            Cases.Solution cold = problem.solve(Solver.DEFAULT, Double.NaN);
            double theta = cold.outcome().theta();
            for (double guess : new double[] {theta * 1.001, theta * 3, theta / 100, 1e300, 0}) {
                Cases.Solution warm = problem.solve(Solver.DEFAULT, guess);
                assertArrayEquals(cold.z(), warm.z(), 1e-12 * Norm.of(problem.x()), () -> "from " + guess);
            }
            evaluations[0] += cold.outcome().iterations();
            evaluations[1] +=
                    problem.solve(Solver.DEFAULT, theta * (1 + 1e-6)).outcome().iterations();
        });
        assertTrue(Cases.replaying() || evaluations[1] < 0.8 * evaluations[0], () -> Arrays.toString(evaluations));
    }

    @Test
    void extremeNumbersChangeNothingButTheScale() {
        NestedCases.check(COUNT / 3, 3, problem -> {
            double[] expected = problem.solve();
            for (int[] exponents : new int[][] {{300, 100}, {-300, -200}, {-400, 300}, {0, 900}}) {
                double length = Math.scalb(1.0, exponents[0]);
                double metric = Math.scalb(1.0, exponents[1]);
                double[] x =
                        Arrays.stream(problem.x()).map(value -> value * length).toArray();
                double[] d =
                        Arrays.stream(problem.d()).map(value -> value * metric).toArray();
                List<Profile> inner = problem.penalty().inner().stream()
                        .map(profile -> Profile.norm(profile.slope(0) * length))
                        .toList();
                NestedProfile penalty = NestedProfile.of(
                        Profile.norm(problem.penalty().outer().slope(0) * length), problem.owners(), inner);
                double[] z = new double[x.length];
                WeightedProx.EXACT.apply(penalty, x, d, problem.stepSize() * metric, Double.NaN, z);
                double[] back = Arrays.stream(z).map(value -> value / length).toArray();
                assertArrayEquals(expected, back, 1e-13 * Norm.of(problem.x()), () -> Arrays.toString(exponents));
            }
        });
    }

    @Test
    void theResultMayTakeThePlaceOfTheInput() {
        NestedCases.check(100, 7, problem -> {
            double[] z = problem.solve();
            double[] x = problem.x().clone();
            WeightedProx.EXACT.apply(problem.penalty(), x, problem.d(), problem.stepSize(), Double.NaN, x);
            assertArrayEquals(z, x);
        });
    }

    @Test
    void noStepIsTheIdentity() {
        NestedCases.check(100, 7, problem -> {
            for (Solver solver : List.of(Solver.DEFAULT, Solver.AdaProx.DEFAULT)) {
                double[] z = new double[problem.x().length];
                Outcome outcome =
                        new WeightedProx(solver).apply(problem.penalty(), problem.x(), problem.d(), 0, Double.NaN, z);
                assertArrayEquals(problem.x(), z);
                assertEquals(Branch.UNTOUCHED, outcome.branch());
            }
        });
    }

    /** {@code t}'s derivatives, which the root finders go by, against differences. */
    @Test
    void theEquationKnowsItsDerivatives() {
        SplittableRandom random = new SplittableRandom(3);
        for (int trial = 0; trial < 50; trial++) {
            NestedEquation equation = new NestedEquation(
                    Cases.normal(random, 2), Cases.metric(random, 2, 2), 1, new ReciprocalNewton(), Tolerance.EXACT);
            for (int child = 0; child < 3; child++) {
                double[] u = Cases.normal(random, 4);
                equation.add(u, Cases.metric(random, 4, 2), Norm.of(u) * random.nextDouble(0.05, 0.9));
            }
            double theta = Cases.logUniform(random, 1e-3, 1e1);
            double h = 1e-3; // relative: errors are of the order of h⁴ and of 1e-16/h
            double[][] at = new double[5][];
            for (int i = -2; i <= 2; i++) {
                equation.evaluate(theta * (1 + i * h));
                double place = 1 + i * h;
                at[i + 2] = new double[] {
                    equation.t(),
                    -2 * equation.s() / place,
                    6 * equation.r() / (place * place),
                    -24 * equation.c() / (place * place * place)
                };
            }
            for (int order = 0; order < 3; order++) {
                double difference = (at[0][order] - 8 * at[1][order] + 8 * at[3][order] - at[4][order]) / (12 * h);
                double expected = at[2][order + 1];
                assertEquals(expected, difference, 1e-8 * (1 + Math.abs(expected)), "derivative " + (order + 1));
            }
        }
    }

    @Test
    void sparseGroupLassoIsTheTreeOfSingleWeights() {
        NestedCases.check(COUNT, 7, problem -> {
            SplittableRandom random = new SplittableRandom(~problem.seed());
            double lambda = Norm.of(problem.u()) / problem.stepSize() * Cases.logUniform(random, 1e-4, 1);
            double share = random.nextDouble();
            Penalty sparse = new SparseGroupLasso(lambda, share, GroupWeight.NONE);
            int n = problem.x().length;
            Problem one = problem.with(sparse.wholeOfSize(n));
            double[] z = one.solve();
            assertTrue(one.relativeDistance(z) <= 1e-13, () -> "distance " + one.relativeDistance(z));
            int[] alone = IntStream.range(0, n).toArray();
            double[] nested = problem.with(new NestedLasso(lambda, share, GroupWeight.NONE).over(alone))
                    .solve();
            assertArrayEquals(z, nested, 1e-14 * Norm.of(problem.x()));
            assertEquals(
                    sparse.value(z),
                    new NestedLasso(lambda, share, GroupWeight.NONE).over(alone).value(z));
        });
    }

    /** Single weights may lie below a penalty that is not convex: brute force on a fine grid. */
    @Test
    void singleWeightsNestBelowAnyPenalty() {
        SplittableRandom random = new SplittableRandom(11);
        for (int trial = 0; trial < 60; trial++) {
            double[] x = {random.nextDouble(0.2, 2), random.nextDouble(0.2, 2)};
            double[] d = {Cases.logUniform(random, 0.1, 10), Cases.logUniform(random, 0.1, 10)};
            Penalty mcp = new GroupMcp(random.nextDouble(0.1, 3), random.nextDouble(0.1, 2), GroupWeight.NONE);
            NestedProfile penalty =
                    NestedProfile.ofSingles(mcp.profileOfSize(2), Profile.norm(random.nextDouble(0, 2)), 2);
            double[] z = new double[2];
            WeightedProx.EXACT.apply(penalty, x, d, 0.5, Double.NaN, z);
            double best = NaiveProx.objective(penalty, x, d, 0.5, z);
            int grid = 60;
            for (int i = 0; i <= grid; i++) {
                for (int j = 0; j <= grid; j++) {
                    double[] rival = {x[0] * i / grid, x[1] * j / grid};
                    assertTrue(
                            NaiveProx.objective(penalty, x, d, 0.5, rival) >= best - 1e-12,
                            () -> "%s beats %s".formatted(Arrays.toString(rival), Arrays.toString(z)));
                }
            }
        }
    }

    @Test
    void whatIsNotExactIsRefused() {
        Profile mcp = new GroupMcp(1, 2).profileOfSize(4);
        Profile norm = Profile.norm(1);
        int[] pairs = {0, 0, 1, 1};
        for (Profile[] levels : new Profile[][] {{mcp, norm}, {norm, mcp}}) {
            String message = String.valueOf(assertThrows(
                            IllegalArgumentException.class,
                            () -> NestedProfile.of(levels[0], pairs, List.of(levels[1], levels[1])))
                    .getMessage());
            assertTrue(message.contains("must be a norm") && message.contains("NestedLasso"), message);
        }
        assertThrows(
                IllegalArgumentException.class, () -> NestedProfile.of(norm, new int[] {0, 2}, List.of(norm, norm)));
        assertThrows(
                IllegalArgumentException.class, () -> NestedProfile.of(norm, new int[] {0, 0}, List.of(norm, norm)));
    }

    @Test
    void aLimitOnIterationsIsReportedNeverHidden() {
        Solver hasty = new Solver.ByRoot(new Bisection(), new Tolerance(1e-16, 2));
        int[] reported = {0};
        NestedCases.check(100, 3, problem -> {
            Cases.Solution solution = problem.solve(hasty, Double.NaN);
            boolean right = Cases.distance(solution.z(), problem.solve()) <= 1e-6 * Norm.of(problem.x());
            assertTrue(right || !solution.outcome().converged(), "not converged, and not said so");
            reported[0] += solution.outcome().converged() ? 0 : 1;
        });
        assertTrue(reported[0] > 10 || Cases.replaying(), () -> reported[0] + " reported");
    }
}
