package dev.espalier.kernel;

import dev.espalier.group.IndexGroups;
import dev.espalier.penalty.Penalty;
import dev.espalier.prox.Summary;
import java.util.List;

/**
 * Arbitrary groups of one tensor, as one job. The update is as fast as any; the groups, which can lie anywhere, go to the
 * exact operator one by one.
 */
final class IndexedBlock extends Block {
    private final IndexGroups groups;
    private final Moments moments;
    private final float[] thetas;
    private final Tally tally = new Tally();
    private final int size;
    private Penalty penalty;
    private double stepSize;

    IndexedBlock(IndexGroups groups, Moments moments, Penalty penalty, float[] thetas) {
        this.groups = groups;
        this.moments = moments;
        this.penalty = penalty;
        this.thetas = thetas;
        this.size = Math.toIntExact(groups.tensorSize());
    }

    @Override
    void prepare(double alpha, double smallStep) {
        stepSize = alpha;
        tally.clear();
    }

    @Override
    public void changePenalty(Penalty other) {
        penalty = other;
    }

    @Override
    int jobs() {
        return 1;
    }

    @Override
    int columns() {
        return size;
    }

    @Override
    long scratch() {
        return size;
    }

    @Override
    void first(int job, Worker worker, Scratch scratch) {
        Rows rows = worker.rows(weights(0), gradients(0), moments);
        rows.open(0, size);
        worker.lanes().load(update(), rows.x(), rows.g(), rows.m(), rows.v(), scratch.u(), scratch.d(), size);
        for (long i = 0; i < size && stepSize > 0; i++) { // else u/d is x, but for rounding
            double d = Memory.get(scratch.d() + i * Float.BYTES);
            weights(0).set(i, Memory.get(scratch.u() + i * Float.BYTES) / d);
        }
        for (int group = 0; group < groups.count(); group++) {
            List<Long> members = groups.indices().get(group);
            PenaltyTerms terms = PenaltyTerms.of(penalty.profileOfSize(members.size()), stepSize);
            double[] d = new double[members.size()];
            double[] x = new double[members.size()];
            for (int i = 0; i < d.length; i++) {
                long position = members.get(i) * Float.BYTES;
                d[i] = Memory.get(scratch.d() + position);
                x[i] = Memory.get(scratch.u() + position) / d[i];
            }
            GroupSolver solver = new GroupSolver(1, d.length);
            double[] solution = solver.solve(0, x, d, terms, tally);
            if (solution != null && stepSize > 0) {
                groups.scatter(group, solution, List.of(weights(0)));
            }
            thetas[group] = (float) solver.theta(0);
            solver.count(0, terms, tally);
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
