package dev.espalier.graph;

import dev.espalier.graph.op.Operator;
import java.util.List;

/**
 * An operator with its inputs and outputs.
 *
 * @param name unique in the graph
 * @param operator what it does
 * @param inputs the names of the tensors it reads; an empty name for an optional one that is left out
 * @param outputs the names of the tensors it makes
 */
public record Node(String name, Operator operator, List<String> inputs, List<String> outputs) {

    /** Takes copies. */
    public Node {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
    }

    /**
     * The name of its first output, for the many operators that have no other.
     *
     * @return the name of a tensor
     */
    public String output() {
        return outputs.getFirst();
    }

    /**
     * The name of an input.
     *
     * @param index which input
     * @return its name; empty if it is left out
     */
    public String input(int index) {
        return index < inputs.size() ? inputs.get(index) : "";
    }

    /**
     * Whether an optional input is there.
     *
     * @param index which input
     * @return false if it is left out
     */
    public boolean has(int index) {
        return !input(index).isEmpty();
    }

    @Override
    public String toString() {
        return name + " (" + operator.label() + ")";
    }
}
