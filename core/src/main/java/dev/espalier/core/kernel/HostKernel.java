package dev.espalier.core.kernel;

import dev.espalier.core.check.Check;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.Coefficients;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Steps on the processor: runs the blocks of a step on a number of threads. Results do not depend on how many. */
final class HostKernel implements StepKernel {
    /** Stands for the helpers, when memory is asked whom it serves. */
    private static final Thread HELPER = Thread.ofPlatform().unstarted(() -> {});

    private static final long PAGE = 4096;

    /** Bytes from the place of one array within its pages to that of the next: lines of their own also for rows half a page apart. */
    private static final long APART = 640;

    private final Lanes lanes;

    /** Whether d is computed anew where it is needed: not that of a last gradient alone, which nothing is kept of. */
    private final boolean forgets;

    private final Team team;
    private final Arena arena = Arena.ofShared();
    private final List<SetState> sets = new ArrayList<>();
    private final Worker[] workers;
    private final Scan scan;

    /** Whether any metric has a floor. */
    private final boolean floored;

    /** The moments of a trained tensor; null where the rule has none. */
    private record TensorState(
            String name,
            @Nullable MemorySegment first,
            @Nullable MemorySegment second) {
        Block.Moments moments() {
            return new Block.Moments(first == null ? 0 : first.address(), second == null ? 0 : second.address());
        }
    }

    /** What is stepped together: its block, one without a penalty for when that has to wait, and the norms of its groups. */
    private static final class SetState {
        final SetPlan plan;
        final List<TensorState> tensors;
        final float[] thetas;
        final Block block;
        final Block free;

        /** Whether this step leaves the penalty out. */
        boolean waits;

        @Nullable
        Regularizer regularizer;

        SetState(SetPlan plan, List<TensorState> tensors, SegmentAllocator memory) {
            this.plan = plan;
            this.tensors = tensors;
            regularizer = plan.regularizer();
            thetas = new float[plan.norms()];
            free = Block.of(plan.sizes(), moments(), null, thetas, memory);
            block = plan.proximal() ? Block.of(plan.sizes(), moments(), regularizer, thetas, memory) : free;
        }

        List<Block.Moments> moments() {
            return tensors.stream().map(TensorState::moments).toList();
        }

        /** What this step runs on. */
        Block current() {
            return waits ? free : block;
        }

        SetResult result(List<TensorView> weights) {
            return waits && regularizer != null
                    ? SetResult.untouched(regularizer, weights)
                    : new SetResult(block.summary(), block.penalty());
        }
    }

    /**
     * A kernel for a model.
     *
     * @param choice scalar, vector, or the best there is
     * @param rule how a gradient becomes a direction and a metric
     * @param plans all that is stepped
     * @param threads number of threads
     */
    HostKernel(LaneChoice choice, UpdateRule rule, List<SetPlan> plans, int threads) {
        Check.atLeast("threads", threads, 1);
        for (SetPlan plan : plans) {
            List<TensorState> tensors = new ArrayList<>();
            for (int tensor = 0; tensor < plan.names().size(); tensor++) {
                long size = plan.sizes().get(tensor);
                tensors.add(new TensorState(
                        plan.names().get(tensor),
                        rule.hasFirstMoment() ? moment(size, 1) : null,
                        rule.hasSecondMoment() ? moment(size, 2) : null));
            }
            sets.add(new SetState(plan, tensors, arena));
        }
        List<Block> blocks = sets.stream().map(set -> set.block).toList();
        lanes = choice.lanes();
        team = new Team(threads);
        long weights = blocks.stream().mapToLong(Block::scratch).max().orElse(0);
        forgets = lanes.forgetsMetric() && (rule.hasSecondMoment() || rule.at(1).addSecond() == 0);
        long kept = forgets || weights == 0 ? 0 : segment(weights).address();
        int columns = sets.stream()
                .mapToInt(set -> Math.max(set.block.columns(), set.free.columns()))
                .reduce(Scan.COLUMNS, Math::max);
        workers = new Worker[threads];
        for (int member = 0; member < threads; member++) {
            workers[member] = new Worker(lanes, columns, kept, arena);
        }
        scan = new Scan(lanes, team, workers);
        floored = plans.stream().anyMatch(plan -> plan.metricFloor() > 0);
    }

    /**
     * Memory for a moment of a tensor. It begins elsewhere within a page than the other moment does, and than most weights and gradients do:
     * a step reads all four side by side, and what is at the same place of different pages has to share a few lines of the nearest cache.
     */
    private MemorySegment moment(long floats, int number) {
        long offset = number * APART;
        return arena.allocate(offset + floats * Float.BYTES, PAGE).asSlice(offset);
    }

    private MemorySegment segment(long floats) {
        return arena.allocate(floats * Float.BYTES, 64);
    }

    @Override
    public String name() {
        return lanes.name() + ", " + team.members() + " threads";
    }

    @Override
    public SequencedMap<String, MemorySegment> state() {
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        for (SetState set : sets) {
            for (TensorState tensor : set.tensors) {
                if (tensor.first() != null) {
                    state.put("first/" + tensor.name(), tensor.first());
                }
                if (tensor.second() != null) {
                    state.put("second/" + tensor.name(), tensor.second());
                }
            }
        }
        for (SetState set : sets) {
            if (set.thetas.length > 0) {
                state.put("theta/" + set.plan.name(), MemorySegment.ofArray(set.thetas));
            }
        }
        return state;
    }

    @Override
    public void changePenalties(List<@Nullable Penalty> penalties) {
        for (int i = 0; i < sets.size(); i++) {
            SetState set = sets.get(i);
            Penalty penalty = penalties.get(i);
            if (set.regularizer != null && penalty != null) {
                set.regularizer = set.regularizer.withPenalty(penalty);
                set.block.changePenalty(penalty);
            }
        }
    }

    @Override
    public Result step(List<SetStep> steps, Coefficients rule, double smallStep) {
        List<TensorView> gradients =
                steps.stream().flatMap(step -> step.gradients().stream()).toList();
        double[] largest = scan.largest(gradients);
        BadGradient bad = badGradient(largest);
        if (bad != null) {
            return Result.refused(bad);
        }
        for (int i = 0; i < sets.size(); i++) {
            SetState set = sets.get(i);
            if (set.regularizer != null && !set.plan.proximal()) {
                set.regularizer.addSubgradient(
                        steps.get(i).weights(), steps.get(i).gradients());
            }
        }
        double[] floors = floored && rule.addSecond() > 0 ? metricFloors(gradients, rule) : new double[largest.length];
        int tensor = 0;
        for (int i = 0; i < sets.size(); i++) {
            SetState set = sets.get(i);
            SetStep step = steps.get(i);
            Update update = Update.of(rule, step.stepSize(), step.weightDecay());
            List<Update> updates = new ArrayList<>();
            double most = 0;
            for (int end = tensor + set.tensors.size(); tensor < end; tensor++) {
                updates.add(update.withMetricFloor((float) floors[tensor]));
                most = Math.max(most, largest[tensor]);
            }
            set.waits = set.plan.waitsForGradients(rule) && !sees(set, step, update, most);
            set.current().bind(step.weights(), step.gradients(), updates, step.stepSize(), smallStep);
        }
        run();
        List<SetResult> results = new ArrayList<>();
        for (int i = 0; i < sets.size(); i++) {
            results.add(sets.get(i).result(steps.get(i).weights()));
        }
        return Result.of(results);
    }

    private @Nullable BadGradient badGradient(double[] largest) {
        int tensor = 0;
        for (SetState set : sets) {
            for (String name : set.plan.names()) {
                if (!(largest[tensor] <= LARGEST_GRADIENT)) {
                    return new BadGradient(name, (float) largest[tensor]);
                }
                tensor++;
            }
        }
        return null;
    }

    /** What the metric of every tensor is not below: a share of its mean. */
    private double[] metricFloors(List<TensorView> gradients, Coefficients rule) {
        double[] shares = sets.stream()
                .flatMapToDouble(set -> set.tensors.stream().mapToDouble(_ -> set.plan.metricFloor()))
                .toArray();
        List<Block.Moments> moments =
                sets.stream().flatMap(set -> set.moments().stream()).toList();
        double[] means = scan.metricMeans(Update.of(rule, 0, 0), gradients, moments); // a rate is no part of the metric
        Arrays.setAll(means, tensor -> shares[tensor] * means[tensor]);
        return means;
    }

    /**
     * Whether the metric of a set has seen a gradient. One look at its largest gradient says yes, mostly: no second moment is
     * less than what this gradient alone makes of it.
     */
    private boolean sees(SetState set, SetStep step, Update update, double largest) {
        return update.sees(update.second(0, (float) largest)) || scan.sees(update, step.gradients(), set.moments());
    }

    /** Does the step on all blocks. They must have been bound. Where their d is kept, they use the same memory for it in turn. */
    private void run() {
        List<Block> plain = new ArrayList<>();
        List<Block> penalised = new ArrayList<>();
        for (SetState set : sets) {
            (set.current().scratch() == 0 ? plain : penalised).add(set.current());
        }
        forEachJob(plain, Block::first);
        plain.forEach(Block::finish);
        if (forgets) {
            solve(penalised);
        } else {
            penalised.forEach(block -> solve(List.of(block)));
        }
    }

    private void solve(List<Block> blocks) {
        forEachJob(blocks, Block::first);
        for (List<Block> left = unsolved(blocks); !left.isEmpty(); left = unsolved(left)) {
            forEachJob(left, Block::again);
        }
        // Backwards: what was seen last is nearest.
        forEachJob(blocks.reversed(), (block, job, worker) -> block.last(block.jobs() - 1 - job, worker));
        blocks.forEach(Block::finish);
    }

    /** The blocks that need another pass. */
    private List<Block> unsolved(List<Block> blocks) {
        boolean[] more = new boolean[blocks.size()];
        team.run(more.length, (block, _) -> more[block] = blocks.get(block).solve());
        return IntStream.range(0, more.length)
                .filter(block -> more[block])
                .mapToObj(blocks::get)
                .toList();
    }

    @FunctionalInterface
    private interface Pass {
        void run(Block block, int job, Worker worker);
    }

    private void forEachJob(List<Block> blocks, Pass pass) {
        int[] firstJob = new int[blocks.size() + 1];
        for (int block = 0; block < blocks.size(); block++) {
            firstJob[block + 1] = firstJob[block] + blocks.get(block).jobs();
        }
        team.run(firstJob[blocks.size()], (number, member) -> {
            int block = last(firstJob, number);
            pass.run(blocks.get(block), number - firstJob[block], workers[member]);
        });
    }

    /** The last index whose entry is not above a value; entries do not fall. */
    static int last(int[] entries, int value) {
        int low = 0;
        int high = entries.length - 2;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (entries[middle] <= value) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    /** {@inheritDoc} The kernel goes by addresses, so nobody else would notice memory that is gone. */
    @Override
    public void requireUsable(String what, String of, TensorView tensor, boolean written) {
        if (!tensor.place().isHost()) {
            throw new IllegalArgumentException(
                    "%s of %s is on %s, but the step runs on the processor: make the optimizer with"
                                    .formatted(what, of, tensor.place())
                            + " a kernel for that device, or move the model to host memory");
        }
        if (tensor.type() != ElementType.FLOAT32 || !tensor.segment().isNative()) {
            throw new IllegalArgumentException("%s of %s is %s in %s memory: a step needs float32 in native memory"
                    .formatted(what, of, tensor, tensor.segment().isNative() ? "native" : "heap"));
        }
        if (!tensor.segment().scope().isAlive()) {
            throw new IllegalArgumentException(
                    what + " of " + of + " is in memory that has been freed: keep its arena open");
        }
        if (written && tensor.segment().isReadOnly()) {
            throw new IllegalArgumentException(
                    what + " of " + of + " is in memory that is read-only: the step must write to it");
        }
        if (!tensor.segment().isAccessibleBy(team.members() == 1 ? Thread.currentThread() : HELPER)) {
            throw new IllegalArgumentException(
                    "%s of %s is in memory confined to a thread, but the step runs on %d: use a shared arena"
                            .formatted(what, of, team.members()));
        }
    }

    @Override
    public void close() {
        team.close();
        arena.close();
    }
}
