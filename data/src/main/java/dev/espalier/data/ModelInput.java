package dev.espalier.data;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.TensorType;
import java.util.List;
import java.util.OptionalLong;

/**
 * One of a model's inputs, as its file declares it.
 *
 * @param name what the model calls it
 * @param type its numbers and its shape, the batch first
 * @param sample the lengths of one row, without the batch, of which those that the model leaves open are ones that it takes
 * @param places how many places the table has that its elements are looked up in, such as the embeddings of tokens; empty if they are
 *     looked up in none
 */
public record ModelInput(String name, TensorType type, List<Integer> sample, OptionalLong places) {
    /** Copies the list. */
    public ModelInput {
        sample = List.copyOf(sample);
    }

    /** {@return whether it takes sequences of token ids, or what is said of each of them: whole numbers, [batch, tokens]} */
    public boolean isSequence() {
        return isWhole() && type.shape().rank() == 2;
    }

    /** {@return whether it takes whole numbers} */
    public boolean isWhole() {
        return type.data() == DataType.INT64 || type.data() == DataType.INT32;
    }

    @Override
    public String toString() {
        return name + " " + type;
    }
}
