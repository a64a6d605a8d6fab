package dev.espalier.train.run;

import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import dev.espalier.train.task.Fitted;
import dev.espalier.train.task.ModelSource;
import dev.espalier.train.task.Signature;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The model of a task: made anew for every seed, always with the same names. */
final class TaskModel {
    private final Signature wanted;
    private final Function<Weights, Graph> builder;
    private @Nullable Fitted fitted;

    TaskModel(Signature wanted, Function<Weights, Graph> builder) {
        this.wanted = wanted;
        this.builder = builder;
    }

    static Function<Weights, Graph> builder(ModelSource source, Signature wanted) {
        return weights -> {
            try {
                return source.build(wanted, weights);
            } catch (IOException problem) {
                throw new UncheckedIOException(problem.getMessage(), problem);
            }
        };
    }

    Graph build(Weights weights) {
        Fitted made = wanted.fit(builder.apply(weights), "the model");
        fitted = made;
        return made.model();
    }

    /** What it calls the task's inputs and outputs. */
    Fitted fitted() {
        Fitted known = fitted;
        if (known == null) {
            build(Weights.seeded(0));
            return fitted();
        }
        return known;
    }
}
