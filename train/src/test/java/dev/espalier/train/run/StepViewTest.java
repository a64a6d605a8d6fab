package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.Penalty;
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
import dev.espalier.train.run.StepView.PenalisedSet;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What is seen before a step is what the step does. */
final class StepViewTest {
    private static final String PENALISED = "weight";
    private static final String FREE = "bias";
    private static final AxisGroups GROUPS = new AxisGroups(4, 6, 3);

    static Stream<Arguments> rules() {
        return Stream.of(
                        new UpdateRule.Sgd(),
                        new UpdateRule.Momentum(),
                        new UpdateRule.RmsProp(),
                        new UpdateRule.Adam())
                .flatMap(rule -> Stream.of(Arguments.of(rule, 0.0), Arguments.of(rule, 0.8)));
    }

    @ParameterizedTest
    @MethodSource("rules")
    void theProblemsSeenAreTheProblemsSolved(UpdateRule rule, double floor) {
        StepOptions options = StepOptions.DEFAULT.withThreads(1).withMetricFloor(floor);
        for (Penalty penalty : List.of(new GroupLasso(0.3), new GroupMcp(0.3, 2))) {
            LearningRate rate = new LearningRate.StepDecay(1e-2, 0.5, 2);
            List<ParameterSet> sets = List.of(
                    ParameterSet.of(rate, Parameter.of(PENALISED, 4, 6, 3))
                            .withWeightDecay(0.1)
                            .withRegularizer(new Regularizer(penalty, GROUPS)),
                    ParameterSet.of(rate, Parameter.of(FREE, 5)));
            try (Arena arena = Arena.ofShared();
                    Optimizer optimizer = new Optimizer(rule, sets, options)) {
                Random random = new Random(3);
                Map<String, TensorView> weights = tensors(arena, random);
                for (int step = 1; step <= 5; step++) {
                    Map<String, TensorView> gradients = tensors(arena, random);
                    StepView view = new StepView(rule, optimizer, _ -> weights, _ -> gradients);
                    assertEquals(step, view.step());
                    List<double[]> expected = solved(view);
                    optimizer.step(weights, gradients);
                    for (int group = 0; group < GROUPS.count(); group++) {
                        double[] z = GROUPS.gather(group, List.of(weights.get(PENALISED)));
                        for (int i = 0; i < z.length; i++) {
                            assertEquals(expected.get(group)[i], z[i], 2e-5, rule + ", " + penalty + ", step " + step);
                        }
                    }
                }
            }
        }
    }

    private static List<double[]> solved(StepView view) {
        assertEquals(1, view.penalised().size());
        PenalisedSet set = view.penalised().getFirst();
        List<double[]> solutions = new ArrayList<>();
        for (int group = 0; group < GROUPS.count(); group++) {
            GroupProblem problem = set.problem().apply(group);
            double[] z = new double[problem.u().length];
            WeightedProx.EXACT.apply(
                    set.regularizer().penalty().profileOfSize(z.length),
                    problem.candidate(),
                    problem.d(),
                    problem.stepSize(),
                    z);
            solutions.add(z);
        }
        return solutions;
    }

    private static Map<String, TensorView> tensors(Arena arena, Random random) {
        return Map.of(PENALISED, tensor(arena, 72, random), FREE, tensor(arena, 5, random));
    }

    private static TensorView tensor(Arena arena, int size, Random random) {
        TensorView view = TensorView.of(arena.allocate(size * 4L, 64), ElementType.FLOAT32, size);
        for (int i = 0; i < size; i++) {
            view.set(i, random.nextGaussian());
        }
        return view;
    }
}
