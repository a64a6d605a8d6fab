package dev.espalier.train.model;

import dev.espalier.data.Outline;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.SmallCnn;
import dev.espalier.graph.model.Weights;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import dev.espalier.train.task.Signature;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** {@code model.kind = "small-cnn"}. */
public final class SmallCnnModel implements ModelKind {
    private static final Key<List<Integer>> CHANNELS = Key.wholes(
                    "model.channels", "output channels of each convolution; every second one halves the image")
            .in(Range.sizes())
            .withDefault(List.of(32, 32, 64, 64));
    private static final Key<Boolean> BATCH_NORM = Key.flag(
                    "model.batch_norm", "whether a batch normalisation follows each convolution")
            .withDefault(true);

    /** Called by the service loader. */
    public SmallCnnModel() {}

    @Override
    public String name() {
        return "small-cnn";
    }

    @Override
    public String meaning() {
        return "a few convolutions and a linear layer";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(CHANNELS, BATCH_NORM, Images.INITIALIZATION);
    }

    @Override
    public Optional<String> misfit(Outline data) {
        return Images.misfit(data);
    }

    @Override
    public Graph build(Values values, Signature wanted, Weights weights, Consumer<String> notes) {
        return SmallCnn.build(
                Images.options(name(), wanted),
                values.of(CHANNELS),
                values.of(BATCH_NORM),
                values.of(Images.INITIALIZATION),
                weights);
    }
}
