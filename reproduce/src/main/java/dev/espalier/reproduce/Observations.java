package dev.espalier.reproduce;

import dev.espalier.report.Figure.Curve;
import dev.espalier.report.Figure.Point;
import java.nio.file.Path;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** What items have in common that look at every group while a network is trained. */
final class Observations {
    /** A look at all groups of VGG-16 takes seconds: the paper's figure does not need them all. */
    private static final int EVERY_AT_FULL_SCALE = 100;

    private Observations() {}

    static int every(Scale scale) {
        return switch (scale) {
            case SMALL -> 1;
            case FULL -> EVERY_AT_FULL_SCALE;
        };
    }

    /** How often one is made, in words. */
    static String often(Scale scale) {
        return every(scale) == 1 ? "each step" : "every " + every(scale) + "th step";
    }

    /** Something that was seen, over steps. */
    static <T extends ObservedTraining.Sample> Curve curve(String name, List<T> samples, ToDoubleFunction<T> value) {
        return new Curve(
                name,
                samples.stream()
                        .map(sample -> new Point(sample.step(), value.applyAsDouble(sample)))
                        .toList());
    }

    static void require(Item item, Setting setting) {
        if (!setting.run().onCpu()) {
            throw new IllegalArgumentException(item.name()
                    + " looks at every group while a network is trained, in the memory of the CPU: use --device cpu");
        }
        if (setting.seedCount() > 1) {
            throw new IllegalArgumentException(
                    "--seeds %d: %s looks at one training, as the paper does; leave --seeds out"
                            .formatted(setting.seedCount(), item.name()));
        }
        if (setting.scale() == Scale.FULL) {
            setting.requireCifar10();
        }
    }

    /** Where the training of an item is: items that share their folder must not take each other's. */
    static Path folder(Item item, Setting setting) {
        return setting.folder().resolve(setting.scale().toString()).resolve(item.name());
    }

    /** What a recipe of the paper needs to be run here, once. */
    static List<String> onCifar10(Setting setting) {
        return List.of("data.dir=" + setting.requireCifar10(), "training.seeds=[1]");
    }
}
