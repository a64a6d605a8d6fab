package dev.espalier.reproduce;

import dev.espalier.report.Figure.Curve;
import dev.espalier.report.Figure.Point;
import dev.espalier.train.recipe.Recipe;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** What items have in common that look at groups while a network is trained. */
final class Observations {
    /** A look at VGG-16 takes a second, and more on a GPU: the paper's figure does not need every step. */
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
        if (setting.seeds().size() > 1) {
            throw new IllegalArgumentException(
                    "%s: %s looks at one training, as the paper does; give one seed, by --seed N"
                            .formatted(setting.seedOption(), item.name()));
        }
        if (setting.scale() == Scale.FULL) {
            setting.requireCifar10();
        }
    }

    /**
     * The training that is looked at.
     *
     * @param recipe how
     * @param folder where it is
     * @param changes what was asked for otherwise than its protocol has it
     */
    record Plan(Recipe recipe, Path folder, Variant changes) {}

    /**
     * What an item looks at: a small network, or a row of the paper's first table.
     *
     * @param item the item
     * @param small the recipe at small scale
     * @param full the recipe of the row
     */
    static Plan plan(Item item, Setting setting, String small, String full) throws IOException {
        String name = switch (setting.scale()) {
            case SMALL -> small;
            case FULL -> full;
        };
        List<String> overrides = new ArrayList<>();
        if (setting.scale() == Scale.FULL) {
            overrides.add("data.dir=" + Trainings.within(setting.requireCifar10(), "cifar10"));
        }
        overrides.addAll(setting.changes());
        Recipe recipe =
                ShippedRecipe.of(name, overrides).withSeed(setting.seeds().getFirst());
        Variant changes = Variant.of(ShippedRecipe.of(name, List.of()), recipe);
        String folder = changes.folder(item.name())
                + (recipe.training().seeds().equals(List.of(1L))
                        ? ""
                        : "-seed-" + setting.seeds().getFirst());
        return new Plan(recipe, setting.trainings().resolve(folder), changes);
    }

    /** What is to be said of a training that is not its protocol, such as one of a few of its epochs. */
    static List<String> notes(Plan plan, String... notes) {
        List<String> all = new ArrayList<>(List.of(notes));
        if (!plan.changes().isNone()) {
            all.add("The training has " + plan.changes() + " instead of what its recipe says.");
        }
        return all;
    }
}
