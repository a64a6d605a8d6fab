package dev.espalier.core.kernel;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.kernel.CellSolver.Need;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.tensor.TensorView;
import java.util.ArrayList;
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
    static final int PADDING = 16;

    /** Columns in a job, at most, unless a single group has more. */
    private static final int JOB_COLUMNS = 1 << 13;

    /** Columns of which θ, its pull, its κ and four sums are in the nearest cache: 28 bytes each of 32,768. */
    private static final int NEAR_COLUMNS = 1 << 10;

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
     * @param offset where its d is, if that is kept, in weights
     */
    private record Job(
            int tensor, long index, long rowStride, int rows, int inner, int group, int cell, int groups, long offset) {
        int columns() {
            return groups * inner;
        }

        /** The logical index of a row's first weight. */
        long index(int row) {
            return index + row * rowStride;
        }

        /**
         * How many rows are best gone through side by side. Where θ and the sums of all columns stay in the nearest cache, one after
         * the other; else as many as there may be, so that those are brought near less often.
         */
        int abreast(int most) {
            return columns() <= NEAR_COLUMNS ? 1 : most;
        }

        /** From one row to the next where u and d are not in place of others, in bytes. */
        long stride() {
            return (long) (columns() + PADDING) * Float.BYTES;
        }
    }

    private final List<Moments> moments;
    private final int groups;
    private final int groupSize;
    private final CellSolver solver;
    private final List<Job> jobs = new ArrayList<>();
    private final List<GroupSums> jobSums = new ArrayList<>();
    private final double[] jobMagnitudes;
    private final GroupSums sums;

    /** Changes whenever θ of any cell does. */
    private int turn;

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
        sums = new GroupSums(solver.cells());
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
            jobSums.add(new GroupSums(count));
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
                        + jobs.getLast().rows() * jobs.getLast().stride() / Float.BYTES;
    }

    @Override
    void prepare(double stepSize, double relativeStep) {
        turn++;
        solver.start(stepSize, relativeStep);
    }

    @Override
    void first(int number, Worker worker) {
        Job job = jobs.get(number);
        begin(job, 0, job.columns(), Need.EVALUATION, worker);
        boolean inPlace = worker.kept == 0 && inPlace(job.tensor());
        int step = inPlace ? job.abreast(Lanes.LOADED_ROWS) : Lanes.BLOCK_ROWS;
        for (int row = 0; row < job.rows(); row += step) {
            int height = Math.min(step, job.rows() - row);
            if (inPlace) {
                loadInPlace(job, row, height, worker);
            } else {
                load(job, row, height, worker);
                sum(job, row, height, 0, job.columns(), Need.EVALUATION, worker);
            }
        }
        if (job.inner() == 1) {
            jobSums.get(number).take(worker.sums);
        } else {
            end(number, 0, job.columns(), Need.EVALUATION, worker);
        }
    }

    /** Whether all that belongs to a tensor lies there as the lanes want it. */
    private boolean inPlace(int tensor) {
        return solver.stepSize() > 0
                && solver.singleThreshold() == 0
                && weights(tensor).contiguous()
                && gradients(tensor).contiguous()
                && moments.get(tensor).first() != 0
                && moments.get(tensor).second() != 0;
    }

    private void loadInPlace(Job job, int row, int height, Worker worker) {
        Rows rows = rows(job, worker);
        rows.openForWriting(job.index(row), job.columns());
        worker.lanes()
                .loadAndEvaluate(
                        update(job.tensor()),
                        rows.x(),
                        rows.g(),
                        rows.m(),
                        rows.v(),
                        job.rowStride() * Float.BYTES,
                        height,
                        job.columns(),
                        worker.theta,
                        worker.pull,
                        worker.kappa,
                        solver.flat(),
                        worker.sums);
    }

    private void load(Job job, int from, int height, Worker worker) {
        int columns = job.columns();
        Rows rows = rows(job, worker);
        float single = (float) solver.singleThreshold();
        for (int row = from; row < from + height; row++) {
            long u = u(job, row, worker);
            long d = d(job, row, worker);
            rows.open(job.index(row), columns);
            worker.lanes().load(update(job.tensor()), rows.x(), rows.g(), rows.m(), rows.v(), u, d, columns);
            if (single > 0) {
                worker.lanes().soften(u, columns, single);
            }
            if (solver.stepSize() > 0) {
                rows.writeBack(u);
            }
        }
    }

    private Rows rows(Job job, Worker worker) {
        return worker.rows(weights(job.tensor()), gradients(job.tensor()), moments.get(job.tensor()));
    }

    @Override
    void again(int number, Worker worker) {
        again(number, Need.EVALUATION, worker);
        again(number, Need.SURVEY, worker);
        again(number, Need.WEIGHING, worker);
    }

    /** Goes once more over the columns of all groups that have a need. */
    private void again(int number, Need need, Worker worker) {
        Job job = jobs.get(number);
        int from = 0;
        int to = 0;
        for (int group = 0; group < job.groups(); group++) {
            if (solver.need(job.cell() + group) == need) {
                int left = group * job.inner() / STRETCH * STRETCH;
                if (left > to) {
                    again(number, from, to, need, worker);
                    from = left;
                }
                to = Math.min(job.columns(), Math.ceilDiv((group + 1) * job.inner(), STRETCH) * STRETCH);
            }
        }
        again(number, from, to, need, worker);
    }

    private void again(int number, int from, int to, Need need, Worker worker) {
        if (from < to) {
            Job job = jobs.get(number);
            begin(job, from, to, need, worker);
            for (int row = 0; row < job.rows(); row += Lanes.BLOCK_ROWS) {
                int height = Math.min(Lanes.BLOCK_ROWS, job.rows() - row);
                for (int each = row; each < row + height; each++) {
                    fetch(job, each, from, to, worker);
                }
                sum(job, row, height, from, to, need, worker);
            }
            end(number, from, to, need, worker);
        }
    }

    /** Begins sums over some columns of a job. */
    private void begin(Job job, int from, int to, Need need, Worker worker) {
        Sums.clear(worker.sums, to - from, need == Need.SURVEY);
        aim(job, from, to, false, worker);
    }

    /**
     * Has θ, its pull and its κ of some columns of a job ready where they are looked for: those to evaluate at, or to store.
     */
    private void aim(Job job, int from, int to, boolean last, Worker worker) {
        if (worker.aimsAt(this, turn, job.cell(), job.inner(), from, to)) {
            return; // left by the job above
        }
        int column = from;
        while (column < to) {
            int group = column / job.inner();
            int cell = job.cell() + group;
            boolean asIs = last && solver.asIs(cell);
            float theta = asIs ? 1 : (float) solver.theta(cell);
            float pull = asIs ? 0 : (float) solver.pull(cell);
            float kappa = last ? 0 : (float) solver.kappa(cell);
            int end = Math.min((group + 1) * job.inner(), to);
            do {
                long at = (long) (column - from) * Float.BYTES;
                Memory.set(worker.theta + at, theta);
                Memory.set(worker.pull + at, pull);
                Memory.set(worker.kappa + at, kappa);
                column++;
            } while (column < end);
        }
    }

    /**
     * Where a row's u is. In place of the weights, which nobody needs any more, where they lie in one piece: that is one array
     * less to write and to read. Else, or if the weights are to stay, with a few other rows in the worker's memory.
     */
    private long u(Job job, int row, Worker worker) {
        TensorView x = weights(job.tensor());
        return x.contiguous() && solver.stepSize() > 0
                ? x.segment().address() + job.index(row) * Float.BYTES
                : worker.u + row % Lanes.BLOCK_ROWS * job.stride();
    }

    /** Where a row's d is: where all of the block are kept, or with a few other rows in the worker's memory. */
    private static long d(Job job, int row, Worker worker) {
        return worker.kept == 0
                ? worker.d + row % Lanes.BLOCK_ROWS * job.stride()
                : worker.kept + job.offset() * Float.BYTES + row * job.stride();
    }

    /** Has u and d of some columns of a row ready where they are looked for. */
    private void fetch(Job job, int row, int from, int to, Worker worker) {
        Rows rows = rows(job, worker);
        rows.openForWriting(job.index(row) + from, to - from);
        rows.copyIn(u(job, row, worker) + (long) from * Float.BYTES);
        if (worker.kept == 0) {
            long d = d(job, row, worker) + (long) from * Float.BYTES;
            worker.lanes().metric(update(job.tensor()), rows.v(), d, to - from);
        }
    }

    /** Adds some rows to the sums. */
    private void sum(Job job, int row, int rows, int from, int to, Need need, Worker worker) {
        long u = u(job, row, worker) + (long) from * Float.BYTES;
        long uStride = u(job, row + 1, worker) - u(job, row, worker);
        long d = d(job, row, worker) + (long) from * Float.BYTES;
        long dStride = job.stride();
        if (need == Need.SURVEY) {
            worker.lanes().survey(u, uStride, d, dStride, rows, to - from, worker.sums);
        } else if (need == Need.WEIGHING) {
            worker.lanes().weigh(u, uStride, d, dStride, rows, to - from, worker.theta, worker.pull, worker.sums);
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
        Sums.add(worker.sums, from, to, job.inner(), solver, job.cell(), need, jobSums.get(number));
    }

    @Override
    boolean solve() {
        turn++;
        sums.clear();
        for (int number = 0; number < jobs.size(); number++) {
            sums.add(jobSums.get(number), jobs.get(number).cell());
        }
        boolean more = false;
        for (int group = 0; group < groups; group++) {
            if (solver.advance(group, sums)) {
                solveExactly(group);
            }
            more |= solver.busy(group);
        }
        return more;
    }

    private void solveExactly(int group) {
        double[] x = new double[groupSize];
        double[] d = new double[groupSize];
        int[] next = {0};
        forEachWeight(group, (weights, index, metric) -> {
            d[next[0]] = metric;
            x[next[0]++] = weights.get(index) / metric;
        });
        double[] solution = solver.solve(group, x, d);
        if (solution != null) {
            next[0] = 0;
            forEachWeight(group, (weights, index, metric) -> weights.set(index, solution[next[0]++] * metric));
        }
    }

    @FunctionalInterface
    private interface Visitor {
        void visit(TensorView weights, long index, float d);
    }

    /** Visits where u of a group is, in place of the weights, and tells d. */
    private void forEachWeight(int group, Visitor visitor) {
        for (Job job : jobs) {
            if (group >= job.group() && group < job.group() + job.groups()) {
                long v = moments.get(job.tensor()).second();
                Update update = update(job.tensor());
                TensorView gradients = gradients(job.tensor());
                for (int row = 0; row < job.rows(); row++) {
                    long first = job.index(row) + (long) (group - job.group()) * job.inner();
                    for (long index = first; index < first + job.inner(); index++) {
                        float second = v == 0
                                ? update.second(0, (float) gradients.get(index))
                                : Memory.get(v + index * Float.BYTES);
                        visitor.visit(weights(job.tensor()), index, update.metric(second));
                    }
                }
            }
        }
    }

    @Override
    void last(int number, Worker worker) {
        if (solver.stepSize() == 0) {
            return; // u/d is x, but for rounding
        }
        Job job = jobs.get(number);
        int columns = job.columns();
        aim(job, 0, columns, true, worker);
        if (solver.singleStrength() > 0) {
            Sums.clear(worker.sums, columns, true);
        }
        Rows rows = rows(job, worker);
        boolean inPlace = worker.kept == 0 && weights(job.tensor()).contiguous();
        boolean keepsMetric = moments.get(job.tensor()).second() != 0; // else its rows are one and the same
        int step = inPlace && keepsMetric ? job.abreast(Lanes.BLOCK_ROWS) : 1;
        for (int row = 0; row < job.rows(); row += step) {
            int height = Math.min(step, job.rows() - row);
            rows.openForWriting(job.index(row), columns);
            if (inPlace) {
                worker.lanes()
                        .restore(
                                update(job.tensor()),
                                rows.v(),
                                rows.x(),
                                job.rowStride() * Float.BYTES,
                                height,
                                columns,
                                worker.theta,
                                worker.pull);
            } else {
                fetch(job, row, 0, columns, worker);
                long u = u(job, row, worker);
                worker.lanes().store(u, d(job, row, worker), columns, worker.theta, worker.pull, rows.x());
            }
            if (solver.singleStrength() > 0) {
                for (int each = row; each < row + height; each++) {
                    rows.openForWriting(job.index(each), columns);
                    worker.lanes().magnitudes(rows.x(), columns, worker.sums);
                }
            }
            rows.writeBack(rows.x());
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
        double[] squares = new double[solver.cells()];
        for (int number = 0; number < jobs.size(); number++) {
            Job job = jobs.get(number);
            double magnitudes = 0;
            for (int row = 0; row < job.rows(); row++) {
                for (int column = 0; column < job.columns(); column++) {
                    double weight = weights(job.tensor()).get(job.index(row) + column);
                    squares[job.cell() + column / job.inner()] += weight * weight;
                    magnitudes += Math.abs(weight);
                }
            }
            jobMagnitudes[number] = magnitudes;
        }
        for (int cell = 0; cell < solver.cells(); cell++) {
            solver.stay(cell, Math.sqrt(squares[cell]));
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
