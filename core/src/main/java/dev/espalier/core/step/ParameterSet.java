package dev.espalier.core.step;

import dev.espalier.core.check.Check;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.schedule.LearningRate;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Parameters that are treated alike: one learning rate, one weight decay and, if they are penalised, one regularizer.
 *
 * <p>A regularizer's groups lie in exactly these parameters, in this order; a group that spans tensors (query, key and
 * value) is a set of three.
 *
 * @param parameters the parameters
 * @param learningRate α over steps
 * @param weightDecay decoupled weight decay λ_wd ≥ 0: {@code x ← (1 − αλ_wd) x} before the rest of the step
 * @param regularizer the penalty and its groups; null for none
 * @param frozen true to leave the parameters as they are
 */
public record ParameterSet(
        List<Parameter> parameters,
        LearningRate learningRate,
        double weightDecay,
        @Nullable Regularizer regularizer,
        boolean frozen) {

    /** Checks that everything fits. */
    public ParameterSet {
        parameters = List.copyOf(parameters);
        Check.atLeast("number of parameters", parameters.size(), 1);
        Check.notNegative("weightDecay", weightDecay);
        if (regularizer != null) {
            List<Long> sizes = parameters.stream().map(Parameter::size).toList();
            if (!sizes.equals(regularizer.groups().tensorSizes())) {
                throw new IllegalArgumentException("the groups of %s need tensors of %s weights, but these have %s"
                        .formatted(
                                parameters.stream().map(Parameter::name).toList(),
                                regularizer.groups().tensorSizes(),
                                sizes));
            }
        }
    }

    /**
     * Parameters with a learning rate, without decay or penalty.
     *
     * @param learningRate α over steps
     * @param parameters the parameters
     * @return the set
     */
    public static ParameterSet of(LearningRate learningRate, Parameter... parameters) {
        return new ParameterSet(List.of(parameters), learningRate, 0, null, false);
    }

    /**
     * {@return the same with weight decay}
     *
     * @param decay λ_wd ≥ 0
     */
    public ParameterSet withWeightDecay(double decay) {
        return new ParameterSet(parameters, learningRate, decay, regularizer, frozen);
    }

    /**
     * {@return the same with a penalty}
     *
     * @param penalty the penalty and its groups
     */
    public ParameterSet withRegularizer(Regularizer penalty) {
        return new ParameterSet(parameters, learningRate, weightDecay, penalty, frozen);
    }

    /** {@return the same, left as it is by every step} */
    public ParameterSet withoutTraining() {
        return new ParameterSet(parameters, learningRate, weightDecay, regularizer, true);
    }

    /**
     * {@return the names of all parameters of some sets that are left as they are}
     *
     * @param sets the sets of a model
     */
    public static Set<String> frozenNames(List<ParameterSet> sets) {
        return sets.stream()
                .filter(ParameterSet::frozen)
                .flatMap(set -> set.parameters().stream())
                .map(Parameter::name)
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * A name for reports.
     *
     * @return the parameters' names, joined by plus signs
     */
    public String name() {
        return String.join(" + ", parameters.stream().map(Parameter::name).toList());
    }
}
