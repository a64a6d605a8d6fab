package dev.espalier.cuda;

import dev.espalier.cuda.driver.Gpu;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What Java and {@code step.cu} tell each other, declared here and nowhere else: {@link Tables} writes these structures,
 * {@link StepResults} reads some, and the source begins with {@link #header}.
 */
final class Structs {
    /** Dimensions of a tensor that is not contiguous, at most. */
    static final int MOST_RANK = 8;

    /** Shape and strides, of as many axes as the rank says. */
    static final Struct STRIDES = Struct.named("Strides").longs("rank").longArrays(MOST_RANK, "shape", "strides");

    static final Struct LAYOUT = Struct.named("Layout").structs(STRIDES, "weights", "gradients");

    /**
     * Where a tensor is in this step: weights, gradients, moments. A moment that the rule does not have is null, and so is the
     * layout of what is contiguous, and the maps by which a GPU copies boxes of the four ({@link BoxMaps}) where it cannot. The floor of
     * its metric, which the GPU writes itself; and a gradient that is seen whatever its second moment was, 0 if nobody waits for one.
     * Its set, -1 if the GPU does not step it; and the bytes of a box.
     */
    static final Struct TENSOR = Struct.named("Tensor")
            .pointers("float", "x")
            .pointers("const float", "g")
            .pointers("float", "m", "v")
            .pointers("const Layout", "layout")
            .pointers("const char", "maps")
            .floats("metricFloor", "visible")
            .ints("set", "boxBytes");

    static final Struct PIECE = Struct.named("Piece").doubles("from", "height", "bend");

    /**
     * A set of tensors in this step: the rule (Update), the penalty (PenaltyTerms) and, where groups nest, NestedSolver's l and l_c.
     * Whether a gradient has been seen, so that the penalty acts, is written by the GPU where the penalty has to wait for one. Whether
     * its tiles are common, as {@code common.cu} has it; and a number that marks what blocks tell each other in this step.
     */
    static final Struct SET = Struct.named("Set")
            .floats("keepFirst", "addFirst", "step")
            .floats("keepSecond", "addSecond", "scaleSecond")
            .floats("innerEpsilon", "outerEpsilon", "decay", "unseen")
            .ints("seen", "idle", "fast", "kneed", "common", "mark")
            .doubles("metricFloor") // as a share of a tensor's mean
            .doubles("stepSize", "smallStep", "threshold", "kappa", "knee", "singleThreshold", "singleStrength")
            .doubles("outerStrength")
            .doubleArray(Kind.MOST_PARTS, "innerStrength")
            .doubles("size") // of a group, in weights
            .longs("count") // of groups
            .ints("parts", "pieces")
            .intArray(Kind.MOST_PARTS + 1, "firstMember") // of the jobs of a team, by part
            .ints("unused")
            .structArray(PIECE, Kind.MOST_PIECES, "piece");

    /** See {@link Tiling.Job}. */
    static final Struct JOB = Struct.named("Job")
            .ints("kind", "set", "tensor", "part")
            .longs("first", "stride")
            .ints("row", "rows", "columns", "width", "inner", "fold", "limit", "near")
            .ints("group", "groups", "members", "member")
            .longs("theta", "slot");

    /** See {@link Tiling.Scan}. */
    static final Struct SCAN = Struct.named("Scan").ints("tensor", "count").longs("first");

    /** What was done to groups; and of a set, whether its penalty waits for a gradient, so that nothing was done to them. */
    static final Struct STATS = Struct.named("Stats")
            .longs("evaluations")
            .doubles("penalty")
            .floats("error")
            .ints("zeroed", "shrunk", "untouched", "zeroedWithin", "waits");

    /** Whether a gradient is not finite, so that the step does nothing; and how many groups ask for the exact operator. */
    static final Struct FLAGS = Struct.named("Flags").ints("bad", "stragglers");

    /** A group that asks for the exact operator, and how often it has been evaluated. */
    static final Struct STRAGGLER = Struct.named("Straggler").ints("set", "group", "evaluations");

    /** Where everything is, in all steps. */
    static final Struct PLAN = Struct.named("Plan")
            .pointers("Tensor", "tensors")
            .pointers("Set", "sets")
            .pointers("const Job", "jobs")
            .pointers("const Scan", "scans")
            .pointers("float", "thetas")
            .pointers("struct uint4", "letters") // of blocks to their teams
            .pointers("Stats", "jobStats", "setStats")
            .pointers("const int", "firstJobs") // of every set, and their end
            .pointers("const int", "firstScans") // of every tensor, and their end
            .pointers("double", "metricSums") // of every scan
            .pointers("unsigned", "largest")
            .pointers("Flags", "flags", "toldFlags") // as they are raised; as the host reads them
            .pointers("Straggler", "stragglers")
            .ints("jobCount", "scanCount", "setCount", "tensorCount")
            .longs("slots"); // of all jobs: the letters of odd rounds follow those of even ones

    /** All of them, each behind those that it names. */
    static final List<Struct> ALL =
            List.of(STRIDES, LAYOUT, TENSOR, PIECE, SET, JOB, SCAN, STATS, FLAGS, STRAGGLER, PLAN);

    private Structs() {}

    /** What the source begins with: the numbers that both sides must agree on, and the structures. */
    static String header() {
        String kinds = Arrays.stream(Kind.values())
                .filter(kind -> kind != Kind.ON_THE_HOST)
                .map(kind -> "%s = %d".formatted(kind, kind.code()))
                .collect(Collectors.joining(", "));
        return """
                enum Kind { %s };
                #define MOST_PARTS %d
                #define MOST_GROUPS %d
                #define MAP_BYTES %d
                """.formatted(kinds, Kind.MOST_PARTS, Tiling.MOST_GROUPS, Gpu.BOX_MAP_BYTES)
                + ALL.stream().map(Struct::declaration).collect(Collectors.joining());
    }
}
