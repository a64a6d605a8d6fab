package dev.espalier.engine;

import dev.espalier.graph.op.ArgReduce;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
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
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Resize;
import dev.espalier.graph.op.Sampling;
import dev.espalier.graph.op.ScatterElements;
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
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Every operator, with awkward parameters and small random inputs in double precision. */
final class OperatorCases {
    private static final SplittableRandom RANDOM = new SplittableRandom(8);
    private final List<Case> cases = new ArrayList<>();

    private OperatorCases() {}

    /**
     * An operator on inputs.
     *
     * @param name what is special
     * @param operator the operator
     * @param inputs its inputs; null for one that is left out
     * @param trained how many of them, from the first, can have a gradient
     */
    record Case(String name, Operator operator, List<@Nullable Tensor> inputs, int trained) {

        /** The same with all fractions stored in another type. */
        Case stored(DataType type) {
            List<@Nullable Tensor> converted = new ArrayList<>();
            for (Tensor tensor : inputs) {
                boolean fractions = tensor != null && tensor.type() == DataType.FLOAT64;
                converted.add(fractions ? Objects.requireNonNull(tensor).cast(type) : tensor);
            }
            return new Case(name, operator, converted, trained);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static List<Case> all() {
        OperatorCases made = new OperatorCases();
        made.elementwise();
        made.arithmetic();
        made.matrices();
        made.windows();
        made.norms();
        made.reductions();
        made.positions();
        made.shapes();
        made.resizes();
        made.recurrent();
        made.transposedConvolutions();
        return made.cases;
    }

    private void add(String name, Operator operator, @Nullable Tensor... inputs) {
        add(inputs.length, name, operator, inputs);
    }

    private void add(int trained, String name, Operator operator, @Nullable Tensor... inputs) {
        cases.add(new Case(operator.label() + " " + name, operator, Arrays.asList(inputs), trained));
    }

    static Tensor normal(long... shape) {
        return Tensor.compute(
                DataType.FLOAT64,
                shape,
                i -> Math.sqrt(-2 * Math.log(1 - RANDOM.nextDouble())) * Math.cos(2 * Math.PI * RANDOM.nextDouble()));
    }

    static Tensor positive(long... shape) {
        return Tensor.compute(DataType.FLOAT64, shape, i -> 0.3 + RANDOM.nextDouble());
    }

    private static Tensor integers(DataType type, long from, long to, long... shape) {
        return Tensor.computeLongs(type, shape, i -> RANDOM.nextLong(from, to));
    }

    private static Tensor longs(long... values) {
        return Tensor.of(values);
    }

    private static Tensor truths(long... shape) {
        return integers(DataType.BOOL, 0, 2, shape);
    }

    private void elementwise() {
        for (Unary.Function function : Unary.Function.values()) {
            Tensor input = switch (function) {
                case NOT -> truths(3, 4);
                case LOG, SQRT, RECIPROCAL -> positive(3, 4);
                default -> normal(3, 4);
            };
            add("", new Unary(function), input);
        }
        Tensor odd = Tensor.compute(
                DataType.FLOAT64,
                new long[] {4},
                i -> new double[] {Double.NaN, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, -0.0}[(int) i]);
        add("of what is not finite", new Unary(Unary.Function.IS_NAN), odd);
        add("of what is not finite", new Unary(Unary.Function.IS_INF), odd);
        Tensor halves = Tensor.compute(DataType.FLOAT64, new long[] {6}, i -> i - 2.5);
        add("of halves", new Cast(DataType.FLOAT64), halves);
        add("of whole numbers", new Unary(Unary.Function.ABS), integers(DataType.INT32, -5, 5, 6));
        add("of whole numbers", new Unary(Unary.Function.NEGATIVE), integers(DataType.INT64, -5, 5, 6));
        add("of one number", new Unary(Unary.Function.TANH), normal());
        add("0.1", new LeakyRelu(0.1), normal(2, 5));
        add("1.5", new Elu(1.5), normal(2, 5));
        add("0.7", new Celu(0.7), normal(2, 5));
        add("-0.7", new Celu(-0.7), normal(2, 5));
        add("", new Selu(1.6732, 1.0507), normal(2, 5));
        add("", new HardSigmoid(0.2, 0.5), Tensor.compute(DataType.FLOAT64, new long[] {8}, i -> i * 1.3 - 5));
        add("exact", new Gelu(false), normal(2, 5));
        add("approximate", new Gelu(true), normal(2, 5));
        add("on both sides", new Clip(-0.5, 0.7), normal(3, 5));
        add("from below", new Clip(-0.2, Double.POSITIVE_INFINITY), normal(3, 5));
        add("of whole numbers", new Clip(-2, 2), integers(DataType.INT64, -5, 5, 9));
        for (DataType type : List.of(DataType.INT8, DataType.UINT8, DataType.INT32, DataType.INT64)) {
            add("of " + type + " from above", new Clip(Double.NEGATIVE_INFINITY, 3), integers(type, 0, 9, 9));
            add("of " + type + " from below", new Clip(2, Double.POSITIVE_INFINITY), integers(type, 0, 9, 9));
        }
        add("to single precision", new Cast(DataType.FLOAT32), normal(2, 3));
        add("of one number to single precision", new Cast(DataType.FLOAT32), normal());
        add(
                "to whole numbers",
                new Cast(DataType.INT32),
                Tensor.compute(DataType.FLOAT64, new long[] {6}, i -> i * 1.7 - 4));
        add("to truths", new Cast(DataType.BOOL), longs(0, 1, -3));
        add("from truths", new Cast(DataType.FLOAT64), truths(5));
        add("none", new Dropout(0), normal(4));
    }

    private void arithmetic() {
        for (Binary.Function function : Binary.Function.values()) {
            switch (function) {
                case AND, OR, XOR -> add("broadcast", new Binary(function), truths(2, 1, 3), truths(4, 1));
                case POWER -> add("broadcast", new Binary(function), positive(2, 1, 3), normal(4, 1));
                case DIVIDE, MODULO -> add("broadcast", new Binary(function), normal(2, 1, 3), positive(4, 1));
                case EQUAL ->
                    add(
                            "of whole numbers",
                            new Binary(function),
                            integers(DataType.INT64, 0, 3, 8),
                            integers(DataType.INT64, 0, 3, 8));
                default -> add("broadcast", new Binary(function), normal(2, 1, 3), normal(4, 1));
            }
        }
        add("to a longer right side", new Binary(Binary.Function.SUBTRACT), normal(3), normal(2, 3));
        add(
                "of whole numbers",
                new Binary(Binary.Function.DIVIDE),
                longs(7, -7, 7, -7, 9007199254740991L),
                longs(2, 2, -2, -2, 3));
        add("of whole numbers", new Binary(Binary.Function.MODULO), longs(7, -7, 7, -7), longs(3, 3, -3, -3));
        add("of truths", new Binary(Binary.Function.EQUAL), truths(5), truths(5));
        Binary power = new Binary(Binary.Function.POWER);
        add(1, "two", power, normal(3), Tensor.scalar(DataType.FLOAT64, 2));
        add(1, "one half", power, positive(3), Tensor.scalar(DataType.FLOAT64, 0.5));
        add(1, "three of negative numbers", power, normal(5), Tensor.scalar(DataType.FLOAT64, 3));
        add("whole exponents", power, normal(4), longs(0, 1, 2, 3));
        for (Variadic.Function function : Variadic.Function.values()) {
            add("of one", new Variadic(function), normal(3));
            add("of three", new Variadic(function), normal(3), normal(2, 1), normal(2, 3));
        }
        add("", new Where(), truths(3, 1), normal(2, 1, 4), normal(1, 3, 1));
        add(
                "of whole numbers",
                new Where(),
                truths(4),
                integers(DataType.INT64, 0, 9, 4),
                integers(DataType.INT64, 0, 9, 4));
    }

    private void matrices() {
        add("linear", Gemm.LINEAR, normal(3, 4), normal(2, 4), normal(2));
        add("without bias", Gemm.LINEAR, normal(3, 4), normal(2, 4));
        add("plain", new Gemm(1, 1, false, false), normal(3, 4), normal(4, 2), normal(2));
        add("transposed and scaled", new Gemm(0.5, -2, true, true), normal(4, 3), normal(2, 4), normal(3, 1));
        add("bias of one number", Gemm.LINEAR, normal(3, 4), normal(2, 4), normal(1));
        add("bias as a matrix", Gemm.LINEAR, normal(3, 4), normal(2, 4), normal(3, 2));
        for (DataType type : List.of(DataType.INT32, DataType.INT64)) {
            add(
                    "of " + type + ", scaled by halves",
                    new Gemm(1.5, 0.5, false, true),
                    integers(type, -9, 9, 3, 4),
                    integers(type, -9, 9, 2, 4),
                    integers(type, -9, 9, 2));
        }
        add("of matrices", new MatMul(), normal(3, 4), normal(4, 2));
        add("of batches", new MatMul(), normal(5, 1, 3, 4), normal(2, 4, 2));
        add("of vectors", new MatMul(), normal(4), normal(4));
        add("of a vector and matrices", new MatMul(), normal(4), normal(2, 4, 3));
        add("of matrices and a vector", new MatMul(), normal(2, 3, 4), normal(4));
    }

    private static Windows windows(List<Long> strides, List<Long> pads, List<Long> dilations) {
        return new Windows(strides, pads, dilations);
    }

    private void windows() {
        Windows plain = Windows.square(1, 1);
        Windows awkward = windows(List.of(2L, 1L), List.of(0L, 1L, 2L, 0L), List.of(1L, 2L));
        add("plain", new Conv(plain, 1), normal(2, 3, 5, 4), normal(4, 3, 3, 3), normal(4));
        add("without bias", new Conv(plain, 1), normal(2, 3, 5, 4), normal(4, 3, 3, 3));
        add(
                "asymmetric, dilated, strided, grouped",
                new Conv(awkward, 2),
                normal(2, 4, 6, 7),
                normal(6, 2, 3, 2),
                normal(6));
        add(
                "depthwise",
                new Conv(windows(List.of(1L, 2L), List.of(1L, 0L, 1L, 0L), List.of(1L, 1L)), 3),
                normal(1, 3, 4, 5),
                normal(3, 1, 3, 2));
        add(
                "along one axis",
                new Conv(windows(List.of(2L), List.of(1L, 2L), List.of(2L)), 1),
                normal(2, 3, 9),
                normal(2, 3, 3),
                normal(2));
        add(
                "along three axes",
                new Conv(windows(List.of(1L, 2L, 1L), List.of(1L, 0L, 1L, 1L, 0L, 1L), List.of(1L, 1L, 1L)), 1),
                normal(1, 2, 3, 4, 3),
                normal(2, 2, 2, 2, 2));
        Windows overhanging = windows(List.of(2L, 2L), List.of(1L, 0L, 2L, 1L), List.of(1L, 1L));
        for (DataType type : List.of(DataType.INT8, DataType.UINT8)) {
            add(
                    "of " + type,
                    new Pool(Pool.Function.MAX, List.of(2L, 2L), Windows.square(2, 0), false, false),
                    integers(type, 0, 100, 1, 2, 6, 5));
            add(
                    "of " + type + " with padding",
                    new Pool(Pool.Function.MAX, List.of(3L, 2L), overhanging, false, false),
                    integers(type, type == DataType.INT8 ? -100 : 0, 100, 1, 2, 6, 5));
        }
        for (Pool.Function function : Pool.Function.values()) {
            for (boolean up : new boolean[] {false, true}) {
                for (boolean count : new boolean[] {false, true}) {
                    String name = (up ? "rounding up" : "rounding down") + (count ? ", padding counts" : "");
                    add(name, new Pool(function, List.of(2L, 2L), Windows.square(2, 0), up, count), normal(2, 2, 5, 4));
                    add(
                            name + ", padded",
                            new Pool(function, List.of(3L, 2L), Windows.square(2, 1), up, count),
                            normal(2, 2, 6, 5));
                    add(
                            name + ", asymmetric",
                            new Pool(
                                    function,
                                    List.of(3L, 3L),
                                    windows(List.of(2L, 3L), List.of(0L, 2L, 1L, 1L), List.of(1L, 1L)),
                                    up,
                                    count),
                            normal(1, 2, 6, 7));
                    add(
                            name + ", dilated",
                            new Pool(
                                    function,
                                    List.of(2L, 3L),
                                    windows(List.of(1L, 2L), List.of(1L, 0L, 0L, 2L), List.of(2L, 2L)),
                                    up,
                                    count),
                            normal(1, 2, 5, 8));
                    add(
                            name + ", along one axis",
                            new Pool(
                                    function,
                                    List.of(3L),
                                    windows(List.of(2L), List.of(1L, 1L), List.of(1L)),
                                    up,
                                    count),
                            normal(2, 2, 8));
                    add(
                            name + ", along three axes",
                            new Pool(
                                    function,
                                    List.of(2L, 2L, 2L),
                                    windows(List.of(2L, 1L, 2L), List.of(1L, 0L, 0L, 1L, 0L, 0L), List.of(1L, 1L, 1L)),
                                    up,
                                    count),
                            normal(1, 2, 4, 3, 5));
                    add(
                            name + ", padded where there is less than a window",
                            new Pool(
                                    function,
                                    List.of(1L, 1L, 3L),
                                    windows(List.of(1L, 1L, 1L), List.of(0L, 0L, 1L, 0L, 0L, 1L), List.of(1L, 1L, 1L)),
                                    up,
                                    count),
                            normal(1, 2, 4, 3, 2));
                }
            }
            add("of images", new GlobalPool(function), normal(2, 3, 4, 5));
            add("along one axis", new GlobalPool(function), normal(2, 3, 4));
            add("along three axes", new GlobalPool(function), normal(2, 3, 2, 3, 2));
            add("of nothing but channels", new GlobalPool(function), normal(2, 3));
        }
    }

    private void norms() {
        BatchNorm batch = new BatchNorm(1e-3, 0.9);
        add(3, "of images", batch, normal(3, 2, 2, 3), normal(2), normal(2), normal(2), positive(2));
        add(3, "of vectors", batch, normal(5, 3), normal(3), normal(3), normal(3), positive(3));
        add(3, "of lines", batch, normal(3, 2, 4), normal(2), normal(2), normal(2), positive(2));
        add("last axis", new LayerNorm(-1, 1e-5), normal(2, 3, 4), normal(4), normal(4));
        add("without shift", new LayerNorm(-1, 1e-5), normal(2, 3, 4), normal(4));
        add("last two axes", new LayerNorm(1, 1e-5), normal(2, 3, 4), normal(3, 4), normal(3, 4));
        add("broadcast scale", new LayerNorm(1, 1e-5), normal(2, 3, 4), normal(4), normal(3, 1));
        for (long axis : new long[] {-1, 0, 1}) {
            add("along axis " + axis, new Softmax(axis, false), normal(2, 3, 4));
            add("along axis " + axis, new Softmax(axis, true), normal(2, 3, 4));
        }
    }

    private void reductions() {
        for (DataType type : List.of(DataType.INT32, DataType.INT64)) {
            add(
                    "of " + type,
                    new Reduce(Reduce.Function.LOG_SUM_EXP, List.of(1L), false),
                    integers(type, -3, 3, 4, 20));
        }
        for (Reduce.Function function : Reduce.Function.values()) {
            add("one axis", new Reduce(function, List.of(-2L), false), normal(2, 3, 4));
            add("two axes, kept", new Reduce(function, List.of(2L, 0L), true), normal(2, 3, 4));
            add("two axes", new Reduce(function, List.of(0L, -1L), false), normal(2, 3, 4));
            add("all axes", new Reduce(function, List.of(), false), normal(2, 3));
            add("of one number", new Reduce(function, List.of(), false), positive());
        }
        add(
                "small whole numbers",
                new Reduce(Reduce.Function.SUM, List.of(1L), false),
                integers(DataType.INT32, -9, 9, 3, 4));
        add("whole numbers", new Reduce(Reduce.Function.MAX, List.of(0L), true), integers(DataType.INT64, -9, 9, 3, 4));
        add(
                "large numbers",
                new Reduce(Reduce.Function.LOG_SUM_EXP, List.of(0L), false),
                Tensor.compute(DataType.FLOAT64, new long[] {3}, i -> 1000 + i));
        for (boolean largest : new boolean[] {false, true}) {
            add("", new ArgReduce(largest, 1, false), normal(3, 5));
            add("kept", new ArgReduce(largest, -2, true), normal(3, 5, 2));
            add("of ties", new ArgReduce(largest, 0, false), longs(1, 2, 2, 1));
        }
        add("", new CumSum(1, false, false), normal(2, 4));
        add("exclusive", new CumSum(-1, true, false), normal(2, 4));
        add("reverse", new CumSum(0, false, true), normal(3, 2));
        add("exclusive and reverse", new CumSum(1, true, true), normal(2, 4, 2));
        add("of small whole numbers", new CumSum(0, false, false), integers(DataType.INT32, 0, 9, 5));
    }

    private void positions() {
        add("", new Slice(), normal(5, 6), longs(1, -3), longs(4, Long.MAX_VALUE));
        add("backwards", new Slice(), normal(5, 6), longs(-1), longs(Long.MIN_VALUE), longs(1), longs(-1));
        add("in steps", new Slice(), normal(7, 6), longs(5, 1), longs(0, 6), longs(0, 1), longs(-2, 3));
        add("of nothing", new Slice(), normal(5, 2), longs(3), longs(3), longs(0));
        add("of all", new Slice(), normal(5, 2), longs(0), longs(5), longs(0));
        add("rows", new Gather(0), normal(5, 3), integers(DataType.INT64, -5, 5, 2, 4));
        add("small indices", new Gather(0), normal(5, 3), integers(DataType.INT32, 0, 5, 4));
        add("columns", new Gather(1), normal(2, 5, 3), integers(DataType.INT64, -5, 5, 2, 2));
        add("last axis", new Gather(-1), normal(2, 3, 5), integers(DataType.INT64, 0, 5, 3));
        add("by one index", new Gather(1), normal(2, 5, 3), Tensor.scalar(DataType.INT64, -2));
        add("from a list by one index", new Gather(0), normal(5), Tensor.scalar(DataType.INT64, 3));
        add("from a list", new Gather(0), normal(5), longs(3, 3, -1));
        add("of whole numbers", new Gather(0), integers(DataType.INT64, 0, 99, 5, 2), longs(4, 0));
        add("", new GatherElements(1), normal(3, 4), integers(DataType.INT64, -4, 4, 3, 2));
        add("first axis", new GatherElements(0), normal(3, 4), integers(DataType.INT64, 0, 3, 2, 4));
        ScatterElements rows = new ScatterElements(1, ScatterElements.Reduction.NONE);
        add("", rows, normal(2, 4), Tensor.of(new long[] {0, -1, 2, 1, 3, 0}, 2, 3), normal(2, 3));
        add("largest", new TopK(1, true), normal(2, 5, 3), longs(2));
        for (boolean largest : new boolean[] {true, false}) {
            Tensor equal = Tensor.compute(DataType.FLOAT64, new long[] {3, 40}, i -> i % 3 == 0 ? -0.0 : i % 2);
            add(0, "of equal numbers, largest " + largest, new TopK(1, largest), equal, longs(35));
        }
        add("smallest", new TopK(-1, false), normal(4, 5), longs(3));
        add(
                "of whole numbers",
                new TopK(0, true),
                Tensor.of(new long[] {3, 9, 4, 7}, 4).cast(DataType.INT32),
                longs(2));
        List<Long> pads = List.of(0L, 1L, 2L, 0L, 2L, 1L);
        for (Pad.Mode mode : Pad.Mode.values()) {
            add(mode.toString(), new Pad(mode, pads, 1.5), normal(2, 3, 4));
            add(mode + " of the first axis", new Pad(mode, List.of(1L, 0L, 1L, 0L), 0), normal(3, 2));
        }
        add("cutting off", new Pad(Pad.Mode.CONSTANT, List.of(-1L, 0L, 1L, -1L), 2), normal(3, 4));
        Pad.Mode wrap = Pad.Mode.WRAP;
        add("WRAP of what is cut off before", new Pad(wrap, List.of(-1L, 2L, 2L, -1L), 0), normal(3, 4));
        add("WRAP of what is cut off behind", new Pad(wrap, List.of(3L, -2L, -1L, 1L), 0), normal(3, 4));
        add("cutting off more than there is", new Pad(Pad.Mode.CONSTANT, List.of(0L, -5L, 0L, 3L), 2), normal(2, 3));
        add("cutting off everything", new Pad(Pad.Mode.CONSTANT, List.of(1L, -1L, 0L, -2L), 2), normal(2, 3));
        add("cutting off edges", new Pad(Pad.Mode.EDGE, List.of(-1L, 2L, 0L, -1L), 0), normal(3, 4));
        for (long diagonal : new long[] {-1, 0, 2}) {
            add("upper " + diagonal, new Trilu(true, diagonal), normal(2, 3, 4));
            add("lower " + diagonal, new Trilu(false, diagonal), normal(4, 3));
        }
        add(
                "of infinity",
                new Trilu(true, 1),
                Tensor.compute(DataType.FLOAT64, new long[] {3, 3}, i -> Double.NEGATIVE_INFINITY));
    }

    private void transposedConvolutions() {
        Windows plain = new Windows(List.of(2L, 2L), List.of(0L, 0L, 0L, 0L), List.of(1L, 1L));
        add("", new ConvTranspose(plain, List.of(0L, 0L), 1), normal(2, 3, 2, 3), normal(3, 2, 2, 2), normal(2));
        Windows awkward = new Windows(List.of(2L, 3L), List.of(1L, 0L, 2L, 3L), List.of(2L, 1L));
        add("in parts", new ConvTranspose(awkward, List.of(1L, 2L), 2), normal(2, 4, 3, 3), normal(4, 3, 3, 2));
        Windows line = new Windows(List.of(1L), List.of(2L, 2L), List.of(1L));
        add("cut off", new ConvTranspose(line, List.of(0L), 1), normal(1, 2, 5), normal(2, 2, 2));
    }

    private void recurrent() {
        for (Recurrent.Cell cell : Recurrent.Cell.values()) {
            for (Recurrent.Direction direction : Recurrent.Direction.values()) {
                Recurrent recurrent = new Recurrent(cell, direction, 2);
                long both = recurrent.directions();
                long rows = 2L * cell.gates();
                String name = cell + " " + direction;
                add(name, recurrent, normal(3, 2, 2), normal(both, rows, 2), normal(both, rows, 2));
                List<@Nullable Tensor> all = new ArrayList<>(List.of(
                        normal(3, 2, 2),
                        normal(both, rows, 2),
                        normal(both, rows, 2),
                        normal(both, 2 * rows),
                        longs(1, 3).cast(DataType.INT32),
                        normal(both, 2, 2)));
                if (cell == Recurrent.Cell.LSTM) {
                    all.add(normal(both, 2, 2));
                    all.add(normal(both, 6));
                }
                add(name + " with everything", recurrent, all.toArray(Tensor[]::new));
            }
        }
    }

    private void resizes() {
        for (Sampling.Mode mode : Sampling.Mode.values()) {
            for (Sampling.Coordinates coordinates : Sampling.Coordinates.values()) {
                Sampling sampling = new Sampling(mode, coordinates, Sampling.Rounding.FLOOR, -0.75, false);
                String name = mode + " " + coordinates;
                add(name, new Resize(sampling, List.of(), List.of(1.0, 1.0, 2.0, 0.7)), normal(2, 2, 3, 5));
                add(name + " to lengths", new Resize(sampling, List.of(1L), List.of()), normal(2, 4, 3), longs(7));
            }
        }
        Sampling cubic =
                new Sampling(Sampling.Mode.CUBIC, Sampling.Coordinates.HALF_PIXEL, Sampling.Rounding.FLOOR, -0.5, true);
        add("without what is outside", new Resize(cubic, List.of(), List.of(1.0, 1.7)), normal(2, 3));
    }

    private void shapes() {
        add("", new Concat(-1), normal(2, 3), normal(2, 1), normal(2, 2));
        add("of whole numbers", new Concat(0), longs(1, 2), longs(3));
        add("", new Reshape(false), normal(2, 3, 4), longs(0, -1, 2));
        add("of a transposed matrix", new Reshape(false), normal(4, 3), longs(2, 6));
        add("", new Flatten(2), normal(2, 3, 4));
        add("of all", new Flatten(0), normal(2, 3, 4));
        add("", new Squeeze(List.of(0L, -2L)), normal(1, 3, 1, 4));
        add("", new Unsqueeze(List.of(0L, -1L)), normal(3, 4));
        add("", new Transpose(List.of(2L, 0L, 1L)), normal(2, 3, 4));
        add("", new Expand(), normal(3, 1), longs(2, 1, 4));
        add("to less", new Expand(), normal(3, 4), longs(1, 1));
        add("", new Tile(), normal(2, 3), longs(2, 3));
        add("equal", new Split(1, List.of(2L, 2L)), normal(3, 4));
        add("unequal", new Split(-2, List.of(1L, 0L, 3L)), normal(4, 2));
    }
}
