package org.example;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.Layers;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.type.DataType;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import dev.espalier.train.model.ModelKind;
import dev.espalier.train.task.Signature;
import java.util.List;
import java.util.function.Consumer;

/** {@code model.kind = "two-ways"}: a straight way from pixels to classes, and one through a hidden layer. */
public final class TwoWays implements ModelKind {
    private static final Key<Integer> HIDDEN = Key.whole("model.units", "width of the hidden layer")
            .in(Range.atLeast(1))
            .withDefault(12);

    @Override
    public String name() {
        return "two-ways";
    }

    @Override
    public String meaning() {
        return "a linear model beside a perceptron";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(HIDDEN);
    }

    @Override
    public Graph build(Values values, Signature wanted, Weights weights, Consumer<String> notes) {
        GraphBuilder graph = new GraphBuilder(name());
        Layers layers = new Layers(graph, weights);
        int classes = (int) wanted.outputs().getFirst().sample().get(0).value();
        Signature.Input given = wanted.inputs().getFirst();
        Value pixels = layers.flatten(
                "pixels",
                graph.input(
                        given.name(),
                        DataType.FLOAT32,
                        given.batched().dimensions().toArray()));
        Value hidden = layers.relu("hidden.relu", layers.linear("hidden", pixels, values.of(HIDDEN)));
        return graph.outputs(
                layers.add("both", layers.linear("straight", pixels, classes), layers.linear("bent", hidden, classes)));
    }
}
