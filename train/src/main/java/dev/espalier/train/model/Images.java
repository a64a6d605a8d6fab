package dev.espalier.train.model;

import dev.espalier.data.Outline;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Initialization;
import dev.espalier.graph.type.Shape;
import dev.espalier.settings.Key;
import dev.espalier.train.task.Signature;
import java.util.Optional;

/** What models of images have in common: they read one image, say a row of numbers, and are made of convolutions. */
final class Images {
    static final Key<Initialization.Scheme> INITIALIZATION = Key.choice(
                    "model.initialization",
                    Initialization.Scheme.class,
                    "how convolutions start: normal with variance 2/fan, as He has it, or uniform in ±1/√fan_in, as PyTorch does"
                            + " by default")
            .withDefault(Initialization.Scheme.HE);

    private Images() {}

    /** Why it is nothing for data that is known to be no images. */
    static Optional<String> misfit(Outline data) {
        return switch (data) {
            case Outline.Image _, Outline.Unknown _ -> Optional.empty();
            case Outline.Vector _, Outline.Tokens _ ->
                Optional.of("it reads images: digits, cifar10, mnist, fashion-mnist or images");
        };
    }

    static ImageOptions options(String kind, Signature wanted) {
        Shape sample = Single.input(kind, wanted);
        if (sample.rank() != 3 || !sample.isKnown()) {
            throw new IllegalArgumentException(
                    "model.kind = %s reads images, but a sample of %s is %s: choose mlp or onnx"
                            .formatted(kind, wanted.data(), sample));
        }
        long[] lengths = sample.lengths();
        return new ImageOptions(
                Single.output(kind, wanted),
                Math.toIntExact(lengths[0]),
                Math.toIntExact(lengths[1]),
                Math.toIntExact(lengths[2]));
    }
}
