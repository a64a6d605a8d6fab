package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.SparseGroupLasso;
import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.train.run.StepView.GroupProblem;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.DoubleFunction;
import org.junit.jupiter.api.Test;

class LambdaEstimateTest {
    private static final int COUNT = 20;
    private static final AxisGroups GROUPS = new AxisGroups(4, COUNT, 3);

    private static void look(Consumer<StepView> look) {
        LearningRate rate = new LearningRate.Constant(1e-2);
        List<ParameterSet> sets = List.of(ParameterSet.of(rate, Parameter.of("weight", 4, COUNT, 3))
                .withRegularizer(new Regularizer(new GroupLasso(0), GROUPS)));
        try (Arena arena = Arena.ofShared();
                Optimizer optimizer = new Optimizer(new UpdateRule.Adam(), sets, StepOptions.DEFAULT.withThreads(1))) {
            Random random = new Random(5);
            Map<String, TensorView> weights = tensor(arena, random);
            for (int step = 0; step < 5; step++) {
                optimizer.step(weights, tensor(arena, random));
            }
            Map<String, TensorView> gradients = tensor(arena, random);
            look.accept(new StepView(new UpdateRule.Adam(), optimizer, _ -> weights, _ -> gradients));
        }
    }

    private static Map<String, TensorView> tensor(Arena arena, Random random) {
        TensorView view = TensorView.of(arena.allocate(4L * 4 * COUNT * 3), ElementType.FLOAT32, 4, COUNT, 3);
        for (long i = 0; i < view.size(); i++) {
            view.set(i, random.nextGaussian());
        }
        return Map.of("weight", view);
    }

    /** A set that bears c times the penalty is where it would be at c times λ. */
    @Test
    void whatGroupsCostIsTakenIntoAccount() {
        look(view -> {
            double plain = new LambdaEstimate(view, GroupLasso::new, 2, _ -> 1).lambda(0.4);
            assertEquals(plain / 8, new LambdaEstimate(view, GroupLasso::new, 2, _ -> 8).lambda(0.4), 1e-9 * plain);
        });
    }

    @Test
    void forTheLassoItIsAQuantileOfWhatTheoremOneSays() {
        look(view -> {
            double way = 0.3;
            double[] expected = new double[COUNT];
            for (int group = 0; group < COUNT; group++) {
                GroupProblem problem = view.penalised().getFirst().problem().apply(group);
                double square = Arrays.stream(problem.u()).map(u -> u * u).sum();
                expected[group] = Math.sqrt(square / 12) / way;
            }
            Arrays.sort(expected);
            LambdaEstimate estimate = new LambdaEstimate(view, GroupLasso::new, way, _ -> 1);
            assertEquals(expected[0], estimate.lambda(1), 0.02 * expected[0]);
            assertEquals(expected[13], estimate.lambda(0.3), 0.02 * expected[13]);
            assertEquals(expected[19], estimate.lambda(0), 0.02 * expected[19]);
        });
    }

    @Test
    void asManyGroupsBecomeZeroInOneStepAsShall() {
        List<DoubleFunction<Penalty>> families = List.of(
                GroupLasso::new,
                lambda -> new GroupMcp(lambda, 2),
                lambda -> new GroupMcp(lambda, 50),
                lambda -> new SparseGroupLasso(lambda, 0.5),
                lambda -> new SparseGroupLasso(lambda, 1),
                lambda -> new NestedLasso(lambda, 0.2));
        look(view -> {
            for (DoubleFunction<Penalty> family : families) {
                for (double way : List.of(1e-3, 1.0, 100.0)) {
                    double lambda = new LambdaEstimate(view, family, way, _ -> 1).lambda(0.4);
                    int zero = zeroed(view, family.apply(lambda), way);
                    int fewer = zeroed(view, family.apply(lambda / 1.03), way);
                    String which = family.apply(lambda) + " on " + way;
                    assertTrue(zero >= 12 && zero <= 13, which + ": " + zero + " groups");
                    assertTrue(fewer < 12, which + ": " + fewer + " groups");
                }
            }
        });
    }

    private static int zeroed(StepView view, Penalty penalty, double way) {
        int zero = 0;
        for (int group = 0; group < COUNT; group++) {
            GroupProblem problem = view.penalised().getFirst().problem().apply(group);
            double[] x = problem.candidate();
            zero += WeightedProx.EXACT
                                    .apply(penalty.wholeOfSize(x.length), x, problem.d(), way, Double.NaN, x)
                                    .branch()
                            == Branch.ZEROED
                    ? 1
                    : 0;
        }
        return zero;
    }
}
