package dev.espalier.core.kernel;

import dev.espalier.core.group.Groups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.Outcome;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.SegmentAllocator;
import java.util.Arrays;
import java.util.List;

/**
 * Groups that can lie anywhere, and nest anyhow. The update is as fast as any; the groups go to the exact operator one by
 * one.
 */
final class ExactBlock extends Block {
    private static final int CHUNK = 1 << 13;

    private final List<Moments> moments;
    private final float[] thetas;
    private final Tally tally = new Tally();

    /** Where u and d are; where every tensor begins there, in weights, and the first job of each. */
    private final long us;

    private final long ds;
    private final long[] offsets;

    private final int[] firstJob;
    private Regularizer regularizer;
    private double stepSize;

    ExactBlock(Regularizer regularizer, List<Moments> moments, float[] thetas, SegmentAllocator memory) {
        this.regularizer = regularizer;
        this.moments = moments;
        this.thetas = thetas;
        List<Long> sizes = regularizer.groups().tensorSizes();
        offsets = new long[sizes.size() + 1];
        firstJob = new int[sizes.size() + 1];
        for (int tensor = 0; tensor < sizes.size(); tensor++) {
            offsets[tensor + 1] = offsets[tensor] + sizes.get(tensor);
            firstJob[tensor + 1] = firstJob[tensor] + Math.toIntExact(Math.ceilDiv(sizes.get(tensor), (long) CHUNK));
        }
        us = memory.allocate(offsets[sizes.size()] * Float.BYTES, 64).address();
        ds = memory.allocate(offsets[sizes.size()] * Float.BYTES, 64).address();
    }

    @Override
    void prepare(double alpha, double smallStep) {
        stepSize = alpha;
        tally.clear();
    }

    @Override
    public void changePenalty(Penalty penalty) {
        regularizer = regularizer.withPenalty(penalty);
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
        long from = (long) (job - firstJob[tensor]) * CHUNK;
        TensorView x = weights(tensor);
        int count = (int) Math.min(CHUNK, x.size() - from);
        Rows rows = worker.rows(x, gradients(tensor), moments.get(tensor));
        rows.open(from, count);
        long u = us + (offsets[tensor] + from) * Float.BYTES;
        long d = ds + (offsets[tensor] + from) * Float.BYTES;
        worker.lanes().load(update(tensor), rows.x(), rows.g(), rows.m(), rows.v(), u, d, count);
        for (long i = 0; i < count && stepSize > 0; i++) { // else u/d is x, but for rounding
            double metric = Memory.get(d + i * Float.BYTES);
            x.set(from + i, Memory.get(u + i * Float.BYTES) / metric);
        }
    }

    @Override
    void finish() {
        for (int group = 0; group < regularizer.groups().count(); group++) {
            solve(group);
        }
    }

    private void solve(int group) {
        Groups groups = regularizer.groups();
        double[] d = new double[groups.size(group)];
        double[] x = new double[d.length];
        boolean[] finite = {true};
        int[] next = {0};
        groups.forEach(group, (tensor, index) -> {
            long at = (offsets[tensor] + index) * Float.BYTES;
            int i = next[0]++;
            d[i] = Memory.get(ds + at);
            x[i] = Memory.get(us + at) / d[i];
            finite[0] &= Double.isFinite(x[i]) && d[i] > 0 && d[i] < Double.POSITIVE_INFINITY;
        });
        if (!finite[0]) { // weights or state were not finite before the step: there is nothing to solve
            tally.countUnconverged();
            tally.count(Branch.UNTOUCHED, 0, 0, Double.NaN);
            thetas[group] = Float.NaN;
            return;
        }
        NestedProfile whole = regularizer.whole(group);
        Outcome outcome = WeightedProx.EXACT.apply(whole, x, d, stepSize, thetas[group], x);
        if (stepSize > 0) {
            groups.scatter(group, x, weights());
        }
        if (!outcome.converged()) {
            tally.countUnconverged();
        }
        thetas[group] = (float) outcome.theta();
        tally.count(outcome.branch(), outcome.iterations(), outcome.residual(), whole.value(x));
        if (groups instanceof NestedGroups) {
            tally.countZeroedWithin((int)
                    Arrays.stream(whole.innerNorms(x)).filter(norm -> norm == 0).count());
        }
    }

    @Override
    public Summary summary() {
        return tally.summary();
    }

    @Override
    public double penalty() {
        return tally.penalty();
    }
}
