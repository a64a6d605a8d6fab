package dev.espalier.graph.eval;

import dev.espalier.graph.op.Operands;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Recurrent.Cell;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A recurrent layer, one sequence after the other and one time after the other. */
final class Recurrence {
    private final Recurrent operator;
    private final List<@Nullable Tensor> inputs;
    private final Tensor sequence;
    private final int times;
    private final int batch;
    private final int units;
    private final double[] all;
    private final double[] states;
    private final double[] cells;

    private Recurrence(Recurrent operator, List<@Nullable Tensor> inputs, Tensor sequence) {
        this.operator = operator;
        this.inputs = inputs;
        this.sequence = sequence;
        times = (int) sequence.shape()[0];
        batch = (int) sequence.shape()[1];
        units = (int) operator.hidden();
        all = new double[times * operator.directions() * batch * units];
        states = new double[operator.directions() * batch * units];
        cells = new double[states.length];
    }

    static List<Tensor> run(Recurrent operator, List<@Nullable Tensor> inputs, Tensor sequence, List<long[]> shapes) {
        Recurrence recurrence = new Recurrence(operator, inputs, sequence);
        for (int direction = 0; direction < operator.directions(); direction++) {
            for (int item = 0; item < recurrence.batch; item++) {
                recurrence.follow(direction, item);
            }
        }
        List<double[]> results = List.of(recurrence.all, recurrence.states, recurrence.cells);
        List<Tensor> outputs = new ArrayList<>();
        for (int i = 0; i < shapes.size(); i++) {
            double[] numbers = results.get(i);
            outputs.add(Tensor.compute(sequence.type(), shapes.get(i), index -> numbers[(int) index]));
        }
        return outputs;
    }

    private double at(int input, int index) {
        Tensor tensor = input < inputs.size() ? inputs.get(input) : null;
        return tensor == null ? 0 : tensor.getDouble(index);
    }

    private void follow(int direction, int item) {
        int start = (direction * batch + item) * units;
        double[] state = new double[units];
        double[] cell = new double[units];
        for (int unit = 0; unit < units; unit++) {
            state[unit] = at(Recurrent.STATES, start + unit);
            cell[unit] = at(Recurrent.CELLS, start + unit);
        }
        Tensor lengths = inputs.size() > Recurrent.LENGTHS ? inputs.get(Recurrent.LENGTHS) : null;
        int length = lengths == null ? times : (int) lengths.getLong(item);
        Operands.require(
                length >= 0 && length <= times,
                "the length of a sequence, " + length + ", must be in [0, " + times + "]");
        for (int step = 0; step < length; step++) {
            int time = operator.isReverse(direction) ? length - 1 - step : step;
            step(direction, time * batch + item, state, cell);
            System.arraycopy(state, 0, all, ((time * operator.directions() + direction) * batch + item) * units, units);
        }
        System.arraycopy(state, 0, states, start, units);
        System.arraycopy(cell, 0, cells, start, units);
    }

    /** Puts the next state and the next cell in the place of the last. */
    private void step(int direction, int row, double[] state, double[] cell) {
        double[] next = new double[units];
        for (int unit = 0; unit < units; unit++) {
            next[unit] = switch (operator.cell()) {
                case TANH -> Math.tanh(fed(direction, row, 0, unit) + back(direction, 0, unit, state));
                case RELU -> Math.max(fed(direction, row, 0, unit) + back(direction, 0, unit, state), 0);
                case GRU, GRU_LINEAR_BEFORE_RESET -> {
                    double update = sigmoid(fed(direction, row, 0, unit) + back(direction, 0, unit, state));
                    double candidate = Math.tanh(fed(direction, row, 2, unit) + reset(direction, row, unit, state));
                    yield (1 - update) * candidate + update * state[unit];
                }
                case LSTM -> {
                    double input = gate(direction, row, 0, unit, state, cell[unit]);
                    double forget = gate(direction, row, 2, unit, state, cell[unit]);
                    double candidate = Math.tanh(fed(direction, row, 3, unit) + back(direction, 3, unit, state));
                    cell[unit] = forget * cell[unit] + input * candidate;
                    yield gate(direction, row, 1, unit, state, cell[unit]) * Math.tanh(cell[unit]);
                }
            };
        }
        System.arraycopy(next, 0, state, 0, units);
    }

    /** A gate of an LSTM, which may see its cell. */
    private double gate(int direction, int row, int gate, int unit, double[] state, double cell) {
        double seen = at(Recurrent.PEEPHOLES, (direction * 3 + gate) * units + unit) * cell;
        return sigmoid(fed(direction, row, gate, unit) + back(direction, gate, unit, state) + seen);
    }

    /** What the candidate of a GRU hears of the last state, of which the second gate lets a part through. */
    private double reset(int direction, int row, int unit, double[] state) {
        if (operator.cell() == Cell.GRU_LINEAR_BEFORE_RESET) {
            double gate = sigmoid(fed(direction, row, 1, unit) + back(direction, 1, unit, state));
            return gate * back(direction, 2, unit, state);
        }
        double[] part = new double[units];
        for (int i = 0; i < units; i++) {
            part[i] = state[i] * sigmoid(fed(direction, row, 1, i) + back(direction, 1, i, state));
        }
        return back(direction, 2, unit, part);
    }

    private static double sigmoid(double x) {
        return 1 / (1 + Math.exp(-x));
    }

    /** A row of the weights of the inputs times the input, and its bias. */
    private double fed(int direction, int row, int gate, int unit) {
        int width = (int) sequence.shape()[2];
        int gates = operator.cell().gates();
        int start = ((direction * gates + gate) * units + unit) * width;
        double sum = at(3, (2 * direction * gates + gate) * units + unit);
        for (int i = 0; i < width; i++) {
            sum += at(1, start + i) * sequence.getDouble((long) row * width + i);
        }
        return sum;
    }

    /** A row of the weights of the states times the last state, and its bias. */
    private double back(int direction, int gate, int unit, double[] state) {
        int gates = operator.cell().gates();
        int start = ((direction * gates + gate) * units + unit) * units;
        double sum = at(3, ((2 * direction + 1) * gates + gate) * units + unit);
        for (int i = 0; i < units; i++) {
            sum += at(2, start + i) * state[i];
        }
        return sum;
    }
}
