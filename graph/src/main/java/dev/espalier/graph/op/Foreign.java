package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * An operator that nothing is known of but its types: it is kept as the file has it, graphs within it included. What it reads it
 * needs whole; it can be written and run by others, but neither computed nor trained through here.
 *
 * @param domain whose operator it is; empty for ONNX's own
 * @param name what it is called there
 * @param opsets the versions of the operators that it and the graphs within it are written for, by their domains
 * @param attributes its attributes, as whoever reads and writes them has them
 * @param captured what the graphs within it call the tensors that they read from outside: those are its last inputs, in this order
 * @param inputs the types of all inputs, nothing for one that is left out; outputs that have the same symbols follow them
 * @param outputs the types of all outputs, nothing for one that is left out
 */
public record Foreign(
        String domain,
        String name,
        SortedMap<String, Integer> opsets,
        Attributes attributes,
        List<String> captured,
        List<Optional<TensorType>> inputs,
        List<Optional<TensorType>> outputs)
        implements Operator {

    /** Takes copies. */
    public Foreign {
        opsets = Collections.unmodifiableSortedMap(new TreeMap<>(opsets));
        captured = List.copyOf(captured);
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
        Operands.require(
                captured.size() <= inputs.size(),
                captured.size() + " tensors are read from outside, but there are " + inputs.size() + " inputs");
    }

    /** Attributes that are carried unread. A model may have megabytes of them, and nodes are looked up again and again. */
    public static final class Attributes {
        private final byte[] bytes;
        private final int hash;

        /**
         * Attributes.
         *
         * @param bytes as they are stored; a copy is kept
         */
        public Attributes(byte[] bytes) {
            this.bytes = bytes.clone();
            this.hash = Arrays.hashCode(bytes);
        }

        /** {@return a copy of what is stored} */
        public byte[] bytes() {
            return bytes.clone();
        }

        @Override
        public boolean equals(Object other) {
            return this == other
                    || (other instanceof Attributes that && hash == that.hash && Arrays.equals(bytes, that.bytes));
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public String toString() {
            return bytes.length + " bytes";
        }
    }

    /** {@return its name, with the domain before it unless it is ONNX's own} */
    @Override
    public String label() {
        return domain.isEmpty() ? name : domain + "::" + name;
    }

    @Override
    public int leastInputs() {
        return inputs.size();
    }

    /** {@return how many of its inputs are the operator's own; the others are read by the graphs within it} */
    public int ownInputs() {
        return inputs.size() - captured.size();
    }

    /** The types of its outputs, with lengths that its inputs have too as they are now; nothing else may have changed. */
    @Override
    public List<Fact> infer(Operands operands) {
        Map<Dimension, Dimension> now = new HashMap<>();
        for (int i = 0; i < inputs.size(); i++) {
            Operands.require(
                    operands.has(i) == inputs.get(i).isPresent(),
                    "input " + i + (operands.has(i) ? " was left out" : " is missing"));
            if (operands.has(i)) {
                bind(i, inputs.get(i).orElseThrow(), operands.get(i).type(), now);
            }
        }
        List<Fact> facts = new ArrayList<>();
        for (Optional<TensorType> output : outputs) {
            output.ifPresent(type -> facts.add(Fact.of(type.with(new Shape(type.shape().dimensions().stream()
                    .map(length -> now.getOrDefault(length, length))
                    .toList())))));
        }
        return facts;
    }

    private static void bind(int input, TensorType then, TensorType type, Map<Dimension, Dimension> now) {
        boolean same = then.data() == type.data()
                && then.shape().rank() == type.shape().rank();
        for (int axis = 0; same && axis < then.shape().rank(); axis++) {
            Dimension length = then.shape().get(axis);
            if (length.isKnown()) {
                same = length.equals(type.shape().get(axis));
            } else {
                now.putIfAbsent(length, type.shape().get(axis));
            }
        }
        Operands.require(same, "input " + input + " is " + type + ", but it is kept as it was, for " + then);
    }
}
