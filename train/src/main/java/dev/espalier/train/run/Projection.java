package dev.espalier.train.run;

import dev.espalier.core.prox.HalfSpace;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.engine.Network;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Half-space steps: a copy of the weights before a step, and after it the projection. Nothing is kept from one step to the next,
 * since a group that is zero before a step is zero after it. Off the CPU all weights go to the processor and back.
 */
final class Projection {
    private final HalfSpace halfSpace;
    private final Network network;
    private List<Before> sets = List.of();

    /** A set of parameters, and its weights before the step. */
    private record Before(ParameterSet set, List<TensorView> weights) {}

    Projection(HalfSpace halfSpace, Network network) {
        this.halfSpace = halfSpace;
        this.network = network;
    }

    /**
     * Before a step: copies the weights that are to be projected after it.
     *
     * @param penalised the sets whose groups bear a penalty
     */
    void beforeStep(List<ParameterSet> penalised) {
        Set<String> names = penalised.stream()
                .flatMap(set -> set.parameters().stream())
                .map(parameter -> parameter.name())
                .collect(Collectors.toSet());
        Map<String, TensorView> weights = network.readableWeights(names);
        sets = penalised.stream()
                .map(set -> new Before(
                        set,
                        Session.views(set, weights).stream()
                                .map(Projection::copy)
                                .toList()))
                .toList();
    }

    private static TensorView copy(TensorView weights) {
        float[] values = new float[Math.toIntExact(weights.size())];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) weights.get(i); // a step takes float32 alone
        }
        return TensorView.of(values, values.length);
    }

    /**
     * After the step: makes zeros.
     *
     * @return what became of the groups
     */
    Summary afterStep() {
        Summary[] sum = {Summary.EMPTY};
        network.changeWeights(weights -> {
            for (Before before : sets) {
                ParameterSet set = before.set();
                sum[0] = sum[0].plus(halfSpace.project(
                        Objects.requireNonNull(set.regularizer()).groups(),
                        before.weights(),
                        Session.views(set, weights)));
            }
        });
        sets = List.of();
        return sum[0];
    }
}
