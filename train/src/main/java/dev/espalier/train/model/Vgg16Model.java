package dev.espalier.train.model;

import dev.espalier.data.Outline;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.PaperRules;
import dev.espalier.graph.model.Vgg16;
import dev.espalier.graph.model.Weights;
import dev.espalier.settings.Key;
import dev.espalier.settings.Values;
import dev.espalier.train.task.Signature;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** {@code model.kind = "vgg16"}. */
public final class Vgg16Model implements ModelKind {
    /** Called by the service loader. */
    public Vgg16Model() {}

    @Override
    public String name() {
        return "vgg16";
    }

    @Override
    public String meaning() {
        return "the paper's VGG-16";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(Images.INITIALIZATION);
    }

    @Override
    public Optional<String> misfit(Outline data) {
        boolean small =
                data instanceof Outline.Image image && Math.min(image.height(), image.width()) < Vgg16.LEAST_SIZE;
        return small || Images.misfit(data).isPresent()
                ? Optional.of("vgg16 reads images of at least %d×%d, such as cifar10"
                        .formatted(Vgg16.LEAST_SIZE, Vgg16.LEAST_SIZE))
                : Optional.empty();
    }

    @Override
    public PaperRules paperRules() {
        return PaperRules.VGG16;
    }

    @Override
    public Graph build(Values values, Signature wanted, Weights weights, Consumer<String> notes) {
        return Vgg16.build(Images.options(name(), wanted), values.of(Images.INITIALIZATION), weights);
    }
}
