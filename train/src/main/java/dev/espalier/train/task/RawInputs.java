package dev.espalier.train.task;

import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.ColumnEncoding.Arranged;
import dev.espalier.data.ColumnEncoding.Calendar;
import dev.espalier.data.ColumnEncoding.Index;
import dev.espalier.data.ColumnEncoding.Indicated;
import dev.espalier.data.ColumnEncoding.Joined;
import dev.espalier.data.ColumnEncoding.Measured;
import dev.espalier.data.ColumnEncoding.OneHot;
import dev.espalier.data.ColumnEncoding.Outside;
import dev.espalier.data.ColumnEncoding.Pixels;
import dev.espalier.data.ColumnEncoding.Plain;
import dev.espalier.data.ColumnEncoding.Scaled;
import dev.espalier.data.ColumnEncoding.Tokenized;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.Normalization;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.op.Where;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import dev.espalier.runtime.Judge;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * The file of a trained model takes data as people have it: the {@link Encoding} that it was trained with is inside, as nodes in
 * front of the model. Training itself has rows encoded before; so a file that is trained on loses these nodes again.
 *
 * <p>What a file takes is {@link Encoding#raw}, float32 wherever it is numbers:
 *
 * <pre>{@code
 * numbers       in their own units; NaN where one is missing
 * an image      [batch, channels, height, width], pixels from 0 to 255; as the model has it if its channels are last
 * a table       [batch, columns] in the order of the encoding; a category is its place among its values, and NaN or any other
 *               number if it is none of them; a date is its days since 1970-01-01, with the time as the fraction
 * a category    int64 [batch], its place among its values
 * tokens        int64 [batch, tokens]
 * }</pre>
 *
 * <p>That a model takes raw inputs is noted in it, with the names that it has for the encoding's inputs.
 */
public final class RawInputs {
    private static final String NOTE = "espalier.inputs";

    /** Behind an input's name: what the model in training was fed with under that name. */
    private static final String ENCODED = "/encoded";

    private static final long SEED = 1;

    /** Of rows that are drawn, how many there are for one that misses a number. */
    private static final int MISSING_ONE_IN = 8;

    private RawInputs() {}

    /**
     * A trained model as it is delivered.
     *
     * @param task what it was trained for
     * @param trained the model
     * @return the model with the task's encoding in front, and with notes of it and of what the model says, see {@link EncodingNote}
     *     and {@link CardNote}; as it is if rows are no columns
     */
    public static Graph of(Task task, Graph trained) {
        return task.encoding()
                .map(encoding -> CardNote.note(
                        before(trained, encoding, task.fitted().inputs()), encoding, task.signature(), task.fitted()))
                .orElse(trained);
    }

    /**
     * Puts an encoding in front of a model.
     *
     * @param trained a model that takes encoded inputs
     * @param encoding what they are encoded by
     * @param names the model's names by the encoding's; an input that the model does not read is missing
     * @return the model that takes raw inputs, under the same names
     */
    static Graph before(Graph trained, Encoding encoding, Map<String, String> names) {
        Map<String, ColumnEncoding> encodings = new LinkedHashMap<>();
        SequencedMap<String, String> known = new LinkedHashMap<>();
        for (ColumnEncoding input : encoding.inputs()) {
            String name = names.get(input.to().name());
            if (name != null) {
                encodings.put(name, input);
                known.put(input.to().name(), name);
            }
        }
        GraphBuilder builder = new GraphBuilder(trained.name());
        trained.initializers().forEach((name, initializer) -> add(builder, name, initializer));
        Set<String> encoded = new HashSet<>();
        for (Graph.Input input : trained.inputs()) {
            ColumnEncoding wanted = encodings.get(input.name());
            if (wanted == null) {
                input(builder, input.name(), input.type());
            } else if (!new Front(builder, input, wanted).isEmpty()) {
                encoded.add(input.name());
            }
        }
        UnaryOperator<String> renamed = name -> encoded.contains(name) ? name + ENCODED : name;
        trained.nodes().forEach(node -> builder.addAll(renamed(node, renamed)));
        Graph raw = builder.outputs(
                trained.outputs().stream().map(renamed).map(builder::value).toArray(Value[]::new));
        Map<String, String> metadata =
                new LinkedHashMap<>(EncodingNote.note(trained, encoding).metadata());
        metadata.put(NOTE, note(known));
        return raw.withMetadata(metadata);
    }

    private static void add(GraphBuilder builder, String name, Initializer initializer) {
        Value _ = switch (initializer.kind()) {
            case PARAMETER -> builder.parameter(name, initializer.tensor());
            case BUFFER -> builder.buffer(name, initializer.tensor());
            case CONSTANT -> builder.constant(name, initializer.tensor());
        };
    }

    private static Value input(GraphBuilder builder, String name, TensorType type) {
        return builder.input(name, type.data(), type.shape().dimensions().toArray());
    }

    private static Node renamed(Node node, UnaryOperator<String> names) {
        return new Node(
                node.name(), node.operator(), node.inputs().stream().map(names).toList(), node.outputs());
    }

    private static String note(Map<String, String> names) {
        List<String> lines = new ArrayList<>();
        names.forEach((name, own) -> lines.add(name + "\t" + own));
        return String.join("\n", lines);
    }

    /**
     * {@return whether a model takes raw inputs}
     *
     * @param model a model
     */
    public static boolean areIn(Graph model) {
        return names(model).isPresent();
    }

    /**
     * What a model calls the inputs of the encoding that is inside.
     *
     * @param model a model
     * @return its names by the encoding's; empty if no encoding is inside
     */
    public static Optional<SequencedMap<String, String>> names(Graph model) {
        String note = model.metadata().get(NOTE);
        if (note == null) {
            return Optional.empty();
        }
        SequencedMap<String, String> names = new LinkedHashMap<>();
        note.lines().forEach(line -> {
            int tab = line.indexOf('\t');
            names.put(line.substring(0, Math.max(tab, 0)), line.substring(tab + 1));
        });
        return Optional.of(names);
    }

    /**
     * A model as it is in training.
     *
     * @param model any model
     * @return the model without the encoding in front; as it is if there is none
     * @throws GraphException if somebody has changed the encoding, so that it cannot be told from the model
     */
    public static Graph without(Graph model) {
        if (!areIn(model)) {
            return model;
        }
        Set<String> front = new HashSet<>();
        Map<String, String> behind = new HashMap<>();
        List<Graph.Input> inputs = new ArrayList<>();
        for (Graph.Input input : model.inputs()) {
            String encoded = input.name() + ENCODED;
            Node last = model.producer(encoded);
            if (last != null) {
                collect(model, last, front);
                behind.put(encoded, input.name());
                inputs.add(new Graph.Input(input.name(), model.fact(encoded).type()));
            } else if (model.uses(input.name()).stream()
                    .anyMatch(use -> use.node().name().startsWith(input.name() + Front.PREFIX))) {
                throw new GraphException(
                        "the model has an encoding of its input %s in front, but no tensor %s behind it, so it cannot be taken off for training: take the file as espalier wrote it"
                                .formatted(input.name(), encoded));
            } else {
                inputs.add(input);
            }
        }
        UnaryOperator<String> renamed = name -> behind.getOrDefault(name, name);
        List<Node> nodes = model.nodes().stream()
                .filter(node -> !front.contains(node.name()))
                .map(node -> renamed(node, renamed))
                .toList();
        SequencedMap<String, Initializer> initializers = new LinkedHashMap<>(model.initializers());
        initializers
                .keySet()
                .removeIf(name -> !model.uses(name).isEmpty()
                        && model.uses(name).stream()
                                .allMatch(use -> front.contains(use.node().name())));
        Map<String, String> metadata = new LinkedHashMap<>(model.metadata());
        metadata.remove(NOTE);
        return new Graph(
                        model.name(),
                        inputs,
                        initializers,
                        nodes,
                        model.outputs().stream().map(renamed).toList())
                .withMetadata(metadata);
    }

    private static void collect(Graph model, Node node, Set<String> names) {
        names.add(node.name());
        for (String input : node.inputs()) {
            Node before = model.producer(input);
            if (before != null && !names.contains(before.name())) {
                collect(model, before, names);
            }
        }
    }

    /**
     * Makes one model take what another takes.
     *
     * @param model a model
     * @param other one of the same inputs, such as what is left of it after pruning; as it is in training
     * @return the other with the encoding of the first in front, and with its notes; as it is if that has none
     */
    public static Graph like(Graph model, Graph other) {
        Optional<SequencedMap<String, String>> names = names(model);
        if (names.isEmpty()) {
            return other;
        }
        Graph raw = before(other, EncodingNote.of(model).orElseThrow(() -> lost(model)), names.get());
        Map<String, String> metadata = new LinkedHashMap<>(raw.metadata());
        model.metadata().forEach(metadata::putIfAbsent);
        return raw.withMetadata(metadata);
    }

    private static GraphException lost(Graph model) {
        return new GraphException(
                "%s takes raw inputs, but what they are encoded by is not noted in it any more: take the file"
                                .formatted(model.name())
                        + " as espalier wrote it");
    }

    /**
     * Has a judge look at rows like those that a model was trained on too. What else it draws are numbers around 0, all of
     * which are one and the same to a model of prices, say.
     *
     * @param judge a judge of the model
     * @param model a model
     * @param batch how many rows
     * @return the judge; closing either closes both
     */
    public static Judge judge(Judge judge, Graph model, long batch) {
        return rows(model, batch)
                .map(rows -> judge.with(rows, "rows like those of the training"))
                .orElse(judge);
    }

    private static Optional<Map<String, Tensor>> rows(Graph model, long batch) {
        Optional<Encoding> encoding = EncodingNote.of(model);
        Optional<SequencedMap<String, String>> names = names(model);
        if (encoding.isEmpty()
                || names.isEmpty()
                || names.get().size() < model.inputs().size()) {
            return Optional.empty();
        }
        SplittableRandom random = new SplittableRandom(SEED);
        Map<String, Tensor> drawn = new LinkedHashMap<>();
        for (ColumnEncoding input : encoding.get().inputs()) {
            String name = names.get().get(input.to().name());
            if (name == null) {
                continue;
            }
            if (input.to() instanceof Field.Tokens
                    || input instanceof Outside) { // which the judge draws well by itself
                return Optional.empty();
            }
            drawn.put(name, draw(input, batch, random));
        }
        return Optional.of(drawn);
    }

    private static Tensor draw(ColumnEncoding encoding, long batch, SplittableRandom random) {
        if (encoding.raw().to() instanceof Field.Dense dense) {
            List<Long> shape = new ArrayList<>(List.of(batch));
            dense.shape().forEach(length -> shape.add((long) length));
            List<Double> values = new ArrayList<>();
            for (long row = 0; row < batch; row++) {
                draw(encoding, random, values);
            }
            return Tensor.compute(
                    DataType.FLOAT32,
                    shape.stream().mapToLong(Long::longValue).toArray(),
                    i -> values.get(Math.toIntExact(i)));
        }
        int choices = encoding.from().getFirst() instanceof Field.Category category
                ? category.values().size()
                : 1;
        return Tensor.computeLongs(DataType.INT64, new long[] {batch}, _ -> random.nextInt(choices));
    }

    private static void draw(ColumnEncoding encoding, SplittableRandom random, List<Double> values) {
        switch (encoding) {
            case Joined joined -> joined.parts().forEach(part -> draw(part, random, values));
            case OneHot(Field.Category field) ->
                values.add((double) random.nextInt(field.values().size()));
            case Index(Field.Category field) ->
                values.add((double) random.nextInt(field.values().size()));
            case Scaled scaled -> draw(scaled.field(), scaled.normalization(), random, values);
            case Calendar calendar -> draw(calendar.days(), random, values);
            case Indicated indicated -> {
                draw(indicated.encoding(), random, values);
                if (random.nextInt(MISSING_ONE_IN) == 0) {
                    values.set(values.size() - 1, Double.NaN);
                }
            }
            case Measured measured -> draw(measured.field(), measured.statistics(), random, values);
            case Plain plain -> draw(plain.field(), plain.statistics(), random, values);
            case Pixels pixels -> draw(pixels.field(), pixels.statistics(), random, values);
            case Arranged arranged -> draw(arranged.image(), random, values); // noise, in whatever order
            case Outside outside -> draw(outside.encoding(), random, values);
            case Tokenized tokenized -> throw new IllegalArgumentException(tokenized + " are no numbers");
        }
    }

    private static void draw(Field field, Normalization unit, SplittableRandom random, List<Double> values) {
        int size = field instanceof Field.Dense dense ? dense.size() : 1;
        int run = size / unit.mean().size();
        for (int i = 0; i < size; i++) {
            values.add(
                    field instanceof Field.Image
                            ? random.nextInt(Pixels.WHITE + 1)
                            : unit.mean().get(i / run) + unit.deviation().get(i / run) * random.nextGaussian());
        }
    }

    /** The nodes in front of one input. */
    private static final class Front {
        /** Behind the input's name: before the names of nodes and constants. */
        static final String PREFIX = "/encode/";

        private final GraphBuilder builder;
        private final String input;
        private final List<Cell> cells = new ArrayList<>();
        private final List<Turn> turns = new ArrayList<>();
        private boolean empty;

        /**
         * One number that the model was fed with in training.
         *
         * @param column where it comes from, among the raw ones
         * @param mean what is subtracted
         * @param deviation what it is divided by
         * @param missing what stands in for NaN
         * @param code the number that becomes 1, while all others become 0; {@link #NUMBER} or {@link #INDICATOR} if it is no category
         */
        private record Cell(int column, double mean, double deviation, double missing, int code) {
            /** In place of a code: what becomes 1 where it is missing, and 0 where it is not. */
            static final int INDICATOR = -2;

            /** In place of a code: nothing is chosen. */
            static final int NUMBER = -1;

            static Cell indicator(int column) {
                return new Cell(column, 0, 1, Double.NaN, INDICATOR);
            }

            boolean isCategory() {
                return code >= 0;
            }

            boolean isIndicator() {
                return code == INDICATOR;
            }
        }

        /**
         * Sine or cosine of a date's place in a cycle.
         *
         * @param column where the date comes from, among the raw columns
         * @param cycle the cycle
         * @param cosine whether it is the cosine
         * @param at where it stands, among the numbers that the model was fed with
         */
        private record Turn(int column, Calendar.Cycle cycle, boolean cosine, int at) {}

        Front(GraphBuilder builder, Graph.Input input, ColumnEncoding encoding) {
            this.builder = builder;
            this.input = input.name();
            switch (encoding) {
                case Joined joined -> {
                    int columns = read(joined, 0);
                    Value raw = builder.input(
                            input.name(), DataType.FLOAT32, input.type().shape().get(0), columns);
                    encodeColumns(raw, columns);
                }
                case Calendar _, Indicated _ -> {
                    Value raw = builder.input(
                            input.name(), DataType.FLOAT32, input.type().shape().get(0));
                    read(encoding, 0);
                    encodeColumns(add("column", new Unsqueeze(List.of(1L)), raw), 1);
                }
                case OneHot(Field.Category category) -> {
                    Value raw = builder.input(
                            input.name(), DataType.INT64, input.type().shape().get(0));
                    Value codes = constant(
                            "codes",
                            Tensor.computeLongs(
                                    DataType.INT64,
                                    new long[] {category.values().size()},
                                    i -> i));
                    Value column = add("column", new Unsqueeze(List.of(1L)), raw);
                    Value equal = add("equal", new Binary(Binary.Function.EQUAL), column, codes);
                    builder.add(this.input + ENCODED, new Cast(DataType.FLOAT32), equal);
                }
                case Arranged arranged -> {
                    Value raw = RawInputs.input(builder, input.name(), input.type());
                    int channels = read(arranged.image(), 0);
                    if (arranged.reversed()) {
                        Collections.reverse(cells);
                    }
                    encode(
                            raw,
                            arranged.channelsLast() ? new long[] {channels} : new long[] {channels, 1, 1},
                            input.name() + ENCODED);
                }
                case Outside _ -> {
                    RawInputs.input(builder, input.name(), input.type());
                    empty = true;
                }
                case Scaled _, Measured _, Plain _, Index _, Pixels _, Tokenized _ -> {
                    Value raw = RawInputs.input(builder, input.name(), input.type());
                    if (encoding.to() instanceof Field.Dense dense) {
                        read(encoding, 0);
                        encode(raw, shape(dense), input.name() + ENCODED);
                    } else {
                        empty = true;
                    }
                }
            }
        }

        /** One mean for a channel of an image, and for each of other numbers. */
        private static long[] shape(Field.Dense field) {
            return field instanceof Field.Image image
                    ? new long[] {image.channels(), 1, 1}
                    : field.shape().stream().mapToLong(Integer::longValue).toArray();
        }

        boolean isEmpty() {
            return empty;
        }

        /** What becomes of the next columns; of an image that stands alone, one pixel of each channel. */
        private int read(ColumnEncoding encoding, int column) {
            switch (encoding) {
                case Joined joined -> {
                    int next = column;
                    for (ColumnEncoding part : joined.parts()) {
                        next = read(part, next);
                        if (part.raw().to() instanceof Field.Image image) {
                            repeat(image);
                            next += image.size() - image.channels();
                        }
                    }
                    return next;
                }
                case OneHot(Field.Category category) -> {
                    for (int code = 0; code < category.values().size(); code++) {
                        cells.add(new Cell(column, 0, 1, -1, code));
                    }
                    return column + 1;
                }
                case Scaled scaled -> {
                    return read(scaled.field(), scaled.normalization(), scaled.missing(), column);
                }
                case Calendar calendar -> {
                    int next = read(calendar.days(), column);
                    for (Calendar.Cycle cycle : calendar.cycles()) {
                        for (boolean cosine : new boolean[] {false, true}) {
                            turns.add(new Turn(column, cycle, cosine, cells.size() + turns.size()));
                        }
                    }
                    return next;
                }
                case Indicated indicated -> {
                    int next = read(indicated.encoding(), column);
                    cells.add(Cell.indicator(column));
                    return next;
                }
                case Plain _, Measured _, Index _, Pixels _, Tokenized _, Arranged _, Outside _ -> {
                    return encoding.to() instanceof Field.Dense dense
                            ? read(dense, Normalization.none(dense.statistics()), Double.NaN, column)
                            : column + 1;
                }
            }
        }

        private int read(Field.Dense field, Normalization by, double missing, int column) {
            boolean image = field instanceof Field.Image;
            double white = image ? Pixels.WHITE : 1;
            for (int i = 0; i < by.mean().size(); i++) {
                cells.add(new Cell(
                        column + i,
                        white * by.mean().get(i),
                        white * by.deviation().get(i),
                        image ? Double.NaN : missing,
                        Cell.NUMBER));
            }
            return column + by.mean().size();
        }

        /** In a vector, every pixel is a column. */
        private void repeat(Field.Image image) {
            List<Cell> channels = List.copyOf(cells.subList(cells.size() - image.channels(), cells.size()));
            cells.subList(cells.size() - image.channels(), cells.size()).clear();
            int pixels = image.height() * image.width();
            int first = channels.getFirst().column();
            for (int i = 0; i < image.size(); i++) {
                Cell channel = channels.get(i / pixels);
                cells.add(new Cell(first + i, channel.mean(), channel.deviation(), channel.missing(), Cell.NUMBER));
            }
        }

        /** The columns of a table; what dates become is joined to the rest, and everything brought into its order. */
        private void encodeColumns(Value raw, int columns) {
            Value gathered = gathered(raw, columns);
            long[] shape = {cells.size()};
            if (turns.isEmpty()) {
                encode(gathered, shape, input + ENCODED);
                return;
            }
            Value rest = encode(gathered, shape, name("rest", false));
            empty = false;
            List<Integer> joined = new ArrayList<>(
                    IntStream.range(0, cells.size() + turns.size()).boxed().toList());
            List<Integer> turning = turns.stream().map(Turn::at).toList();
            joined.removeAll(new HashSet<>(turning));
            joined.addAll(turning);
            boolean sorted = joined.equals(joined.stream().sorted().toList());
            Value all = builder.add(name("joined", sorted), new Concat(1), rest, turned(raw, columns));
            if (!sorted) {
                Value places = constant(
                        "places",
                        Tensor.computeLongs(DataType.INT64, new long[] {joined.size()}, i -> joined.indexOf((int) i)));
                builder.add(name("", true), new Gather(1), all, places);
            }
        }

        /** By the same steps as {@link Calendar} takes them, so that both have the same numbers. */
        private Value turned(Value raw, int columns) {
            Value days = add("days", new Unary(Unary.Function.FLOOR), raw);
            Value both = add("days_and_times", new Concat(1), days, raw);
            Value sources = constant(
                    "dates",
                    Tensor.computeLongs(
                            DataType.INT64,
                            new long[] {turns.size()},
                            i -> turns.get((int) i).column()
                                    + (turns.get((int) i).cycle().wholeDays() ? 0 : columns)));
            Value dates = add("dates_gathered", new Gather(1), both, sources);
            Value lengths = constants("cycles", turn -> turn.cycle().length());
            Value count = add("cycles_counted", new Binary(Binary.Function.DIVIDE), dates, lengths);
            Value whole = add("cycles_whole", new Unary(Unary.Function.FLOOR), count);
            Value before = add("cycles_before", new Binary(Binary.Function.MULTIPLY), whole, lengths);
            Value place = add("places_in_cycles", new Binary(Binary.Function.SUBTRACT), dates, before);
            Value scaled = add(
                    "turns",
                    new Binary(Binary.Function.MULTIPLY),
                    place,
                    constants("turn", turn -> turn.cycle().scale()));
            Value angles = add(
                    "angles",
                    new Binary(Binary.Function.ADD),
                    scaled,
                    constants("angle", turn -> turn.cycle().offset(turn.cosine())));
            Value sines = add("sines", new Unary(Unary.Function.SIN), angles);
            Value isMissing = add("is_missing_date", new Unary(Unary.Function.IS_NAN), dates);
            Value zero = constant("zero", Tensor.of(new float[] {0}, 1));
            return add("turned", new Where(), isMissing, zero, sines);
        }

        private Value constants(String name, ToDoubleFunction<Turn> number) {
            return constant(
                    name,
                    floats(
                            new long[] {turns.size()},
                            turns.stream().mapToDouble(number).boxed().toList()));
        }

        private Value gathered(Value raw, int columns) {
            List<Integer> wanted = cells.stream().map(Cell::column).toList();
            if (wanted.equals(IntStream.range(0, columns).boxed().toList())) {
                return raw;
            }
            Value indices = constant(
                    "columns",
                    Tensor.computeLongs(DataType.INT64, new long[] {wanted.size()}, i -> wanted.get((int) i)));
            return add("gathered", new Gather(1), raw, indices);
        }

        /**
         * As few nodes as there can be, however many columns.
         *
         * @return what the last node makes, which is called as was wished; what is given if there is nothing to do
         */
        private Value encode(Value raw, long[] shape, String last) {
            SequencedMap<String, BiFunction<String, Value, Value>> steps = new LinkedHashMap<>();
            List<Value> filled = new ArrayList<>(); // what the codes of categories are compared with
            if (cells.stream().anyMatch(cell -> !Double.isNaN(cell.missing))) {
                steps.put("filled", (name, value) -> {
                    Value isMissing = add("is_missing", new Unary(Unary.Function.IS_NAN), value);
                    Value standIn = constant(
                            "missing",
                            floats(shape, cells.stream().map(Cell::missing).toList()));
                    return builder.add(name, new Where(), isMissing, standIn, value);
                });
            }
            if (cells.stream().anyMatch(cell -> cell.mean != 0 || cell.deviation != 1)) {
                steps.put("scaled", (name, value) -> {
                    filled.add(value);
                    Value mean = constant(
                            "mean", floats(shape, cells.stream().map(Cell::mean).toList()));
                    Value deviation = constant(
                            "deviation",
                            floats(shape, cells.stream().map(Cell::deviation).toList()));
                    Value shifted = add("shifted", new Binary(Binary.Function.SUBTRACT), value, mean);
                    return builder.add(name, new Binary(Binary.Function.DIVIDE), shifted, deviation);
                });
            }
            if (cells.stream().anyMatch(Cell::isCategory)) {
                steps.put("chosen", (name, value) -> {
                    Value codes = constant(
                            "codes",
                            floats(
                                    shape,
                                    cells.stream()
                                            .map(cell -> (double) cell.code)
                                            .toList()));
                    Value equal = add(
                            "equal",
                            new Binary(Binary.Function.EQUAL),
                            filled.isEmpty() ? value : filled.getFirst(),
                            codes);
                    return where(name, "is_category", Cell::isCategory, equal, value);
                });
            }
            if (cells.stream().anyMatch(Cell::isIndicator)) {
                steps.put(
                        "indicated",
                        (name, value) -> where(
                                name,
                                "is_indicator",
                                Cell::isIndicator,
                                add("is_nan", new Unary(Unary.Function.IS_NAN), raw),
                                value));
            }
            empty = steps.isEmpty();
            Value value = raw;
            for (Map.Entry<String, BiFunction<String, Value, Value>> step : steps.sequencedEntrySet()) {
                boolean isLast = step.equals(steps.lastEntry());
                value = step.getValue().apply(isLast ? last : name(step.getKey(), false), value);
            }
            return value;
        }

        /** Truths as 0 and 1 in some cells, and the others as they are. */
        private Value where(String name, String mask, Predicate<Cell> chosen, Value truths, Value others) {
            if (cells.stream().allMatch(chosen)) {
                return builder.add(name, new Cast(DataType.FLOAT32), truths);
            }
            Value numbers = add(mask + "_number", new Cast(DataType.FLOAT32), truths);
            Value isChosen = constant(
                    mask,
                    Tensor.computeLongs(
                            DataType.BOOL, new long[] {cells.size()}, i -> chosen.test(cells.get((int) i)) ? 1 : 0));
            return builder.add(name, new Where(), isChosen, numbers, others);
        }

        private String name(String node, boolean isLast) {
            return isLast ? input + ENCODED : input + PREFIX + node;
        }

        private Value add(String node, Operator operator, Value... from) {
            return builder.add(name(node, false), operator, from);
        }

        private Value constant(String name, Tensor contents) {
            return builder.constant(input + PREFIX + name, contents);
        }

        private static Tensor floats(long[] shape, List<Double> values) {
            return Tensor.compute(DataType.FLOAT32, shape, i -> values.get(Math.toIntExact(i)));
        }
    }
}
