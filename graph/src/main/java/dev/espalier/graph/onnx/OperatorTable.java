package dev.espalier.graph.onnx;

import dev.espalier.graph.op.ArgReduce;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.ConstantOfShape;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.ConvTranspose;
import dev.espalier.graph.op.CumSum;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Elementwise.Celu;
import dev.espalier.graph.op.Elementwise.Clip;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.op.Elementwise.Elu;
import dev.espalier.graph.op.Elementwise.Gelu;
import dev.espalier.graph.op.Elementwise.HardSigmoid;
import dev.espalier.graph.op.Elementwise.LeakyRelu;
import dev.espalier.graph.op.Elementwise.Selu;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.GatherElements;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Operands;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Range;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Resize;
import dev.espalier.graph.op.ScatterElements;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Size;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Tile;
import dev.espalier.graph.op.TopK;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Trilu;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.op.Variadic;
import dev.espalier.graph.op.Where;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToIntFunction;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * What ONNX's operators are in a graph, and back: one row for each name. A row says how many of the node's inputs stay
 * inputs, how attributes and the other inputs become the components of a record, how the record is written, and which is the
 * first version that can say it.
 */
final class OperatorTable {
    private static final int ALL = Integer.MAX_VALUE;

    private static final Map<String, Row<?>> ROWS = new TreeMap<>();

    /** Operators that a graph does not have, but that others can be put in place of. */
    private static final Map<String, Expansion> EXPANSIONS = Map.ofEntries(
            Map.entry("Attention", AttentionExpansions::standard),
            Map.entry("DepthToSpace", MoveExpansions::depthToSpace),
            Map.entry("Einsum", EinsumExpansion::expand),
            Map.entry("GatherND", Expansions::gatherNd),
            Map.entry("GroupNormalization", NormExpansions::group),
            Map.entry("InstanceNormalization", NormExpansions::instance),
            Map.entry("OneHot", MoveExpansions::oneHot),
            Map.entry("RMSNormalization", NormExpansions::rootMeanSquare),
            Map.entry("RotaryEmbedding", AttentionExpansions::rotary),
            Map.entry("ScatterND", MoveExpansions::scatterNd),
            // Not ONNX's, but ONNX Runtime has it in this domain.
            Map.entry("SimplifiedLayerNormalization", NormExpansions::rootMeanSquare),
            Map.entry("SpaceToDepth", MoveExpansions::spaceToDepth));

    /** A row of the table. */
    record Row<T extends Operator>(
            String name,
            Class<T> type,
            int kept,
            Arrangement arrangement,
            Reading reading,
            Writing<T> writing,
            ToIntFunction<T> since,
            boolean decomposes) {

        Row<T> since(int opset) {
            return since(operator -> opset);
        }

        Row<T> since(ToIntFunction<T> opset) {
            return new Row<>(name, type, kept, arrangement, reading, writing, opset, decomposes);
        }

        /** For operators that are written as others in older versions. */
        Row<T> decomposedBefore(int opset) {
            return new Row<>(name, type, kept, arrangement, reading, writing, operator -> opset, true);
        }

        /** For operators whose inputs stand elsewhere in a file. */
        Row<T> arranged(Arrangement arrangement) {
            return new Row<>(name, type, kept, arrangement, reading, writing, since, decomposes);
        }

        /** The first version of the operators that has an operator. */
        int nativeOpset(Operator operator) {
            return since.applyAsInt(type.cast(operator));
        }

        /** The first version of the operators that can express an operator, be it by others. */
        int leastOpset(Operator operator) {
            return decomposes ? Opsets.LEAST : nativeOpset(operator);
        }

        void write(Operator operator, NodeWriting node) {
            writing.write(type.cast(operator), node);
        }
    }

    /** The inputs of a file's node in the order in which a graph has them. */
    @FunctionalInterface
    interface Arrangement {
        List<String> of(List<String> inputs);
    }

    /** Makes an operator of a node. */
    @FunctionalInterface
    interface Reading {
        Operator read(NodeReading node) throws IOException;
    }

    /** Adds to a node, which has its name and inputs already, what makes it this operator. */
    @FunctionalInterface
    interface Writing<T extends Operator> {
        void write(T operator, NodeWriting node);
    }

    /** Puts other nodes in place of a node; the last one makes its output. */
    @FunctionalInterface
    interface Expansion {
        void expand(NodeReading node, Expansions.Steps steps);
    }

    static {
        functions();
        activations();
        layers();
        pools();
        reductions();
        shapes();
        pieces();
        constants();
    }

    private OperatorTable() {}

    /** The row of a name; null if there is none. */
    static @Nullable Row<?> find(String name) {
        return ROWS.get(name);
    }

    /** What to put in place of a node of a name; null for nothing. */
    static @Nullable Expansion expansion(String name, NodeReading node) {
        boolean computedBound = name.equals("Clip") && !(node.isKnown(1) && node.isKnown(2));
        if (computedBound) {
            return Expansions::clip;
        }
        boolean extreme = name.equals("ReduceMax") || name.equals("ReduceMin");
        return extreme && node.has(0) && node.data(0) == DataType.BOOL
                ? Expansions::extremeOfTruths
                : EXPANSIONS.get(name);
    }

    /** Whether a node is one that the table has, in some form. */
    static boolean knows(Functions.Call call) {
        String name = call.node().getOpType();
        if (QuantizedOperators.find(call.node()) != null || Contributed.find(call.node()) != null) {
            return true;
        }
        return Functions.domain(call.node().getDomain()).isEmpty()
                && (Upgrades.of(call) != null || names().contains(name));
    }

    /** The row that an operator is written by. */
    static Row<?> of(Operator operator) {
        Row<?> row = ROWS.get(operator.label());
        if (row == null) {
            throw new IllegalStateException("no row for " + operator.label());
        }
        return row;
    }

    /** The names of all operators that can be read. */
    static SortedSet<String> names() {
        SortedSet<String> names = new TreeSet<>(ROWS.keySet());
        names.addAll(EXPANSIONS.keySet());
        names.addAll(Sequences.OPERATORS);
        names.addAll(QuantizedOperators.names());
        names.add("Constant");
        return names;
    }

    private static <T extends Operator> void add(Row<T> row) {
        ROWS.put(row.name(), row);
    }

    private static <T extends Operator> Row<T> row(
            String name, Class<T> type, int kept, Reading reading, Writing<T> writing) {
        return new Row<>(name, type, kept, inputs -> inputs, reading, writing, operator -> Opsets.LEAST, false);
    }

    /** A row of an operator without components. */
    private static <T extends Operator> Row<T> plain(T operator, Class<T> type, int kept) {
        return row(operator.label(), type, kept, node -> operator, (same, node) -> {});
    }

    private static void functions() {
        for (Unary.Function function : Unary.Function.values()) {
            int since = switch (function) {
                case HARD_SWISH -> 14;
                case MISH -> 18;
                default -> Opsets.LEAST;
            };
            Unary unary = new Unary(function);
            add(row(unary.label(), Unary.class, 1, node -> unary(node, unary), OperatorTable::unary)
                    .since(since));
        }
        for (Binary.Function function : Binary.Function.values()) {
            Binary binary = new Binary(function);
            add(row(binary.label(), Binary.class, 2, node -> binary(node, binary), OperatorTable::binary));
        }
        for (Variadic.Function function : Variadic.Function.values()) {
            add(plain(new Variadic(function), Variadic.class, ALL));
        }
        add(plain(new Where(), Where.class, 3));
        add(row(
                "Cast",
                Cast.class,
                1,
                node -> new Cast(node.type("to")),
                (cast, node) -> node.whole("to", OnnxTypes.of(cast.to()).getNumber())));
        add(row(
                "CastLike",
                Cast.class,
                1,
                node -> new Cast(node.data(1)),
                (cast, node) -> OperatorTable.of(cast).write(cast, node)));
    }

    private static Unary unary(NodeReading node, Unary unary) {
        node.require(
                unary.function() != Unary.Function.IS_INF
                        || (node.flag("detect_negative", true) && node.flag("detect_positive", true)),
                "detect_negative and detect_positive must both be 1");
        return unary;
    }

    /** Half precision has had IsInf since opset 20 only, and a wider type is infinite where it is. */
    private static void unary(Unary unary, NodeWriting node) {
        DataType type = node.data(0);
        if (unary.function() == Unary.Function.IS_INF && (type == DataType.FLOAT16 || type == DataType.BFLOAT16)) {
            node.become(unary.label(), node.cast(node.input(0), DataType.FLOAT32));
        }
    }

    private static Binary binary(NodeReading node, Binary binary) {
        if (binary.function() == Binary.Function.MODULO) {
            boolean fractions = node.data(0).isFloat();
            node.require(
                    node.flag("fmod", false) == fractions,
                    "fmod must be " + (fractions ? 1 : 0) + " for inputs of type " + node.data(0));
        }
        return binary;
    }

    private static void binary(Binary binary, NodeWriting node) {
        if (binary.function() == Binary.Function.MODULO) {
            node.flag("fmod", node.data(0).isFloat());
        }
    }

    private static void activations() {
        add(row(
                "LeakyRelu",
                LeakyRelu.class,
                1,
                node -> new LeakyRelu(node.number("alpha", 0.01f)),
                (relu, node) -> node.number("alpha", relu.slope())));
        add(row(
                "Elu",
                Elu.class,
                1,
                node -> new Elu(node.number("alpha", 1)),
                (elu, node) -> node.number("alpha", elu.scale())));
        add(row(
                "Celu",
                Celu.class,
                1,
                node -> new Celu(node.number("alpha", 1)),
                (celu, node) -> node.number("alpha", celu.scale())));
        add(row(
                "Selu",
                Selu.class,
                1,
                node -> new Selu(node.number("alpha", 1.6732632f), node.number("gamma", 1.050701f)),
                (selu, node) -> node.number("alpha", selu.scale()).number("gamma", selu.gamma())));
        add(row(
                "HardSigmoid",
                HardSigmoid.class,
                1,
                node -> new HardSigmoid(node.number("alpha", 0.2f), node.number("beta", 0.5)),
                (sigmoid, node) -> node.number("alpha", sigmoid.slope()).number("beta", sigmoid.shift())));
        add(row("Gelu", Gelu.class, 1, OperatorTable::gelu, Decomposition::gelu).decomposedBefore(20));
        add(row("Clip", Clip.class, 1, OperatorTable::clip, OperatorTable::clip));
        add(row(
                "Dropout",
                Dropout.class,
                1,
                node -> new Dropout(node.has(1) ? node.number(1, "ratio") : 0.5),
                (dropout, node) -> node.constant("ratio", Tensor.scalar(DataType.FLOAT32, dropout.ratio()))));
        for (boolean logarithm : new boolean[] {false, true}) {
            add(row(
                    new Softmax(-1, logarithm).label(),
                    Softmax.class,
                    1,
                    node -> new Softmax(node.whole("axis", -1), logarithm),
                    (softmax, node) -> node.whole("axis", softmax.axis())));
        }
    }

    private static Gelu gelu(NodeReading node) {
        String mode = node.text("approximate", "none");
        node.require(mode.equals("none") || mode.equals("tanh"), "approximate " + mode + " must be none or tanh");
        return new Gelu(mode.equals("tanh"));
    }

    private static Clip clip(NodeReading node) {
        return new Clip(
                node.has(1) ? node.number(1, "the lower bound") : Double.NEGATIVE_INFINITY,
                node.has(2) ? node.number(2, "the upper bound") : Double.POSITIVE_INFINITY);
    }

    private static void clip(Clip clip, NodeWriting node) {
        bound(node, "min", clip.least());
        bound(node, "max", clip.most());
    }

    private static void bound(NodeWriting node, String what, double bound) {
        if (Double.isInfinite(bound)) {
            node.absent();
        } else {
            node.constant(what, Tensor.scalar(node.data(0), inside(node.data(0), bound)));
        }
    }

    /** A bound that an integer type can hold: -1 as a byte without a sign would be 255. */
    private static double inside(DataType type, double bound) {
        return switch (type) {
            case INT8 -> Math.clamp(bound, Byte.MIN_VALUE, Byte.MAX_VALUE);
            case UINT8 -> Math.clamp(bound, 0, 0xFF);
            case INT16 -> Math.clamp(bound, Short.MIN_VALUE, Short.MAX_VALUE);
            case UINT16 -> Math.clamp(bound, 0, 0xFFFF);
            case INT32 -> Math.clamp(bound, Integer.MIN_VALUE, Integer.MAX_VALUE);
            case UINT32 -> Math.clamp(bound, 0, 0xFFFFFFFFL);
            case UINT64 -> Math.max(bound, 0);
            case INT64, FLOAT32, FLOAT64, FLOAT16, BFLOAT16, BOOL -> bound;
        };
    }

    private static void layers() {
        add(row(
                "Conv",
                Conv.class,
                3,
                node -> new Conv(WindowReading.read(node, WindowReading.weightKernel(node)), node.whole("group", 1)),
                (conv, node) -> node.windows(conv.windows()).whole("group", conv.groups())));
        add(row(
                "ConvTranspose",
                ConvTranspose.class,
                3,
                WindowReading::transposed,
                (conv, node) -> node.windows(conv.windows())
                        .longs("output_padding", conv.added())
                        .whole("group", conv.groups())));
        add(row(
                "Gemm",
                Gemm.class,
                3,
                node -> new Gemm(
                        node.number("alpha", 1),
                        node.number("beta", 1),
                        node.flag("transA", false),
                        node.flag("transB", false)),
                (gemm, node) -> node.number("alpha", gemm.alpha())
                        .number("beta", gemm.beta())
                        .flag("transA", gemm.transposeA())
                        .flag("transB", gemm.transposeB())));
        add(plain(new MatMul(), MatMul.class, 2));
        add(row("RNN", Recurrent.class, 6, RecurrentReading::rnn, RecurrentReading::write));
        add(row("GRU", Recurrent.class, 6, RecurrentReading::gru, RecurrentReading::write));
        add(row("LSTM", Recurrent.class, 8, RecurrentReading::lstm, RecurrentReading::write));
        add(row(
                "BatchNormalization",
                BatchNorm.class,
                5,
                node -> new BatchNorm(node.number("epsilon", 1e-5f), node.number("momentum", 0.9f)),
                (norm, node) -> node.number("epsilon", norm.epsilon()).number("momentum", norm.momentum())));
        add(row(
                        "LayerNormalization",
                        LayerNorm.class,
                        3,
                        node -> new LayerNorm(node.whole("axis", -1), node.number("epsilon", 1e-5f)),
                        Decomposition::layerNorm)
                .decomposedBefore(17));
    }

    private static void pools() {
        for (Pool.Function function : Pool.Function.values()) {
            add(plain(new GlobalPool(function), GlobalPool.class, 1));
            String name = switch (function) {
                case MAX -> "MaxPool";
                case AVERAGE -> "AveragePool";
            };
            add(row(name, Pool.class, 1, node -> pool(node, function), OperatorTable::pool)
                    .since(pool -> function == Pool.Function.AVERAGE && dilated(pool) ? 19 : Opsets.LEAST));
        }
    }

    private static boolean dilated(Pool pool) {
        return pool.windows().dilations().stream().anyMatch(dilation -> dilation != 1);
    }

    private static Pool pool(NodeReading node, Pool.Function function) {
        List<Long> kernel = WindowReading.kernel(node);
        return new Pool(
                function,
                kernel,
                WindowReading.read(node, kernel),
                node.flag("ceil_mode", false),
                node.flag("count_include_pad", false));
    }

    private static void pool(Pool pool, NodeWriting node) {
        node.longs("kernel_shape", pool.kernel())
                .longs("strides", pool.windows().strides())
                .longs("pads", pool.windows().pads())
                .flag("ceil_mode", pool.roundUp() && roundsUp(pool, node.operands()));
        if (dilated(pool)) {
            node.longs("dilations", pool.windows().dilations());
        }
        if (pool.function() == Pool.Function.AVERAGE) {
            node.flag("count_include_pad", pool.countPadding());
        }
    }

    /** Whether rounding up makes a difference: where it does not, ONNX infers a window more than is computed. */
    private static boolean roundsUp(Pool pool, Operands operands) {
        Pool down = new Pool(pool.function(), pool.kernel(), pool.windows(), false, pool.countPadding());
        return !down.infer(operands)
                .getFirst()
                .shape()
                .equals(pool.infer(operands).getFirst().shape());
    }

    private static void reductions() {
        for (Reduce.Function function : Reduce.Function.values()) {
            String name = new Reduce(function, List.of(), true).label();
            add(row(name, Reduce.class, 1, node -> reduce(node, function), OperatorTable::reduce));
        }
        for (boolean largest : new boolean[] {false, true}) {
            add(row(
                    new ArgReduce(largest, 0, true).label(),
                    ArgReduce.class,
                    1,
                    node -> argReduce(node, largest),
                    (reduce, node) -> node.whole("axis", reduce.axis()).flag("keepdims", reduce.keep())));
        }
        add(row(
                "CumSum",
                CumSum.class,
                1,
                node -> new CumSum(
                        node.whole(1, "the axis"), node.flag("exclusive", false), node.flag("reverse", false)),
                (sum, node) -> node.constant("axis", NodeWriting.whole(sum.axis()))
                        .flag("exclusive", sum.exclusive())
                        .flag("reverse", sum.reverse())));
    }

    /** Axes moved from an attribute to an input: for sums with opset 13, for all others with opset 18. */
    private static boolean axesAreInput(Reduce.Function function, int opset) {
        return function == Reduce.Function.SUM || opset >= 18;
    }

    private static Operator reduce(NodeReading node, Reduce.Function function) {
        List<Long> axes = node.longs("axes", List.of());
        if (axesAreInput(function, node.opset())) {
            axes = node.has(1) ? node.longs(1, "axes") : List.of();
            if (axes.isEmpty() && node.flag("noop_with_empty_axes", false)) {
                return reduceNothing(node, function);
            }
        }
        return new Reduce(function, axes, node.flag("keepdims", true));
    }

    /** Every element on its own. */
    private static Operator reduceNothing(NodeReading node, Reduce.Function function) {
        return switch (function) {
            case MEAN, SUM, MAX, MIN, PRODUCT, LOG_SUM_EXP -> new Unary(Unary.Function.IDENTITY);
            case L1, L2 -> new Unary(Unary.Function.ABS);
            case SUM_OF_SQUARES -> throw node.problem("noop_with_empty_axes is not supported for it");
        };
    }

    private static void reduce(Reduce reduce, NodeWriting node) {
        if (!reduce.axes().isEmpty()) {
            if (axesAreInput(reduce.function(), node.opset())) {
                node.constant("axes", NodeWriting.list(reduce.axes()));
            } else {
                node.longs("axes", reduce.axes());
            }
        }
        node.flag("keepdims", reduce.keep());
    }

    private static ArgReduce argReduce(NodeReading node, boolean largest) {
        node.require(!node.flag("select_last_index", false), "select_last_index 1 is not supported");
        return new ArgReduce(largest, node.whole("axis", 0), node.flag("keepdims", true));
    }

    private static void shapes() {
        add(row(
                        "Reshape",
                        Reshape.class,
                        2,
                        node -> new Reshape(node.flag("allowzero", false)),
                        (reshape, node) -> node.flagIfSet("allowzero", reshape.zeroIsZero()))
                .since(reshape -> reshape.zeroIsZero() ? 14 : Opsets.LEAST));
        add(row(
                "Flatten",
                Flatten.class,
                1,
                node -> new Flatten(node.whole("axis", 1)),
                (flatten, node) -> node.whole("axis", flatten.axis())));
        add(row(
                "Transpose",
                Transpose.class,
                1,
                node -> new Transpose(node.longs("perm", reversed(node.shape(0).rank()))),
                (transpose, node) -> node.longs("perm", transpose.permutation())));
        add(row(
                "Squeeze",
                Squeeze.class,
                1,
                OperatorTable::squeeze,
                (squeeze, node) -> node.constant("axes", NodeWriting.list(squeeze.axes()))));
        add(row(
                "Unsqueeze",
                Unsqueeze.class,
                1,
                node -> new Unsqueeze(node.longs(1, "axes")),
                (unsqueeze, node) -> node.constant("axes", NodeWriting.list(unsqueeze.axes()))));
        add(plain(new Expand(), Expand.class, 2));
        add(plain(new Tile(), Tile.class, 2));
        add(row(
                        "Shape",
                        ShapeOf.class,
                        1,
                        node -> new ShapeOf(node.whole("start", 0), node.whole("end", Long.MAX_VALUE)),
                        OperatorTable::shape)
                .since(shape -> shape.equals(ShapeOf.ALL) ? Opsets.LEAST : 15));
        add(plain(new Size(), Size.class, 1));
    }

    private static List<Long> reversed(int rank) {
        return LongStream.range(0, rank).mapToObj(axis -> rank - 1 - axis).toList();
    }

    private static Squeeze squeeze(NodeReading node) {
        if (node.has(1)) {
            return new Squeeze(node.longs(1, "axes"));
        }
        node.require(node.shape(0).isKnown(), "axes are missing, and the shape " + node.shape(0) + " is not known");
        return new Squeeze(LongStream.range(0, node.shape(0).rank())
                .filter(axis -> node.shape(0).get(axis).is(1))
                .boxed()
                .toList());
    }

    private static void shape(ShapeOf shape, NodeWriting node) {
        if (shape.start() != ShapeOf.ALL.start()) {
            node.whole("start", shape.start());
        }
        if (shape.end() != ShapeOf.ALL.end()) {
            node.whole("end", shape.end());
        }
    }

    private static void pieces() {
        add(row(
                "Concat",
                Concat.class,
                ALL,
                OperatorTable::concat,
                (concat, node) -> node.whole("axis", concat.axis())));
        add(row(
                "Split",
                Split.class,
                1,
                OperatorTable::split,
                (split, node) ->
                        node.constant("split", NodeWriting.list(split.sizes())).whole("axis", split.axis())));
        add(plain(new Slice(), Slice.class, 5));
        add(row(
                "Gather",
                Gather.class,
                2,
                node -> new Gather(node.whole("axis", 0)),
                (gather, node) -> node.whole("axis", gather.axis())));
        add(row(
                "GatherElements",
                GatherElements.class,
                2,
                node -> new GatherElements(node.whole("axis", 0)),
                (gather, node) -> node.whole("axis", gather.axis())));
        add(row(
                        "ScatterElements",
                        ScatterElements.class,
                        3,
                        node -> new ScatterElements(node.whole("axis", 0), reduction(node)),
                        OperatorTable::scatter)
                .since(OperatorTable::since));
        add(row(
                "TopK",
                TopK.class,
                2,
                node -> new TopK(node.whole("axis", -1), node.flag("largest", true)),
                (top, node) -> node.whole("axis", top.axis()).flag("largest", top.largest())));
        add(row("Pad", Pad.class, 1, OperatorTable::pad, OperatorTable::pad)
                .since(pad -> pad.mode() == Pad.Mode.WRAP ? 19 : Opsets.LEAST));
        add(row("Resize", Resize.class, 2, ResizeReading::read, ResizeReading::write)
                .arranged(ResizeReading::inputs)
                .since(ResizeReading::since));
        add(row("Trilu", Trilu.class, 1, OperatorTable::trilu, OperatorTable::trilu)
                .since(14));
    }

    private static Concat concat(NodeReading node) {
        node.require(node.hasAttribute("axis"), "attribute axis is missing");
        return new Concat(node.whole("axis", 0));
    }

    private static Split split(NodeReading node) {
        long axis = node.whole("axis", 0);
        if (node.has(1)) {
            return new Split(axis, node.longs(1, "the lengths of the pieces"));
        }
        Dimension length = node.shape(0).get(axis);
        node.require(length.isKnown(), "no lengths of pieces are given, and the length " + length + " is not known");
        long count = node.whole("num_outputs", node.outputs());
        node.require(count == node.outputs(), "num_outputs " + count + " but there are " + node.outputs() + " outputs");
        // The last piece is the shorter one; before opset 18 all were alike.
        long size = Math.ceilDiv(length.value(), Math.max(count, 1));
        List<Long> sizes = new ArrayList<>(Collections.nCopies((int) Math.max(count - 1, 0), size));
        sizes.add(length.value() - size * sizes.size());
        node.require(
                sizes.getLast() >= 0 && (node.opset() >= 18 || sizes.getLast() == size),
                "a length of " + length + " does not fall into " + count + " pieces");
        return new Split(axis, sizes);
    }

    private static ScatterElements.Reduction reduction(NodeReading node) {
        String given = node.text("reduction", "none");
        for (ScatterElements.Reduction reduction : ScatterElements.Reduction.values()) {
            if (name(reduction).equals(given)) {
                return reduction;
            }
        }
        throw node.problem("reduction " + given + " must be none, add, mul, max or min");
    }

    private static void scatter(ScatterElements scatter, NodeWriting node) {
        node.whole("axis", scatter.axis());
        if (scatter.reduction() != ScatterElements.Reduction.NONE) {
            node.text("reduction", name(scatter.reduction()));
        }
    }

    private static int since(ScatterElements scatter) {
        return switch (scatter.reduction()) {
            case NONE -> Opsets.LEAST;
            case ADD, MUL -> 16;
            case MAX, MIN -> 18;
        };
    }

    private static Pad pad(NodeReading node) {
        int rank = node.shape(0).rank();
        List<Long> given = node.longs(1, "pads");
        double value = node.has(2) ? node.number(2, "the value") : 0;
        List<Long> axes = node.has(3)
                ? node.longs(3, "axes")
                : LongStream.range(0, rank).boxed().toList();
        node.require(given.size() == 2 * axes.size(), "pads " + given + " must be two for each of the axes " + axes);
        Long[] pads = Collections.nCopies(2 * rank, 0L).toArray(Long[]::new);
        for (int i = 0; i < axes.size(); i++) {
            int axis = node.shape(0).axis(axes.get(i));
            pads[axis] = given.get(i);
            pads[axis + rank] = given.get(i + axes.size());
        }
        return new Pad(mode(node), List.of(pads), value);
    }

    private static Pad.Mode mode(NodeReading node) {
        String given = node.text("mode", "constant");
        for (Pad.Mode mode : Pad.Mode.values()) {
            if (name(mode).equals(given)) {
                return mode;
            }
        }
        throw node.problem("mode " + given + " must be constant, reflect, edge or wrap");
    }

    private static String name(Enum<?> mode) {
        return mode.name().toLowerCase(Locale.ROOT);
    }

    private static void pad(Pad pad, NodeWriting node) {
        node.text("mode", name(pad.mode())).constant("pads", NodeWriting.list(pad.pads()));
        if (pad.value() != 0) {
            node.constant("value", Tensor.scalar(node.data(0), pad.value()));
        }
    }

    private static Trilu trilu(NodeReading node) {
        return new Trilu(node.flag("upper", true), node.has(1) ? node.whole(1, "the diagonal") : 0);
    }

    private static void trilu(Trilu trilu, NodeWriting node) {
        node.flag("upper", trilu.upper()).constant("k", NodeWriting.whole(trilu.diagonal()));
    }

    private static void constants() {
        add(row(
                "ConstantOfShape",
                ConstantOfShape.class,
                1,
                OperatorTable::constantOfShape,
                (constant, node) -> node.tensor("value", constant.value().reshape(1))));
        add(plain(new Range(), Range.class, 3));
    }

    private static ConstantOfShape constantOfShape(NodeReading node) throws IOException {
        Tensor value = node.tensor("value");
        return new ConstantOfShape(value == null ? Tensor.of(new float[] {0}) : value);
    }
}
