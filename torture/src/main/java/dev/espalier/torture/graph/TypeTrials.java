package dev.espalier.torture.graph;

import dev.espalier.graph.op.ArgReduce;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.CumSum;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Elementwise.Clip;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.GatherElements;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.ScatterElements;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Tile;
import dev.espalier.graph.op.TopK;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Trilu;
import dev.espalier.graph.op.Variadic;
import dev.espalier.graph.op.Where;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/** A catalogue of single operators on elements of one type; what ONNX does not admit for an operator is in it, too. */
final class TypeTrials {
    private static final List<Boolean> BOTH = List.of(true, false);
    private static final double NONE = Double.POSITIVE_INFINITY;

    private final DataType type;
    private final RandomGenerator random;
    private final List<Trial> trials = new ArrayList<>();

    /**
     * One operator with its inputs.
     *
     * @param outputs how many there are
     * @param constants the inputs that are constants of the graph; the others are fed
     */
    record Trial(Operator operator, int outputs, List<Tensor> inputs, Set<Integer> constants) {}

    private TypeTrials(DataType type, RandomGenerator random) {
        this.type = type;
        this.random = random;
    }

    /** {@return the whole catalogue for one type, with random elements} */
    static List<Trial> of(DataType type, RandomGenerator random) {
        TypeTrials trials = new TypeTrials(type, random);
        trials.arithmetic();
        trials.reductions();
        trials.positions();
        trials.moves();
        trials.products();
        trials.windows();
        return trials.trials;
    }

    private void fed(Operator operator, Tensor... inputs) {
        trials.add(new Trial(operator, 1, List.of(inputs), Set.of()));
    }

    private void add(Operator operator, int outputs, Set<Integer> constants, Tensor... inputs) {
        trials.add(new Trial(operator, outputs, List.of(inputs), constants));
    }

    /** Small integers of which many are equal; among floats others, too, and zeros of both signs. */
    private Tensor tensor(long... shape) {
        if (type == DataType.BOOL) {
            return Tensor.computeLongs(type, shape, _ -> random.nextInt(2));
        }
        if (type.isFloat()) {
            return Tensor.compute(type, shape, _ -> switch (random.nextInt(12)) {
                case 0 -> 0;
                case 1 -> -0.0;
                case 2 -> random.nextInt(-3, 4);
                default -> random.nextGaussian() * 2;
            });
        }
        return Tensor.computeLongs(type, shape, _ -> random.nextInt(isUnsigned() ? 0 : -8, 9));
    }

    private boolean isUnsigned() {
        return type == DataType.UINT8;
    }

    private Tensor filled(double value, long... shape) {
        return Tensor.compute(DataType.FLOAT64, shape, _ -> value).cast(type);
    }

    private static Tensor list(long... values) {
        return Tensor.of(values);
    }

    private void arithmetic() {
        for (Unary.Function function : Unary.Function.values()) {
            fed(new Unary(function), tensor(3, 5));
        }
        for (Binary.Function function : Binary.Function.values()) {
            boolean divides = function == Binary.Function.DIVIDE || function == Binary.Function.MODULO;
            Tensor right = tensor(4);
            if (divides && !type.isFloat()) {
                Tensor drawn = right;
                right = Tensor.computeLongs(type, drawn.shape(), i -> drawn.getLong(i) == 0 ? 3 : drawn.getLong(i));
            }
            if (function != Binary.Function.POWER) {
                fed(new Binary(function), tensor(3, 4), right);
            }
        }
        for (DataType exponent : List.of(DataType.FLOAT32, DataType.FLOAT64, DataType.INT32, DataType.INT64)) {
            Binary power = new Binary(Binary.Function.POWER);
            fed(power, tensor(5), Tensor.of(new long[] {0, 1, 2, 3, 4}).cast(exponent));
            add(power, 1, Set.of(1), tensor(5), Tensor.scalar(exponent, 2));
        }
        for (Variadic.Function function : Variadic.Function.values()) {
            fed(new Variadic(function), tensor(2, 3), tensor(3), tensor(2, 1));
        }
        Tensor truths = Tensor.computeLongs(DataType.BOOL, new long[] {3, 1}, _ -> random.nextInt(2));
        fed(new Where(), truths, tensor(4), tensor(3, 4));
        for (DataType to : TypeCampaign.TYPES) {
            fed(new Cast(to), tensor(8));
        }
        fed(new Clip(-NONE, 2), tensor(6));
        fed(new Clip(isUnsigned() ? 1 : -1, NONE), tensor(6));
        fed(new Clip(1, 3), tensor(6));
        fed(new Clip(-NONE, NONE), tensor(6));
    }

    private void reductions() {
        for (Reduce.Function function : Reduce.Function.values()) {
            for (List<Long> axes : List.of(List.<Long>of(), List.of(0L), List.of(-1L), List.of(0L, 2L))) {
                for (boolean keep : BOTH) {
                    // A product of integers must not overflow: what comes of that is nobody's to say.
                    boolean product = function == Reduce.Function.PRODUCT && !type.isFloat();
                    fed(new Reduce(function, axes, keep), product ? filled(2, 2, 3, 4) : tensor(2, 3, 4));
                }
            }
        }
        fed(new Reduce(Reduce.Function.SUM, List.of(), false), tensor());
        for (boolean first : BOTH) {
            fed(new ArgReduce(first, 1, first), tensor(3, 6));
            add(new TopK(-1, first), 2, Set.of(1), tensor(3, 6), list(3));
            fed(new Softmax(1, first), tensor(2, 3, 4));
            for (boolean second : BOTH) {
                fed(new CumSum(-1, first, second), tensor(2, 5));
                fed(new CumSum(0, first, second), tensor(3, 2));
            }
        }
    }

    private void positions() {
        for (Set<Integer> constants : List.of(Set.<Integer>of(), Set.of(1))) {
            add(new Gather(0), 1, constants, tensor(4, 3), Tensor.of(new long[] {-1, 0, 2, -4}, 2, 2));
            add(new Gather(1), 1, constants, tensor(4, 3, 2), list(-1, 0, 2));
            add(new Gather(-1), 1, constants, tensor(4, 3, 2), list(-1));
            add(new Gather(1), 1, constants, tensor(4, 3, 2), Tensor.scalar(DataType.INT64, -2));
            add(new Gather(0), 1, constants, tensor(4), Tensor.scalar(DataType.INT64, -2));
            Tensor places = Tensor.of(new long[] {-1, 0, 2, 3, 1, -4}, 3, 2);
            add(new GatherElements(1), 1, constants, tensor(3, 4), places);
            add(new GatherElements(0), 1, constants, tensor(3, 4), Tensor.of(new long[] {-1, 0, 2, 1}, 2, 2));
            add(
                    new ScatterElements(1, ScatterElements.Reduction.NONE),
                    1,
                    constants,
                    tensor(3, 4),
                    Tensor.of(new long[] {-1, 0, 2, 3, 1, 0}, 3, 2),
                    tensor(3, 2));
        }
        Set<Integer> bounds = Set.of(1, 2, 3, 4);
        add(new Slice(), 1, bounds, tensor(5, 6), list(-1, 4), list(Long.MIN_VALUE, 1), list(0, -1), list(-2, -1));
        add(new Slice(), 1, Set.of(1, 2, 3), tensor(5, 6), list(3), list(1), list(1));
    }

    private void moves() {
        add(new Expand(), 1, Set.of(1), tensor(3, 1), list(2, 1, 4));
        add(new Tile(), 1, Set.of(1), tensor(3, 1), list(2, 3));
        fed(new Transpose(List.of(2L, 0L, 1L)), tensor(2, 3, 4));
        fed(new Trilu(true, 1), tensor(2, 3, 4));
        fed(new Trilu(false, -1), tensor(3, 4));
        fed(new Concat(-1), tensor(2, 3), tensor(2, 1), tensor(2, 0));
        trials.add(new Trial(new Split(1, List.of(1L, 0L, 2L)), 3, List.of(tensor(2, 3)), Set.of()));
        for (Pad.Mode mode : Pad.Mode.values()) {
            int value = mode == Pad.Mode.CONSTANT ? 1 : 0;
            fed(new Pad(mode, List.of(1L, 2L, 0L, 1L), value), tensor(3, 4));
            fed(new Pad(mode, List.of(-1L, 2L, 0L, -1L), 0), tensor(3, 4));
            fed(new Pad(mode, List.of(1L, -2L, -1L, 1L), 0), tensor(3, 4));
            fed(new Pad(mode, List.of(0L, 3L, 0L, 3L), 0), tensor(3, 4));
        }
        fed(new Pad(Pad.Mode.CONSTANT, List.of(0L, -5L, 0L, 3L), 1), tensor(3, 4));
    }

    private void products() {
        fed(new MatMul(), tensor(2, 3), tensor(3, 4));
        fed(new MatMul(), tensor(3), tensor(2, 3, 4));
        fed(new MatMul(), tensor(2, 2, 3), tensor(3));
        fed(new MatMul(), tensor(3), tensor(3));
        fed(new Gemm(1.5, 1, false, false), tensor(2, 3), tensor(3, 4));
        fed(new Gemm(2, 0.5, true, false), tensor(3, 2), tensor(3, 4), tensor());
        fed(new Gemm(1, 1, false, true), tensor(2, 3), tensor(4, 3), tensor(4));
        fed(new Gemm(2, 0.5, true, true), tensor(3, 2), tensor(4, 3), tensor(2, 1));
    }

    private void windows() {
        List<Long> ones = List.of(1L, 1L, 1L);
        for (Pool.Function function : Pool.Function.values()) {
            fed(new GlobalPool(function), tensor(2, 3, 4, 5));
            fed(new GlobalPool(function), tensor(2, 3, 4));
            for (boolean up : BOTH) {
                for (boolean counts : BOTH) {
                    Windows flat = new Windows(List.of(2L, 2L), List.of(1L, 0L, 2L, 1L), ones.subList(0, 2));
                    fed(new Pool(function, List.of(3L, 2L), flat, up, counts), tensor(1, 2, 6, 5));
                    Windows dilated = new Windows(List.of(2L), List.of(0L, 0L), List.of(2L));
                    fed(new Pool(function, List.of(3L), dilated, up, counts), tensor(1, 2, 8));
                    Windows deep = new Windows(List.of(2L, 1L, 1L), List.of(1L, 0L, 1L, 0L, 0L, 1L), ones);
                    fed(new Pool(function, List.of(2L, 2L, 2L), deep, up, counts), tensor(1, 2, 5, 4, 3));
                }
            }
        }
    }
}
