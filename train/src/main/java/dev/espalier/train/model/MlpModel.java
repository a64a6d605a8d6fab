package dev.espalier.train.model;

import dev.espalier.data.Outline;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.type.Shape;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import dev.espalier.train.task.Signature;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** {@code model.kind = "mlp"}. */
public final class MlpModel implements ModelKind {
    private static final Key<List<Integer>> HIDDEN = Key.wholes("model.hidden", "width of each hidden layer")
            .in(Range.sizes())
            .withDefault(List.of(256, 128));

    /** Called by the service loader. */
    public MlpModel() {}

    @Override
    public String name() {
        return "mlp";
    }

    @Override
    public String meaning() {
        return "a perceptron with hidden layers";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(HIDDEN);
    }

    @Override
    public Optional<String> misfit(Outline data) {
        return data instanceof Outline.Tokens
                ? Optional.of(
                        "mlp reads numbers or images, not tokens; set model.kind to bert, and model.checkpoint to its"
                                + " folder, or to onnx")
                : Optional.empty();
    }

    @Override
    public Graph build(Values values, Signature wanted, Weights weights, Consumer<String> notes) {
        Shape sample = Single.input(name(), wanted);
        return sample.rank() == 1 && sample.isKnown()
                ? Mlp.ofVectors(
                        Single.output(name(), wanted), Math.toIntExact(sample.lengths()[0]), values.of(HIDDEN), weights)
                : Mlp.ofImages(Images.options(name(), wanted), values.of(HIDDEN), weights);
    }
}
