package dev.espalier.runtime;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Input;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Looks for inputs that a model takes, with at least two lengths of every free axis. What a file declares to be free may be
 * fixed inside, by a reshape say, or be too short for what is done: so one length after the other is tried.
 */
final class TrialSearch {
    /** Lengths of texts, odd ones among them, of spectra and of sounds. */
    private static final List<Long> LENGTHS = List.of(
            16L, 101L, 23L, 32L, 48L, 64L, 76L, 96L, 128L, 160L, 224L, 256L, 320L, 512L, 640L, 1024L, 1280L, 16000L, 8L,
            5L, 3L, 2L, 1L);

    /** Shorter than what models cut off: {@code x[:, :K]} has the length K only if there are that many. */
    private static final List<Long> SHORT = List.of(1L, 2L, 3L, 5L, 8L);

    /** Sides of pictures, which networks halve again and again. */
    private static final List<Long> SIDES = List.of(64L, 96L, 160L, 224L, 32L, 48L, 320L, 640L, 299L, 28L, 16L);

    /** Heights and widths that models are timed with: pictures, and lines of text. */
    private static final List<List<Long>> PICTURES = List.of(List.of(224L, 224L), List.of(48L, 320L));

    private static final List<Long> CHANNELS = List.of(3L, 1L, 4L);

    private static final List<Long> BATCHES = List.of(2L, 3L, 1L, 4L);

    /** Free axes that make an input this many times larger are not tried: what a model makes of it may not fit into memory. */
    private static final long MOST_NUMBERS = 1L << 22;

    /** After so long, what was found must do. */
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(20);

    /** Standard deviations of the fractions that are fed in, by turns: where one drives a model to its limits, another does not. */
    private static final List<Double> SCALES = List.of(1.0, 0.1, 10.0);

    /** What an axis is, as far as its place tells. */
    private enum Kind {
        BATCH,
        CHANNEL,
        HEIGHT,
        WIDTH,
        LENGTH
    }

    /** Which axes get another length together, the best first: some models take only one batch size, or one kind of picture. */
    private static final List<Set<Kind>> CHANGES = List.of(
            Set.of(Kind.values()),
            Set.of(Kind.BATCH, Kind.HEIGHT, Kind.WIDTH, Kind.LENGTH),
            Set.of(Kind.HEIGHT, Kind.WIDTH, Kind.LENGTH),
            Set.of(Kind.BATCH));

    /**
     * A free axis, or several that have the same length.
     *
     * @param symbol its name
     * @param kind what it is
     * @param inner whether there are axes on both sides of it: a state that is kept for each layer and sample has its batch there
     * @param lengths what to try, in this order
     */
    private record Axis(String symbol, Kind kind, boolean inner, List<Long> lengths) {
        long at(int place) {
            return lengths.get(Math.min(place, lengths.size() - 1));
        }

        List<Long> without(long length) {
            return lengths.stream().filter(other -> other != length).toList();
        }
    }

    private final OnnxRuntimeModel model;
    private final Graph read;
    private final SampleInputs usual;
    private final List<Axis> axes = new ArrayList<>();
    private final List<SequencedMap<String, Long>> taken = new ArrayList<>();
    private final List<Trial> trials = new ArrayList<>();
    private final long start = System.nanoTime();
    private boolean varied;
    private String refusal = "";

    /**
     * A search.
     *
     * @param model what takes the inputs, or does not
     * @param read the same model as a graph
     * @param usual the lengths to begin with, and where chance starts from
     */
    TrialSearch(OnnxRuntimeModel model, Graph read, SampleInputs usual) {
        this.model = model;
        this.read = read;
        this.usual = usual;
        Set<String> seen = new LinkedHashSet<>();
        for (Input input : read.inputs()) {
            Shape shape = input.type().shape();
            boolean picture = shape.rank() == 4 && input.type().data().isFloat();
            for (int axis = 0; axis < shape.rank(); axis++) {
                Dimension length = shape.get(axis);
                if (!length.isKnown() && seen.add(length.toString())) {
                    axes.add(axis(length.toString(), axis, shape.rank(), picture));
                }
            }
        }
    }

    private Axis axis(String symbol, int axis, int rank, boolean picture) {
        if (axis == 0) {
            return new Axis(symbol, Kind.BATCH, false, from(usual.batch(), BATCHES));
        }
        if (picture) {
            return axis == 1
                    ? new Axis(symbol, Kind.CHANNEL, false, CHANNELS)
                    : new Axis(symbol, axis == 2 ? Kind.HEIGHT : Kind.WIDTH, false, SIDES);
        }
        return new Axis(symbol, Kind.LENGTH, axis < rank - 1, from(usual.length(), LENGTHS));
    }

    private static List<Long> from(long first, List<Long> rest) {
        Set<Long> lengths = new LinkedHashSet<>(List.of(first));
        lengths.addAll(rest);
        return List.copyOf(lengths);
    }

    /**
     * One trial, others until every axis has had two lengths as far as the model takes them, one in which neighbouring axes
     * differ, and one that is short.
     *
     * @return the trials, the first of them with the usual lengths where those are taken
     * @throws IllegalStateException if the model takes nothing that was tried
     */
    List<Trial> trials() {
        one();
        boolean changed = CHANGES.stream().anyMatch(this::second);
        axes.stream().filter(axis -> !hasTwo(axis)).forEach(this::another);
        if (changed) {
            mixed();
        }
        shorter();
        while (trials.size() < SCALES.size() && run(lengths())) {
            // The same lengths with other numbers.
        }
        return List.copyOf(trials);
    }

    /**
     * A single trial.
     *
     * @throws IllegalStateException if the model takes nothing that was tried
     */
    Trial one() {
        if (!first()) {
            throw new IllegalStateException("ONNX Runtime takes none of the inputs that were tried, of the lengths "
                    + axes.stream()
                            .map(axis -> axis.symbol() + " in " + axis.lengths())
                            .toList() + ": " + refusal);
        }
        return trials.getFirst();
    }

    /**
     * Lengths that models are timed with: those of the first trial, but pictures of a size that pictures have.
     *
     * @param wanted what some of them are in any case, by the symbols' names
     * @throws IllegalStateException if the model does not take what is wanted
     */
    SequencedMap<String, Long> timed(Map<String, Long> wanted) {
        for (List<Long> picture : PICTURES) {
            SequencedMap<String, Long> lengths = new LinkedHashMap<>(lengths());
            for (Axis axis : axes) {
                switch (axis.kind()) {
                    case HEIGHT -> lengths.put(axis.symbol(), picture.getFirst());
                    case WIDTH -> lengths.put(axis.symbol(), picture.getLast());
                    case BATCH, CHANNEL, LENGTH -> {}
                }
            }
            lengths.putAll(wanted);
            if (runs(inputs(lengths))) {
                return lengths;
            }
        }
        SequencedMap<String, Long> lengths = new LinkedHashMap<>(lengths());
        lengths.putAll(wanted);
        if (!wanted.isEmpty() && !runs(inputs(lengths))) {
            throw new IllegalStateException(
                    "ONNX Runtime does not run the model with " + Trial.words(lengths) + ": " + refusal);
        }
        return lengths;
    }

    /** Inputs of given lengths. */
    Map<String, Tensor> inputs(Map<String, Long> lengths) {
        return usual.draw(read, lengths, SCALES.getFirst(), varied);
    }

    /** Whether the model takes inputs and makes something of them. */
    private boolean runs(Map<String, Tensor> inputs) {
        try {
            return model.run(inputs).values().stream().allMatch(output -> output.size() > 0);
        } catch (IllegalStateException refused) {
            refusal = String.valueOf(refused.getMessage());
            return false;
        }
    }

    /** The lengths of the first trial. */
    SequencedMap<String, Long> lengths() {
        return taken.getFirst();
    }

    private boolean first() {
        return first(false) || (axes.stream().anyMatch(Axis::inner) && first(true));
    }

    /** Lengths with which the model runs, inner axes as long as the batch if they shall be. */
    private boolean first(boolean innerBatch) {
        for (boolean mode : new boolean[] {true, false}) {
            varied = mode;
            for (long batch : from(usual.batch(), List.of(1L))) {
                for (long channels : CHANNELS) {
                    for (int place = 0; place < Math.max(LENGTHS.size(), SIDES.size()); place++) {
                        if (take(lengths(batch, channels, place, innerBatch))) {
                            return true;
                        }
                    }
                }
            }
        }
        return false;
    }

    private SequencedMap<String, Long> lengths(long batch, long channels, int place, boolean innerBatch) {
        SequencedMap<String, Long> lengths = new LinkedHashMap<>();
        for (Axis axis : axes) {
            lengths.put(
                    axis.symbol(),
                    switch (axis.kind()) {
                        case BATCH -> batch;
                        case CHANNEL -> channels;
                        case HEIGHT, WIDTH, LENGTH -> innerBatch && axis.inner() ? batch : axis.at(place);
                    });
        }
        return lengths;
    }

    /** Another length of all axes of some kinds at once. */
    private boolean second(Set<Kind> changed) {
        if (axes.stream().noneMatch(axis -> changed.contains(axis.kind()))) {
            return false;
        }
        for (int place = 0; place < LENGTHS.size(); place++) {
            SequencedMap<String, Long> lengths = new LinkedHashMap<>(lengths());
            for (Axis axis : axes) {
                if (changed.contains(axis.kind())) {
                    List<Long> others = axis.without(length(axis));
                    lengths.put(axis.symbol(), others.get(place % others.size()));
                }
            }
            if (take(lengths)) {
                return true;
            }
        }
        return false;
    }

    private long length(Axis axis) {
        return lengths().getOrDefault(axis.symbol(), 1L);
    }

    private boolean hasTwo(Axis axis) {
        return taken.stream()
                        .map(lengths -> lengths.get(axis.symbol()))
                        .distinct()
                        .count()
                > 1;
    }

    private void another(Axis axis) {
        for (long length : axis.without(length(axis))) {
            SequencedMap<String, Long> lengths = new LinkedHashMap<>(lengths());
            lengths.put(axis.symbol(), length);
            if (take(lengths)) {
                return;
            }
        }
    }

    /** The first lengths and the second ones by turns: whoever takes one axis for another is found out. */
    private void mixed() {
        SequencedMap<String, Long> lengths = new LinkedHashMap<>();
        for (Axis axis : axes) {
            Map<String, Long> from = taken.get(lengths.size() % 2);
            lengths.put(axis.symbol(), from.getOrDefault(axis.symbol(), 1L));
        }
        take(lengths);
    }

    private void shorter() {
        for (long length : SHORT) {
            SequencedMap<String, Long> lengths = new LinkedHashMap<>(lengths());
            axes.stream()
                    .filter(axis -> axis.kind() == Kind.LENGTH && axis.lengths().contains(length))
                    .forEach(axis -> lengths.put(axis.symbol(), length));
            if (take(lengths)) {
                return;
            }
        }
    }

    private boolean take(SequencedMap<String, Long> lengths) {
        return !taken.contains(lengths)
                && System.nanoTime() - start < PATIENCE
                && numbers(lengths) <= MOST_NUMBERS
                && run(lengths);
    }

    /** How many times more numbers the largest input has than if all free axes were of length 1. */
    private double numbers(Map<String, Long> lengths) {
        return read.inputs().stream()
                .mapToDouble(input -> input.type().shape().dimensions().stream()
                        .filter(dimension -> !dimension.isKnown())
                        .mapToDouble(dimension -> lengths.getOrDefault(dimension.toString(), 1L))
                        .reduce(1, (one, other) -> one * other))
                .max()
                .orElse(0);
    }

    /** Keeps inputs of these lengths if the model takes them and makes something of them. */
    private boolean run(SequencedMap<String, Long> lengths) {
        int number = trials.size();
        SampleInputs samples = new SampleInputs(usual.batch(), usual.length(), usual.seed() + number);
        Map<String, Tensor> inputs = samples.draw(read, lengths, SCALES.get(number % SCALES.size()), varied);
        boolean something = runs(inputs);
        if (something) {
            taken.add(lengths);
            trials.add(new Trial(Trial.words(lengths), inputs));
        }
        return something;
    }
}
