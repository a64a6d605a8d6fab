package dev.espalier.train;

import dev.espalier.data.LoadedData;
import dev.espalier.graph.prune.PruneReport;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.Experiment;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes a model smaller that somebody else has trained, with nothing but inputs for it: under a penalty on its groups it learns to go
 * on giving its own answers, and what has become zero is cut out.
 *
 * {@snippet :
 * Shrink.of(Path.of("model.onnx"))
 *         .inputs(data)
 *         .keep(0.5, Shrink.Cost.FLOPS)
 *         .run(Path.of("runs", "small"), RunOptions.DEFAULT);
 * }
 *
 * <p>It is a run like any other, with a recipe that is made here and can be changed in all its keys: the folder has checkpoints,
 * {@code pruned.onnx} and a report, and what was stopped goes on.
 */
public final class Shrink {
    /** What shall become less. */
    public enum Cost {
        /** Operations. */
        FLOPS,
        /** Weights. */
        PARAMETERS,
        /** Milliseconds in ONNX Runtime on this machine, as a list of prices tells them. */
        LATENCY;

        /** {@return what people call it} */
        public String words() {
            return this == FLOPS ? "FLOPs" : key();
        }

        String key() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** How much is left; what it takes in time, only its operations tell before anything is measured. */
        double left(PruneReport report) {
            return switch (this) {
                case FLOPS, LATENCY -> (double) report.flopsAfter() / report.flopsBefore();
                case PARAMETERS -> (double) report.parametersAfter() / report.parametersBefore();
            };
        }
    }

    /** The folder of a run that holds what the original said. */
    static final String ANSWERS = "answers";

    private final Path model;
    private final List<String> inputs;
    private final @Nullable LoadedData data;
    private final double share;
    private final Cost cost;
    private final OptionalInt epochs;
    private final OptionalDouble minutes;
    private final List<String> settings;

    private Shrink(
            Path model,
            List<String> inputs,
            @Nullable LoadedData data,
            double share,
            Cost cost,
            OptionalInt epochs,
            OptionalDouble minutes,
            List<String> settings) {
        this.model = model;
        this.inputs = List.copyOf(inputs);
        this.data = data;
        this.share = share;
        this.cost = cost;
        this.epochs = epochs;
        this.minutes = minutes;
        this.settings = List.copyOf(settings);
    }

    /**
     * A model to be made smaller.
     *
     * @param model an ONNX file
     * @return what is to be done: to keep half of its operations
     */
    public static Shrink of(Path model) {
        return new Shrink(
                model, List.of(), null, 0.5, Cost.FLOPS, OptionalInt.empty(), OptionalDouble.empty(), List.of());
    }

    /**
     * Says what the model is fed with.
     *
     * @param rows the data; labels are not looked at
     * @return the same with these inputs
     */
    public Shrink inputs(LoadedData rows) {
        return new Shrink(model, List.of("data.kind=own"), rows, share, cost, epochs, minutes, settings);
    }

    /**
     * Says what the model is fed with.
     *
     * @param keys the keys of a recipe's section {@code [data]}: {@code data.kind=images}, {@code data.dir=photos}
     * @return the same with these inputs
     */
    public Shrink inputs(List<String> keys) {
        return new Shrink(model, keys, null, share, cost, epochs, minutes, settings);
    }

    /**
     * Says how much shall be left.
     *
     * @param left a share, above 0 and below 1
     * @param of of what
     * @return the same with this target
     */
    public Shrink keep(double left, Cost of) {
        if (!(left > 0 && left < 1)) {
            throw new IllegalArgumentException("keep = " + left + " is not possible: it must be above 0 and below 1");
        }
        return new Shrink(model, inputs, data, left, of, epochs, minutes, settings);
    }

    /**
     * Says how long to train.
     *
     * @param count passes over the inputs, under the penalty and to heal, at least 2
     * @return the same for as long
     */
    public Shrink epochs(int count) {
        if (count < 2) {
            throw new IllegalArgumentException(
                    "epochs = " + count + " is not possible: it takes one to shrink and one to heal, so 2 or more");
        }
        return new Shrink(
                model, inputs, data, share, cost, OptionalInt.of(count), OptionalDouble.empty(), settings);
    }

    /**
     * Says how long to train, by the clock: a few batches are timed first. If that is too little for all inputs, some are left out.
     *
     * @param count about how many minutes, above 0
     * @return the same for as long
     */
    public Shrink minutes(double count) {
        if (!(count > 0)) {
            throw new IllegalArgumentException("minutes = " + count + " is not possible: it must be above 0");
        }
        return new Shrink(model, inputs, data, share, cost, OptionalInt.empty(), OptionalDouble.of(count), settings);
    }

    /**
     * Changes the recipe.
     *
     * @param keys any keys with their values: {@code optimizer.rate=1e-4}; they go before what would be chosen
     * @return the same with these
     */
    public Shrink with(List<String> keys) {
        List<String> all = new ArrayList<>(settings);
        all.addAll(keys);
        return new Shrink(model, inputs, data, share, cost, epochs, minutes, all);
    }

    /**
     * Does it, or goes on with what was stopped in that folder.
     *
     * @param folder where everything is written; empty, not there yet, or of a run that was stopped, whose own recipe is then followed
     * @param options who listens, and where it is computed
     * @return what came out; empty if it was stopped, and can be gone on with
     * @throws IOException if something cannot be read or written; what was written before stays
     * @throws IllegalArgumentException if model and inputs do not fit, or the model cannot become so small
     */
    public Optional<RunResult> run(Path folder, RunOptions options) throws IOException {
        RunFolder place = new RunFolder(folder);
        if (Files.exists(place.recipe())) {
            Recipe begun = Recipe.read(place.recipe(), List.of());
            return new Experiment(begun, task(begun, options), place, options)
                    .resume()
                    .map(List::getFirst);
        }
        if (!holdsAnswers(folder)) {
            place.requireFree();
        }
        Planned planned = plan(place, options);
        return new Experiment(planned.recipe(), planned.task(), place, options)
                .resume()
                .map(List::getFirst);
    }

    /** Whether what was stopped there had not got further than to ask the original. */
    private static boolean holdsAnswers(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.toList().equals(List.of(folder.resolve(ANSWERS)));
        }
    }

    /**
     * The recipe that would be followed.
     *
     * @param folder where everything would be written
     * @param options where it would be computed
     * @return the recipe
     * @throws IOException if something cannot be read
     */
    public Recipe recipe(Path folder, RunOptions options) throws IOException {
        return plan(new RunFolder(folder), options).recipe();
    }

    private record Planned(Recipe recipe, Task task) {}

    private Task task(Recipe recipe, RunOptions options) throws IOException {
        return data == null ? Tasks.of(recipe, options.listener()) : Tasks.of(recipe, data, options.listener());
    }

    /** Data and model are looked at once: what is chosen then changes neither, unless there is too little time for all of the data. */
    private Planned plan(RunFolder folder, RunOptions options) throws IOException {
        Recipe first = ShrinkRecipe.first(model, inputs, share, cost, settings);
        Task task = task(first, options);
        ShrinkRecipe plan = new ShrinkRecipe(first, task, options.device());
        List<String> chosen = new ArrayList<>(plan.groups(share, cost));
        chosen.addAll(plan.length(epochs, minutes));
        chosen.addAll(plan.answers(folder));
        chosen.addAll(settings);
        Recipe recipe = first.with(chosen.toArray(String[]::new));
        boolean same = recipe.task().equals(first.task()) && recipe.data().equals(first.data());
        return new Planned(recipe, same ? task : task(recipe, options));
    }
}
