package dev.espalier.djl;

import dev.espalier.core.check.Check;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepOptions;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SequencedMap;

/**
 * How a model is trained.
 *
 * @param rule the update rule
 * @param learningRate α over steps, for all parameters
 * @param weightDecay decoupled weight decay λ_wd ≥ 0, for all parameters
 * @param penalty the penalty of a group
 * @param groups which parameters are penalised, and how their groups lie
 * @param stepOptions how steps are done
 */
public record ProximalOptions(
        UpdateRule rule,
        LearningRate learningRate,
        double weightDecay,
        Penalty penalty,
        BlockGroups groups,
        StepOptions stepOptions) {

    /** The learning rate where none is said. */
    static final LearningRate DEFAULT_LEARNING_RATE = LearningRate.constant(1e-3);

    /**
     * Weights below which one thread steps alone. A step is several runs that each wake helpers and wait for them: of so few
     * weights a step takes a millisecond or less, and helpers that wait take the processors from libtorch's own threads.
     */
    static final long SMALL = 1 << 20;

    /** Checks the weight decay. */
    public ProximalOptions {
        Check.notNegative("weightDecay", weightDecay);
    }

    /**
     * Adam at a learning rate of 0.001, on {@link BlockGroups#DEFAULT}, without weight decay.
     *
     * @param penalty the penalty of a group
     * @return the options
     */
    public static ProximalOptions adam(Penalty penalty) {
        return of(new UpdateRule.Adam(), penalty);
    }

    /**
     * {@return a rule at a learning rate of 0.001, on {@link BlockGroups#DEFAULT}, without weight decay}
     *
     * @param rule the update rule
     * @param penalty the penalty of a group
     */
    public static ProximalOptions of(UpdateRule rule, Penalty penalty) {
        return new ProximalOptions(rule, DEFAULT_LEARNING_RATE, 0, penalty, BlockGroups.DEFAULT, StepOptions.DEFAULT);
    }

    /**
     * {@return the same at another learning rate}
     *
     * @param other α over steps
     */
    public ProximalOptions withLearningRate(LearningRate other) {
        return new ProximalOptions(rule, other, weightDecay, penalty, groups, stepOptions);
    }

    /**
     * {@return the same with another weight decay}
     *
     * @param other λ_wd ≥ 0
     */
    public ProximalOptions withWeightDecay(double other) {
        return new ProximalOptions(rule, learningRate, other, penalty, groups, stepOptions);
    }

    /**
     * {@return the same on other groups}
     *
     * @param other which parameters are penalised
     */
    public ProximalOptions withGroups(BlockGroups other) {
        return new ProximalOptions(rule, learningRate, weightDecay, penalty, other, stepOptions);
    }

    /**
     * {@return the same with steps done another way}
     *
     * @param other how steps are done
     */
    public ProximalOptions withStepOptions(StepOptions other) {
        return new ProximalOptions(rule, learningRate, weightDecay, penalty, groups, other);
    }

    ParameterSet parameterSet(BlockGroups.Assignment assignment) {
        return new ParameterSet(
                assignment.parameters().stream().map(ModelParameter::described).toList(),
                learningRate,
                weightDecay,
                assignment.groups() == null ? null : new Regularizer(penalty, assignment.groups()),
                false);
    }

    Optimizer optimizer(List<ParameterSet> sets) {
        return new Optimizer(rule, sets, stepOptions.withThreads(threads(sets)));
    }

    private int threads(List<ParameterSet> sets) {
        long weights = sets.stream()
                .flatMap(set -> set.parameters().stream())
                .mapToLong(Parameter::size)
                .sum();
        return weights < SMALL ? 1 : stepOptions.threads();
    }

    /** An optimizer that goes on where another one is, at these options' learning rate. The other one is closed. */
    Optimizer successor(Optimizer predecessor) {
        Optimizer successor = optimizer(predecessor.sets().stream()
                .map(set -> new ParameterSet(
                        set.parameters(), learningRate, set.weightDecay(), set.regularizer(), set.frozen()))
                .toList());
        SequencedMap<String, MemorySegment> state = predecessor.state();
        successor.state().forEach((name, memory) -> memory.copyFrom(state.get(name)));
        predecessor.close();
        return successor;
    }
}
