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
        try (Pass pass = network.forward(inputs, Mode.TRAINING)) {
            double value = backward(pass, labels);
            SequencedMap<String, Tensor> copies = new LinkedHashMap<>();
            List.of(reported).forEach(name -> copies.put(name, Tensors.tensor(pass.output(name))));
            update.step(network.weights(), network.gradients());
            return new Result(value, copies);
        } finally {
            network.zeroGradients();
        }
    }

    /** In a scope, as what is computed from the labels would stay with their manager. */
    private double backward(Pass pass, NDList labels) {
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            NDArray value = loss.of(pass.outputs(), labels);
            pass.backward(value);
            return value.sum().toType(DataType.FLOAT64, false).getDouble();
        }
    }
}
