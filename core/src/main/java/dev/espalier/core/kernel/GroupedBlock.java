package dev.espalier.core.kernel;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.kernel.CellSolver.Need;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.tensor.TensorView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Groups along an axis of one or more tensors.
 *
 * <p>A tensor {@code [outer, count, inner]} is a matrix of {@code outer} rows and {@code count·inner} columns, column
 * {@code c} belonging to group {@code c / inner}. Jobs are blocks of rows, which lie in memory in one piece: reading them is
 * as fast as memory is. All sums run down the columns, so that a lane never has to know about groups; columns are added up
 * to groups, and jobs to the whole, always in the same order, whoever did what.
 */
final class GroupedBlock extends Block {
    /** Rows in a job; their sums are kept in float before they go into a double. */
    private static final int JOB_ROWS = 128;

    /** Floats between the rows of u and d, so that rows do not all fall into the same places of the cache. */
    private static final int PADDING = 16;

    /** Columns in a job, at most, unless a single group has more. */
    private static final int JOB_COLUMNS = 1 << 13;

    /** A group that lies in one piece is folded into rows of this length. */
    private static final int FOLD = 64;

    /** Columns are re-evaluated in stretches of this, so that they fill vectors. */
    private static final int STRETCH = 16;

    /**
     * Some rows of some groups of a tensor.
     *
     * @param tensor which tensor
     * @param index logical index of its first weight
     * @param rowStride weights from one row to the next
     * @param rows how many rows
     * @param inner columns of a group
     * @param group the first group
     * @param cell the first group's cell
     * @param groups how many groups
     * @param offset where its u and d are in scratch memory, in weights
     */
    private record Job(
            int tensor, long index, long rowStride, int rows, int inner, int group, int cell, int groups, long offset) {
        int columns() {
            return groups * inner;
        }

        /** From one row to the next in scratch memory, in weights. */
        int scratchStride() {
            return columns() + PADDING;
        }

        /** Where a row's u and d are in scratch memory, in bytes. */
        long scratch(int row) {
            return (offset + (long) row * scratchStride()) * Float.BYTES;
        }
    }

    private final List<Moments> moments;
    private final int groups;
    private final int groupSize;
    private final CellSolver solver;
    private final List<Job> jobs = new ArrayList<>();
    private final List<double[]> jobSums = new ArrayList<>();
    private final double[] jobMagnitudes;
    private final double[] sums;

    /**
     * Groups of tensors.
     *
     * @param tensors the groups' shares of the tensors
     * @param moments where the tensors' moments are
     * @param solver knows the penalty
     */
    GroupedBlock(List<AxisGroups> tensors, List<Moments> moments, CellSolver solver) {
        this.moments = moments;
        this.solver = solver;
        groups = tensors.getFirst().count();
        groupSize = tensors.stream().mapToInt(part -> part.size(0)).sum();
        sums = new double[solver.cells() * Sums.COUNT];
        for (int tensor = 0; tensor < tensors.size(); tensor++) {
            cut(tensor, tensors.get(tensor));
        }
        jobMagnitudes = new double[jobs.size()];
    }

    private void cut(int tensor, AxisGroups view) {
        int inner = view.inner();
        if (view.outer() == 1 && inner % FOLD == 0) {
            for (int group = 0; group < groups; group++) {
                cut(tensor, (long) group * inner, FOLD, inner / FOLD, FOLD, group, 1);
            }
        } else {
            int together = Math.clamp(JOB_COLUMNS / inner, 1, groups);
            for (int group = 0; group < groups; group += together) {
                int count = Math.min(together, groups - group);
                cut(tensor, (long) group * inner, (long) groups * inner, view.outer(), inner, group, count);
            }
        }
    }

    private void cut(int tensor, long index, long rowStride, int rows, int inner, int group, int count) {
        for (int row = 0; row < rows; row += JOB_ROWS) {
            long start = index + row * rowStride;
            int height = Math.min(JOB_ROWS, rows - row);
            int cell = solver.cell(tensor, group);
            jobs.add(new Job(tensor, start, rowStride, height, inner, group, cell, count, scratch()));
            jobSums.add(new double[count * Sums.COUNT]);
            solver.sumInFloat(height);
        }
    }

    @Override
    public void changePenalty(Penalty penalty) {
        solver.changePenalty(penalty);
    }

    @Override
    int jobs() {
        return jobs.size();
    }

    @Override
    int columns() {
        return jobs.stream().mapToInt(Job::columns).max().orElseThrow();
    }

    @Override
    long scratch() {
        return jobs.isEmpty()
                ? 0
                : jobs.getLast().offset()
                        + (long) jobs.getLast().rows() * jobs.getLast().scratchStride();
    }

    @Override
    void prepare(double stepSize, double relativeStep) {
        solver.start(stepSize, relativeStep);
    }

    @Override
    void first(int number, Worker worker, Scratch scratch) {
        Job job = jobs.get(number);
        int columns = job.columns();
        Rows rows = worker.rows(weights(job.tensor()), gradients(job.tensor()), moments.get(job.tensor()));
        begin(job, 0, columns, Need.EVALUATION, worker);
        float single = (float) solver.singleThreshold();
        int block = 0;
        for (int row = 0; row < job.rows(); row++) {
            long u = u(job, row, scratch);
            long d = scratch.d() + job.scratch(row);
            rows.open(job.index() + row * job.rowStride(), columns);
            worker.lanes().load(update(job.tensor()), rows.x(), rows.g(), rows.m(), rows.v(), u, d, columns);
            if (single > 0) {
                worker.lanes().soften(u, columns, single);
            }
            if (row - block == Lanes.BLOCK_ROWS - 1 || row == job.rows() - 1) {
                sum(job, block, row + 1 - block, 0, columns, Need.EVALUATION, worker, scratch);
                block = row + 1;
            }
        }
        end(number, 0, columns, Need.EVALUATION, worker);
    }

    @Override
    void again(int number, Worker worker, Scratch scratch) {
        again(number, Need.EVALUATION, worker, scratch);
        again(number, Need.SURVEY, worker, scratch);
    }

    /** Goes once more over the columns of all groups that have a need. */
    private void again(int number, Need need, Worker worker, Scratch scratch) {
        Job job = jobs.get(number);
        int from = 0;
        int to = 0;
        for (int group = 0; group < job.groups(); group++) {
            if (solver.need(job.cell() + group) == need) {
                int left = group * job.inner() / STRETCH * STRETCH;
                if (left > to) {
                    again(number, from, to, need, worker, scratch);
                    from = left;
                }
                to = Math.min(job.columns(), Math.ceilDiv((group + 1) * job.inner(), STRETCH) * STRETCH);
            }
        }
        again(number, from, to, need, worker, scratch);
    }

    private void again(int number, int from, int to, Need need, Worker worker, Scratch scratch) {
        if (from < to) {
            Job job = jobs.get(number);
            begin(job, from, to, need, worker);
            for (int row = 0; row < job.rows(); row += Lanes.BLOCK_ROWS) {
                sum(job, row, Math.min(Lanes.BLOCK_ROWS, job.rows() - row), from, to, need, worker, scratch);
            }
            end(number, from, to, need, worker);
        }
    }

    /** Begins sums over some columns of a job. */
    private void begin(Job job, int from, int to, Need need, Worker worker) {
        Sums.clear(worker.sums, to - from, need == Need.SURVEY);
        for (int group = from / job.inner(); group * job.inner() < to; group++) {
            int left = group * job.inner() - from;
            fill(worker.theta, left, job.inner(), to - from, solver.theta(job.cell() + group));
            fill(worker.pull, left, job.inner(), to - from, solver.pull(job.cell() + group));
            fill(worker.kappa, left, job.inner(), to - from, solver.kappa(job.cell() + group));
        }
    }

    /** Sets the columns of a group in a row that has {@code count} columns. */
    private static void fill(long row, int from, int inner, int count, double value) {
        for (int column = Math.max(from, 0); column < Math.min(from + inner, count); column++) {
            Memory.set(row + (long) column * Float.BYTES, (float) value);
        }
    }

    /**
     * Where a row's u is. In place of the weights, which nobody needs any more, where they lie in one piece: that is one array
     * less to write and to read. Else, or if the weights are to stay, in scratch memory.
     */
    private long u(Job job, int row, Scratch scratch) {
        TensorView x = weights(job.tensor());
        return x.contiguous() && solver.stepSize() > 0
                ? x.segment().address() + (job.index() + row * job.rowStride()) * Float.BYTES
                : scratch.u() + job.scratch(row);
    }

    /** Adds some rows to the sums. */
    private void sum(Job job, int row, int rows, int from, int to, Need need, Worker worker, Scratch scratch) {
        long u = u(job, row, scratch) + (long) from * Float.BYTES;
        long uStride = u(job, 1, scratch) - u(job, 0, scratch);
        long d = scratch.d() + job.scratch(row) + (long) from * Float.BYTES;
        long dStride = job.scratch(1) - job.scratch(0);
        if (need == Need.SURVEY) {
            worker.lanes().survey(u, uStride, d, dStride, rows, to - from, worker.sums);
        } else {
            worker.lanes()
                    .evaluate(
                            u,
                            uStride,
                            d,
                            dStride,
                            rows,
                            to - from,
                            worker.theta,
                            worker.pull,
                            worker.kappa,
                            worker.sums);
            if (solver.kneed()) {
                worker.lanes().least(d, dStride, rows, to - from, worker.sums);
            }
        }
    }

    /** Adds the columns up to those groups that have the need. */
    private void end(int number, int from, int to, Need need, Worker worker) {
        Job job = jobs.get(number);
        double[] groupSums = jobSums.get(number);
        boolean survey = need == Need.SURVEY;
        for (int group = Math.ceilDiv(from, job.inner()); (group + 1) * job.inner() <= to; group++) {
            if (solver.need(job.cell() + group) == need) {
                int left = group * job.inner() - from;
                Sums.clear(groupSums, group, survey);
                Sums.add(worker.sums, to - from, left, left + job.inner(), survey, groupSums, group);
            }
        }
    }

    @Override
    boolean solve(Scratch scratch) {
        for (int cell = 0; cell < solver.cells(); cell++) {
            Sums.clear(sums, cell, solver.need(cell) == Need.SURVEY);
        }
        for (int number = 0; number < jobs.size(); number++) {
            Job job = jobs.get(number);
            for (int group = 0; group < job.groups(); group++) {
                Need need = solver.need(job.cell() + group);
                if (need == Need.EVALUATION || need == Need.SURVEY) {
                    Sums.add(jobSums.get(number), group, need == Need.SURVEY, sums, job.cell() + group);
                }
            }
        }
        boolean more = false;
        for (int group = 0; group < groups; group++) {
            if (solver.advance(group, sums)) {
                solveExactly(group, scratch);
            }
            more |= solver.busy(group);
        }
        return more;
    }

    private void solveExactly(int group, Scratch scratch) {
        double[] x = new double[groupSize];
        double[] d = new double[groupSize];
        int[] next = {0};
        forEachPlace(group, scratch, (u, metric) -> {
            d[next[0]] = Memory.get(metric);
            x[next[0]] = Memory.get(u) / d[next[0]++];
        });
        double[] solution = solver.solve(group, x, d);
        if (solution != null) {
            next[0] = 0;
            forEachPlace(group, scratch, (u, metric) -> {
                Memory.set(u, (float) solution[next[0]++]);
                Memory.set(metric, 1);
            });
        }
    }

    @FunctionalInterface
    private interface Place {
        void visit(long u, long d);
    }

    /** Visits where u and d of a group are. */
    private void forEachPlace(int group, Scratch scratch, Place place) {
        for (Job job : jobs) {
            if (group >= job.group() && group < job.group() + job.groups()) {
                for (int row = 0; row < job.rows(); row++) {
                    long skipped = (long) (group - job.group()) * job.inner() * Float.BYTES;
                    long u = u(job, row, scratch) + skipped;
                    long d = scratch.d() + job.scratch(row) + skipped;
                    for (long at = 0; at < (long) job.inner() * Float.BYTES; at += Float.BYTES) {
                        place.visit(u + at, d + at);
                    }
                }
            }
        }
    }

    @Override
    void last(int number, Worker worker, Scratch scratch) {
        if (solver.stepSize() == 0) {
            return; // u/d is x, but for rounding
        }
        Job job = jobs.get(number);
        int columns = job.columns();
        for (int group = 0; group < job.groups(); group++) {
            int cell = job.cell() + group;
            boolean asIs = solver.asIs(cell);
            int from = group * job.inner();
            fill(worker.theta, from, job.inner(), columns, asIs ? 1 : solver.theta(cell));
            fill(worker.pull, from, job.inner(), columns, asIs ? 0 : solver.pull(cell));
        }
        if (solver.singleStrength() > 0) {
            Sums.clear(worker.sums, columns, true);
        }
        Rows rows = worker.rows(weights(job.tensor()), gradients(job.tensor()), moments.get(job.tensor()));
        for (int row = 0; row < job.rows(); row++) {
            long u = u(job, row, scratch);
            long d = scratch.d() + job.scratch(row);
            rows.openForWriting(job.index() + row * job.rowStride(), columns);
            worker.lanes().store(u, d, columns, worker.theta, worker.pull, rows.x());
            if (solver.singleStrength() > 0) {
                worker.lanes().magnitudes(rows.x(), columns, worker.sums);
            }
            rows.writeBack();
        }
        jobMagnitudes[number] = solver.singleStrength() > 0 ? Sums.total(worker.sums, columns) : 0;
    }

    @Override
    void finish() {
        if (solver.stepSize() == 0) {
            stay();
        }
        for (int group = 0; group < groups; group++) {
            solver.finish(group);
        }
        for (double magnitudes : jobMagnitudes) {
            solver.tally.addPenalty(solver.singleStrength() * magnitudes);
        }
    }

    /** A step of no length tells no norm: they are taken from the weights. */
    private void stay() {
        Arrays.fill(sums, 0);
        for (int number = 0; number < jobs.size(); number++) {
            Job job = jobs.get(number);
            double magnitudes = 0;
            for (int row = 0; row < job.rows(); row++) {
                for (int column = 0; column < job.columns(); column++) {
                    double weight = weights(job.tensor()).get(job.index() + row * job.rowStride() + column);
                    sums[job.cell() + column / job.inner()] += weight * weight;
                    magnitudes += Math.abs(weight);
                }
            }
            jobMagnitudes[number] = magnitudes;
        }
        for (int cell = 0; cell < solver.cells(); cell++) {
            solver.stay(cell, Math.sqrt(sums[cell]));
        }
    }

    @Override
    public Summary summary() {
        return solver.summary();
    }

    @Override
    public double penalty() {
        return solver.penalty();
    }
}
