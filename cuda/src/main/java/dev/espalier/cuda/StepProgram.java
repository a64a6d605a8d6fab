package dev.espalier.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.espalier.cuda.Struct.Row;
import dev.espalier.cuda.driver.Gpu;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** {@code step.cu}, compiled for a model: its kernels, its list of jobs, and the memory that these work in. */
final class StepProgram {
    /** What messages call the source, and its parts: each needs those before it, and the first what {@link Structs} declares. */
    private static final String SOURCE = "step.cu";

    private static final List<String> PARTS = List.of(
            "tables.cu",
            "memory.cu",
            "rule.cu",
            "sums.cu",
            "inspect.cu",
            "plain.cu",
            "penalty.cu",
            "team.cu",
            "solver.cu",
            "nested.cu",
            "tile.cu",
            "common.cu",
            SOURCE,
            "rest.cu");

    /** Blocks on a multiprocessor at once, where there are no tiles of groups: what registers leave room for. */
    private static final int PLAIN_BLOCKS = 4;

    /** Blocks for each multiprocessor that look at gradients. */
    private static final int INSPECTORS = 12;

    /** Warps that solve, behind the threads that work on a tile: by turns, as solving takes longer than loading. */
    private static final int SOLVERS = 2;

    private static final int WARP = 32;

    /** Numbers of each weight that a block has room for where it works on one tile alone, and fetches nothing: u and d. */
    private static final int KEPT = 2;

    /** Bytes of what a block tells its team of a group. */
    private static final int LETTER_BYTES = 16;

    private final Gpu gpu;
    private final Resources resources;
    private final Set<Kind> kinds;
    private final boolean floored;
    private final Tiling tiling;
    private final MemorySegment plan;
    private final Gpu.Memory letters;

    /** For tensors of which some are not contiguous, and for others. */
    private final Map<Boolean, Variant> variants = new HashMap<>();

    /**
     * Compiles it, and writes what does not change from step to step to the GPU.
     *
     * @param resources will give back what this takes
     * @param kinds of the sets that the GPU steps
     * @param floored whether metrics may have a floor
     * @param tiling the jobs
     * @param others writes into the plan where everything else is
     */
    StepProgram(Gpu gpu, Resources resources, Set<Kind> kinds, boolean floored, Tiling tiling, Consumer<Row> others) {
        this.gpu = gpu;
        this.resources = resources;
        this.kinds = kinds;
        this.floored = floored;
        this.tiling = tiling;
        letters = resources.keep(gpu.allocate(2 * tiling.slots() * LETTER_BYTES));
        plan = resources.keep(Arena.ofShared()).allocate(Structs.PLAN.layout());
        Row row = Structs.PLAN.row(plan, 0);
        describe(row);
        others.accept(row);
        variant(false);
    }

    private void describe(Row row) {
        row.put("jobs", table(Structs.JOB, tiling.jobs(), Tables::job))
                .put("scans", table(Structs.SCAN, tiling.scans(), Tables::scan))
                .put("firstJobs", numbers(tiling.firstJobs()))
                .put("firstScans", numbers(tiling.firstScans()))
                .put("metricSums", scratch(floored ? tiling.scans().size() * (long) Double.BYTES : 0))
                .put("letters", letters.address())
                .put("jobStats", scratch(tiling.jobs().size() * Structs.STATS.size()))
                .put("jobCount", tiling.jobs().size())
                .put("scanCount", tiling.scans().size())
                .put("setCount", tiling.sets())
                .put("tensorCount", tiling.firstScans().size() - 1)
                .put("slots", tiling.slots());
    }

    private interface Writer<T> {
        void write(Row row, T content);
    }

    private <T> long table(Struct struct, List<T> contents, Writer<T> writer) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment table = arena.allocate(struct.layout(), contents.size());
            for (int i = 0; i < contents.size(); i++) {
                writer.write(struct.row(table, i), contents.get(i));
            }
            return upload(table);
        }
    }

    private long numbers(List<Integer> contents) {
        try (Arena arena = Arena.ofConfined()) {
            return upload(arena.allocateFrom(
                    JAVA_INT, contents.stream().mapToInt(Integer::intValue).toArray()));
        }
    }

    private long upload(MemorySegment contents) {
        long address = scratch(contents.byteSize());
        if (contents.byteSize() > 0) {
            gpu.copyIn(contents, address);
        }
        return address;
    }

    private long scratch(long bytes) {
        return resources.keep(gpu.allocate(bytes)).address();
    }

    /** Forgets what blocks have told each other, before marks begin anew. */
    void clearLetters() {
        letters.clear();
    }

    /** The kernels for some tensors, compiled when they are first asked for. */
    Variant variant(boolean strided) {
        return variants.computeIfAbsent(strided, this::compile);
    }

    private Variant compile(boolean strided) {
        Gpu.Kernels kernels =
                resources.keep(gpu.compile(SOURCE, source(), compilerOptions(tiling, kinds, strided, floored)));
        gpu.copyIn(plan, kernels.variable("plan"));
        boolean grouped = kinds.contains(Kind.GROUPED);
        Together step = new Together(kernels, "step", grouped ? Tiling.NUMBERS : 0, grouped ? SOLVERS * WARP : 0);
        Together rest = null;
        if (kinds.stream().anyMatch(Kind::rare)) {
            rest = new Together(kernels, "rest", tiles(kinds) ? KEPT : 0, 0);
        }
        Gpu.Kernel floors = floored ? kernels.kernel("floors") : null;
        return new Variant(kernels.kernel("inspect"), floors, step, rest, kernels.kernel("finish"));
    }

    /** A kernel whose blocks all run at once, as they wait for each other. */
    private final class Together {
        private final Gpu.Kernel kernel;
        private final int threads;
        private final int blocks;

        /**
         * Makes room for it.
         *
         * @param numbers that a block has room for, of each weight of a tile
         * @param more threads of a block, beside those that work on a tile
         */
        Together(Gpu.Kernels kernels, String name, int numbers, int more) {
            kernel = kernels.kernel(name);
            threads = tiling.threads() + more;
            kernel.useSharedMemory(numbers * tiling.deep() * tiling.threads() * Float.BYTES);
            blocks = kernel.residentBlocks(threads);
            if (tiling.largestTeam() > blocks) {
                throw new IllegalArgumentException(
                        "a group is too large for a step on %s: it takes %d blocks of threads, and %d run at once; use smaller groups, or step on the processor"
                                .formatted(gpu.name(), tiling.largestTeam(), blocks));
            }
        }

        void launch(long stream) {
            kernel.launchTogether(Math.clamp(tiling.jobs().size(), 1, blocks), threads, stream);
        }
    }

    /** The kernels, compiled for tensors that are all contiguous, or not. */
    final class Variant {
        private final Gpu.Kernel inspect;

        /** What finds the floors of metrics; null where there are none. */
        private final Gpu.@Nullable Kernel floors;

        private final Together step;

        /** What does the jobs of {@link Kind#rare rare kinds}; null where there are none. */
        private final @Nullable Together rest;

        private final Gpu.Kernel finish;

        private Variant(
                Gpu.Kernel inspect,
                Gpu.@Nullable Kernel floors,
                Together step,
                @Nullable Together rest,
                Gpu.Kernel finish) {
            this.inspect = inspect;
            this.floors = floors;
            this.step = step;
            this.rest = rest;
            this.finish = finish;
        }

        /** Puts a step into a stream. */
        void launch(long stream) {
            int threads = tiling.threads();
            inspect.launch(Math.clamp(tiling.scans().size(), 1, INSPECTORS * gpu.multiprocessors()), threads, stream);
            if (floors != null) {
                floors.launch(Math.max(tiling.firstScans().size() - 1, 1), threads, stream);
            }
            step.launch(stream);
            if (rest != null) {
                rest.launch(stream);
            }
            finish.launch(Math.max(tiling.sets(), 1), threads, stream);
        }
    }

    /** Whether any kind works on tiles of groups. */
    private static boolean tiles(Set<Kind> kinds) {
        return kinds.stream().anyMatch(Kind::tiles);
    }

    /** What the compiler is told for a model with sets of some kinds. */
    static List<String> compilerOptions(Tiling tiling, Set<Kind> kinds, boolean strided, boolean floored) {
        boolean grouped = kinds.contains(Kind.GROUPED);
        return List.of(
                "--fmad=false",
                "-DTHREADS=" + tiling.threads(),
                "-DDEEP=" + tiling.deep(),
                "-DBLOCKS=" + (grouped ? Tiling.BLOCKS : PLAIN_BLOCKS),
                "-DGROUPED_TOO=" + (grouped ? 1 : 0),
                "-DSOLVERS=" + (grouped ? SOLVERS : 0),
                "-DSTRIDED=" + (strided ? 1 : 0),
                "-DNESTED=" + (kinds.contains(Kind.NESTING) ? 1 : 0),
                "-DSUBGRADIENT=" + (kinds.contains(Kind.SUBGRADIENTS) ? 1 : 0),
                "-DSINGLES=" + (kinds.contains(Kind.SINGLE) ? 1 : 0),
                "-DFLOORED=" + (floored ? 1 : 0));
    }

    /** All of the source, each part with its name and lines for the compiler's messages. Compiled kernels are kept by its hash. */
    static String source() {
        StringBuilder source = new StringBuilder("#line 1 \"Structs.java\"\n").append(Structs.header());
        for (String part : PARTS) {
            try (InputStream in = Objects.requireNonNull(StepProgram.class.getResourceAsStream(part), part)) {
                source.append("#line 1 \"%s\"\n".formatted(part))
                        .append(new String(in.readAllBytes(), StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return source.toString();
    }
}
