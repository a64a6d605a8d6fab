package dev.espalier.train.task;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import java.util.Locale;

/** What an output of a model is. */
public sealed interface OutputMeaning {
    /** @param probabilities whether they are probabilities; logits otherwise */
    record Classes(boolean probabilities) implements OutputMeaning {}

    /** A vector. */
    record Embedding() implements OutputMeaning {}

    /** @param mask the input that is 0 where there is no token */
    record Tokens(String mask) implements OutputMeaning {}

    /** Numbers. */
    record Numbers() implements OutputMeaning {}

    /**
     * Guess.
     *
     * @param model the model
     * @param output its output
     * @return what it is
     */
    static OutputMeaning guess(Graph model, String output) {
        Shape shape = model.shape(output);
        Node producer = model.producer(output);
        if (producer != null && producer.operator() instanceof Softmax softmax) {
            return new Classes(!softmax.logarithm());
        }
        String name = output.toLowerCase(Locale.ROOT);
        if (shape.rank() == 3) {
            return model.inputs().stream()
                    .filter(input -> input.type().data() == DataType.INT64
                            && input.name().contains("mask")
                            && input.type().shape().rank() == 2)
                    .findFirst()
                    .<OutputMeaning>map(input -> new Tokens(input.name()))
                    .orElseGet(Numbers::new);
        }
        if (shape.rank() == 2 && name.contains("embed")) {
            return new Embedding();
        }
        return shape.rank() == 2 && name.contains("logit") ? new Classes(false) : new Numbers();
    }
}
