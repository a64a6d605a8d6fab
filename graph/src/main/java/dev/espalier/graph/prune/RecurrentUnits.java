package dev.espalier.graph.prune;

import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Recurrent.Cell;
import dev.espalier.graph.type.Tensor;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * The weights of a recurrent layer, asked by hidden units: which inputs and which other units does one listen to, and which are
 * always zero? Units are counted through all directions, {@code direction·hidden + unit}.
 */
final class RecurrentUnits {
    private final Recurrent operator;
    private final Tensor fed;
    private final @Nullable Tensor bias;
    private final int gates;
    private final int hidden;
    private final int width;
    private final float[] fedValues;
    private final float[] backValues;
    private final BitSet[] inputs;
    private final BitSet[] units;

    /**
     * Of a layer.
     *
     * @param operator the layer
     * @param fed weights of its inputs
     * @param back weights of its states
     * @param bias of both; null if there is none
     */
    RecurrentUnits(Recurrent operator, Tensor fed, Tensor back, @Nullable Tensor bias) {
        this.operator = operator;
        this.fed = fed;
        this.bias = bias;
        gates = operator.cell().gates();
        hidden = (int) operator.hidden();
        width = (int) fed.shape()[2];
        fedValues = fed.toFloats();
        backValues = back.toFloats();
        inputs = new BitSet[count()];
        units = new BitSet[count()];
        for (int unit = 0; unit < count(); unit++) {
            inputs[unit] = new BitSet();
            units[unit] = new BitSet();
            for (int gate = 0; gate < gates; gate++) {
                read(unit, gate, inputs[unit], units[unit]);
            }
        }
    }

    /** Adds what a gate of a unit reads with a weight that is not zero. */
    private void read(int unit, int gate, BitSet fromInputs, BitSet fromUnits) {
        int row = row(unit, gate);
        for (int i = 0; i < width; i++) {
            if (fedValues[row * width + i] != 0) {
                fromInputs.set(i);
            }
        }
        int first = unit - unit % hidden;
        for (int i = 0; i < hidden; i++) {
            if (backValues[row * hidden + i] != 0) {
                fromUnits.set(first + i);
            }
        }
    }

    private int row(int unit, int gate) {
        return (unit / hidden * gates + gate) * hidden + unit % hidden;
    }

    int count() {
        return operator.directions() * hidden;
    }

    /** The inputs that any gate of a unit reads. */
    BitSet inputs(int unit) {
        return inputs[unit];
    }

    /** The units, all of one direction, that any gate of a unit reads. */
    BitSet units(int unit) {
        return units[unit];
    }

    /** What constant inputs add to a gate of a unit. */
    double folded(int unit, int gate, double[] constants, BitSet which) {
        int row = row(unit, gate);
        return which.stream()
                .mapToDouble(input -> constants[input] * fed.getDouble((long) row * width + input))
                .sum();
    }

    /** The bias of a gate, beside what is fed in (0) or what comes back (1). */
    private double bias(int unit, int gate, int which) {
        int direction = unit / hidden;
        return bias == null
                ? 0
                : bias.getDouble((long) ((2 * direction + which) * gates + gate) * hidden + unit % hidden);
    }

    /**
     * The units whose state is zero at all times. A state that begins at zero stays there as long as its candidate is zero,
     * whatever the gates let through: so it takes a candidate that hears nothing but constants that add up to zero, and units that
     * are always zero themselves.
     *
     * @param constants what the inputs carry; not-a-number for one that varies
     * @param zeroAtFirst the units whose state, and cell if it has one, is zero in the beginning
     * @return the largest set of units that keep each other at zero
     */
    BitSet alwaysZero(double[] constants, BitSet zeroAtFirst) {
        BitSet zero = new BitSet();
        BitSet[] heard = new BitSet[count()];
        zeroAtFirst.stream().forEach(unit -> {
            heard[unit] = new BitSet();
            zero.set(unit, hearsNothing(unit, constants, heard[unit]));
        });
        boolean changed;
        do {
            changed = false;
            for (int unit = zero.nextSetBit(0); unit >= 0; unit = zero.nextSetBit(unit + 1)) {
                BitSet others = (BitSet) heard[unit].clone();
                others.andNot(zero);
                if (!others.isEmpty()) {
                    zero.clear(unit);
                    changed = true;
                }
            }
        } while (changed);
        return zero;
    }

    /** Whether inputs and biases leave the candidate of a unit at zero; and which units it hears. */
    private boolean hearsNothing(int unit, double[] constants, BitSet heard) {
        Cell cell = operator.cell();
        int candidate = gates - 1;
        BitSet read = new BitSet();
        read(unit, candidate, read, heard);
        if (read.stream().anyMatch(input -> Double.isNaN(constants[input]))) {
            return false;
        }
        double sum = bias(unit, candidate, 0) + folded(unit, candidate, constants, read);
        double back = bias(unit, candidate, 1);
        return switch (cell) {
            case TANH, GRU, LSTM -> sum + back == 0;
            case RELU -> sum + back <= 0;
            // What comes back is multiplied by a gate.
            case GRU_LINEAR_BEFORE_RESET -> sum == 0 && back == 0;
        };
    }
}
