package dev.espalier.runtime;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Input;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.OnnxRuntimeModel.Optimization;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * Holds models against an original in ONNX Runtime. The original is best a file that somebody else wrote: then it has not gone
 * through our reader, and a mistake of the reader is seen. It is run in more than one way, which tells what rounding alone may
 * do; with more than one length of every free axis, and with whole numbers that vary as far as they may.
 */
public final class Judge implements AutoCloseable {
    /** What the last binary digit of a weight in single precision is worth, twice. */
    private static final double LAST_DIGIT = 0x1p-22;

    private final String name;
    private final int threads;
    private final List<OnnxRuntimeModel> ways;
    private final List<Trial> trials;
    private final Map<String, Tensor> timed;
    private final SequencedMap<String, Long> lengths;

    /** Outputs that chance has a part in: nothing can be held against them. */
    private final Set<String> random;

    private Judge(
            String name,
            int threads,
            List<OnnxRuntimeModel> ways,
            List<Trial> trials,
            Map<String, Tensor> timed,
            SequencedMap<String, Long> lengths,
            Set<String> random) {
        this.name = name;
        this.threads = threads;
        this.ways = List.copyOf(ways);
        this.trials = List.copyOf(trials);
        this.timed = timed;
        this.lengths = lengths;
        this.random = random;
    }

    /** Loads an original in one of the ways in which it can be computed. */
    @FunctionalInterface
    private interface Loader {
        OnnxRuntimeModel load(Optimization optimization);
    }

    /**
     * Judges by a file.
     *
     * @param original an ONNX file
     * @param read what was read from it: it tells what the inputs are
     * @param usual the lengths of free axes to begin with
     * @param threads how many threads a single operator may use
     * @return the judge
     * @throws IllegalStateException if ONNX Runtime does not run the file, or makes other shapes of it when it optimizes it
     * @throws GraphException if the inputs that were read are not those of the file
     */
    public static Judge of(Path original, Graph read, SampleInputs usual, int threads) {
        return of(original, read, usual, Map.of(), threads);
    }

    /**
     * Judges by a file.
     *
     * @param original an ONNX file
     * @param read what was read from it: it tells what the inputs are
     * @param usual the lengths of free axes to begin with
     * @param lengths those that some of them have when models are timed, by the symbols' names
     * @param threads how many threads a single operator may use
     * @return the judge
     * @throws IllegalStateException if ONNX Runtime does not run the file, or makes other shapes of it when it optimizes it
     * @throws GraphException if the inputs that were read are not those of the file
     */
    public static Judge of(Path original, Graph read, SampleInputs usual, Map<String, Long> lengths, int threads) {
        String name = original.toString();
        return of(name, way -> new OnnxRuntimeModel(name, original, threads, way), read, usual, lengths, threads);
    }

    /**
     * Judges by a model of which there is no ONNX file.
     *
     * @param original the model
     * @param usual the lengths of free axes to begin with
     * @param threads how many threads a single operator may use
     * @return the judge
     * @throws IllegalStateException if ONNX Runtime does not run the model, or makes other shapes of it when it optimizes it
     */
    public static Judge of(Graph original, SampleInputs usual, int threads) {
        return of(original, usual, Map.of(), threads);
    }

    /**
     * Judges by a model of which there is no ONNX file.
     *
     * @param original the model
     * @param usual the lengths of free axes to begin with
     * @param lengths those that some of them have when models are timed, by the symbols' names
     * @param threads how many threads a single operator may use
     * @return the judge
     * @throws IllegalStateException if ONNX Runtime does not run the model, or makes other shapes of it when it optimizes it
     */
    public static Judge of(Graph original, SampleInputs usual, Map<String, Long> lengths, int threads) {
        return of(original.name(), loader(original, threads), original, usual, lengths, threads);
    }

    private static Loader loader(Graph graph, int threads) {
        return way -> OnnxRuntimeModel.of(graph, OnnxWriter.Options.DEFAULT, threads, way);
    }

    private static Judge of(
            String name, Loader loader, Graph read, SampleInputs usual, Map<String, Long> lengths, int threads) {
        List<OnnxRuntimeModel> ways = load(loader);
        try {
            requireSameInputs(ways.getFirst(), read, name);
            TrialSearch search = new TrialSearch(ways.getFirst(), read, usual);
            List<Trial> trials = search.trials();
            requireSameShapes(ways, trials);
            SequencedMap<String, Long> timed = search.timed(lengths);
            Set<String> random = random(name, ways.getFirst(), trials);
            return new Judge(name, threads, ways, trials, search.inputs(timed), timed, random);
        } catch (RuntimeException failure) {
            ways.forEach(OnnxRuntimeModel::close);
            throw failure;
        }
    }

    /** Where ONNX Runtime infers another length than it computes, it optimizes a model into another one. */
    private static void requireSameShapes(List<OnnxRuntimeModel> ways, List<Trial> trials) {
        for (Trial trial : trials) {
            Map<String, Tensor> wanted = ways.getFirst().run(trial.inputs());
            for (OnnxRuntimeModel way : ways.subList(1, ways.size())) {
                way.run(trial.inputs()).forEach((output, found) -> {
                    Tensor other = wanted.get(output);
                    if (other != null && !Arrays.equals(other.shape(), found.shape())) {
                        throw new IllegalStateException(
                                "ONNX Runtime contradicts itself: output %s is %s if it optimizes the model, and %s if not"
                                        .formatted(
                                                output,
                                                Arrays.toString(other.shape()),
                                                Arrays.toString(found.shape())));
                    }
                });
            }
        }
    }

    /** What differs from itself when the same is computed twice. */
    private static Set<String> random(String name, OnnxRuntimeModel model, List<Trial> trials) {
        Set<String> random = new TreeSet<>();
        Set<String> all = new TreeSet<>();
        for (Trial trial : trials) {
            Equivalence twice = Equivalence.measure(List.of(model), model, trial.inputs(), trial.words());
            twice.outputs().forEach(output -> all.add(output.name()));
            random.addAll(twice.different(Equivalence.TOLERANCE));
        }
        if (random.equals(all)) {
            throw new IllegalStateException(
                    "chance has a part in all outputs of " + name + ", so that nothing can be held against them");
        }
        return random;
    }

    private static List<OnnxRuntimeModel> load(Loader loader) {
        List<OnnxRuntimeModel> ways = new ArrayList<>();
        try {
            for (Optimization way : Optimization.values()) {
                ways.add(loader.load(way));
            }
            return ways;
        } catch (RuntimeException failure) {
            ways.forEach(OnnxRuntimeModel::close);
            throw failure;
        }
    }

    /** An axis that is free in the file but was read as a number would never be tried with another length. */
    private static void requireSameInputs(OnnxRuntimeModel original, Graph read, String name) {
        for (String input : original.inputs()) {
            Shape shape = read.inputs().stream()
                    .filter(candidate -> candidate.name().equals(input))
                    .map(candidate -> candidate.type().shape())
                    .findFirst()
                    .orElseThrow(() -> new GraphException("%s has an input %s, but was read with the inputs %s"
                            .formatted(
                                    name,
                                    input,
                                    read.inputs().stream().map(Input::name).toList())));
            original.declared(input).ifPresent(declared -> {
                for (int axis = 0; axis < declared.length; axis++) {
                    if (shape.rank() != declared.length
                            || (declared[axis] < 0 && shape.get(axis).isKnown())) {
                        throw new GraphException("axis %d of input %s is free in %s, but was read as %s"
                                .formatted(axis, input, name, shape));
                    }
                }
            });
        }
    }

    /**
     * The same judge with inputs of the caller's own before all others; models are timed with these.
     *
     * @param inputs by name
     * @param words what they are, for messages
     * @return the judge; closing either closes both
     */
    public Judge with(Map<String, Tensor> inputs, String words) {
        List<Trial> more = new ArrayList<>(List.of(new Trial(words, inputs)));
        more.addAll(trials);
        return new Judge(name, threads, ways, more, inputs, lengths, random);
    }

    /** Another original, of the same inputs. */
    Judge against(Graph other) {
        return new Judge(other.name(), threads, load(loader(other, threads)), trials, timed, lengths, random);
    }

    /** {@return the inputs that models are compared on, those that they are timed with first} */
    public List<Map<String, Tensor>> inputs() {
        List<Map<String, Tensor>> inputs = new ArrayList<>(List.of(timed));
        trials.stream().map(Trial::inputs).filter(one -> one != timed).forEach(inputs::add);
        return inputs;
    }

    /**
     * Compares a model with the original.
     *
     * @param model the model
     * @param options how it is going to be written
     * @return how far they are apart
     * @throws GraphException if other outputs come out of it
     */
    public Equivalence compare(Graph model, OnnxWriter.Options options) {
        try (OnnxRuntimeModel candidate = OnnxRuntimeModel.of(model, options, threads, Optimization.ALL)) {
            return compare(candidate);
        }
    }

    /**
     * Compares whatever computes outputs of the same inputs with the original.
     *
     * @param candidate runs on the inputs that the original was tried with
     * @return how far they are apart
     * @throws GraphException if other outputs come out of it
     */
    public Equivalence compare(Equivalence.Model candidate) {
        return trials.stream()
                .map(trial -> compare(candidate, trial))
                .reduce(Equivalence::and)
                .orElseThrow();
    }

    /**
     * Loads a model that was made of the original.
     *
     * @param smaller the model
     * @param exact whether it should compute the same
     * @return the same in ONNX Runtime
     * @throws OptimizerException if ONNX Runtime runs it, but not once it has optimized it
     * @throws GraphException if it does not run it once it has optimized it, and it computes something else as it is
     */
    public OnnxRuntimeModel load(Graph smaller, boolean exact) {
        try {
            return runnable(smaller);
        } catch (IllegalStateException refused) {
            try (OnnxRuntimeModel asItIs =
                    OnnxRuntimeModel.of(smaller, OnnxWriter.Options.DEFAULT, threads, Optimization.NONE)) {
                Equivalence found = compare(asItIs);
                if (exact) {
                    found.requireEqual(Equivalence.tolerance(smaller));
                }
            }
            throw new OptimizerException(refused);
        }
    }

    private OnnxRuntimeModel runnable(Graph graph) {
        OnnxRuntimeModel model = OnnxRuntimeModel.of(graph, threads);
        try {
            model.run(trials.getFirst().inputs());
            return model;
        } catch (IllegalStateException refused) {
            model.close();
            throw refused;
        }
    }

    /**
     * Looks at a comparison again if models are further apart than rounding usually explains: finds out what it is worth in this model,
     * that is how far the outputs move when the last digits of all weights do. ONNX Runtime may compute a model to the same bits in all of
     * its ways, and yet a smaller one, whose sums have other lengths, to others.
     *
     * @param found the comparison
     * @param read what was read of the original
     * @return the same differences, with what rounding explains of them
     */
    Equivalence doubted(Equivalence found, Graph read) {
        if (found.problem(Equivalence.tolerance(read)).isEmpty()) {
            return found;
        }
        try (OnnxRuntimeModel model = OnnxRuntimeModel.of(read, threads);
                OnnxRuntimeModel moved = OnnxRuntimeModel.of(withOtherLastDigits(read), threads)) {
            List<OnnxRuntimeModel> both = List.of(model, moved);
            return found.withSpreadOf(trials.stream()
                    .map(trial -> Equivalence.measure(both, model, trial.inputs(), trial.words()))
                    .reduce(Equivalence::and)
                    .orElseThrow());
        } catch (IllegalStateException | GraphException refused) {
            return found; // what was read is not run, and tells nothing
        }
    }

    /** Each weight in single precision is off by a last digit or so, as if it had been made a little otherwise. */
    private static Graph withOtherLastDigits(Graph graph) {
        RandomGenerator chance = new SplittableRandom(1);
        Map<String, Tensor> moved = new TreeMap<>();
        graph.initializers().forEach((name, old) -> {
            Tensor tensor = old.tensor();
            if (old.kind() != Initializer.Kind.CONSTANT && tensor.type() == DataType.FLOAT32) {
                moved.put(
                        name,
                        Tensor.compute(DataType.FLOAT32, tensor.shape(), i -> moved(tensor.getDouble(i), chance)));
            }
        });
        return graph.withTensors(moved);
    }

    /** The largest of all numbers, as masks have it, stays a number. */
    private static double moved(double weight, RandomGenerator chance) {
        double moved = weight * (1 + LAST_DIGIT * chance.nextDouble(-1, 1));
        return Math.abs(moved) <= Float.MAX_VALUE ? moved : weight;
    }

    private Equivalence compare(Equivalence.Model candidate, Trial trial) {
        try {
            return Equivalence.measure(ways, candidate, trial.inputs(), trial.words())
                    .without(random);
        } catch (IllegalStateException refused) {
            throw new GraphException("%s runs%s, but %s"
                    .formatted(name, trial.words().isEmpty() ? "" : " for " + trial.words(), refused.getMessage()));
        }
    }

    /**
     * Requires that a model was read as it is.
     *
     * @param read what was read of the original
     * @param options how it is going to be written
     * @return how far it is from the original
     * @throws GraphException if it computes something else, or cannot be written
     */
    public Equivalence requireRead(Graph read, OnnxWriter.Options options) {
        // What cannot be written was not misread: that is told as it is.
        try (OnnxRuntimeModel candidate = OnnxRuntimeModel.of(read, options, threads, Optimization.ALL)) {
            return requireRead(candidate, read);
        }
    }

    private Equivalence requireRead(OnnxRuntimeModel candidate, Graph read) {
        try {
            Equivalence found = doubted(compare(candidate), read);
            found.requireEqual(Equivalence.tolerance(read));
            return found;
        } catch (GraphException different) {
            throw new GraphException(name + " was misread: " + different.getMessage()
                    + ". Nothing was written. This is a mistake of ours, please report it with the model");
        }
    }

    /**
     * How near a model is to an original that it cannot be equal to, as one that rounds to int8 what flows through it.
     *
     * @param model the model
     * @param options how it is going to be written
     * @return the cosine of the angle between both models' outputs, the least of all outputs and inputs that were tried; 1 if they
     *     are multiples of each other
     */
    public double cosine(Graph model, OnnxWriter.Options options) {
        double least = 1;
        try (OnnxRuntimeModel candidate = OnnxRuntimeModel.of(model, options, threads, Optimization.ALL)) {
            for (Trial trial : trials) {
                Map<String, Tensor> found = candidate.run(trial.inputs());
                for (Map.Entry<String, Tensor> wanted :
                        ways.getFirst().run(trial.inputs()).entrySet()) {
                    if (random.contains(wanted.getKey())) {
                        continue;
                    }
                    Tensor actual = found.get(wanted.getKey());
                    least = Math.min(least, actual == null ? -1 : cosine(wanted.getValue(), actual));
                }
            }
        }
        return least;
    }

    private static double cosine(Tensor left, Tensor right) {
        double product = 0;
        double leftSquares = 0;
        double rightSquares = 0;
        for (long i = 0; i < left.size(); i++) {
            product += left.getDouble(i) * right.getDouble(i);
            leftSquares += left.getDouble(i) * left.getDouble(i);
            rightSquares += right.getDouble(i) * right.getDouble(i);
        }
        return leftSquares == rightSquares && product == leftSquares
                ? 1
                : product / Math.sqrt(leftSquares * rightSquares);
    }

    /** A race on the inputs that models are timed with. */
    Race race(double seconds) {
        return new Race(timed, seconds);
    }

    /** Has the original take part in a race. */
    Race.Runner enter(Race race) {
        return race.enter(ways.getFirst());
    }

    /**
     * The lengths of free axes that models are timed with.
     *
     * @return numbers by the symbols' names
     */
    public SequencedMap<String, Long> lengths() {
        return lengths;
    }

    /**
     * What a comparison showed, for people.
     *
     * @param found the comparison
     * @return a line
     */
    public String verdict(Equivalence found) {
        String where = trials.stream()
                .map(Trial::words)
                .filter(words -> !words.isEmpty())
                .distinct()
                .collect(Collectors.joining("; "));
        return String.format(
                        Locale.ROOT,
                        "equal to %s in ONNX Runtime: outputs differ by at most %.2g, where it differs by %.2g from itself when"
                                + " it is computed otherwise%s",
                        name,
                        found.absolute(),
                        found.spread(),
                        where.isEmpty() ? "" : " (compared for " + where + ")")
                + (found.moves()
                        ? ""
                        : "; an output is the same for all inputs that were tried, so that little is proved there")
                + (random.isEmpty() ? "" : "; chance has a part in " + String.join(", ", random) + ": not compared");
    }

    @Override
    public void close() {
        ways.forEach(OnnxRuntimeModel::close);
    }
}
