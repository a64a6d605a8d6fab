package dev.espalier.kernel;

import dev.espalier.group.AxisGroups;
import dev.espalier.kernel.GroupSolver.Need;
import dev.espalier.penalty.Penalty;
import dev.espalier.prox.Branch;
import dev.espalier.prox.Summary;
import dev.espalier.tensor.TensorView;
import java.util.ArrayList;
import java.util.BitSet;
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
     * @param groups how many groups
     * @param offset where its u and d are in scratch memory, in weights
     */
    private record Job(
            int tensor, long index, long rowStride, int rows, int inner, int group, int groups, long offset) {
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
    private final float[] thetas;
    private final int groups;
    private final int groupSize;
    private final GroupSolver solver;
    private final List<Job> jobs = new ArrayList<>();
    private final List<double[]> jobSums = new ArrayList<>();
    private final double[] sums;
    private final Tally tally = new Tally();
    private final BitSet exact = new BitSet();

    private Penalty penalty;
    private PenaltyTerms terms;
    private double smallStep;

    GroupedBlock(List<AxisGroups> tensors, List<Moments> moments, Penalty penalty, float[] thetas) {
        this.moments = moments;
        this.penalty = penalty;
        this.thetas = thetas;
        groups = tensors.getFirst().count();
        groupSize = tensors.stream().mapToInt(part -> part.size(0)).sum();
        solver = new GroupSolver(groups, groupSize);
        sums = new double[groups * Sums.COUNT];
        for (int tensor = 0; tensor < tensors.size(); tensor++) {
            cut(tensor, tensors.get(tensor));
        }
        terms = PenaltyTerms.of(penalty.profileOfSize(groupSize), 0);
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
            jobs.add(new Job(tensor, start, rowStride, height, inner, group, count, scratch()));
            jobSums.add(new double[count * Sums.COUNT]);
        }
    }

    @Override
    public void changePenalty(Penalty other) {
        penalty = other;
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
        terms = PenaltyTerms.of(penalty.profileOfSize(groupSize), stepSize);
        smallStep = relativeStep;
        exact.clear();
        tally.clear();
        for (int group = 0; group < groups; group++) {
            solver.start(group, thetas[group], terms);
        }
    }

    @Override
    void first(int number, Worker worker, Scratch scratch) {
        Job job = jobs.get(number);
        int columns = job.columns();
        Rows rows = worker.rows(weights(job.tensor()), gradients(job.tensor()), moments.get(job.tensor()));
        begin(job, 0, columns, Need.EVALUATION, worker);
        int block = 0;
        for (int row = 0; row < job.rows(); row++) {
            long u = u(job, row, scratch);
            long d = scratch.d() + job.scratch(row);
            rows.open(job.index() + row * job.rowStride(), columns);
            worker.lanes().load(update(), rows.x(), rows.g(), rows.m(), rows.v(), u, d, columns);
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
            if (solver.need(job.group() + group) == need) {
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
            double theta = solver.theta(job.group() + group);
            fill(worker.theta, group * job.inner() - from, job.inner(), to - from, theta);
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
        return x.contiguous() && terms.stepSize() > 0
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
            float kappa = (float) terms.kappa();
            float threshold = (float) terms.threshold();
            worker.lanes()
                    .evaluate(u, uStride, d, dStride, rows, to - from, worker.theta, kappa, threshold, worker.sums);
            if (terms.kneed()) {
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
            if (solver.need(job.group() + group) == need) {
                int left = group * job.inner() - from;
                Sums.clear(groupSums, group, survey);
                Sums.add(worker.sums, to - from, left, left + job.inner(), survey, groupSums, group);
            }
        }
    }

    @Override
    boolean solve(Scratch scratch) {
        for (int group = 0; group < groups; group++) {
            Sums.clear(sums, group, solver.need(group) == Need.SURVEY);
        }
        for (int number = 0; number < jobs.size(); number++) {
            Job job = jobs.get(number);
            for (int group = 0; group < job.groups(); group++) {
                Need need = solver.need(job.group() + group);
                if (need == Need.EVALUATION || need == Need.SURVEY) {
                    Sums.add(jobSums.get(number), group, need == Need.SURVEY, sums, job.group() + group);
                }
            }
        }
        boolean more = false;
        for (int group = 0; group < groups; group++) {
            if (solver.need(group) == Need.EVALUATION || solver.need(group) == Need.SURVEY) {
                solver.advance(group, sums, terms, smallStep);
            }
            if (solver.need(group) == Need.EXACT) {
                solveExactly(group, scratch);
            }
            more |= solver.need(group) != Need.NOTHING;
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
        double[] solution = solver.solve(group, x, d, terms, tally);
        if (solution != null) {
            next[0] = 0;
            forEachPlace(group, scratch, (u, metric) -> {
                Memory.set(u, (float) solution[next[0]++]);
                Memory.set(metric, 1);
            });
            exact.set(group);
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
        if (terms.stepSize() == 0) {
            return; // u/d is x, but for rounding
        }
        Job job = jobs.get(number);
        int columns = job.columns();
        for (int group = 0; group < job.groups(); group++) {
            int here = job.group() + group;
            boolean asIs = exact.get(here) || solver.branch(here) == Branch.UNTOUCHED; // u/d is what is to be stored
            int from = group * job.inner();
            fill(worker.theta, from, job.inner(), columns, asIs ? 1 : solver.theta(here));
            fill(worker.kappa, from, job.inner(), columns, asIs ? 0 : terms.kappa());
            fill(worker.threshold, from, job.inner(), columns, asIs ? 0 : terms.threshold());
        }
        Rows rows = worker.rows(weights(job.tensor()), gradients(job.tensor()), moments.get(job.tensor()));
        for (int row = 0; row < job.rows(); row++) {
            long u = u(job, row, scratch);
            long d = scratch.d() + job.scratch(row);
            rows.openForWriting(job.index() + row * job.rowStride(), columns);
            worker.lanes().store(u, d, columns, worker.theta, worker.kappa, worker.threshold, rows.x());
            rows.writeBack();
        }
    }

    @Override
    void finish() {
        for (int group = 0; group < groups; group++) {
            if (terms.stepSize() == 0) {
                solver.stay(group, norm(group)); // no sum has told it
            }
            thetas[group] = (float) solver.theta(group);
            solver.count(group, terms, tally);
        }
    }

    private double norm(int group) {
        double squares = 0;
        for (Job job : jobs) {
            if (group >= job.group() && group < job.group() + job.groups()) {
                for (int row = 0; row < job.rows(); row++) {
                    long start = job.index() + row * job.rowStride() + (long) (group - job.group()) * job.inner();
                    for (long index = start; index < start + job.inner(); index++) {
                        double weight = weights(job.tensor()).get(index);
                        squares += weight * weight;
                    }
                }
            }
        }
        return Math.sqrt(squares);
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
