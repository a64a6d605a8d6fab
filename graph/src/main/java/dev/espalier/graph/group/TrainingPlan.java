package dev.espalier.graph.group;

import dev.espalier.core.check.Check;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How the parameters of a model are trained: grouped weights with the penalty, everything else (biases, norms) without.
 * Weight decay is for tensors of two axes or more, unless it is for all: biases and norms usually have none.
 *
 * @param penalty the penalty of every group; null for none
 * @param learningRate α over steps
 * @param weightDecay decoupled weight decay λ_wd ≥ 0
 * @param decayed what it is for
 * @param frozen which parameters stay as they are
 */
public record TrainingPlan(
        @Nullable Penalty penalty, LearningRate learningRate, double weightDecay, Decayed decayed, Selector frozen) {

    /** What weight decay is for. */
    public enum Decayed {
        /** Tensors of two axes or more. */
        MATRICES,
        /** Biases and norms as well. */
        ALL
    }

    /** Checks the decay. */
    public TrainingPlan {
        Check.notNegative("weightDecay", weightDecay);
    }

    /**
     * {@return a plan without weight decay, and with nothing frozen}
     *
     * @param penalty the penalty of every group
     * @param learningRate α over steps
     */
    public static TrainingPlan of(Penalty penalty, LearningRate learningRate) {
        return new TrainingPlan(penalty, learningRate, 0, Decayed.MATRICES, Selector.nothing());
    }

    /**
     * A plan without penalty, weight decay or anything frozen: the baseline.
     *
     * @param learningRate α over steps
     * @return the plan
     */
    public static TrainingPlan dense(LearningRate learningRate) {
        return new TrainingPlan(null, learningRate, 0, Decayed.MATRICES, Selector.nothing());
    }

    /**
     * {@return the same with weight decay}
     *
     * @param decay λ_wd ≥ 0
     */
    public TrainingPlan withWeightDecay(double decay) {
        return new TrainingPlan(penalty, learningRate, decay, decayed, frozen);
    }

    /**
     * {@return the same with frozen parameters}
     *
     * @param selector which parameters stay as they are: those that it picks at any node that reads them
     */
    public TrainingPlan withFrozen(Selector selector) {
        return new TrainingPlan(penalty, learningRate, weightDecay, decayed, selector);
    }

    /**
     * The sets of parameters that an optimizer takes: every parameter of the graph in exactly one of them.
     *
     * @param graph the model
     * @param groups its groups
     * @return the sets, in the order of the graph's parameters; weights of joint groups in the place of the first
     * @throws IllegalArgumentException if a joint group is frozen in part
     */
    public List<ParameterSet> parameterSets(Graph graph, ModelGroups groups) {
        frozen.requireKnown(graph);
        Map<String, LayerGroups> layers = new HashMap<>();
        groups.layers().forEach(layer -> layer.parameters().forEach(name -> layers.put(name, layer)));
        Set<String> placed = new HashSet<>();
        List<ParameterSet> sets = new ArrayList<>();
        graph.tensors(Initializer.Kind.PARAMETER).forEach((name, tensor) -> {
            if (tensor.size() > 0 && !placed.contains(name)) {
                LayerGroups layer = layers.get(name);
                ParameterSet set = layer == null || penalty == null || isFrozen(graph, name)
                        ? free(graph, name, tensor)
                        : penalised(graph, layer, penalty);
                set.parameters().forEach(parameter -> placed.add(parameter.name()));
                sets.add(set);
            }
        });
        return sets;
    }

    /**
     * {@return whether a parameter has weight decay}
     *
     * @param tensor the parameter
     */
    public boolean decays(Tensor tensor) {
        return tensor.rank() >= 2 || decayed == Decayed.ALL;
    }

    private boolean isFrozen(Graph graph, String parameter) {
        return graph.uses(parameter).stream().anyMatch(use -> frozen.picks(use.node(), parameter));
    }

    private ParameterSet penalised(Graph graph, LayerGroups layer, Penalty strength) {
        for (String name : layer.parameters()) {
            if (isFrozen(graph, name)) {
                throw new IllegalArgumentException(
                        "%s is frozen but shares groups with the rest of %s: exclude it from "
                                        .formatted(name, layer.name())
                                + "the groups, or freeze all of them");
            }
        }
        List<Parameter> parameters = layer.weights().stream()
                .map(weight -> parameter(graph, weight.parameter()))
                .toList();
        return new ParameterSet(
                parameters, learningRate, weightDecay, new Regularizer(strength, layer.groups()), false);
    }

    private static Parameter parameter(Graph graph, String name) {
        Tensor tensor = graph.tensor(name);
        if (tensor == null) {
            throw new IllegalArgumentException("graph " + graph.name() + " has no parameter " + name);
        }
        return Parameter.of(name, tensor.shape());
    }

    private ParameterSet free(Graph graph, String name, Tensor tensor) {
        return new ParameterSet(
                List.of(parameter(graph, name)),
                learningRate,
                decays(tensor) ? weightDecay : 0,
                null,
                isFrozen(graph, name));
    }
}
