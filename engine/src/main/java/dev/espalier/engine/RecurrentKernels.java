package dev.espalier.engine;

import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Recurrent.Cell;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Recurrent layers, unrolled through time. libtorch has its own, but in another order of gates, with neither masks, peepholes nor a
 * GRU that resets first.
 */
final class RecurrentKernels {
    private RecurrentKernels() {}

    static Kernel of(Recurrent recurrent, Site site) {
        long[] sequence = site.inputShape(0);
        long[] state = {sequence[1], recurrent.hidden()};
        PtNDArray zeros = site.upload(Tensor.compute(site.type(0), state, i -> 0));
        return feed -> {
            List<PtNDArray> all = new ArrayList<>();
            List<PtNDArray> states = new ArrayList<>();
            List<PtNDArray> cells = new ArrayList<>();
            for (int direction = 0; direction < recurrent.directions(); direction++) {
                Walk walk = new Walk(recurrent, feed, direction, sequence, zeros);
                all.add(walk.run());
                states.add(walk.state);
                cells.add(walk.cell);
            }
            PtNDArray sequences = stack(all, 1);
            return recurrent.cell() == Cell.LSTM
                    ? new PtNDArray[] {sequences, stack(states, 0), stack(cells, 0)}
                    : new PtNDArray[] {sequences, stack(states, 0)};
        };
    }

    private static PtNDArray stack(List<PtNDArray> arrays, int axis) {
        return JniUtils.stack(arrays.toArray(PtNDArray[]::new), axis);
    }

    /** All sequences through time in one direction. */
    private static final class Walk {
        private final Recurrent recurrent;
        private final boolean reverse;
        private final long[] sequence;
        private final PtNDArray zeros;
        private final PtNDArray fed;
        private final PtNDArray weights;
        private final @Nullable PtNDArray bias;
        private final @Nullable PtNDArray lengths;
        private final @Nullable PtNDArray peepholes;
        private PtNDArray state;
        private PtNDArray cell;

        Walk(Recurrent recurrent, Kernel.Feed feed, int direction, long[] sequence, PtNDArray zeros) {
            this.recurrent = recurrent;
            this.reverse = recurrent.isReverse(direction);
            this.sequence = sequence;
            this.zeros = zeros;
            long rows = recurrent.hidden() * recurrent.cell().gates();
            PtNDArray biases = part(feed.optional(3), direction);
            bias = biases == null ? null : JniUtils.slice(biases, 0, rows, 2 * rows, 1);
            fed = JniUtils.linear(
                    feed.get(0),
                    of(feed.get(1), direction),
                    biases == null ? null : JniUtils.slice(biases, 0, 0, rows, 1));
            weights = of(feed.get(2), direction);
            lengths = feed.optional(Recurrent.LENGTHS);
            peepholes = part(feed.optional(Recurrent.PEEPHOLES), direction);
            PtNDArray first = part(feed.optional(Recurrent.STATES), direction);
            PtNDArray firstCell = part(feed.optional(Recurrent.CELLS), direction);
            state = first == null ? zeros : first;
            cell = firstCell == null ? zeros : firstCell;
        }

        private static @Nullable PtNDArray part(@Nullable PtNDArray array, int direction) {
            return array == null ? null : of(array, direction);
        }

        /** What belongs to a direction, which is the first axis. */
        private static PtNDArray of(PtNDArray array, int direction) {
            return JniUtils.squeeze(JniUtils.slice(array, 0, direction, direction + 1L, 1), 0);
        }

        PtNDArray run() {
            List<PtNDArray> states = new ArrayList<>();
            for (long step = 0; step < sequence[0]; step++) {
                long time = reverse ? sequence[0] - 1 - step : step;
                PtNDArray before = state;
                PtNDArray cellBefore = cell;
                step(JniUtils.squeeze(JniUtils.slice(fed, 0, time, time + 1, 1), 0));
                PtNDArray made = state;
                if (lengths != null) {
                    // A sequence that has ended, or not begun from behind, stays as it is.
                    PtNDArray runs = JniUtils.reshape(
                            JniUtils.gt(lengths, Tensors.scalar(lengths, (double) time)), new long[] {sequence[1], 1});
                    state = JniUtils.where(runs, made, before);
                    cell = JniUtils.where(runs, cell, cellBefore);
                    made = JniUtils.where(runs, made, zeros);
                }
                states.add(made);
            }
            if (reverse) {
                Collections.reverse(states);
            }
            return stack(states, 0);
        }

        private void step(PtNDArray input) {
            switch (recurrent.cell()) {
                case TANH -> state = JniUtils.tanh(JniUtils.add(input, back(state, 0, 1)));
                case RELU -> state = JniUtils.relu(JniUtils.add(input, back(state, 0, 1)));
                case GRU, GRU_LINEAR_BEFORE_RESET -> state = gru(input);
                case LSTM -> lstm(input);
            }
        }

        /** The weights of some gates times a state, with their bias. */
        private PtNDArray back(PtNDArray from, int gate, int end) {
            long first = gate * recurrent.hidden();
            long last = end * recurrent.hidden();
            return JniUtils.linear(
                    from,
                    JniUtils.slice(weights, 0, first, last, 1),
                    bias == null ? null : JniUtils.slice(bias, 0, first, last, 1));
        }

        private PtNDArray gate(PtNDArray sums, int gate) {
            return JniUtils.slice(sums, 1, gate * recurrent.hidden(), (gate + 1) * recurrent.hidden(), 1);
        }

        private PtNDArray gru(PtNDArray input) {
            PtNDArray gates = JniUtils.sigmoid(
                    JniUtils.add(JniUtils.slice(input, 1, 0, 2 * recurrent.hidden(), 1), back(state, 0, 2)));
            PtNDArray reset = gate(gates, 1);
            PtNDArray heard = recurrent.cell() == Cell.GRU
                    ? back(JniUtils.mul(reset, state), 2, 3)
                    : JniUtils.mul(reset, back(state, 2, 3));
            PtNDArray candidate = JniUtils.tanh(JniUtils.add(gate(input, 2), heard));
            // (1 − z)·candidate + z·state
            return JniUtils.add(candidate, JniUtils.mul(gate(gates, 0), JniUtils.sub(state, candidate)));
        }

        private void lstm(PtNDArray input) {
            PtNDArray sums = JniUtils.add(input, back(state, 0, 4));
            PtNDArray forgotten = JniUtils.mul(open(sums, 2), cell);
            cell = JniUtils.add(forgotten, JniUtils.mul(open(sums, 0), JniUtils.tanh(gate(sums, 3))));
            state = JniUtils.mul(open(sums, 1), JniUtils.tanh(cell));
        }

        /** How far a gate is open, which may see the cell. */
        private PtNDArray open(PtNDArray sums, int gate) {
            PtNDArray sum = gate(sums, gate);
            if (peepholes == null) {
                return JniUtils.sigmoid(sum);
            }
            long first = gate * recurrent.hidden();
            PtNDArray sight = JniUtils.slice(peepholes, 0, first, first + recurrent.hidden(), 1);
            return JniUtils.sigmoid(JniUtils.add(sum, JniUtils.mul(sight, cell)));
        }
    }
}
