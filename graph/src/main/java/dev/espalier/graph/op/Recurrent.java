package dev.espalier.graph.op;

import dev.espalier.core.check.Check;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * A recurrent layer over {@code [time, batch, in]}, once or in both directions. Inputs: the sequence; the weights of the inputs,
 * {@code [directions, gates·hidden, in]}, and of the states, {@code [directions, gates·hidden, hidden]}; optionally biases of
 * both, {@code [directions, 2·gates·hidden]}, the lengths of the sequences {@code [batch]}, the first states
 * {@code [directions, batch, hidden]} and, for LSTMs, the first cells and the weights by which gates see them,
 * {@code [directions, 3·hidden]}. Outputs: the states of all times {@code [time, directions, batch, hidden]}, the last states and,
 * for LSTMs, the last cells.
 *
 * <p>Behind its end a sequence is zero; going backwards begins at its end.
 *
 * @param cell what is done at each time
 * @param direction which way time goes
 * @param hidden number of hidden units
 */
public record Recurrent(Cell cell, Direction direction, long hidden) implements Operator {
    /** Where the lengths of the sequences are among the inputs. */
    public static final int LENGTHS = 4;

    /** Where the first states are among the inputs. */
    public static final int STATES = 5;

    /** Where the first cells of an LSTM are among the inputs. */
    public static final int CELLS = 6;

    /** Where the weights are by which the gates of an LSTM see its cells. */
    public static final int PEEPHOLES = 7;

    /** What is done at each time; in ONNX's terms and in its order of gates. */
    public enum Cell {
        /** {@code h ← tanh(a)}, with {@code a = W x + R h + b}. */
        TANH("RNN", 1),
        /** {@code h ← max(a, 0)}. */
        RELU("RNN", 1),
        /** {@code h ← (1 − z)·tanh(W x + R (r·h) + b) + z·h}, with gates {@code z, r = σ(a)}. */
        GRU("GRU", 3),
        /** {@code h ← (1 − z)·tanh(W x + r·(R h + b′) + b) + z·h}. */
        GRU_LINEAR_BEFORE_RESET("GRU", 3),
        /** {@code c ← f·c + i·tanh(a), h ← o·tanh(c)}, with gates {@code i, o, f = σ(a)}. */
        LSTM("LSTM", 4);

        private final String label;
        private final int gates;

        Cell(String label, int gates) {
            this.label = label;
            this.gates = gates;
        }

        /** {@return how many blocks of weights there are, one for each gate and one for the candidate} */
        public int gates() {
            return gates;
        }
    }

    /** Which way time goes. */
    public enum Direction {
        /** From the first element to the last. */
        FORWARD,
        /** From the last element to the first. */
        REVERSE,
        /** Both, forward first. */
        BIDIRECTIONAL
    }

    /** Checks the number of units. */
    public Recurrent {
        Check.atLeast("hidden", hidden, 1);
    }

    /** {@return how many directions there are} */
    public int directions() {
        return direction == Direction.BIDIRECTIONAL ? 2 : 1;
    }

    /**
     * {@return whether time goes backwards}
     *
     * @param index which of the directions
     */
    public boolean isReverse(int index) {
        return direction == Direction.REVERSE || index == 1;
    }

    @Override
    public String label() {
        return cell.label;
    }

    @Override
    public int leastInputs() {
        return 3;
    }

    @Override
    public int mostInputs() {
        return cell == Cell.LSTM ? 8 : 6;
    }

    @Override
    public int optionalOutputs() {
        return cell == Cell.LSTM ? 3 : 2;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        inputs.requireType(0, Types.FLOATS);
        inputs.requireRank(0, 3);
        Dimension time = inputs.shape(0).get(0);
        Dimension batch = inputs.shape(0).get(1);
        Dimension both = Dimension.of(directions());
        Dimension units = Dimension.of(hidden);
        Dimension rows = units.times(cell.gates);
        requireShape(inputs, 1, both, rows, inputs.shape(0).get(2));
        requireShape(inputs, 2, both, rows, units);
        requireShape(inputs, 3, both, rows.times(2));
        requireShape(inputs, LENGTHS, batch);
        requireShape(inputs, STATES, both, batch, units);
        requireShape(inputs, CELLS, both, batch, units);
        requireShape(inputs, PEEPHOLES, both, units.times(3));
        Fact last = Fact.of(inputs.data(0), new Shape(List.of(both, batch, units)));
        List<Fact> outputs = new ArrayList<>();
        outputs.add(Fact.of(inputs.data(0), new Shape(List.of(time, both, batch, units))));
        outputs.add(last);
        if (cell == Cell.LSTM) {
            outputs.add(last);
        }
        return outputs;
    }

    private static void requireShape(Operands inputs, int index, Dimension... lengths) {
        if (inputs.has(index)) {
            inputs.requireRank(index, lengths.length);
            for (int axis = 0; axis < lengths.length; axis++) {
                Operands.requireSame(
                        "lengths of input " + index + " along axis " + axis,
                        lengths[axis],
                        inputs.shape(index).get(axis));
            }
        }
    }

    /** At each time a product and a sum for every weight. */
    @Override
    public Dimension flops(Operands inputs, List<Fact> outputs) {
        Dimension times = inputs.shape(0).get(0).times(inputs.shape(0).get(1));
        Dimension weights = inputs.shape(1).size().plus(inputs.shape(2).size());
        return times.times(weights).times(2);
    }
}
