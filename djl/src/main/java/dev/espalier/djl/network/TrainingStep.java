package dev.espalier.djl.network;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.types.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.tensor.TensorView;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * One step of training from front to back: forward, loss, backward, update, and nothing left behind.
 *
 * @param network what is trained
 * @param loss what is made small
 * @param update changes the weights
 */
public record TrainingStep(Network network, Loss loss, Update update) {

    /** What changes weights by their gradients, such as {@code optimizer::step}. */
    @FunctionalInterface
    public interface Update {
        /**
         * Changes the weights in place.
         *
         * @param weights all parameters by name
         * @param gradients the gradients of the trained ones by name
         */
        void step(Map<String, TensorView> weights, Map<String, TensorView> gradients);
    }

    /**
     * What a step found.
     *
     * @param loss the loss before the weights were changed
     * @param outputs copies of the outputs that were asked for
     */
    public record Result(double loss, SequencedMap<String, Tensor> outputs) {}

    /**
     * Does one step. Gradients are zero when it is done, even if it fails.
     *
     * @param inputs every input of the network by name; they stay the caller's
     * @param labels what the loss compares the outputs with; they stay the caller's
     * @param reported the names of outputs that are copied into the result
     * @return the loss, and those outputs
     */
    public Result run(Map<String, NDArray> inputs, NDList labels, String... reported) {
        try {
            Result result = addGradients(inputs, labels, 1, reported);
            update.step(network.weights(), network.gradients());
            return result;
        } finally {
            network.zeroGradients();
        }
    }

    /**
     * Does the first half of a step: adds the gradients of a batch to what is there. Several of them may come before one
     * {@link #update}, each with its share of the step.
     *
     * @param inputs every input of the network by name; they stay the caller's
     * @param labels what the loss compares the outputs with; they stay the caller's
     * @param share what the gradients are multiplied with
     * @param reported the names of outputs that are copied into the result
     * @return the loss, not multiplied, and those outputs
     */
    public Result addGradients(Map<String, NDArray> inputs, NDList labels, double share, String... reported) {
        try (Pass pass = network.forward(inputs, Mode.TRAINING)) {
            double value = backward(pass, labels, share);
            SequencedMap<String, Tensor> copies = new LinkedHashMap<>();
            List.of(reported).forEach(name -> copies.put(name, Tensors.tensor(pass.output(name))));
            return new Result(value, copies);
        }
    }

    /** Does the second half of a step: changes the weights. Gradients are zero when it is done, even if it fails. */
    public void applyGradients() {
        try {
            update.step(network.weights(), network.gradients());
        } finally {
            network.zeroGradients();
        }
    }

    /** In a scope, as what is computed from the labels would stay with their manager. */
    private double backward(Pass pass, NDList labels, double share) {
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            NDArray value = loss.of(pass.outputs(), labels);
            pass.backward(share == 1 ? value : value.mul(share));
            return value.sum().toType(DataType.FLOAT64, false).getDouble();
        }
    }
}
