package dev.espalier.train.model;

import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import dev.espalier.settings.Values;
import dev.espalier.train.task.Signature;
import java.util.function.Consumer;

/** {@code model.kind = "own"}. */
public final class OwnModel implements ModelKind {
    private static final String NAME = "own";

    /** Called by the service loader. */
    public OwnModel() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String meaning() {
        return "a model that a Java program makes; not for the command line";
    }

    @Override
    public Graph build(Values values, Signature wanted, Weights weights, Consumer<String> notes) {
        throw new IllegalArgumentException(
                "model.kind = own is a model that a Java program makes, and gives to a task itself: choose one of "
                        + ModelSection.KINDS.names().stream()
                                .filter(name -> !name.equals(NAME))
                                .toList());
    }
}
