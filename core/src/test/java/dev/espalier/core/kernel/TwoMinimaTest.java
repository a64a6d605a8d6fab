package dev.espalier.core.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.kernel.CellSolver.Need;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.Outcome;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.core.root.ReciprocalNewton;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Groups beyond the knee whose metrics are about as large as κ, as all are of a network that has learned its samples: two minima, or
 * none before the knee. The solver decides between them by sums; the exact operator is left to those that are nearly ties.
 */
class TwoMinimaTest {
    private static final int SIZE = 64;
    private static final int GROUPS = 3000;
    private static final double ALPHA = 1e-3;
    private static final double BETA = 1e3;
    private static final double KAPPA = ALPHA / BETA;

    static Stream<Penalty> penalties() {
        return Stream.of(new GroupMcp(1e-5, BETA), new GroupScad(1e-5, BETA, 0.3));
    }

    /** All groups' u and d. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Problem(double[][] u, double[][] d) {
        static Problem random(double knee, double spread) {
            SplittableRandom random = new SplittableRandom(5);
            Problem problem = new Problem(new double[GROUPS][SIZE], new double[GROUPS][SIZE]);
            for (int group = 0; group < GROUPS; group++) {
                double scale = knee * random.nextDouble(1, 6) / Math.sqrt(SIZE);
                double level = KAPPA * Math.exp(random.nextDouble(-4, 2));
                for (int i = 0; i < SIZE; i++) {
                    problem.d[group][i] = level * Math.exp(spread * random.nextGaussian());
                    problem.u[group][i] = problem.d[group][i] * scale * random.nextGaussian();
                }
            }
            return problem;
        }

        /** What the lanes would have added up. */
        void sum(GroupSolver solver, int group, GroupSums sums) {
            Need need = solver.need(group);
            double theta = solver.theta(group);
            double[] sum = new double[3];
            double extreme = Double.POSITIVE_INFINITY;
            for (int i = 0; i < SIZE; i++) {
                double ui = u[group][i];
                double di = d[group][i];
                double w = ui / (di * theta + solver.pull(group));
                double q = (di - solver.kappa(group)) * theta / (di * theta + solver.pull(group));
                switch (need) {
                    case EVALUATION -> {
                        sum[0] += w * w;
                        sum[1] += w * w * q;
                        sum[2] += w * w * q * q;
                        extreme = Math.min(extreme, di);
                    }
                    case SURVEY -> {
                        sum[0] += Math.abs(ui);
                        sum[1] += di;
                        sum[2] += di * di;
                        extreme = Math.min(extreme, -di);
                    }
                    case WEIGHING -> sum[0] += w * w / di;
                    case EXACT, NOTHING -> {}
                }
            }
            for (int quantity = 0; quantity < sum.length; quantity++) {
                sums.set(quantity, group, sum[quantity]);
            }
            sums.set(Sums.EXTREME, group, extreme);
        }
    }

    @ParameterizedTest
    @MethodSource("penalties")
    void sumsTellMostMinimaApart(Penalty penalty) {
        Regularizer regularizer = new Regularizer(penalty, new AxisGroups(1, GROUPS, SIZE));
        double knee = PenaltyTerms.of(penalty, SIZE, ALPHA).knee();
        int handedOver = 0;
        Map<Branch, Integer> seen = new EnumMap<>(Branch.class);
        for (double spread : new double[] {0, 0.5, 1.5}) {
            Problem problem = Problem.random(knee, spread);
            float[] thetas = new float[GROUPS];
            Arrays.fill(thetas, (float) knee);
            GroupSolver solver = new GroupSolver(regularizer, thetas);
            solver.sumInFloat(SIZE);
            solver.start(ALPHA, ReciprocalNewton.smallHalleyStep(1e-7));
            GroupSums sums = new GroupSums(GROUPS);
            for (int group = 0; group < GROUPS; group++) {
                boolean exact = false;
                while (solver.busy(group) && !exact) {
                    problem.sum(solver, group, sums);
                    exact = solver.advance(group, sums);
                }
                handedOver += exact ? 1 : 0;
                if (!exact) {
                    compare(problem, penalty, group, solver, seen);
                }
            }
        }
        int most = 3 * GROUPS / 200;
        int count = handedOver;
        assertTrue(count <= most, () -> count + " groups went to the exact operator");
        assertEquals(Branch.values().length, seen.size(), seen::toString);
    }

    private static void compare(
            Problem problem, Penalty penalty, int group, GroupSolver solver, Map<Branch, Integer> seen) {
        double[] x = new double[SIZE];
        for (int i = 0; i < SIZE; i++) {
            x[i] = problem.u[group][i] / problem.d[group][i];
        }
        Outcome outcome = WeightedProx.EXACT.apply(penalty.profileOfSize(SIZE), x, problem.d[group], ALPHA, x);
        assertEquals(
                outcome.theta(), solver.theta(group), 1e-6 * outcome.theta(), () -> "group " + group + ": " + outcome);
        seen.merge(outcome.branch(), 1, Integer::sum);
    }
}
