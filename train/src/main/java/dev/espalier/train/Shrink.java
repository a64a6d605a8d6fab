package dev.espalier.train;

import dev.espalier.core.check.Writing;
import dev.espalier.data.BatchPosition;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.Graph;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.PruneReport;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.Int8;
import dev.espalier.train.inputs.DeclaredInputs;
import dev.espalier.train.inputs.InputsGuess;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.ShrunkModels;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.run.TimeLimit;
import dev.espalier.train.study.Experiment;
import dev.espalier.train.task.Examples;
import dev.espalier.train.task.RawInputs;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes a model smaller that somebody else has trained, with nothing but inputs for it: what its answers miss least for what it costs
 * becomes zero, a little at a time, the rest learns to go on giving these answers, and the zeros are cut out.
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

        /** How much is left of the smallest model; what it takes in time depends on the machine, and bounds nothing. */
        double smallest(PruneReport report) {
            return switch (this) {
                case FLOPS -> (double) report.flopsAfter() / report.flopsBefore();
                case PARAMETERS -> (double) report.parametersAfter() / report.parametersBefore();
                case LATENCY -> 0;
            };
        }
    }

    /** The int8 model's file in the folder of a run. */
    public static final String INT8 = "int8.onnx";

    /** Batches that an int8 model is calibrated on. */
    private static final int CALIBRATED = 16;

    /** The part of the time that is kept for an int8 model. */
    private static final double QUANTIZING = 0.1;

    /** The folder of a run that holds what the original said. */
    static final String ANSWERS = "answers";

    private final Path model;
    private final List<String> inputs;
    private final @Nullable LoadedData data;
    private final double share;
    private final Cost cost;
    private final OptionalInt epochs;
    private final OptionalDouble minutes;
    private final boolean int8;
    private final List<String> settings;

    private Shrink(
            Path model,
            List<String> inputs,
            @Nullable LoadedData data,
            double share,
            Cost cost,
            OptionalInt epochs,
            OptionalDouble minutes,
            boolean int8,
            List<String> settings) {
        this.model = model;
        this.inputs = List.copyOf(inputs);
        this.data = data;
        this.share = share;
        this.cost = cost;
        this.epochs = epochs;
        this.minutes = minutes;
        this.int8 = int8;
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
                model, List.of(), null, 0.5, Cost.FLOPS, OptionalInt.empty(), OptionalDouble.empty(), false, List.of());
    }

    /**
     * Says what the model is fed with.
     *
     * @param rows the data; labels are not looked at
     * @return the same with these inputs
     */
    public Shrink inputs(LoadedData rows) {
        return new Shrink(model, List.of("data.kind=own"), rows, share, cost, epochs, minutes, int8, settings);
    }

    /**
     * Says what the model is fed with.
     *
     * @param keys the keys of a recipe's section {@code [data]}: {@code data.kind=images}, {@code data.dir=photos}
     * @return the same with these inputs
     */
    public Shrink inputs(List<String> keys) {
        return new Shrink(model, keys, null, share, cost, epochs, minutes, int8, settings);
    }

    /**
     * Names the inputs, as {@code espalier shrink --inputs} does; they are prepared as the model declares them.
     *
     * @param files a folder of images, arrays, a table or texts, or a kind of data by its name
     * @return the same with these inputs
     * @throws IOException if the model or the inputs cannot be read
     */
    public Shrink inputs(String files) throws IOException {
        Graph graph = DeclaredInputs.inTraining(OnnxReader.read(model).graph());
        List<String> keys =
                settings.stream().filter(key -> key.startsWith("data.")).toList();
        return inputs(InputsGuess.of(files, model, graph, keys).settings());
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
        return new Shrink(model, inputs, data, left, of, epochs, minutes, int8, settings);
    }

    /**
     * Says how long to train.
     *
     * @param count passes over the inputs, to shrink and to heal, at least 2
     * @return the same for as long
     */
    public Shrink epochs(int count) {
        if (count < 2) {
            throw new IllegalArgumentException(
                    "epochs = " + count + " is not possible: it takes one to shrink and one to heal, so 2 or more");
        }
        return new Shrink(
                model, inputs, data, share, cost, OptionalInt.of(count), OptionalDouble.empty(), int8, settings);
    }

    /**
     * Says how long all of it may take, from the preparation to the report, by the clock: a few batches are timed first. If that is too
     * little for all inputs, some are left out, and if the machine becomes slower, steps.
     *
     * @param count how many minutes, above 0
     * @return the same for as long
     */
    public Shrink minutes(double count) {
        if (!(count > 0)) {
            throw new IllegalArgumentException("minutes = " + count + " is not possible: it must be above 0");
        }
        return new Shrink(
                model, inputs, data, share, cost, OptionalInt.empty(), OptionalDouble.of(count), int8, settings);
    }

    /**
     * Asks for one more file, {@code int8.onnx}: the smaller model with weights of eight bits, calibrated on the inputs.
     *
     * @return the same with that
     */
    public Shrink int8() {
        return new Shrink(model, inputs, data, share, cost, epochs, minutes, true, settings);
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
        return new Shrink(model, inputs, data, share, cost, epochs, minutes, int8, all);
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
        RunOptions timed = limited(options);
        Planned planned = planned(place, timed);
        RunOptions training = int8 ? timed.withLimit(timed.limit().keeping(QUANTIZING)) : timed;
        Optional<RunResult> result = new Experiment(planned.recipe(), planned.task(), place, training)
                .resume()
                .map(List::getFirst);
        return result.isPresent() ? Optional.of(compared(result.get(), place, planned.task(), timed)) : result;
    }

    /** The result with a table of the original, the small model and the int8 model; the report is written again, with that table. */
    private RunResult compared(RunResult result, RunFolder place, Task task, RunOptions options) throws IOException {
        if (int8) {
            writeInt8(place, task, options);
        } else if (!result.models().isEmpty()) {
            return result; // of a run that was finished before
        }
        Optional<Path> quantized = int8 ? Optional.of(place.path().resolve(INT8)) : Optional.empty();
        RunResult complete =
                result.withModels(new ShrunkModels(model, place, quantized, task).measure(options.limit()));
        place.write(complete);
        options.listener().onEnd(place);
        return complete;
    }

    /** The time begins now, unless somebody let it begin before. */
    private RunOptions limited(RunOptions options) {
        return minutes.isEmpty() || options.limit().isSet()
                ? options
                : options.withLimit(TimeLimit.of(60 * minutes.getAsDouble()));
    }

    private Planned planned(RunFolder place, RunOptions options) throws IOException {
        if (Files.exists(place.recipe())) {
            Recipe begun = Recipe.read(place.recipe(), List.of());
            return new Planned(begun, task(begun, options));
        }
        if (!hasHardlyBegun(place)) {
            place.requireFree();
        }
        return plan(place, options);
    }

    private static void writeInt8(RunFolder place, Task task, RunOptions options) throws IOException {
        Graph pruned = OnnxReader.read(place.pruned()).graph();
        Int8 made = Int8.of(RawInputs.without(pruned), batches(task), Int8.Settings.CALIBRATED);
        OnnxWriter.write(RawInputs.like(pruned, made.graph()), place.path().resolve(INT8));
        options.listener().onNote(made.summary());
    }

    /** Some of the inputs. */
    private static List<Map<String, Tensor>> batches(Task task) {
        List<Map<String, Tensor>> batches = new ArrayList<>();
        try (Examples examples = task.examples(1, BatchPosition.START, 1)) {
            while (batches.size() < CALIBRATED && examples.hasNext()) {
                Map<String, Tensor> batch = new LinkedHashMap<>();
                examples.next().inputs().forEach((name, tensor) -> batch.put(name, copy(tensor)));
                batches.add(batch);
            }
        }
        return batches;
    }

    /** What a batch holds is written over by the next. */
    private static Tensor copy(Tensor tensor) {
        MemorySegment data = Arena.ofAuto().allocate(tensor.data().byteSize(), Long.BYTES);
        return Tensor.of(tensor.type(), tensor.shape(), data.copyFrom(tensor.data()));
    }

    /** Whether what was stopped there had not got further than to ask the original, and to begin on the recipe. */
    private static boolean hasHardlyBegun(RunFolder place) throws IOException {
        if (!Files.isDirectory(place.path())) {
            return false;
        }
        Set<Path> first = Set.of(place.path().resolve(ANSWERS), place.trainerFile(), place.recipe());
        try (Stream<Path> entries = Files.list(place.path())) {
            return entries.map(Writing::meant).allMatch(first::contains);
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
        return chosen(first(options), new RunFolder(folder), limited(options));
    }

    private record Planned(Recipe recipe, Task task) {}

    private Task task(Recipe recipe, RunOptions options) throws IOException {
        return data == null ? Tasks.of(recipe, options.listener()) : Tasks.of(recipe, data, options.listener());
    }

    /** Data and model are looked at once, unless something is chosen that changes what is made of them. */
    private Planned plan(RunFolder folder, RunOptions options) throws IOException {
        Planned first = first(options);
        Recipe recipe = chosen(first, folder, options);
        boolean same = recipe.task().equals(first.recipe().task())
                && recipe.data().equals(first.recipe().data());
        return new Planned(recipe, same ? first.task() : task(recipe, options));
    }

    private Planned first(RunOptions options) throws IOException {
        Recipe first = ShrinkRecipe.first(model, inputs, share, cost, settings);
        return new Planned(first, task(first, options));
    }

    private Recipe chosen(Planned first, RunFolder folder, RunOptions options) {
        ShrinkRecipe plan = new ShrinkRecipe(first.recipe(), first.task(), options.device());
        List<String> chosen = new ArrayList<>(plan.groups(share, cost));
        chosen.addAll(plan.rate());
        ShrinkRecipe.Length length = plan.length(epochs, options.limit());
        options.listener().onNote(length.expected());
        chosen.addAll(length.keys());
        chosen.addAll(plan.answers(folder));
        chosen.addAll(settings);
        return first.recipe().with(chosen.toArray(String[]::new));
    }
}
