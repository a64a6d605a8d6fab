package dev.espalier.kernel;

import dev.espalier.check.Check;
import dev.espalier.tensor.ElementType;
import dev.espalier.tensor.TensorView;
import java.lang.foreign.Arena;
import java.util.List;

/** Runs the blocks of a step on a number of threads. Results do not depend on how many. */
public final class StepKernel implements AutoCloseable {
    /** Stands for the helpers, when memory is asked whom it serves. */
    private static final Thread HELPER = Thread.ofPlatform().unstarted(() -> {});

    /** Floats that one thread looks through at a time. */
    private static final int SCAN = 1 << 16;

    private final Lanes lanes;
    private final Team team;
    private final Arena arena = Arena.ofShared();
    private final List<Block> plain;
    private final List<Block> penalised;
    private final Scratch scratch;
    private final Worker[] workers;

    /**
     * A kernel for a model.
     *
     * @param choice scalar, vector, or the best there is
     * @param blocks all that is stepped
     * @param threads number of threads
     */
    public StepKernel(LaneChoice choice, List<Block> blocks, int threads) {
        Check.atLeast("threads", threads, 1);
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

    private long allocate(long floats) {
        return arena.allocate(Math.max(floats, 1) * Float.BYTES, 64).address();
    }

    /**
     * What the kernel runs on, for reports.
     *
     * @return the kind of lanes and the number of threads
     */
    public String name() {
        return lanes.name() + ", " + team.members() + " threads";
    }

    /**
     * The largest magnitude of every tensor.
     *
     * @param tensors float32 in native memory
     * @return a magnitude each; NaN or infinite if any element is
     */
    public float[] largest(List<TensorView> tensors) {
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
    public void run() {
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

    /**
     * Requires a tensor to be of a kind that the kernel works on. It goes by addresses, so nobody else would notice memory
     * that is gone.
     *
     * @param name what the caller calls it
     * @param tensor the tensor
     * @param written whether the step writes to it
     */
    public void requireUsable(String name, TensorView tensor, boolean written) {
        if (tensor.type() != ElementType.FLOAT32 || !tensor.segment().isNative()) {
            throw new IllegalArgumentException("%s is %s in %s memory: a step needs float32 in native memory"
                    .formatted(name, tensor, tensor.segment().isNative() ? "native" : "heap"));
        }
        if (!tensor.segment().scope().isAlive()) {
            throw new IllegalArgumentException(name + " is in memory that has been freed: keep its arena open");
        }
        if (written && tensor.segment().isReadOnly()) {
            throw new IllegalArgumentException(name + " is in memory that is read-only: the step must write to it");
        }
        if (!tensor.segment().isAccessibleBy(team.members() == 1 ? Thread.currentThread() : HELPER)) {
            throw new IllegalArgumentException(
                    "%s is in memory confined to a thread, but the step runs on %d: use a shared arena"
                            .formatted(name, team.members()));
        }
    }

    @Override
    public void close() {
        team.close();
        arena.close();
    }
}
