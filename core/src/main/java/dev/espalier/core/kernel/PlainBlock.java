package dev.espalier.core.kernel;

import dev.espalier.core.tensor.TensorView;
import java.util.List;

/** Tensors without a penalty, cut into chunks. */
final class PlainBlock extends Block {
    /** Weights in a job; small enough that scratch for a missing moment stays in the nearest cache. */
    static final int CHUNK = 1 << 14;

    private final List<Moments> moments;
    private final int[] firstJob;

    PlainBlock(List<Long> sizes, List<Moments> moments) {
        this.moments = moments;
        firstJob = new int[sizes.size() + 1];
        for (int tensor = 0; tensor < sizes.size(); tensor++) {
            firstJob[tensor + 1] = firstJob[tensor] + Math.toIntExact(Math.ceilDiv(sizes.get(tensor), (long) CHUNK));
        }
    }

    @Override
    int jobs() {
        return firstJob[firstJob.length - 1];
    }

    @Override
    int columns() {
        return CHUNK;
    }

    @Override
    void first(int job, Worker worker) {
        int tensor = 0;
        while (firstJob[tensor + 1] <= job) {
            tensor++;
        }
        long first = (long) (job - firstJob[tensor]) * CHUNK;
        TensorView x = weights(tensor);
        int count = (int) Math.min(CHUNK, x.size() - first);
        Rows rows = worker.rows(x, gradients(tensor), moments.get(tensor));
        rows.open(first, count);
        worker.lanes().update(update(tensor), rows.x(), rows.g(), rows.m(), rows.v(), count);
        rows.writeBack(rows.x());
    }
}
