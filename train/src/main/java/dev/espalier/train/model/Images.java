package dev.espalier.train.model;

import dev.espalier.data.Outline;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.type.Shape;
import dev.espalier.train.task.Signature;
import java.util.Optional;

/** What models of images have in common: they read one image, and say a row of numbers. */
final class Images {
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
