package dev.espalier.djl.network;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import java.util.SequencedMap;

/** What training makes small: a number computed from the outputs of a network and what they should be. */
@FunctionalInterface
public interface Loss {

    /**
     * Computes it by operations that have gradients. What is made on the way is closed by whoever asks.
     *
     * @param outputs what came out of the network, by name and in order
     * @param labels what it is compared with
     * @return the loss, as an array of one number
     */
    NDArray of(SequencedMap<String, NDArray> outputs, NDList labels);

    /**
     * The mean of {@code −ln softmax(logits)[label]}, for a network with one output {@code [batch, classes]}.
     *
     * @return a loss that takes one list of labels, {@code [batch]}, of whole numbers from 0
     */
    static Loss softmaxCrossEntropy() {
        return (outputs, labels) -> crossEntropy(outputs.firstEntry().getValue(), labels.singletonOrThrow());
    }

    /**
     * The mean of {@code −ln softmax(logits)[label]}.
     *
     * @param logits {@code [batch, classes]}
     * @param labels {@code [batch]}, whole numbers from 0
     * @return one number
     */
    static NDArray crossEntropy(NDArray logits, NDArray labels) {
        NDArray index = labels.toType(DataType.INT64, false).reshape(-1, 1);
        return logits.logSoftmax(-1).gather(index, 1).mean().neg();
    }
}
