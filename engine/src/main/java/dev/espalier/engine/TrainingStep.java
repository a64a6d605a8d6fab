package dev.espalier.engine;

import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.type.Tensor;
import java.util.Map;

/**
 * One step of training from front to back: gradients of the network's objective, update, and nothing left behind.
 *
 * @param network what is trained; it has an objective
 * @param update changes the weights
 */
public record TrainingStep(Network network, Update update) {

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
     * Does one step. Gradients are zero when it is done, even if it fails.
     *
     * @param inputs every input of the model by name
     * @param targets what the objective compares the model with, by the targets' names
     * @return the objective's terms before the weights were changed
     */
    public Terms run(Map<String, Tensor> inputs, Map<String, Tensor> targets) {
        try {
            Terms terms = network.addGradients(inputs, targets, 1);
            change();
            return terms;
        } finally {
            network.zeroGradients();
        }
    }

    /**
     * Does the second half of a step: changes the weights by the gradients that {@link Network#addGradients} has added up.
     * Gradients are zero when it is done, even if it fails.
     */
    public void apply() {
        try {
            change();
        } finally {
            network.zeroGradients();
        }
    }

    private void change() {
        update.step(network.weights(), network.gradients());
        network.zeroHeld();
    }
}
