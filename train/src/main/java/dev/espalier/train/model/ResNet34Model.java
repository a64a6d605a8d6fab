package dev.espalier.train.model;

import dev.espalier.data.Outline;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.PaperRules;
import dev.espalier.graph.model.ResNet34;
import dev.espalier.graph.model.Weights;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import dev.espalier.train.task.Signature;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** {@code model.kind = "resnet34"}. */
public final class ResNet34Model implements ModelKind {
    private static final Key<Integer> WIDTH = Key.whole(
                    "model.width", "channels of the first stage; each stage has twice as many as the one before")
            .in(Range.atLeast(1))
            .withDefault(ResNet34.WIDTH);

    /** Called by the service loader. */
    public ResNet34Model() {}

    @Override
    public String name() {
        return "resnet34";
    }

    @Override
    public String meaning() {
        return "the paper's ResNet-34";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(WIDTH, Images.INITIALIZATION);
    }

    @Override
    public Optional<String> misfit(Outline data) {
        return Images.misfit(data);
    }

    @Override
    public PaperRules paperRules() {
        return PaperRules.RESNET34;
    }

    @Override
    public Graph build(Values values, Signature wanted, Weights weights, Consumer<String> notes) {
        return ResNet34.build(
                Images.options(name(), wanted), values.of(WIDTH), values.of(Images.INITIALIZATION), weights);
    }
}
