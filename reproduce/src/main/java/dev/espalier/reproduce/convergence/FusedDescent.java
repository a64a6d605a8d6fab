package dev.espalier.reproduce.convergence;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The same descent by the optimizer that trains networks: float32, fused, with the momentum of its rule, which the theorem
 * does not cover.
 *
 * @param rule the update rule
 * @param stepSize α
 */
public record FusedDescent(UpdateRule rule, double stepSize) {
    private static final String NAME = "x";

    /**
     * Goes down without noise.
     *
     * @param problem f
     * @param penalty h of a group
     * @param steps T
     * @return the squared distances; nothing else is recorded
     */
    public Trace run(Problem problem, Penalty penalty, int steps) {
        int groups = problem.groups();
        ParameterSet set = ParameterSet.of(
                        new LearningRate.Constant(stepSize), new Parameter(NAME, problem.dimension()))
                .withRegularizer(new Regularizer(penalty, new AxisGroups(1, groups, problem.groupSize())));
        List<Trace.Step> met = new ArrayList<>();
        try (Arena arena = Arena.ofShared();
                Optimizer optimizer = new Optimizer(rule, List.of(set), StepOptions.DEFAULT.withThreads(1))) {
            TensorView weights = tensor(arena, problem.dimension());
            TensorView gradients = tensor(arena, problem.dimension());
            evaluate(problem, weights, gradients);
            for (int t = 0; t < steps; t++) {
                optimizer.step(Map.of(NAME, weights), Map.of(NAME, gradients));
                evaluate(problem, weights, gradients);
                met.add(new Trace.Step(
                        optimizer.squaredStationarityDistance(Map.of(NAME, weights), Map.of(NAME, gradients)), 0, 0));
            }
            int nonZero = new Regularizer(penalty, new AxisGroups(1, groups, problem.groupSize()))
                    .nonZeroGroups(List.of(weights));
            return new Trace(met, Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN, nonZero);
        }
    }

    private static TensorView tensor(Arena arena, int size) {
        return TensorView.of(arena.allocate((long) size * Float.BYTES, 64), ElementType.FLOAT32, size);
    }

    private static void evaluate(Problem problem, TensorView weights, TensorView gradients) {
        double[] x = new double[problem.dimension()];
        for (int i = 0; i < x.length; i++) {
            x[i] = weights.get(i);
        }
        double[] gradient = problem.gradient(x);
        for (int i = 0; i < x.length; i++) {
            gradients.set(i, gradient[i]);
        }
    }
}
