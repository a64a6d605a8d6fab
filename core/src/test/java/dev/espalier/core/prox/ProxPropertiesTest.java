package dev.espalier.core.prox;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.prox.Cases.Kind;
import dev.espalier.core.prox.Cases.Problem;
import dev.espalier.core.prox.Cases.Solution;
import dev.espalier.core.root.SecularEquation;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What must hold of the operator, whatever the numbers. */
class ProxPropertiesTest {
    private static final int COUNT = 3000;

    @ParameterizedTest
    @EnumSource
    void thePenaltyCertifiesTheSolution(Kind kind) {
        Cases.check(kind, COUNT, problem -> {
            for (Solver solver : Cases.ROOT_SOLVERS) {
                double[] z = problem.solve(solver).z();
                double distance = problem.penalty().stationarityDistance(z, gradientOfDistance(problem, z));
                // The gradient is a difference of terms as large as u/α.
                double scale = Norm.of(problem.u()) / problem.stepSize();
                assertTrue(
                        distance <= 1e-13 * scale,
                        () -> "%s: distance %.2g of %.2g".formatted(solver, distance, scale));
            }
        });
    }

    /** The gradient of {@code ½ Σ d_i (z_i − x_i)² / α}. */
    private static double[] gradientOfDistance(Problem problem, double[] z) {
        double[] gradient = new double[z.length];
        Arrays.setAll(gradient, i -> problem.d()[i] * (z[i] - problem.x()[i]) / problem.stepSize());
        return gradient;
    }

    @ParameterizedTest
    @EnumSource
    void noPerturbationLowersTheObjective(Kind kind) {
        Cases.check(kind, COUNT, problem -> {
            double[] z = problem.solve(Solver.DEFAULT).z();
            double best = problem.objective(z);
            SplittableRandom random = problem.random();
            double size = Norm.of(problem.x());
            for (int trial = 0; trial < 20; trial++) {
                double step = size * Cases.logUniform(random, 1e-8, 1);
                double[] direction = Cases.normal(random, z.length);
                double[] rival = new double[z.length];
                boolean alongMetric = random.nextBoolean(); // long where the metric is small
                double smallest = Arrays.stream(problem.d()).min().orElseThrow();
                Arrays.setAll(
                        rival,
                        i -> z[i] + step * direction[i] * (alongMetric ? Math.sqrt(smallest / problem.d()[i]) : 1));
                double value = problem.objective(rival);
                assertTrue(value >= best * (1 - 1e-13), () -> "step %s lowers %s to %s".formatted(step, best, value));
            }
            for (double[] rival : List.of(problem.x(), new double[z.length])) {
                assertTrue(problem.objective(rival) >= best * (1 - 1e-13), () -> Arrays.toString(rival) + " is better");
            }
        });
    }

    @Test
    void convexOperatorsDoNotExpandTheDistanceInTheMetric() {
        Cases.check(Kind.LASSO, COUNT, problem -> {
            SplittableRandom random = problem.random();
            double step = Norm.of(problem.x()) * Cases.logUniform(random, 1e-6, 10);
            double[] direction = Cases.normal(random, problem.x().length);
            double[] other = new double[direction.length];
            Arrays.setAll(other, i -> problem.x()[i] + step * direction[i]);
            Problem neighbour = new Problem(problem.seed(), problem.penalty(), other, problem.d(), problem.stepSize());
            double[] weights = Arrays.stream(problem.d()).map(Math::sqrt).toArray();
            double before = Cases.distance(Cases.times(weights, problem.x()), Cases.times(weights, other));
            double after = Cases.distance(
                    Cases.times(weights, problem.solve(Solver.DEFAULT).z()),
                    Cases.times(weights, neighbour.solve(Solver.DEFAULT).z()));
            double rounding = 1e-14 * Norm.of(Cases.times(weights, problem.x()));
            assertTrue(after <= before + rounding, () -> "distance %s became %s".formatted(before, after));
        });
    }

    @ParameterizedTest
    @EnumSource
    void permutingTheWeightsPermutesTheSolution(Kind kind) {
        Cases.check(kind, COUNT, problem -> {
            int n = problem.x().length;
            int shift = problem.random().nextInt(n);
            Problem turned = new Problem(
                    problem.seed(),
                    problem.penalty(),
                    rotate(problem.x(), shift),
                    rotate(problem.d(), shift),
                    problem.stepSize());
            Solution expected = problem.solve(Solver.DEFAULT);
            Solution actual = turned.solve(Solver.DEFAULT);
            assertEquals(expected.outcome().branch(), actual.outcome().branch());
            assertArrayEquals(rotate(expected.z(), shift), actual.z(), 1e-13 * Norm.of(problem.x()));
        });
    }

    private static double[] rotate(double[] values, int shift) {
        double[] rotated = new double[values.length];
        Arrays.setAll(rotated, i -> values[(i + shift) % values.length]);
        return rotated;
    }

    @ParameterizedTest
    @EnumSource
    void mirroringTheWeightsMirrorsTheSolution(Kind kind) {
        Cases.check(kind, COUNT, problem -> {
            double[] signs = new double[problem.x().length];
            SplittableRandom random = problem.random();
            Arrays.setAll(signs, i -> random.nextBoolean() ? 1 : -1);
            Problem mirrored = new Problem(
                    problem.seed(),
                    problem.penalty(),
                    Cases.times(signs, problem.x()),
                    problem.d(),
                    problem.stepSize());
            double[] expected = Cases.times(signs, problem.solve(Solver.DEFAULT).z());
            double[] actual = mirrored.solve(Solver.DEFAULT).z();
            for (int i = 0; i < actual.length; i++) {
                assertTrue(expected[i] == actual[i], "differs in its size"); // 0 and −0 are equal here
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void solutionsAreNoLongerThanTheGroupAndKeepItsSigns(Kind kind) {
        Cases.check(kind, COUNT, problem -> {
            for (Solver solver : Cases.ROOT_SOLVERS) {
                assertShrunkTowardsZero(problem.x(), problem.solve(solver).z());
            }
        });
    }

    static void assertShrunkTowardsZero(double[] x, double[] z) {
        for (int i = 0; i < z.length; i++) {
            int place = i;
            assertTrue(Double.isFinite(z[i]), () -> "z[%d] = %s".formatted(place, z[place]));
            assertTrue(
                    z[i] == 0
                            || (Math.signum(z[i]) == Math.signum(x[i])
                                    && Math.abs(z[i]) <= Math.abs(x[i]) * (1 + 1e-15)),
                    () -> "z[%d] = %s does not lie between 0 and %s".formatted(place, z[place], x[place]));
        }
    }

    @Test
    void aSphericalMetricHasTheClosedForms() {
        for (long seed : Cases.seeds(COUNT)) {
            SplittableRandom random = new SplittableRandom(seed);
            int n = random.nextInt(2, 20);
            double[] x = Cases.normal(random, n);
            double metric = Cases.logUniform(random, 1e-3, 1e3);
            double stepSize = Cases.logUniform(random, 1e-3, 1e3);
            double norm = Norm.of(x);
            double lambda = metric * norm / stepSize * random.nextDouble(0, 1.5);
            double beta = stepSize / metric * Cases.logUniform(random, 1.1, 100);
            double shrinkage = stepSize / metric;
            double soft = Math.max(0, norm - shrinkage * lambda);
            double firm = norm > beta * lambda ? norm : soft / (1 - shrinkage / beta);
            assertSpherical(seed, new GroupLasso(lambda, GroupWeight.NONE), x, metric, stepSize, soft);
            assertSpherical(seed, new GroupMcp(lambda, beta, GroupWeight.NONE), x, metric, stepSize, firm);
            double a = 1.02 + stepSize / metric * Cases.logUniform(random, 1.1, 100);
            Penalty scad = GroupScad.classical(lambda, a, GroupWeight.NONE);
            assertSpherical(
                    seed, scad, x, metric, stepSize, scad.profileOfSize(n).proximalNorm(norm, metric, stepSize));
        }
    }

    private static void assertSpherical(
            long seed, Penalty penalty, double[] x, double metric, double stepSize, double expectedNorm) {
        double norm = Norm.of(x);
        String message = "seed %d, %s, x = %s, d = %s, alpha = %s"
                .formatted(seed, penalty, Arrays.toString(x), metric, stepSize);
        Profile profile = penalty.profileOfSize(x.length);
        assertEquals(expectedNorm, profile.proximalNorm(norm, metric, stepSize), 1e-13 * norm, message);
        double[] expected =
                Arrays.stream(x).map(value -> value * (expectedNorm / norm)).toArray();
        double[] d = new double[x.length];
        Arrays.fill(d, metric);
        assertProx(penalty, x, d, stepSize, expected, message);
        // One bit beside the closed form's condition, so that the root finders have to find the same.
        d[0] = Math.nextUp(metric);
        assertProx(penalty, x, d, stepSize, expected, message);
    }

    private static void assertProx(
            Penalty penalty, double[] x, double[] d, double stepSize, double[] expected, String message) {
        for (Solver solver : Cases.ROOT_SOLVERS) {
            double[] z = new double[x.length];
            new WeightedProx(solver).apply(penalty.profileOfSize(x.length), x, d, stepSize, z);
            assertArrayEquals(expected, z, 1e-12 * Norm.of(x), () -> solver + " " + message);
        }
    }

    @ParameterizedTest
    @EnumSource
    void noStrengthOrNoStepIsTheIdentity(Kind kind) {
        Cases.check(kind, COUNT / 3, problem -> {
            double beta = Cases.logUniform(problem.random(), 1e-3, 1e3);
            for (Problem idle : List.of(
                    new Problem(problem.seed(), problem.penalty(), problem.x(), problem.d(), 0),
                    new Problem(problem.seed(), new GroupLasso(0), problem.x(), problem.d(), problem.stepSize()),
                    new Problem(problem.seed(), new GroupMcp(0, beta), problem.x(), problem.d(), problem.stepSize()),
                    new Problem(
                            problem.seed(),
                            new GroupScad(0, beta, 0.5),
                            problem.x(),
                            problem.d(),
                            problem.stepSize()))) {
                for (Solver solver : Cases.ROOT_SOLVERS) {
                    assertIdentity(idle, solver);
                }
                assertIdentity(idle, Solver.AdaProx.DEFAULT);
            }
        });
    }

    private static void assertIdentity(Problem problem, Solver solver) {
        Solution solution = problem.solve(solver);
        assertArrayEquals(problem.x(), solution.z(), () -> solver + " " + problem);
        assertEquals(Branch.UNTOUCHED, solution.outcome().branch());
        assertTrue(solution.outcome().converged());
    }

    @Test
    void mcpWithAnInfiniteKneeIsTheLasso() {
        Cases.check(Kind.LASSO, COUNT, problem -> {
            GroupLasso lasso = (GroupLasso) problem.penalty();
            double smallest = Arrays.stream(problem.d()).min().orElseThrow();
            double[] expected = problem.solve(Solver.DEFAULT).z();
            double norm = Norm.of(problem.x());
            for (double ratio : new double[] {1e3, 1e6, 1e9, 1e200}) {
                double beta = Math.max(problem.stepSize() / smallest, norm / lasso.lambda()) * ratio;
                Penalty mcp = new GroupMcp(lasso.lambda(), beta, GroupWeight.NONE);
                for (Solver solver : Cases.ROOT_SOLVERS) {
                    double[] z = new Problem(problem.seed(), mcp, problem.x(), problem.d(), problem.stepSize())
                            .solve(solver)
                            .z();
                    double distance = Cases.distance(expected, z) / norm;
                    // The difference is of the order of α/(β d_min), the relative bend.
                    assertTrue(
                            distance <= 2 / ratio + 1e-13,
                            () -> "%s at beta = %s: %.2g".formatted(solver, beta, distance));
                }
            }
        });
    }

    /** Proposition 1 of the paper, and its counterpart for MCP: an error of θ is not amplified. */
    @ParameterizedTest
    @EnumSource(names = {"LASSO", "CONVEX_MCP"})
    void anErrorOfThetaIsNotAmplified(Kind kind) {
        int[] shrunk = {0};
        Cases.check(kind, COUNT, problem -> {
            Solution exact = problem.solve(Solver.DEFAULT);
            if (exact.outcome().branch() != Branch.SHRUNK) {
                return;
            }
            shrunk[0]++;
            Profile.Piece piece = problem.profile().pieces().getFirst();
            SecularEquation equation = new SecularEquation(
                    problem.u(), problem.d(), problem.stepSize() * piece.bend(), problem.stepSize() * piece.height());
            SplittableRandom random = problem.random();
            double theta = exact.outcome().theta();
            for (int trial = 0; trial < 20; trial++) {
                double other =
                        theta * Math.max(0, 1 + (random.nextBoolean() ? 1 : -1) * Cases.logUniform(random, 1e-12, 3));
                double[] z = new double[problem.x().length];
                equation.solution(other, z);
                double error = Cases.distance(z, exact.z());
                assertTrue(
                        error <= Math.abs(other - theta) + 1e-14 * Norm.of(problem.x()),
                        () -> "θ = %s for %s makes an error of %s".formatted(other, theta, error));
            }
        });
        assertTrue(shrunk[0] > 0 || Cases.replaying(), "no case was shrunk");
    }
}
