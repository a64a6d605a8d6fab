package dev.espalier.train.task;

import dev.espalier.data.Field;
import dev.espalier.graph.Graph;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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

    /**
     * Something that a model says, in single precision.
     *
     * @param name the task's name for it
     * @param sample the shape for one sample, without the batch
     */
    public record Output(String name, Shape sample) {
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
        Optional<Field> first = fields.stream().filter(Field.Tokens.class::isInstance).findFirst();
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
            case Field.Tokens _ -> new Input(field.name(), DataType.INT64, Shape.of("tokens"), required);
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
        return new Fitting(this, model, what).fit();
    }
}
