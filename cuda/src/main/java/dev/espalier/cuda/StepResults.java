package dev.espalier.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.espalier.core.kernel.StepKernel;
import dev.espalier.core.kernel.StepKernel.BadGradient;
import dev.espalier.core.prox.Summary;
import dev.espalier.cuda.Struct.Row;
import dev.espalier.cuda.driver.Gpu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** What a GPU tells of a step: flags and counts, which it writes to the host's memory, and details that are fetched if flags say so. */
final class StepResults {
    /** Where the counts begin in what is told, behind the flags. */
    private static final int COUNTS = 16;

    private final Gpu gpu;
    private final List<String> tensors;

    /** Flags as they are raised; they stay so until they are cleared here. */
    private final Gpu.Memory flags;

    /** Flags and counts as they are told. */
    private final MemorySegment told;

    /** Groups that ask for the exact operator. */
    private final Gpu.Memory stragglers;

    /** The largest gradient of every tensor, where it is bad. */
    private final Gpu.Memory largest;

    /**
     * A group that left the common paths.
     *
     * @param set its set, in the order of the tables
     * @param group its number there
     * @param evaluations how often it has been evaluated
     */
    record Straggler(int set, int group, int evaluations) {}

    /**
     * Room for the results of a model.
     *
     * @param resources will give back what this takes
     * @param tensors the names of the tensors, in the order of the tables
     * @param sets how many sets the GPU steps
     * @param groups how many groups these have
     */
    StepResults(Gpu gpu, Resources resources, List<String> tensors, int sets, int groups) {
        this.gpu = gpu;
        this.tensors = tensors;
        flags = resources.keep(gpu.allocate(Structs.FLAGS.size()));
        told = resources
                .keep(gpu.allocatePinned(COUNTS + sets * Structs.STATS.size()))
                .segment();
        stragglers = resources.keep(gpu.allocate(groups * Structs.STRAGGLER.size()));
        largest = resources.keep(gpu.allocate(tensors.size() * (long) Float.BYTES));
    }

    /** Writes into the plan where this is. */
    void describe(Row plan) {
        plan.put("toldFlags", told.address())
                .put("setStats", told.address() + COUNTS)
                .put("largest", largest.address())
                .put("flags", flags.address())
                .put("stragglers", stragglers.address());
    }

    private Row flags() {
        return Structs.FLAGS.row(told, 0);
    }

    private Row counts(int set) {
        return Structs.STATS.row(told.asSlice(COUNTS), set);
    }

    private void clearFlags(Arena scratch) {
        gpu.copyIn(scratch.allocate(Structs.FLAGS.layout()), flags.address());
    }

    /** The gradient for which the step did nothing; empty if it did something. Asked for once a step. */
    Optional<BadGradient> badGradient() {
        if (flags().intOf("bad") == 0) {
            return Optional.empty();
        }
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment magnitudes = scratch.allocate(JAVA_FLOAT, tensors.size());
            gpu.copyOut(largest.address(), magnitudes);
            gpu.copyIn(scratch.allocate(JAVA_FLOAT, tensors.size()), largest.address());
            clearFlags(scratch);
            for (int i = 0; i < tensors.size(); i++) {
                float magnitude = magnitudes.getAtIndex(JAVA_FLOAT, i);
                if (!(magnitude <= StepKernel.LARGEST_GRADIENT)) {
                    return Optional.of(new BadGradient(tensors.get(i), magnitude));
                }
            }
        }
        throw new IllegalStateException("a gradient was bad, and none is");
    }

    /** What was done to the groups of a set, without those that are stragglers. */
    Summary summary(int set) {
        Row row = counts(set);
        return new Summary(
                row.intOf("zeroed"),
                row.intOf("shrunk"),
                row.intOf("untouched"),
                row.longOf("evaluations"),
                0,
                row.floatOf("error"),
                row.intOf("zeroedWithin"));
    }

    /** Whether nothing was done to the groups of a set, because its penalty waits for a gradient. */
    boolean waits(int set) {
        return counts(set).intOf("waits") != 0;
    }

    /** The penalty of a set after the step, without that of the stragglers. */
    double penalty(int set) {
        return counts(set).doubleOf("penalty");
    }

    /** The groups that are left to the exact operator. Asked for once a step. */
    List<Straggler> stragglers() {
        int count = flags().intOf("stragglers");
        if (count == 0) {
            return List.of();
        }
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment list = scratch.allocate(Structs.STRAGGLER.layout(), count);
            gpu.copyOut(stragglers.address(), list);
            clearFlags(scratch);
            return IntStream.range(0, count)
                    .mapToObj(i -> Structs.STRAGGLER.row(list, i))
                    .map(row -> new Straggler(row.intOf("set"), row.intOf("group"), row.intOf("evaluations")))
                    .toList();
        }
    }
}
