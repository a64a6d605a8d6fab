package dev.espalier.train;

import dev.espalier.data.BatchPosition;
import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.prune.NarrowingGroups;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.OnnxRuntimeModel;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.SmallestModel;
import dev.espalier.train.run.TimeLimit;
import dev.espalier.train.task.Example;
import dev.espalier.train.task.Examples;
import dev.espalier.train.task.Task;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What a recipe for shrinking leaves to choose, once data and model are there: which groups, how long, and who computes what the
 * original says.
 */
final class ShrinkRecipe {
    /** Steps under the penalty that it takes at least until groups are zero that were not before. */
    private static final int LEAST_STEPS = 900;

    /** So many epochs under the penalty are enough if they have as many steps. */
    private static final int USUAL_EPOCHS = 4;

    /** Held-out rows that the model is judged by, after every epoch: more tell little. */
    private static final int JUDGED = 1000;

    /** How much of the time is for healing. */
    private static final double HEALING = 0.5;

    /** How far a step goes, beside the size of a weight. */
    private static final double STRIDE = 0.005;

    /** Answers that take no more than this are kept. */
    private static final long MOST_KEPT_BYTES = 1L << 30;

    /** Batches that are timed at least; the first is for what is made once. */
    private static final int TIMED = 4;

    /** More are timed for so many seconds: the compiler makes the first ones slow. */
    private static final double TIMED_SECONDS = 2;

    /** What a step takes beside the passes through the model: data, the optimizer, evaluations. */
    private static final double STEP = 1.5;

    /** What the original's answer takes of that. */
    private static final double ANSWER = 0.3;

    /** Seconds that pruning, comparing widths and the report take, */
    private static final double AFTERWARDS = 40;

    /** or the part of a limit that they are cut to. */
    private static final double AFTERWARDS_SHARE = 0.15;

    /** or the seconds that they take at least. */
    private static final double MIN_AFTERWARDS = 5;

    /** Epochs of the shortest run. */
    private static final int MIN_EPOCHS = 3;

    /** Batches that are learned from at least: of fewer rows nobody can tell what the original's answers depend on. */
    private static final int FEWEST_BATCHES = 4;

    /** A name that is its own pattern. */
    private static final Pattern PLAIN = Pattern.compile("[\\w:/ -]*");

    private final Recipe first;
    private final Task task;
    private final Graph start;
    private final Device device;

    ShrinkRecipe(Recipe first, Task task, Device device) {
        this.first = first;
        this.task = task;
        this.start = task.model(Weights.seeded(first.training().seeds().getFirst()));
        this.device = device;
    }

    /** All that can be said before data and model are read; settings go before what is chosen here. */
    static Recipe first(Path model, List<String> inputs, double share, Shrink.Cost cost, List<String> settings) {
        List<String> keys = new ArrayList<>(List.of("data.test_limit=" + JUDGED));
        keys.addAll(inputs);
        keys.addAll(List.of(
                "model.kind=onnx",
                "model.file=" + model,
                "model.prune_first=true",
                "task.kind=imitation",
                "groups.rules=all",
                "groups.join=joint",
                "groups.dimensions=true",
                "penalty.kind=group-lasso",
                "penalty.lambda=auto",
                "penalty.cost=" + cost.key(),
                "target.kind=" + cost.key(),
                "target.share=" + share,
                "target.by=choice",
                "optimizer.rate=1e-3",
                "schedule.kind=cosine",
                "training.epochs=1",
                "training.batch_size=32",
                "training.clip_norm=1",
                "training.prune_for=latency"));
        keys.addAll(settings);
        return Recipe.parse("shrink.toml", "", keys);
    }

    /** Without the groups whose zeros would cut out nothing; if that is not enough for the target, it is said at once. */
    List<String> groups(double share, Shrink.Cost cost) {
        ModelGroups groups = first.groupRules().derive(start);
        List<LayerGroups> narrowing = NarrowingGroups.of(start, groups);
        List<String> idle = groups.layers().stream()
                .filter(layer -> !narrowing.contains(layer))
                .flatMap(layer -> layer.parameters().stream())
                .toList();
        double least = narrowing.isEmpty()
                ? 1
                : SmallestModel.of(start, narrowing).map(cost::smallest).orElse(0.0);
        if (!(least < share)) {
            throw new IllegalArgumentException(String.format(
                    Locale.ROOT,
                    "%.0f %% of the %s cannot be reached: with one group left in each of the %d layers that can be made narrower (one for each head of an attention), it is still %.1f %%. Ask for more; what cannot be made narrower are layers along a residual stream and those that were left out by groups.exclude",
                    100 * share,
                    cost.words(),
                    narrowing.size(),
                    100 * least));
        }
        List<String> exclude = new ArrayList<>(first.groups().exclude());
        idle.stream()
                .map(name -> PLAIN.matcher(name).matches() ? name : name.replaceAll("([^\\w:/ -])", "\\\\$1"))
                .forEach(exclude::add);
        return List.of("groups.exclude="
                + exclude.stream().map(pattern -> "'" + pattern + "'").collect(Collectors.joining(", ", "[", "]")));
    }

    /** A step that goes as far in a model of small weights as in one of large ones. */
    List<String> rate() {
        double size = first.groupRules().derive(start).layers().stream()
                .flatMap(layer -> layer.parameters().stream())
                .mapToDouble(name -> Objects.requireNonNull(start.tensor(name)).rootMeanSquare())
                .filter(rootMeanSquare -> rootMeanSquare > 0)
                .average()
                .orElse(1);
        return List.of(String.format(Locale.ROOT, "optimizer.rate=%.1e", STRIDE * size));
    }

    /**
     * How long to train.
     *
     * @param keys of the recipe: how many epochs, and of how much of the data
     * @param expected how long all of it will take, in words
     */
    record Length(List<String> keys, String expected) {}

    /** As many epochs as are requested, or as there is time for, or as it usually takes. */
    Length length(OptionalInt epochs, TimeLimit limit) {
        int perEpoch = task.batchesPerEpoch();
        double step = STEP * secondsPerBatch();
        double original = ANSWER * step;
        double once = isKept() ? original * perEpoch : 0;
        double each = isKept() ? step : step + original;
        double spent = limit.isSet() ? limit.secondsSpent() : 0;
        int usual = (int) Math.round(Math.max(USUAL_EPOCHS, Math.ceilDiv(LEAST_STEPS, perEpoch)) / (1 - HEALING));
        int free = epochs.orElse(usual);
        double whole = spent + once + each * free * perEpoch + AFTERWARDS;
        if (!limit.isSet()) {
            return new Length(
                    phases(free),
                    "Expected time: about %s for %d epochs; --minutes sets a limit".formatted(time(whole), free));
        }
        double left = limit.secondsLeft() - Math.min(AFTERWARDS, AFTERWARDS_SHARE * limit.seconds());
        double steps = Math.max(0, left - once) / each;
        int fitting = (int) Math.min(steps / perEpoch, 1000);
        List<String> keys = new ArrayList<>(phases(Math.max(MIN_EPOCHS, fitting)));
        if (fitting < MIN_EPOCHS) {
            // What is kept is computed for these rows only.
            double rows = Math.max(0, left)
                    / (MIN_EPOCHS * each + (isKept() ? original : 0))
                    * first.training().batchSize();
            keys.add("data.train_limit="
                    + (int) Math.max(FEWEST_BATCHES * first.training().batchSize(), rows));
        }
        double shortest = spent + FEWEST_BATCHES * (MIN_EPOCHS * each + (isKept() ? original : 0)) + MIN_AFTERWARDS;
        if (shortest > limit.seconds()) {
            return new Length(
                    keys,
                    "The limit of %s is too short: it takes %s at least, of which the preparation has taken %s. A few steps are done all the same, and the model is written; about %s for %d epochs without a limit"
                            .formatted(time(limit.seconds()), time(shortest), time(spent), time(whole), usual));
        }
        return new Length(
                keys,
                "Expected time: about %s within the limit of %s (%d epochs%s); about %s for %d epochs without a limit"
                        .formatted(
                                time(Math.min(limit.seconds(), spent + once + each * steps + AFTERWARDS)),
                                time(limit.seconds()),
                                Math.max(MIN_EPOCHS, fitting),
                                fitting < MIN_EPOCHS ? " of some of the inputs" : "",
                                time(whole),
                                usual));
    }

    private static String time(double seconds) {
        return seconds < 90
                ? String.format(Locale.ROOT, "%.0f s", seconds)
                : String.format(Locale.ROOT, "%.1f min", seconds / 60);
    }

    private static List<String> phases(int epochs) {
        int heal = Math.max(1, (int) Math.round(epochs * HEALING));
        return List.of("training.epochs=" + (epochs - heal), "phases.heal_epochs=" + heal);
    }

    private double secondsPerBatch() {
        try (Network network = new Network(start, task.objective(), device)) {
            return seconds(example -> {
                network.addGradients(example.inputs(), example.targets(), 1);
                network.zeroGradients();
            });
        }
    }

    /** What is kept need not be computed again; where it cannot be, who is faster does it. */
    List<String> answers(RunFolder folder) {
        if (device.isGpu()) {
            return List.of("task.answers=engine"); // nothing leaves the device
        }
        if (isKept()) {
            return List.of(
                    "task.answers=kept", "task.answers_dir=" + folder.path().resolve(Shrink.ANSWERS));
        }
        try (Network network = new Network(start, device);
                OnnxRuntimeModel runtime =
                        OnnxRuntimeModel.of(start, Runtime.getRuntime().availableProcessors())) {
            double engine = seconds(example -> network.predict(example.inputs()));
            double other = seconds(example -> runtime.run(example.inputs()));
            return List.of("task.answers=" + (engine <= other ? "engine" : "runtime"));
        }
    }

    private boolean isKept() {
        long floats = 0;
        for (String output : start.outputs()) {
            Shape sample = start.shape(output);
            for (int axis = 1; axis < sample.rank(); axis++) {
                if (!sample.get(axis).isKnown()) {
                    return false;
                }
            }
            floats += Tensor.size(sample.dimensions().stream()
                    .skip(1)
                    .mapToLong(dimension -> dimension.value())
                    .toArray());
        }
        long rows = (long) task.batchesPerEpoch() * first.training().batchSize();
        return floats * rows * Float.BYTES <= MOST_KEPT_BYTES && task.isRepeatable();
    }

    private double seconds(Consumer<Example> work) {
        double least = Double.POSITIVE_INFINITY;
        long started = System.nanoTime();
        try (Examples examples = task.examples(1, new BatchPosition(0, 0), 1)) {
            for (int i = 0;
                    examples.hasNext() && (i < TIMED || (System.nanoTime() - started) / 1e9 < TIMED_SECONDS);
                    i++) {
                Example example = examples.next();
                long begin = System.nanoTime();
                work.accept(example);
                least = Math.min(least, (System.nanoTime() - begin) / 1e9);
            }
        }
        return least;
    }
}
