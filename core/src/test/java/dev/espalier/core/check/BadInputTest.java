package dev.espalier.core.check;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.penalty.Profile.Piece;
import dev.espalier.core.penalty.SparseGroupLasso;
import dev.espalier.core.prox.Metric;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.Solver;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.core.root.Tolerance;
import dev.espalier.core.schedule.ToleranceSchedule;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Everything that must be refused: with a message that mends it, and before anything is written. */
class BadInputTest {
    private static final double NAN = Double.NaN;
    private static final double INFINITY = Double.POSITIVE_INFINITY;
    private static final Penalty LASSO = new GroupLasso(0.5);

    /**
     * One call that must fail.
     *
     * @param name what is wrong
     * @param call the call
     * @param untouched arrays that the call might write but must not
     * @param fragments what the message must tell: argument, value, legal range
     */
    record Bad(String name, Executable call, List<double[]> untouched, List<String> fragments) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static Bad bad(String name, Executable call, String... fragments) {
        return new Bad(name, call, List.of(), List.of(fragments));
    }

    private static Bad badProx(String name, double[] x, double[] d, double stepSize, String... fragments) {
        double[] z = {7, 7};
        Executable call = () -> WeightedProx.EXACT.apply(LASSO.profileOfSize(2), x, d, stepSize, z);
        return new Bad(name, call, List.of(x, d, z), List.of(fragments));
    }

    /** Two groups, of which the second is at fault: the first must not be written either. */
    private static Bad badStep(String name, double[] weights, double[] metric, String... fragments) {
        Regularizer regularizer = new Regularizer(LASSO, new AxisGroups(1, 2, 2));
        Executable call = () -> regularizer.apply(
                WeightedProx.EXACT, List.of(TensorView.of(weights)), new Metric(List.of(TensorView.of(metric)), 1));
        return new Bad(name, call, List.of(weights, metric), List.of(fragments));
    }

    private static Bad badFit(String name, Groups groups, List<double[]> tensors, String... fragments) {
        Regularizer regularizer = new Regularizer(LASSO, groups);
        List<TensorView> views = tensors.stream().map(TensorView::of).toList();
        Executable call = () -> regularizer.apply(WeightedProx.EXACT, views, new Metric(views, 1));
        return new Bad(name, call, tensors, List.of(fragments));
    }

    static Stream<Bad> proximalOperator() {
        double[] fine = {1, 2};
        String positive = "finite and above 0";
        String finite = "must be finite";
        return Stream.of(
                badProx("d zero", new double[] {3, 4}, new double[] {1, 0}, 1, "d[1] = 0.0", positive),
                badProx("d negative", new double[] {3, 4}, new double[] {-2, 1}, 1, "d[0] = -2.0", positive),
                badProx("d NaN", new double[] {3, 4}, new double[] {1, NAN}, 1, "d[1] = NaN", positive),
                badProx("d infinite", new double[] {3, 4}, new double[] {1, INFINITY}, 1, "d[1] = Infinity", positive),
                badProx("x NaN", new double[] {3, NAN}, fine, 1, "x[1] = NaN", finite),
                badProx("x infinite", new double[] {INFINITY, 4}, fine, 1, "x[0] = Infinity", finite),
                badProx("x minus infinite", new double[] {3, -INFINITY}, fine, 1, "x[1] = -Infinity", finite),
                badProx("alpha negative", new double[] {3, 4}, fine, -1, "alpha", "= -1.0", "finite and at least 0"),
                badProx("alpha NaN", new double[] {3, 4}, fine, NAN, "alpha", "= NaN", "finite and at least 0"),
                badProx("alpha infinite", new double[] {3, 4}, fine, INFINITY, "alpha", "= Infinity", "at least 0"),
                badProx(
                        "d too long",
                        new double[] {3, 4},
                        new double[] {1, 2, 3},
                        1,
                        "d has 3",
                        "x has 2",
                        "same number"),
                badProx(
                        "z too short",
                        new double[] {3, 4, 5},
                        new double[] {1, 2, 3},
                        1,
                        "z has 2",
                        "x has 3",
                        "same number"),
                badProx("nothing", new double[0], new double[0], 1, "x = 0", "at least 1"),
                bad("share above one", () -> new NestedLasso(1, 1.5), "share = 1.5", "at least 0 and at most 1"),
                bad("share NaN", () -> new SparseGroupLasso(1, NAN), "share = NaN", "at least 0 and at most 1"),
                bad("lambda negative", () -> new NestedLasso(-1, 0.5), "lambda = -1.0", "at least 0"),
                bad(
                        "a penalty that does not nest",
                        () -> new Regularizer(
                                new GroupMcp(1, 2), NestedGroups.of(new AxisGroups(1, 2, 2), AxisGroups.single(4))),
                        "GroupMcp",
                        "use NestedLasso"),
                bad(
                        "a tree of another size",
                        () -> WeightedProx.EXACT.apply(
                                new NestedLasso(1, 0.5).over(new int[] {0, 0, 0}),
                                new double[] {3, 4},
                                fine,
                                1,
                                NAN,
                                new double[2]),
                        "x has 2",
                        "the penalty's group has 3"),
                bad("tolerance zero", () -> new Tolerance(0, 1), "relative tolerance = 0.0", positive),
                bad("tolerance NaN", () -> new Tolerance(NAN, 1), "relative tolerance = NaN", positive),
                bad("no iterations", () -> new Solver.AdaProx(new Tolerance(1, 0)), "maxIterations = 0", "at least 1"),
                bad("metric of a negative step", () -> new Metric(List.of(), -1), "alpha", "= -1.0", "at least 0"),
                bad("initial tolerance zero", () -> new ToleranceSchedule(0, 1), "initial tolerance = 0.0", positive),
                bad("power one half", () -> new ToleranceSchedule(1, 0.5), "power = 0.5", "above 0.5", "or 0"),
                bad("power negative", () -> new ToleranceSchedule(1, -1), "power = -1.0", "above 0.5"),
                bad("power NaN", () -> new ToleranceSchedule(1, NAN), "power = NaN", "above 0.5"),
                bad("power infinite", () -> new ToleranceSchedule(1, INFINITY), "power = Infinity", "above 0.5"),
                bad("step negative", () -> ToleranceSchedule.EXACT.at(-1), "step = -1", "at least 0"));
    }

    static Stream<Bad> penalties() {
        return Stream.of(
                bad("lasso lambda negative", () -> new GroupLasso(-1), "lambda = -1.0", "finite and at least 0"),
                bad("lasso lambda NaN", () -> new GroupLasso(NAN, GroupWeight.NONE), "lambda = NaN", "at least 0"),
                bad("lasso lambda infinite", () -> new GroupLasso(INFINITY), "lambda = Infinity", "finite"),
                bad("mcp lambda negative", () -> new GroupMcp(-1, 1), "lambda = -1.0", "finite and at least 0"),
                bad("mcp lambda NaN", () -> new GroupMcp(NAN, 1), "lambda = NaN", "finite and at least 0"),
                bad("mcp beta zero", () -> new GroupMcp(1, 0), "beta = 0.0", "finite and above 0"),
                bad("mcp beta negative", () -> new GroupMcp(1, -2), "beta = -2.0", "finite and above 0"),
                bad("mcp beta NaN", () -> new GroupMcp(1, NAN), "beta = NaN", "finite and above 0"),
                bad("mcp beta infinite", () -> new GroupMcp(1, INFINITY), "beta = Infinity", "finite and above 0"),
                bad("no pieces", () -> Profile.of(), "pieces = []", "from 0"),
                bad("first piece later", () -> Profile.of(new Piece(1, 1, 0)), "from=1.0", "begin with one from 0"),
                bad(
                        "piece below",
                        () -> Profile.of(new Piece(0, 1, 0), new Piece(0, 1, 0)),
                        "from=0.0",
                        "rising order"),
                bad("piece nowhere", () -> Profile.of(new Piece(0, 1, 0), new Piece(NAN, 1, 0)), "from=NaN", "rising"),
                bad("height negative", () -> Profile.of(new Piece(0, -1, 0)), "height of piece 0 = -1.0", "at least 0"),
                bad("last piece falls", () -> Profile.of(new Piece(0, 1, 1)), "bend=1.0", "at most 0"),
                bad(
                        "slope jumps up",
                        () -> Profile.of(new Piece(0, 1, 0), new Piece(2, 3, 0)),
                        "jumps up at the norm 2.0",
                        "from 1.0 to 3.0"),
                bad(
                        "slope jumps up from a falling piece",
                        () -> Profile.of(new Piece(0, 1, 0.5), new Piece(1, 0.75, 0)),
                        "jumps up at the norm 1.0",
                        "from 0.5 to 0.75"),
                bad(
                        "slope jumps down",
                        () -> Profile.of(new Piece(0, 1, 0), new Piece(2, 0, 0)),
                        "jumps down at the norm 2.0",
                        "from 1.0 to 0.0"),
                bad(
                        "slope falls below zero",
                        () -> Profile.of(new Piece(0, 1, 1), new Piece(2, 0, 0)),
                        "below zero, to -1.0 at the norm 2.0",
                        "(1.0, 0, 0)"),
                bad("bend NaN", () -> Profile.of(new Piece(0, 1, NAN)), "bend", "NaN"),
                bad(
                        "gradient of another size",
                        () -> LASSO.stationarityDistance(new double[2], new double[3]),
                        "gradient has 3",
                        "x has 2",
                        "same number"));
    }

    static Stream<Bad> groups() {
        Groups axis = new AxisGroups(1, 2, 2);
        Groups joint = new JointGroups(List.of(new AxisGroups(1, 2, 1), new AxisGroups(1, 2, 3)));
        return Stream.of(
                bad("outer zero", () -> new AxisGroups(0, 2, 3), "outer = 0", "at least 1"),
                bad("count negative", () -> new AxisGroups(1, -2, 3), "count = -2", "at least 1"),
                bad("inner zero", () -> new AxisGroups(1, 2, 0), "inner = 0", "at least 1"),
                bad("axis too large", () -> AxisGroups.along(2, 3, 4), "axis = 2", "[3, 4]", "0 to 1"),
                bad("axis negative", () -> AxisGroups.along(-1, 3, 4), "axis = -1", "[3, 4]", "0 to 1"),
                bad("axis of a scalar", () -> AxisGroups.along(0), "axis = 0", "[]"),
                bad("empty axis", () -> AxisGroups.along(1, 3, 0), "count = 0", "at least 1"),
                bad("group too large", () -> new AxisGroups(1 << 20, 1, 1 << 20), "1048576", "2147483647"),
                bad("too many groups", () -> AxisGroups.along(0, 1L << 40), "1099511627776", "2147483647"),
                bad("too many weights", () -> AxisGroups.single(1L << 20, 1L << 20), "1048576", "2147483647"),
                bad("nothing to join", () -> new JointGroups(List.of()), "parts = []", "at least one"),
                bad(
                        "parts that differ",
                        () -> new JointGroups(List.of(new AxisGroups(1, 2, 3), new AxisGroups(1, 3, 2))),
                        "parts",
                        "[2, 3]",
                        "same number"),
                bad(
                        "tensor of nothing",
                        () -> new IndexGroups(0, List.of(List.of(0L))),
                        "tensorSize = 0",
                        "at least 1"),
                bad("no groups", () -> new IndexGroups(3, List.of()), "groups = 0", "at least 1"),
                bad("empty group", () -> new IndexGroups(3, List.of(List.of())), "group 0 = 0", "at least 1"),
                bad("index too large", () -> new IndexGroups(3, List.of(List.of(3L))), "index 3", "group 0", "0 to 2"),
                bad("index negative", () -> new IndexGroups(3, List.of(List.of(-1L))), "index -1", "group 0", "0 to 2"),
                bad(
                        "overlap",
                        () -> new IndexGroups(3, List.of(List.of(0L, 1L), List.of(2L, 1L))),
                        "index 1",
                        "group 0",
                        "group 1",
                        "disjoint"),
                bad(
                        "index twice",
                        () -> new IndexGroups(3, List.of(List.of(1L, 1L))),
                        "index 1",
                        "group 0",
                        "disjoint"),
                badFit("tensor too small", axis, List.of(new double[3]), "weights", "[3]", "[4]"),
                badFit("tensor too large", axis, List.of(new double[5]), "weights", "[5]", "[4]"),
                badFit("too many tensors", axis, List.of(new double[4], new double[4]), "weights", "[4, 4]", "[4]"),
                badFit("too few tensors", joint, List.of(new double[2]), "weights", "[2]", "[2, 6]"),
                badFit("tensors swapped", joint, List.of(new double[6], new double[2]), "[6, 2]", "[2, 6]"));
    }

    static Stream<Bad> regularizers() {
        Regularizer regularizer = new Regularizer(LASSO, new AxisGroups(1, 2, 2));
        List<TensorView> fits = List.of(TensorView.of(new double[4]));
        double[] small = {1, 2, 3};
        List<TensorView> tooSmall = List.of(TensorView.of(small));
        double[] gradient = {1, 2, 3, 4};
        List<TensorView> gradients = List.of(TensorView.of(gradient));
        String mend = "the groups need [4]";
        return Stream.of(
                badStep(
                        "weight NaN",
                        new double[] {3, 4, NAN, 1},
                        new double[] {1, 2, 3, 4},
                        "group 1[0] = NaN",
                        "finite"),
                badStep(
                        "metric zero",
                        new double[] {3, 4, 5, 1},
                        new double[] {1, 2, 3, 0},
                        "metric of group 1[1] = 0.0",
                        "finite and above 0"),
                badStep("metric too small", new double[] {3, 4, 5, 1}, new double[] {1, 2, 3}, "metric", "[3]", mend),
                bad("value", () -> regularizer.value(tooSmall), "weights", "[3]", mend),
                bad("non-zero groups", () -> regularizer.nonZeroGroups(tooSmall), "weights", "[3]", mend),
                new Bad(
                        "subgradient of other weights",
                        () -> regularizer.addSubgradient(tooSmall, gradients),
                        List.of(gradient),
                        List.of("weights", "[3]", mend)),
                new Bad(
                        "subgradient to other gradients",
                        () -> regularizer.addSubgradient(fits, tooSmall),
                        List.of(small),
                        List.of("gradients", "[3]", mend)),
                bad(
                        "stationarity of other weights",
                        () -> regularizer.squaredStationarityDistance(tooSmall, fits),
                        "weights",
                        "[3]",
                        mend),
                bad(
                        "stationarity of other gradients",
                        () -> regularizer.squaredStationarityDistance(fits, tooSmall),
                        "gradients",
                        "[3]",
                        mend));
    }

    static Stream<Bad> tensors() {
        MemorySegment memory = MemorySegment.ofArray(new float[6]);
        ElementType type = ElementType.FLOAT32;
        return Stream.of(
                bad("shape too large", () -> TensorView.of(new float[6], 2, 4), "[2, 4]", "32 bytes", "24"),
                bad("double shape too large", () -> TensorView.of(new double[6], 7), "[7]", "56 bytes", "48"),
                bad("shape negative", () -> TensorView.of(memory, type, 2, -3), "shape[1] = -3", "at least 0"),
                bad(
                        "stride negative",
                        () -> TensorView.of(memory, type, new long[] {2, 3}, new long[] {3, -1}),
                        "strides[1] = -1",
                        "at least 0"),
                bad(
                        "strides of another rank",
                        () -> TensorView.of(memory, type, new long[] {2, 3}, new long[] {1}),
                        "[2, 3]",
                        "[1]",
                        "same number of dimensions"),
                bad(
                        "strides too far",
                        () -> TensorView.of(memory, type, new long[] {2, 3}, new long[] {4, 1}),
                        "[4, 1]",
                        "28 bytes",
                        "24"),
                bad(
                        "shape beyond all memory",
                        () -> TensorView.of(memory, type, Long.MAX_VALUE, 2),
                        "9223372036854775807"));
    }

    @ParameterizedTest
    @MethodSource({"proximalOperator", "penalties", "groups", "regularizers", "tensors"})
    void isRefusedByNameAndValueBeforeAnythingIsWritten(Bad bad) {
        List<double[]> before = bad.untouched().stream().map(double[]::clone).toList();
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class, bad.call());
        String message = String.valueOf(refusal.getMessage());
        for (String fragment : bad.fragments()) {
            assertTrue(message.contains(fragment), () -> "\"%s\" is missing in: %s".formatted(fragment, message));
        }
        for (int i = 0; i < before.size(); i++) {
            assertArrayEquals(before.get(i), bad.untouched().get(i), "written before the refusal");
        }
    }
}
