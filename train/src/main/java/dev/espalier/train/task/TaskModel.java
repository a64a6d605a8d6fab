package dev.espalier.train.task;

import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The model of a task: made anew for every seed, always with the same names. */
public final class TaskModel {
    private final Signature wanted;
    private final Function<Weights, Graph> builder;
    private @Nullable Fitted fitted;

    /**
     * A model that is not made yet.
     *
     * @param wanted what the task wants of it
     * @param builder makes it
     */
    public TaskModel(Signature wanted, Function<Weights, Graph> builder) {
        this.wanted = wanted;
        this.builder = builder;
    }

    /**
     * Makes models for a task.
     *
     * @param source who is asked
     * @param wanted what the task wants of them
     * @return a function that throws {@link UncheckedIOException} if a model cannot be read
     */
    public static Function<Weights, Graph> builder(ModelSource source, Signature wanted) {
        return weights -> {
            try {
                return source.build(wanted, weights);
            } catch (IOException problem) {
                throw new UncheckedIOException(problem.getMessage(), problem);
            }
        };
    }

    /**
     * Makes the model anew.
     *
     * @param weights what tensors hold that have not been trained before
     * @return the model, which fits the task
     */
    public Graph build(Weights weights) {
        Fitted made = wanted.fit(builder.apply(weights), "the model");
        fitted = made;
        return made.model();
    }

    /** {@return what the model calls the task's inputs and outputs} */
    public Fitted fitted() {
        Fitted known = fitted;
        if (known == null) {
            build(Weights.seeded(0));
            return fitted();
        }
        return known;
    }
}
