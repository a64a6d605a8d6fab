package dev.espalier.train.model;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.train.task.Signature;

/** What models of one input and one output have in common. */
final class Single {
    private Single() {}

    /** The shape of a sample. */
    static Shape input(String kind, Signature wanted) {
        if (wanted.inputs().size() != 1 || wanted.inputs().getFirst().type() != DataType.FLOAT32) {
            throw new IllegalArgumentException(
                    "model.kind = %s reads one tensor of numbers, but %s gives %s: choose onnx"
                            .formatted(kind, wanted.data(), wanted.inputs()));
        }
        return wanted.inputs().getFirst().sample();
    }

    /** How many numbers it has to say for a sample. */
    static int output(String kind, Signature wanted) {
        if (wanted.outputs().size() != 1
                || wanted.outputs().getFirst().sample().rank() != 1
                || !wanted.outputs().getFirst().sample().isKnown()) {
            throw new IllegalArgumentException("model.kind = %s says one row of numbers, but %s needs %s: choose onnx"
                    .formatted(kind, wanted.data(), wanted.outputs()));
        }
        return Math.toIntExact(wanted.outputs().getFirst().sample().lengths()[0]);
    }
}
