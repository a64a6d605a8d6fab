package dev.espalier.engine;

import dev.espalier.core.step.StepCompanion;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.type.Tensor;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Steps of training from front to back: gradients of the network's objective, update, and nothing left behind. */
public final class TrainingStep {
    /** Whether a step may begin before the one before it is done. */
    private static final boolean EARLY = Boolean.parseBoolean(System.getProperty("espalier.early", "true"));

    /** Steps that have to pass without one that was corrected before the next one begins early again: to begin twice takes longer. */
    private static final int CALM = 32;

    private final Network network;
    private final Update update;

    /** How many of them are still to pass. */
    private int unrest;

    /** What changes weights by their gradients, such as {@code optimizer::step}. */
    @FunctionalInterface
    public interface Update {
        /**
         * Changes the weights in place.
         *
         * @param weights all parameters by name
         * @param gradients the gradients of the trained ones by name
         * @param companion may be told how far the change is; then more can be done meanwhile. Who changes weights after an
         *     optimizer's step gives it the {@link StepCompanion#unsettled} one
         */
        void step(Map<String, TensorView> weights, Map<String, TensorView> gradients, StepCompanion companion);
    }

    /**
     * What comes after a step.
     *
     * @param follows says, once the step is queued or done, whether the next one follows at once, and nobody looks at the network in between
     * @param stage puts what the next step needs on its way to a GPU that is still at this one
     * @param begin begins with the next step: queues its first pass; asked for again, it queues the same once more
     */
    public record Next(BooleanSupplier follows, Runnable stage, Runnable begin) {
        /** Nothing. */
        public static final Next NOTHING = new Next(() -> false, () -> {}, () -> {});
    }

    /**
     * Steps of a network.
     *
     * @param network what is trained; it has an objective
     * @param update changes the weights
     */
    public TrainingStep(Network network, Update update) {
        this.network = network;
        this.update = update;
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
            apply();
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
        apply(Next.NOTHING);
    }

    /**
     * The same, and begins with the next step if it follows: on a GPU as soon as this one is queued, so that the GPU need not wait for
     * anybody to look at what came of it. If the update is corrected after that, which is seldom, the next step begins once more, as if it
     * had not before. Then gradients are what its first pass has added. If it fails, the next step has not begun.
     *
     * @param next what comes after the step
     */
    public void apply(Next next) {
        Turn turn = new Turn(next);
        try {
            update.step(network.weights(), network.gradients(), turn);
            turn.end();
        } catch (RuntimeException | Error failure) {
            turn.giveUp(failure);
            throw failure;
        }
    }

    /** A step and the beginning of the next. */
    private final class Turn implements StepCompanion {
        private final Next next;
        private boolean begun;

        /** Why the next step could not begin while this one was under way; null if it could. */
        private @Nullable RuntimeException failure;

        private Turn(Next next) {
            this.next = next;
        }

        @Override
        public void underWay(boolean settled) {
            if (EARLY && settled && next.follows().getAsBoolean() && unrest == 0 && network.isRepeatable()) {
                network.putAside();
                beginOrTellLater();
            } else {
                next.stage().run();
            }
        }

        @Override
        public void corrected() {
            unrest = CALM + 1;
            if (begun && failure == null) {
                network.takeBack();
                beginOrTellLater();
            }
        }

        /** A step that is under way goes to its end, and is counted. */
        private void beginOrTellLater() {
            try {
                begin();
            } catch (RuntimeException problem) {
                failure = problem;
            }
        }

        private void begin() {
            begun = true;
            network.zeroHeld();
            network.zeroGradients();
            next.begin().run();
        }

        /** Leaves the network as the last step that was done has left it. */
        void giveUp(Throwable why) {
            try {
                if (begun) {
                    network.takeBack();
                    network.zeroHeld();
                }
                network.zeroGradients();
            } catch (RuntimeException another) { // a GPU that was lost
                why.addSuppressed(another);
            }
        }

        void end() {
            if (failure != null) {
                throw failure;
            }
            unrest = Math.max(unrest - 1, 0);
            if (!begun) {
                network.zeroHeld();
                network.zeroGradients();
                if (next.follows().getAsBoolean()) {
                    next.begin().run();
                }
            }
        }
    }
}
