package dev.espalier.torture.graph;

import dev.espalier.graph.Value;
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
import dev.espalier.graph.op.Foreign;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.GatherElements;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Range;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Resize;
import dev.espalier.graph.op.Sampling;
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
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import dev.espalier.torture.graph.Draft.Flow;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One step for each operator: it goes on from a tensor with a node of that operator, with parameters and other inputs by chance, and
 * with what is needed to get back to fractions. An operator without a step is an error.
 */
final class OperatorSteps {
    private final Draft draft;
    private final Blocks blocks;
    private final SequencedMap<Class<? extends Operator>, Function<Flow, @Nullable Flow>> steps = new LinkedHashMap<>();
    private final List<Function<Flow, @Nullable Flow>> all;

    OperatorSteps(Draft draft, Blocks blocks) {
        this.draft = draft;
        this.blocks = blocks;
        elementwise();
        arithmetic();
        layers();
        positions();
        shapes();
        lengths();
        Set<Class<?>> missing = new HashSet<>(operators(Operator.class).toList());
        missing.removeAll(steps.keySet());
        if (!missing.isEmpty()) {
            throw new IllegalStateException("no step makes " + missing);
        }
        all = List.copyOf(steps.values());
    }

    /** {@return all operators that there are} */
    static Stream<Class<?>> operators(Class<?> kind) {
        return kind.isSealed()
                ? Stream.of(kind.getPermittedSubclasses()).flatMap(OperatorSteps::operators)
                : Stream.of(kind);
    }

    /** A step with an operator that can go on from a tensor as it is. */
    Flow any(Flow x) {
        while (true) {
            Flow next = draft.pick(all).apply(x);
            if (next != null) {
                return next;
            }
        }
    }

    private void step(Class<? extends Operator> operator, Function<Flow, @Nullable Flow> step) {
        steps.put(operator, step);
    }

    private void plain(Class<? extends Operator> kind, Function<Flow, Operator> operator) {
        step(kind, x -> x.with(draft.add(label(kind), operator.apply(x), x.value())));
    }

    private static String label(Class<? extends Operator> kind) {
        return kind.getSimpleName();
    }

    private void elementwise() {
        step(Unary.class, this::unary);
        plain(LeakyRelu.class, x -> new LeakyRelu(draft.pick(0.01, 0.3, -0.2)));
        plain(Elu.class, x -> new Elu(draft.pick(1.0, 0.5)));
        plain(Celu.class, x -> new Celu(draft.pick(1.0, 0.7)));
        plain(Selu.class, x -> new Selu(1.6732632, 1.0507010));
        plain(HardSigmoid.class, x -> new HardSigmoid(draft.pick(0.2, 0.16666667), 0.5));
        plain(Gelu.class, x -> new Gelu(draft.flip()));
        plain(
                Clip.class,
                x -> draft.flip() ? new Clip(-0.5, draft.pick(0.7, 6.0)) : new Clip(0, Double.POSITIVE_INFINITY));
        plain(Dropout.class, x -> new Dropout(draft.pick(0.0, 0.3)));
        step(Cast.class, x -> {
            DataType type = draft.pick(
                    DataType.FLOAT64, DataType.FLOAT64, DataType.INT32, DataType.INT64, DataType.BOOL, DataType.UINT8);
            Value from = type == DataType.UINT8 ? draft.times(draft.positive(x.value()), draft.number(3)) : x.value();
            return draft.blend(x, draft.cast(from, type));
        });
    }

    private Flow unary(Flow x) {
        Unary.Function function = draft.pick(Unary.Function.values());
        return switch (function) {
            case LOG, SQRT, RECIPROCAL -> x.with(draft.unary(function, draft.positive(x.value())));
            case EXP -> x.with(draft.unary(function, draft.tamed(x.value())));
            case NOT -> draft.blend(x, draft.unary(function, comparison(x)));
            case IS_INF, IS_NAN, SIGN -> draft.blend(x, draft.unary(function, x.value()));
            case CEIL, FLOOR, ROUND -> draft.blend(x, draft.unary(function, draft.times(x.value(), draft.number(1.7))));
            case ABS, COS, ERF, HARD_SWISH, IDENTITY, MISH, NEGATIVE, RELU, SIGMOID, SIN, SOFTPLUS, SOFTSIGN, TANH ->
                x.with(draft.unary(function, x.value()));
        };
    }

    /** Truths that are not decided by a last digit, as far as chance has it. */
    private Value comparison(Flow x) {
        Binary.Function function = draft.pick(
                Binary.Function.LESS,
                Binary.Function.LESS_OR_EQUAL,
                Binary.Function.GREATER,
                Binary.Function.GREATER_OR_EQUAL);
        return draft.binary(function, x.value(), draft.number(0.1 * draft.between(-5, 5) + 0.05));
    }

    /** Whole numbers of which many are equal. */
    private Value whole(Flow x) {
        return draft.cast(draft.times(x.value(), draft.number(2)), draft.pick(DataType.INT32, DataType.INT64));
    }

    private Value wholeNumber(Value like, long number) {
        return draft.graph.constant(draft.name("whole"), Tensor.scalar(draft.graph.data(like), (double) number));
    }

    private void arithmetic() {
        step(Binary.class, this::binary);
        step(Variadic.class, x -> {
            Value[] inputs = Stream.concat(
                            Stream.of(x.value()),
                            Stream.generate(() -> draft.mate(x)).limit(draft.below(3)))
                    .toArray(Value[]::new);
            return x.with(draft.add("variadic", new Variadic(draft.pick(Variadic.Function.values())), inputs));
        });
        step(Where.class, x -> x.with(draft.add("where", new Where(), comparison(x), x.value(), draft.mate(x))));
        step(Softmax.class, x -> {
            Softmax softmax = new Softmax(axis(x, draft.between(1, x.rank() - 1)), draft.flip());
            return x.with(draft.times(draft.add("softmax", softmax, x.value()), draft.number(2)));
        });
        step(Reduce.class, this::reduce);
        step(ArgReduce.class, x -> {
            int axis = draft.between(1, x.rank() - 1);
            ArgReduce place = new ArgReduce(draft.flip(), axis(x, axis), true);
            return draft.blend(x, draft.add("place", place, draft.once(3) ? rounded(x) : x.value()));
        });
        plain(CumSum.class, x -> new CumSum(axis(x, draft.between(1, x.rank() - 1)), draft.flip(), draft.flip()));
    }

    private Value rounded(Flow x) {
        return draft.unary(Unary.Function.ROUND, x.value());
    }

    /** An axis as it may be written: from the front or from the end. */
    private long axis(Flow x, int axis) {
        return draft.flip() ? axis : axis - x.rank();
    }

    private Flow binary(Flow x) {
        Binary.Function function = draft.pick(Binary.Function.values());
        return switch (function) {
            case ADD, SUBTRACT, MULTIPLY -> {
                Value mate = draft.mate(x);
                yield x.with(
                        draft.flip()
                                ? draft.binary(function, x.value(), mate)
                                : draft.binary(function, mate, x.value()));
            }
            case DIVIDE -> x.with(draft.binary(function, x.value(), draft.positive(draft.mate(x))));
            case POWER ->
                x.with(
                        draft.flip()
                                ? draft.binary(function, x.value(), draft.number(draft.between(1, 3)))
                                : draft.binary(
                                        function, draft.positive(x.value()), draft.number(draft.pick(0.5, -1.3))));
            case MODULO -> {
                Value numbers = whole(x);
                yield draft.blend(x, draft.binary(function, numbers, wholeNumber(numbers, draft.pick(3, -2))));
            }
            case PRELU -> {
                int axis = draft.pick(x.knownAxes());
                yield x.with(draft.binary(function, x.value(), draft.along(x, axis, draft.tensor(1, x.length(axis)))));
            }
            case EQUAL -> {
                Value numbers = whole(x);
                yield draft.blend(x, draft.binary(function, numbers, wholeNumber(numbers, draft.between(-1, 1))));
            }
            case LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL -> draft.blend(x, comparison(x));
            case AND, OR, XOR -> draft.blend(x, draft.binary(function, comparison(x), comparison(x)));
        };
    }

    private Flow reduce(Flow x) {
        Reduce.Function function = draft.pick(Reduce.Function.values());
        List<Long> axes = new ArrayList<>();
        for (int axis = 1; axis < x.rank(); axis++) {
            if (draft.flip()) {
                axes.add(axis(x, axis));
            }
        }
        if (axes.isEmpty()) {
            axes.add(-1L);
        }
        Value from = function == Reduce.Function.PRODUCT ? draft.tamed(x.value()) : x.value();
        Value kept = draft.add("reduce", new Reduce(function, axes, true), from);
        if (draft.flip()) {
            return draft.blend(x, kept);
        }
        List<Long> inner = LongStream.range(1, x.rank())
                .filter(axis -> axis != x.axis())
                .boxed()
                .toList();
        return inner.isEmpty()
                ? draft.blend(x, kept)
                : new Flow(draft.add("reduce", new Reduce(function, inner, false), from), true);
    }

    private void layers() {
        step(Conv.class, this::convolution);
        step(ConvTranspose.class, this::transposed);
        step(Gemm.class, this::gemm);
        step(MatMul.class, this::product);
        step(Recurrent.class, this::recurrent);
        step(BatchNorm.class, x -> x.last() && x.rank() > 2 ? null : blocks.norm(x, new ArrayList<>()));
        step(LayerNorm.class, x -> {
            int axis = x.rank() - 1;
            while (axis > 1 && x.isKnown(axis - 1) && draft.flip()) {
                axis--;
            }
            if (!x.isKnown(x.rank() - 1)) {
                return null;
            }
            long[] shape = IntStream.range(axis, x.rank()).mapToLong(x::length).toArray();
            LayerNorm norm = new LayerNorm(axis(x, axis), 1e-3);
            Value scale = draft.parameter("scale", draft.tensor(1, shape));
            return x.with(
                    draft.flip()
                            ? draft.add("norm", norm, x.value(), scale)
                            : draft.add(
                                    "norm", norm, x.value(), scale, draft.parameter("shift", draft.tensor(1, shape))));
        });
        step(Pool.class, x -> {
            if (!x.isPicture()) {
                return null;
            }
            List<Long> kernel = new ArrayList<>();
            Windows windows = windows(x, kernel, false);
            Pool pool = new Pool(draft.pick(Pool.Function.values()), kernel, windows, draft.once(3), draft.flip());
            return x.with(draft.add("pool", pool, x.value()));
        });
        step(
                GlobalPool.class,
                x -> x.isPicture()
                        ? x.with(draft.add("pool", new GlobalPool(draft.pick(Pool.Function.values())), x.value()))
                        : null);
    }

    /** Windows that fit, with whatever strides, pads and dilations. */
    private Windows windows(Flow x, List<Long> kernel, boolean transposed) {
        int axes = x.rank() - 2;
        List<Long> strides = new ArrayList<>();
        List<Long> before = new ArrayList<>();
        List<Long> after = new ArrayList<>();
        List<Long> dilations = new ArrayList<>();
        for (int axis = 2; axis < x.rank(); axis++) {
            long length = x.isKnown(axis) ? x.length(axis) : 1;
            long size = draft.between(1, 3);
            long dilation = draft.once(4) ? 2 : 1;
            long pad = size == 1 ? 0 : draft.below(2);
            while (!transposed && (size - 1) * dilation + 1 > length + pad) {
                size--;
                pad = size == 1 ? 0 : pad;
            }
            // No window may lie in the padding alone.
            long other = size == 1 ? 0 : draft.below(2);
            kernel.add(size);
            dilations.add(dilation);
            before.add(transposed ? 0 : Math.min(pad, size - 1));
            after.add(transposed ? 0 : Math.min(other, size - 1));
            strides.add(draft.once(4) ? 2L : 1L);
        }
        before.addAll(after);
        return new Windows(strides, before.subList(0, 2 * axes), dilations);
    }

    private List<Integer> divisors(int number) {
        return IntStream.rangeClosed(1, number)
                .filter(one -> number % one == 0)
                .boxed()
                .toList();
    }

    private static long[] join(List<Long> behind, long... front) {
        return LongStream.concat(LongStream.of(front), behind.stream().mapToLong(Long::longValue))
                .toArray();
    }

    private @Nullable Flow convolution(Flow x) {
        if (!x.isPicture()) {
            return null;
        }
        List<Long> kernel = new ArrayList<>();
        Windows windows = windows(x, kernel, false);
        int groups = draft.once(3) ? draft.pick(divisors(x.channels())) : 1;
        int out = groups * draft.between(1, 3);
        Value weight = draft.parameter("weight", draft.weights(1, 0, join(kernel, out, x.channels() / groups)));
        return x.with(
                draft.flip()
                        ? draft.add("conv", new Conv(windows, groups), x.value(), weight)
                        : draft.add("conv", new Conv(windows, groups), x.value(), weight, bias(out)));
    }

    private Value bias(int size) {
        return draft.parameter("bias", draft.channelwise(0, size));
    }

    private @Nullable Flow transposed(Flow x) {
        if (!x.isPicture() || !draft.mayGrow(x, 8)) {
            return null;
        }
        List<Long> kernel = new ArrayList<>();
        Windows windows = windows(x, kernel, true);
        int groups = draft.once(3) ? draft.pick(divisors(x.channels())) : 1;
        int out = draft.between(1, 3);
        List<Long> added = windows.strides().stream()
                .map(stride -> stride > 1 ? (long) draft.below(2) : 0L)
                .toList();
        Value weight = draft.parameter("weight", draft.weights(0, 1, join(kernel, x.channels(), out)));
        ConvTranspose conv = new ConvTranspose(windows, added, groups);
        return x.with(
                draft.flip()
                        ? draft.add("transposed", conv, x.value(), weight)
                        : draft.add("transposed", conv, x.value(), weight, bias(groups * out)));
    }

    private @Nullable Flow gemm(Flow x) {
        Flow flat = flat(x);
        if (flat == null) {
            return null;
        }
        int in = flat.channels();
        int out = blocks.width();
        boolean turned = draft.once(4);
        boolean transposed = draft.flip();
        Gemm gemm = new Gemm(draft.pick(1.0, 0.5), draft.pick(1.0, 2.0), turned, transposed);
        Value from = turned ? draft.add("turn", new Transpose(List.of(1L, 0L)), flat.value()) : flat.value();
        Value weight = transposed
                ? draft.parameter("weight", draft.weights(1, 0, out, in))
                : draft.parameter("weight", draft.weights(0, 1, in, out));
        return new Flow(
                draft.flip()
                        ? draft.add("gemm", gemm, from, weight)
                        : draft.add("gemm", gemm, from, weight, bias(draft.once(4) ? 1 : out)),
                true);
    }

    /** All numbers of a sample in a row. */
    private @Nullable Flow flat(Flow x) {
        if (x.knownAxes().size() < x.rank() - 1) {
            return null;
        }
        return x.rank() == 2 ? x : new Flow(draft.add("flat", new Flatten(1), x.value()), true);
    }

    private @Nullable Flow product(Flow x) {
        if (x.last()) {
            Value weight = draft.parameter("weight", draft.weights(0, 1, x.channels(), blocks.width()));
            return x.with(draft.add("product", new MatMul(), x.value(), weight));
        }
        if (x.rank() < 3 || !x.isKnown(x.rank() - 2)) {
            return null;
        }
        // From the left, within each channel or over them.
        int rows = x.length(x.rank() - 2);
        Value weight = draft.parameter("weight", draft.weights(1, 0, draft.between(1, 4), rows));
        return x.with(draft.add("product", new MatMul(), weight, x.value()));
    }

    private @Nullable Flow recurrent(Flow x) {
        if (x.rank() != 3 || !x.last()) {
            return null;
        }
        Recurrent cell = new Recurrent(
                draft.pick(Recurrent.Cell.values()), draft.pick(Recurrent.Direction.values()), draft.between(1, 4));
        long both = cell.directions();
        long units = cell.hidden();
        long rows = units * cell.cell().gates();
        Value time = draft.add("time", new Transpose(List.of(1L, 0L, 2L)), x.value());
        List<Value> inputs = new ArrayList<>(List.of(
                time,
                draft.parameter("weight", draft.weights(2, 1, both, rows, x.channels())),
                draft.parameter("recurrence", draft.weights(2, 1, both, rows, units))));
        if (draft.flip()) {
            inputs.add(draft.parameter("bias", draft.tensor(0.3, both, 2 * rows)));
        }
        int outputs = cell.cell() == Recurrent.Cell.LSTM ? 3 : 2;
        List<Value> made = draft.addAll("recurrent", cell, outputs, inputs.toArray(Value[]::new));
        if (draft.once(3)) {
            Value last = draft.add("turn", new Transpose(List.of(1L, 0L, 2L)), made.get(1));
            return new Flow(draft.add("row", Reshape.DEFAULT, last, draft.longs(0, both * units)), true);
        }
        Value turned = draft.add("turn", new Transpose(List.of(2L, 0L, 1L, 3L)), made.getFirst());
        return x.with(draft.add("row", Reshape.DEFAULT, turned, draft.longs(0, 0, both * units)));
    }

    private void positions() {
        step(Concat.class, x -> {
            int axis = draft.between(1, x.rank() - 1);
            return draft.mayGrow(x, 2)
                    ? x.with(draft.add("concat", new Concat(axis(x, axis)), x.value(), draft.tamed(x.value())))
                    : null;
        });
        step(Split.class, x -> {
            int axis = draft.pick(x.knownAxes());
            long length = x.length(axis);
            if (length < 2) {
                return null;
            }
            List<Long> sizes =
                    length % 2 == 0 && draft.flip() ? List.of(length / 2, length / 2) : List.of(1L, length - 1);
            List<Value> parts = draft.addAll("split", new Split(axis(x, axis), sizes), 2, x.value());
            return x.with(
                    sizes.getFirst().equals(sizes.getLast()) && draft.flip()
                            ? draft.plus(parts.getFirst(), draft.tamed(parts.getLast()))
                            : draft.pick(parts));
        });
        step(Slice.class, this::slice);
        step(Gather.class, x -> {
            int axis = draft.pick(x.knownAxes());
            int length = x.length(axis);
            long[] places = LongStream.generate(() -> draft.between(-length, length - 1))
                    .limit(draft.between(1, length))
                    .toArray();
            return x.with(draft.add("gather", new Gather(axis(x, axis)), x.value(), draft.longs(places)));
        });
        step(TopK.class, x -> {
            int axis = draft.pick(x.knownAxes());
            List<Value> top = top(x, axis, draft.once(3) ? rounded(x) : x.value());
            return draft.flip() ? x.with(top.getFirst()) : x.with(draft.cast(top.getLast(), DataType.FLOAT32));
        });
        step(GatherElements.class, x -> {
            int axis = draft.pick(x.knownAxes());
            Value places = top(x, axis, x.value()).getLast();
            return x.with(draft.add("pick", new GatherElements(axis(x, axis)), draft.tamed(x.value()), places));
        });
        step(ScatterElements.class, x -> {
            int axis = draft.pick(x.knownAxes());
            List<Value> top = top(x, axis, x.value());
            // Most cannot be trained.
            ScatterElements.Reduction reduction =
                    draft.flip() ? ScatterElements.Reduction.NONE : draft.pick(ScatterElements.Reduction.values());
            return x.with(draft.add(
                    "scatter",
                    new ScatterElements(axis(x, axis), reduction),
                    x.value(),
                    top.getLast(),
                    draft.tamed(top.getFirst())));
        });
        step(
                Trilu.class,
                x -> x.rank() < 3
                        ? null
                        : x.with(draft.add("triangle", new Trilu(draft.flip(), draft.between(-2, 2)), x.value())));
        step(Pad.class, this::pad);
        step(Resize.class, this::resize);
        step(Tile.class, x -> {
            if (!draft.mayGrow(x, 2)) {
                return null;
            }
            long[] copies = new long[x.rank()];
            java.util.Arrays.fill(copies, 1);
            copies[draft.between(1, x.rank() - 1)] = 2;
            return x.with(draft.add("tile", new Tile(), x.value(), draft.longs(copies)));
        });
    }

    private List<Value> top(Flow x, int axis, Value from) {
        Value many = draft.longs(draft.between(1, x.length(axis)));
        return draft.addAll("top", new TopK(axis(x, axis), draft.flip()), 2, from, many);
    }

    private @Nullable Flow slice(Flow x) {
        int axis = draft.pick(x.knownAxes());
        int length = x.length(axis);
        boolean backwards = draft.once(4);
        int step = draft.once(3) && length > 2 ? 2 : 1;
        int first = draft.below(length);
        long start = backwards ? length - 1 - first : first;
        long end = backwards ? -length - 1 : draft.once(3) ? Long.MAX_VALUE : draft.between(first + 1, length);
        Value starts = draft.longs(draft.flip() ? start : start - length);
        Value axes = draft.longs(axis(x, axis));
        return x.with(
                backwards || step != 1
                        ? draft.add(
                                "slice",
                                new Slice(),
                                x.value(),
                                starts,
                                draft.longs(end),
                                axes,
                                draft.longs(backwards ? -step : step))
                        : draft.add("slice", new Slice(), x.value(), starts, draft.longs(end), axes));
    }

    private @Nullable Flow pad(Flow x) {
        Pad.Mode mode = draft.pick(Pad.Mode.values());
        Long[] pads = new Long[2 * x.rank()];
        java.util.Arrays.fill(pads, 0L);
        int axis = draft.pick(x.knownAxes());
        int most = switch (mode) {
            case CONSTANT, EDGE -> 2;
            case REFLECT -> Math.min(2, x.length(axis) - 1);
            case WRAP -> Math.min(2, x.length(axis));
        };
        pads[axis] = (long) draft.between(0, most);
        pads[x.rank() + axis] = (long) draft.between(0, most);
        if (mode == Pad.Mode.CONSTANT && x.length(axis) > 2 && draft.once(4)) {
            pads[axis] = -1L;
        }
        double value = mode == Pad.Mode.CONSTANT && draft.flip() ? 0.5 : 0;
        return draft.mayGrow(x, 2) ? x.with(draft.add("pad", new Pad(mode, List.of(pads), value), x.value())) : null;
    }

    private @Nullable Flow resize(Flow x) {
        if (x.rank() != 4 || x.last() || !x.isKnown(2) || !x.isKnown(3) || !draft.mayGrow(x, 4)) {
            return null;
        }
        Sampling.Mode mode = draft.pick(Sampling.Mode.values());
        Sampling sampling = new Sampling(
                mode,
                draft.pick(Sampling.Coordinates.values()),
                mode == Sampling.Mode.NEAREST
                        ? draft.pick(Sampling.Rounding.values())
                        : Sampling.Rounding.ROUND_PREFER_FLOOR,
                -0.75,
                mode == Sampling.Mode.CUBIC && draft.flip());
        if (draft.flip()) {
            Resize resize = new Resize(sampling, List.of(), List.of(1.0, 1.0, scale(x, 2), scale(x, 3)));
            return x.with(draft.add("resize", resize, x.value()));
        }
        Value lengths = draft.longs(draft.between(1, 2 * x.length(2)), draft.between(1, 2 * x.length(3)));
        return x.with(draft.add("resize", new Resize(sampling, List.of(2L, 3L), List.of()), x.value(), lengths));
    }

    private double scale(Flow x, int axis) {
        return x.length(axis) > 1 ? draft.pick(2.0, 0.5, 1.5, 1.0) : draft.pick(1.0, 2.0);
    }

    private void shapes() {
        step(Reshape.class, x -> {
            int channels = x.channels();
            int parts = draft.pick(divisors(channels));
            if (x.rank() > 4) {
                return flat(x);
            }
            // Channels in two axes, which change places or do not, and together again.
            long[] apart = new long[x.rank() + 1];
            long[] together = new long[x.rank()];
            apart[x.axis()] = parts;
            apart[x.axis() + 1] = draft.flip() ? -1 : channels / parts;
            List<Long> order =
                    new ArrayList<>(LongStream.range(0, x.rank() + 1L).boxed().toList());
            Collections.swap(order, x.axis(), x.axis() + 1);
            for (int axis = 1; axis < x.rank(); axis++) {
                long length = x.isKnown(axis) ? x.length(axis) : 0;
                together[axis] = length;
                if (axis != x.axis()) {
                    apart[axis < x.axis() ? axis : axis + 1] = length;
                }
            }
            if (!x.last() && x.knownAxes().size() < x.rank() - 1) {
                // A free length that changes its place cannot be written as a zero.
                return null;
            }
            Value cut = draft.add("apart", Reshape.DEFAULT, x.value(), draft.longs(apart));
            Value turned = draft.flip() ? draft.add("turn", new Transpose(order), cut) : cut;
            return x.with(draft.add("together", Reshape.DEFAULT, turned, draft.longs(together)));
        });
        step(Flatten.class, x -> flat(x));
        step(Transpose.class, x -> {
            if (x.rank() == 3) {
                return new Flow(draft.add("turn", new Transpose(List.of(0L, 2L, 1L)), x.value()), !x.last());
            }
            if (x.rank() == 4 && !x.last()) {
                return draft.flip()
                        ? x.with(draft.add("turn", new Transpose(List.of(0L, 1L, 3L, 2L)), x.value()))
                        : new Flow(draft.add("turn", new Transpose(List.of(0L, 2L, 3L, 1L)), x.value()), true);
            }
            return x.rank() == 4 && x.last()
                    ? new Flow(draft.add("turn", new Transpose(List.of(0L, 3L, 1L, 2L)), x.value()), false)
                    : null;
        });
        step(Unsqueeze.class, x -> {
            if (x.rank() > 4) {
                return null;
            }
            // A batch of one, or a length of one behind the channels or in front of them.
            Value more = draft.add("more", new Unsqueeze(List.of(x.last() ? 1L : -1L)), x.value());
            return x.with(more);
        });
        step(Squeeze.class, x -> {
            List<Integer> ones = IntStream.range(1, x.rank())
                    .filter(axis ->
                            axis != x.axis() && x.value().shape().get(axis).is(1))
                    .boxed()
                    .toList();
            if (ones.isEmpty()) {
                return null;
            }
            Flow less = x.with(draft.add("less", new Squeeze(List.of(axis(x, draft.pick(ones)))), x.value()));
            return less.rank() == 2 ? new Flow(less.value(), true) : less;
        });
    }

    private Value shape(Value x) {
        return draft.add("shape", ShapeOf.ALL, x);
    }

    private Value length(Value x, Value place) {
        return draft.add("length", new Gather(0), shape(x), place);
    }

    private void lengths() {
        step(ShapeOf.class, x -> {
            Value lengths = draft.flip()
                    ? length(x.value(), draft.longs(draft.below(x.rank())))
                    : draft.add("shape", new ShapeOf(-2, Long.MAX_VALUE), x.value());
            Value sum = draft.add("sum", new Reduce(Reduce.Function.SUM, List.of(), false), lengths);
            return x.with(root(x, sum));
        });
        step(Size.class, x -> x.with(root(x, draft.add("size", new Size(), x.value()))));
        step(
                ConstantOfShape.class,
                x -> draft.blend(
                        x,
                        draft.add(
                                "filled",
                                new ConstantOfShape(Tensor.of(new float[] {0.25f})),
                                draft.add("shape", new ShapeOf(-2, Long.MAX_VALUE), x.value()))));
        step(Expand.class, x -> {
            int axis = draft.pick(x.knownAxes());
            Value along = draft.along(x, axis, draft.tensor(1, x.length(axis)));
            return x.with(draft.times(x.value(), draft.add("expand", new Expand(), along, shape(x.value()))));
        });
        step(Range.class, x -> {
            // Positions along the last axis.
            Value end = length(x.value(), draft.whole(x.rank() - 1L));
            Value places = draft.add("range", new Range(), draft.whole(0), end, draft.whole(1));
            return draft.blend(x, draft.unary(Unary.Function.SIN, draft.cast(places, DataType.FLOAT32)));
        });
        step(Foreign.class, x -> draft.once(3) ? foreign(x) : null);
    }

    private Value root(Flow x, Value number) {
        Value fraction = draft.unary(Unary.Function.SQRT, draft.cast(number, DataType.FLOAT32));
        return draft.binary(Binary.Function.DIVIDE, x.value(), fraction);
    }

    /** An operator of ONNX that is kept as it is. */
    private Flow foreign(Flow x) {
        String name = draft.pick("ThresholdedRelu", "Hardmax", "Atan", "Asinh");
        Optional<TensorType> type =
                Optional.of(new TensorType(DataType.FLOAT32, x.value().shape()));
        Foreign operator = new Foreign(
                "",
                name,
                new TreeMap<>(Map.of("", 13)),
                new Foreign.Attributes(new byte[0]),
                List.of(),
                List.of(type),
                List.of(type));
        return x.with(draft.add("foreign", operator, x.value()));
    }
}
