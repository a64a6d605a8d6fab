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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/** Steps on the processor: runs the blocks of a step on a number of threads. Results do not depend on how many. */
final class HostKernel implements StepKernel {
    /** Stands for the helpers, when memory is asked whom it serves. */
    private static final Thread HELPER = Thread.ofPlatform().unstarted(() -> {});

    /** Floats that one thread looks through at a time. */
    private static final int SCAN = 1 << 16;

    private final Lanes lanes;
    private final Team team;
    private final Arena arena = Arena.ofShared();
    private final List<SetState> sets = new ArrayList<>();
    private final List<Block> plain;
    private final List<Block> penalised;
    private final Scratch scratch;
    private final Worker[] workers;

    /** The moments of a trained tensor; null where the rule has none. */
    private record TensorState(
            String name,
            @Nullable MemorySegment first,
            @Nullable MemorySegment second) {
        Block.Moments moments() {
            return new Block.Moments(first == null ? 0 : first.address(), second == null ? 0 : second.address());
        }
    }

    /** What is stepped together: its block, and the norms of its groups. */
    private static final class SetState {
        final SetPlan plan;
        final List<TensorState> tensors;
        final float[] thetas;
        final Block block;

        @Nullable
        Regularizer regularizer;

        SetState(SetPlan plan, List<TensorState> tensors) {
            this.plan = plan;
            this.tensors = tensors;
            regularizer = plan.regularizer();
            thetas = new float[plan.norms()];
            block = Block.of(
                    plan.sizes(),
                    tensors.stream().map(TensorState::moments).toList(),
                    plan.proximal() ? regularizer : null,
                    thetas);
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
                        rule.hasFirstMoment() ? segment(size) : null,
                        rule.hasSecondMoment() ? segment(size) : null));
            }
            sets.add(new SetState(plan, tensors));
        }
        List<Block> blocks = sets.stream().map(set -> set.block).toList();
        plain = blocks.stream().filter(block -> block.scratch() == 0).toList();
        penalised = blocks.stream().filter(block -> block.scratch() > 0).toList();
        lanes = choice.lanes();
        team = new Team(threads);
        long weights = blocks.stream().mapToLong(Block::scratch).max().orElse(0);
        scratch = new Scratch(allocate(weights), allocate(weights));
        int columns = blocks.stream().mapToInt(Block::columns).max().orElse(1);
        workers = new Worker[threads];
        for (int member = 0; member < threads; member++) {
            workers[member] = new Worker(lanes, columns, arena);
        }
    }

    private MemorySegment segment(long floats) {
        return arena.allocate(floats * Float.BYTES, 64);
    }

    private long allocate(long floats) {
        return segment(Math.max(floats, 1)).address();
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
        BadGradient bad = badGradient(steps);
        if (bad != null) {
            return Result.refused(bad);
        }
        for (int i = 0; i < sets.size(); i++) {
            SetState set = sets.get(i);
            SetStep step = steps.get(i);
            if (set.regularizer != null && !set.plan.proximal()) {
                set.regularizer.addSubgradient(step.weights(), step.gradients());
            }
            set.block.bind(step.weights(), step.gradients(), rule, step.stepSize(), step.weightDecay(), smallStep);
        }
        run();
        return Result.of(sets.stream()
                .map(set -> new SetResult(set.block.summary(), set.block.penalty()))
                .toList());
    }

    private @Nullable BadGradient badGradient(List<SetStep> steps) {
        List<TensorView> gradients =
                steps.stream().flatMap(step -> step.gradients().stream()).toList();
        float[] largest = largest(gradients);
        int tensor = 0;
        for (SetState set : sets) {
            for (String name : set.plan.names()) {
                if (!(largest[tensor] <= LARGEST_GRADIENT)) {
                    return new BadGradient(name, largest[tensor]);
                }
                tensor++;
            }
        }
        return null;
    }

    /** The largest magnitude of every tensor; NaN or infinite if any element is. */
    private float[] largest(List<TensorView> tensors) {
        int[] firstPiece = new int[tensors.size() + 1];
        for (int tensor = 0; tensor < tensors.size(); tensor++) {
            long pieces = Math.ceilDiv(tensors.get(tensor).size(), (long) SCAN);
            firstPiece[tensor + 1] = Math.toIntExact(firstPiece[tensor] + pieces);
        }
        float[] found = new float[firstPiece[tensors.size()]];
        team.run(found.length, (piece, member) -> {
            int tensor = last(firstPiece, piece);
            found[piece] = largest(tensors.get(tensor), (long) (piece - firstPiece[tensor]) * SCAN);
        });
        float[] largest = new float[tensors.size()];
        for (int piece = 0; piece < found.length; piece++) {
            int tensor = last(firstPiece, piece);
            largest[tensor] = Math.max(largest[tensor], found[piece]);
        }
        return largest;
    }

    private float largest(TensorView tensor, long from) {
        long count = Math.min(SCAN, tensor.size() - from);
        if (tensor.contiguous()) {
            return lanes.largest(tensor.segment().address() + from * Float.BYTES, count);
        }
        double largest = 0;
        for (long i = from; i < from + count; i++) {
            largest = Math.max(largest, Math.abs(tensor.get(i)));
        }
        return (float) largest;
    }

    /** Does the step on all blocks. They must have been bound. */
    private void run() {
        forEachJob(plain, Block::first);
        for (Block block : penalised) {
            List<Block> alone = List.of(block);
            forEachJob(alone, Block::first);
            while (block.solve(scratch)) {
                forEachJob(alone, Block::again);
            }
            forEachJob(alone, Block::last);
            block.finish();
        }
    }

    @FunctionalInterface
    private interface Pass {
        void run(Block block, int job, Worker worker, Scratch scratch);
    }

    private void forEachJob(List<Block> blocks, Pass pass) {
        int[] firstJob = new int[blocks.size() + 1];
        for (int block = 0; block < blocks.size(); block++) {
            firstJob[block + 1] = firstJob[block] + blocks.get(block).jobs();
        }
        team.run(firstJob[blocks.size()], (number, member) -> {
            int block = last(firstJob, number);
            pass.run(blocks.get(block), number - firstJob[block], workers[member], scratch);
        });
    }

    /** The last index whose entry is not above a value; entries do not fall. */
    private static int last(int[] entries, int value) {
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
