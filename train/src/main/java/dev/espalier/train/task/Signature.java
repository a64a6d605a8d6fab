package dev.espalier.train.task;

import dev.espalier.data.Field;
import dev.espalier.data.Normalization;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * What a task wants of a model: what it is given and what it says. The names are the task's; a model may call them otherwise, see
 * {@link #fit}.
 *
 * @param data what to call the data, in messages
 * @param inputs what the model is given
 * @param outputs what it says
 */
public record Signature(String data, List<Input> inputs, List<Output> outputs) {
    static final Dimension BATCH = Dimension.symbol("batch");

    /** Behind an output's name: what it was before its unit was put behind it. */
    private static final String FRESH = "/normalised";

    /** Copies the lists. */
    public Signature {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
    }

    /**
     * Something that a model is given.
     *
     * @param name the task's name for it
     * @param type how its numbers are stored
     * @param sample the shape of one sample, without the batch; a symbol is a length that differs from batch to batch
     * @param required whether a model must have it; what is not required is left out for a model that does not
     */
    public record Input(String name, DataType type, Shape sample, boolean required) {
        /**
         * The shape of a batch.
         *
         * @return the batch's axis first
         */
        public Shape batched() {
            return Signature.batched(sample);
        }

        @Override
        public String toString() {
            return name + " " + batched();
        }
    }

    /** What the numbers mean that a model says. */
    public sealed interface Meaning {
        /** Logits: a softmax along the last axis makes probabilities of them. */
        record Classes() implements Meaning {}

        /** Logits of labels that do not exclude each other: a sigmoid makes a probability of each. */
        record Labels() implements Meaning {}

        /**
         * Numbers in units of their own.
         *
         * @param unit their means and deviations: one of each for every number that is said of a sample
         */
        record Quantities(Normalization unit) implements Meaning {}

        /**
         * Numbers that have no unit.
         *
         * @param count how many are said of a sample
         * @return means of 0 and deviations of 1
         */
        static Meaning numbers(int count) {
            return new Quantities(Normalization.none(count));
        }
    }

    /**
     * Something that a model says, in single precision.
     *
     * @param name the task's name for it
     * @param sample the shape for one sample, without the batch
     * @param meaning what the numbers mean
     */
    public record Output(String name, Shape sample, Meaning meaning) {
        /**
         * The shape for a batch.
         *
         * @return the batch's axis first
         */
        public Shape batched() {
            return Signature.batched(sample);
        }

        @Override
        public String toString() {
            return name + " " + batched();
        }
    }

    /**
     * Puts the units of what is to be said behind a model that says numbers around 0 with a deviation of about 1, as models with
     * fresh weights do. Such a model learns well, whatever the unit, and its outputs are in that unit nevertheless.
     *
     * @param model a model that fits
     * @return the model with {@code output · deviation + mean} in place of each output that has a unit, under the same names
     */
    public Graph inUnits(Graph model) {
        Fitted names = fit(model, "the model");
        SequencedMap<String, Initializer> initializers =
                new LinkedHashMap<>(names.model().initializers());
        Set<String> scaled = new HashSet<>();
        List<Node> nodes = new ArrayList<>();
        for (Output output : outputs) {
            if (output.meaning() instanceof Meaning.Quantities(Normalization unit)
                    && !unit.equals(Normalization.none(unit.mean().size()))) {
                String name = names.output(output.name());
                scaled.add(name);
                initializers.put(
                        name + "/deviation",
                        new Initializer(numbers(unit.deviation(), output.sample()), Kind.CONSTANT));
                initializers.put(name + "/mean", new Initializer(numbers(unit.mean(), output.sample()), Kind.CONSTANT));
                nodes.add(new Node(
                        name + "/scale",
                        new Binary(Binary.Function.MULTIPLY),
                        List.of(name + FRESH, name + "/deviation"),
                        List.of(name + "/scaled")));
                nodes.add(new Node(
                        name + "/shift",
                        new Binary(Binary.Function.ADD),
                        List.of(name + "/scaled", name + "/mean"),
                        List.of(name)));
            }
        }
        UnaryOperator<String> renamed = name -> scaled.contains(name) ? name + FRESH : name;
        for (Node node : names.model().nodes()) {
            nodes.add(new Node(
                    node.name(),
                    node.operator(),
                    node.inputs().stream().map(renamed).toList(),
                    node.outputs().stream().map(renamed).toList()));
        }
        return scaled.isEmpty() ? model : names.model().with(initializers, nodes);
    }

    static Tensor numbers(List<Double> values, Shape sample) {
        return Tensor.compute(DataType.FLOAT32, sample.lengths(), i -> values.get(Math.toIntExact(i)));
    }

    private static Shape batched(Shape sample) {
        List<Dimension> dimensions = new ArrayList<>(List.of(BATCH));
        dimensions.addAll(sample.dimensions());
        return new Shape(dimensions);
    }

    /**
     * What a model is given of some columns: numbers and images as they are, categories as their numbers, sequences as ids.
     *
     * @param fields the columns, encoded
     * @return an input for each, required; of several sequences only the first is, since a mask and the like only say more of it
     */
    public static List<Input> inputsOf(List<Field> fields) {
        Optional<Field> first =
                fields.stream().filter(Field.Tokens.class::isInstance).findFirst();
        return fields.stream()
                .map(field -> input(field, !(field instanceof Field.Tokens) || first.equals(Optional.of(field))))
                .toList();
    }

    private static Input input(Field field, boolean required) {
        return switch (field) {
            case Field.Dense dense ->
                new Input(
                        field.name(),
                        DataType.FLOAT32,
                        new Shape(dense.shape().stream().map(Dimension::of).toList()),
                        required);
            case Field.Category _ -> new Input(field.name(), DataType.INT64, Shape.SCALAR, required);
            case Field.Tokens tokens ->
                new Input(
                        field.name(),
                        DataType.INT64,
                        tokens.fixed() ? Shape.of(tokens.most()) : Shape.of("tokens"),
                        required);
        };
    }

    /**
     * Holds a model to this. Inputs and outputs are found by name; of those that are left, a single one is taken for a single one,
     * and otherwise shapes must tell. A batch size that the model declares is set free: many files have one only because their
     * exporter was shown a single sample. Lengths that it leaves open become those of the data.
     *
     * @param model the model
     * @param what what messages call it, such as {@code model.file = a.onnx}
     * @return the model with inputs of these shapes, and the names that it has for them
     * @throws IllegalArgumentException if it does not fit; the message says what to change
     */
    public Fitted fit(Graph model, String what) {
        return fit(model, what, "change its last layer");
    }

    /**
     * The same with a mend for a model that says something else.
     *
     * @param model the model
     * @param what what messages call it
     * @param mend what to do if its outputs are others
     * @return the model with inputs of these shapes, and the names that it has for them
     * @throws IllegalArgumentException if it does not fit; the message says what to change
     */
    public Fitted fit(Graph model, String what, String mend) {
        return new Fitting(this, model, what, mend).fit();
    }

    /**
     * Holds the inputs of a model to this, whatever it says: the first half of {@link #fit}.
     *
     * @param model the model
     * @param what what messages call it
     * @return the model with inputs of these shapes
     * @throws IllegalArgumentException if they do not fit; the message says what to change
     */
    public Graph withInputs(Graph model, String what) {
        return new Fitting(this, model, what, "").withInputs();
    }
}
