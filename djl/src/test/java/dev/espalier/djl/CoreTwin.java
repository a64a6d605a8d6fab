package dev.espalier.djl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;

/** A copy of a model's weights that core's optimizer trains, without DJL, on gradients that are handed to it. */
final class CoreTwin implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final Map<String, TensorView> weights = new HashMap<>();
    private final Optimizer optimizer;

    CoreTwin(TestModel model, ProximalOptions options) {
        model.weights().forEach((name, view) -> {
            MemorySegment copy = arena.allocate(view.segment().byteSize(), 64);
            copy.copyFrom(view.segment());
            weights.put(name, TensorView.of(copy, ElementType.FLOAT32, view.shape()));
        });
        optimizer = new Optimizer(
                options.rule(),
                options.groups().assign(model.block()).stream()
                        .map(assignment -> parameterSet(model, options, assignment))
                        .toList(),
                options.stepOptions());
    }

    /** Written out, lest the twin have the faults of what it is compared with. */
    private static ParameterSet parameterSet(
            TestModel model, ProximalOptions options, BlockGroups.Assignment assignment) {
        Parameter[] parameters = assignment.parameters().stream()
                .map(ModelParameter::name)
                .map(name -> Parameter.of(name, model.weight(name).shape()))
                .toArray(Parameter[]::new);
        ParameterSet set = ParameterSet.of(options.learningRate(), parameters).withWeightDecay(options.weightDecay());
        return assignment.groups() == null
                ? set
                : set.withRegularizer(new Regularizer(options.penalty(), assignment.groups()));
    }

    void step(Map<String, float[]> gradients) {
        try (Arena step = Arena.ofShared()) {
            Map<String, TensorView> views = new HashMap<>();
            gradients.forEach((name, values) -> views.put(
                    name,
                    TensorView.of(
                            step.allocateFrom(ValueLayout.JAVA_FLOAT, values), ElementType.FLOAT32, values.length)));
            optimizer.step(weights, views);
        }
    }

    void assertSameWeights(TestModel model) {
        Map<String, float[]> actual = model.snapshot();
        weights.forEach((name, view) ->
                assertArrayEquals(view.segment().toArray(ValueLayout.JAVA_FLOAT), actual.get(name), name));
    }

    @Override
    public void close() {
        optimizer.close();
        arena.close();
    }
}
