package dev.espalier.core.kernel;

import dev.espalier.core.tensor.TensorView;
import java.util.List;

/**
 * What a step has to know of whole tensors before it changes anything: how large their gradients are, and what the update rule
 * will make of their metric. Tensors are looked through in pieces, by all threads; results do not depend on how many.
 */
final class Scan {
    /** Weights that one thread looks through at a time. */
    private static final int PIECE = 1 << 16;

    /** Weights in a row of a piece: sums run down its columns in float, and over these and all pieces in double. */
    static final int COLUMNS = 1 << 10;

    private final Lanes lanes;
    private final Team team;
    private final Worker[] workers;

    /**
     * A scan.
     *
     * @param workers scratch memory of every thread, for at least {@link #COLUMNS}
     */
    Scan(Lanes lanes, Team team, Worker[] workers) {
        this.lanes = lanes;
        this.team = team;
        this.workers = workers;
    }

    /** A look at a piece of a tensor, by a thread with its scratch memory. */
    @FunctionalInterface
    private interface Look {
        double at(int tensor, long from, long count, Worker worker);
    }

    @FunctionalInterface
    private interface Merge {
        double of(double all, double one);
    }

    /** What a look finds in every tensor: zero merged with what it finds in the pieces, in their order. */
    private double[] look(List<TensorView> tensors, Look look, Merge merge) {
        int[] firstPiece = new int[tensors.size() + 1];
        for (int tensor = 0; tensor < tensors.size(); tensor++) {
            long pieces = Math.ceilDiv(tensors.get(tensor).size(), (long) PIECE);
            firstPiece[tensor + 1] = Math.toIntExact(firstPiece[tensor] + pieces);
        }
        double[] found = new double[firstPiece[tensors.size()]];
        team.run(found.length, (piece, member) -> {
            int tensor = HostKernel.last(firstPiece, piece);
            long from = (long) (piece - firstPiece[tensor]) * PIECE;
            long count = Math.min(PIECE, tensors.get(tensor).size() - from);
            found[piece] = look.at(tensor, from, count, workers[member]);
        });
        double[] merged = new double[tensors.size()];
        for (int piece = 0; piece < found.length; piece++) {
            int tensor = HostKernel.last(firstPiece, piece);
            merged[tensor] = merge.of(merged[tensor], found[piece]);
        }
        return merged;
    }

    /** The largest magnitude of every tensor; NaN or infinite if any element is. */
    double[] largest(List<TensorView> tensors) {
        return look(tensors, (tensor, from, count, _) -> largest(tensors.get(tensor), from, count), Math::max);
    }

    private float largest(TensorView tensor, long from, long count) {
        if (tensor.contiguous()) {
            return lanes.largest(tensor.segment().address() + from * Float.BYTES, count);
        }
        double largest = 0;
        for (long i = from; i < from + count; i++) {
            largest = Math.max(largest, Math.abs(tensor.get(i)));
        }
        return (float) largest;
    }

    /** The mean over every tensor of the metric's entries, as the update rule will make them of these gradients. */
    double[] metricMeans(Update rule, List<TensorView> gradients, List<Block.Moments> moments) {
        Look sum = (tensor, from, count, worker) -> {
            Sums.clear(worker.sums, COLUMNS, true);
            Rows rows = worker.rows(gradients.get(tensor), gradients.get(tensor), moments.get(tensor));
            for (long at = from; at < from + count; at += COLUMNS) {
                int columns = (int) Math.min(COLUMNS, from + count - at);
                rows.openForReading(at, columns);
                worker.lanes().metrics(rule, rows.g(), rows.v(), columns, worker.sums);
            }
            return Sums.total(worker.sums, COLUMNS);
        };
        double[] means = look(gradients, sum, Double::sum);
        for (int tensor = 0; tensor < means.length; tensor++) {
            means[tensor] /= gradients.get(tensor).size();
        }
        return means;
    }

    /** Whether the metric of any weight sees a gradient ({@link Update#sees}), these gradients included. */
    boolean sees(Update rule, List<TensorView> gradients, List<Block.Moments> moments) {
        Look any = (tensor, from, count, worker) -> {
            Rows rows = worker.rows(gradients.get(tensor), gradients.get(tensor), moments.get(tensor));
            for (long at = from; at < from + count; at += COLUMNS) {
                int columns = (int) Math.min(COLUMNS, from + count - at);
                rows.openForReading(at, columns);
                for (long i = 0; i < (long) columns * Float.BYTES; i += Float.BYTES) {
                    if (rule.sees(rule.second(Memory.get(rows.v() + i), Memory.get(rows.g() + i)))) {
                        return 1;
                    }
                }
            }
            return 0;
        };
        for (double found : look(gradients, any, Math::max)) {
            if (found > 0) {
                return true;
            }
        }
        return false;
    }
}
