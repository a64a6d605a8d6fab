package dev.espalier.graph.eval;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Node;
import dev.espalier.graph.eval.Moves.Along;
import dev.espalier.graph.op.ArgReduce;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.ConstantOfShape;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.ConvTranspose;
import dev.espalier.graph.op.CumSum;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Fact;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Foreign;
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
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.TreeSet;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Computes operators the slow and obvious way: what ONNX says, in inference mode, in double precision (whole numbers in
 * {@code long}, where they wrap around), rounded to the output's type at the end.
 *
 * <p>Where ONNX leaves something open: a number that is too large for the whole numbers it is cast to loses its upper
 * bits, and {@code uint64} is counted like {@code int64}.
 */
public final class Evaluator {
    /** More than this no operator may make: 1 GiB. */
    public static final long MOST_BYTES = 1L << 30;

    /** What a constant may grow by when it is folded: 16 MiB. Expanding a number to a large tensor is left to run time. */
    public static final long MOST_GROWTH = 1L << 24;

    private Evaluator() {}

    /**
     * Computes one operator.
     *
     * @param operator the operator
     * @param inputs its inputs; null for an optional one that is left out
     * @return its outputs; null if they would be larger than {@link #MOST_BYTES}
     * @throws IllegalArgumentException if the inputs do not fit
     */
    public static @Nullable List<Tensor> evaluate(Operator operator, List<@Nullable Tensor> inputs) {
        return evaluate(operator, inputs, MOST_BYTES);
    }

    /**
     * Computes one operator on constants, if the result is worth keeping.
     *
     * @param operator the operator
     * @param inputs its inputs; null for an optional one that is left out
     * @return its outputs; null if they would be larger than the inputs by more than {@link #MOST_GROWTH}, or if nothing is
     *     known of the operator
     * @throws IllegalArgumentException if the inputs do not fit
     */
    public static @Nullable List<Tensor> fold(Operator operator, List<@Nullable Tensor> inputs) {
        if (operator instanceof Foreign) {
            return null;
        }
        long present = 0;
        for (Tensor input : inputs) {
            present += input == null ? 0 : input.data().byteSize();
        }
        return evaluate(operator, inputs, Math.min(present + MOST_GROWTH, MOST_BYTES));
    }

    private static @Nullable List<Tensor> evaluate(Operator operator, List<@Nullable Tensor> inputs, long mostBytes) {
        try {
            Arguments arguments = new Arguments(inputs);
            List<TensorType> types = types(operator, arguments);
            return sharesMemory(operator) || bytes(types) <= mostBytes
                    ? compute(
                            operator,
                            arguments,
                            types.stream().map(type -> type.shape().lengths()).toList())
                    : null;
        } catch (ArithmeticException tooLarge) {
            throw new IllegalArgumentException(
                    "sizes are beyond what memory can hold: " + tooLarge.getMessage(), tooLarge);
        }
    }

    private static List<TensorType> types(Operator operator, Arguments arguments) {
        int count = arguments.tensors().size();
        Operands.require(
                count >= operator.leastInputs() && count <= operator.mostInputs(),
                "%d inputs, but it takes %d to %d".formatted(count, operator.leastInputs(), operator.mostInputs()));
        if (operator instanceof Range) {
            return List.of(rangeType(arguments));
        }
        List<TensorType> types =
                operator.infer(arguments.operands()).stream().map(Fact::type).toList();
        types.forEach(type -> Operands.require(
                type.shape().isKnown(), "the shape " + type.shape() + " does not follow from the inputs"));
        return types;
    }

    /** A fact holds whole numbers only, so a range of others is counted here. */
    private static TensorType rangeType(Arguments arguments) {
        Tensor start = arguments.single(0);
        Tensor end = arguments.single(1);
        Tensor step = arguments.single(2);
        Operands.require(step.getDouble(0) != 0, "a step of 0");
        long count;
        if (start.type().isFloat()) {
            count = (long) Math.ceil((end.getDouble(0) - start.getDouble(0)) / step.getDouble(0));
        } else {
            count = Math.ceilDiv(Math.subtractExact(end.getLong(0), start.getLong(0)), step.getLong(0));
        }
        return new TensorType(start.type(), Shape.ofLengths(Math.max(count, 0)));
    }

    private static long bytes(List<TensorType> types) {
        long bytes = 0;
        for (TensorType type : types) {
            long size = Tensor.size(type.shape().lengths());
            bytes = Math.addExact(bytes, Math.multiplyExact(size, type.data().bytes()));
        }
        return bytes;
    }

    private static boolean sharesMemory(Operator operator) {
        return operator instanceof Reshape
                || operator instanceof Flatten
                || operator instanceof Squeeze
                || operator instanceof Unsqueeze
                || operator instanceof Elementwise.Dropout
                || (operator instanceof Elementwise.Unary(var function)
                        && function == Elementwise.Unary.Function.IDENTITY);
    }

    private static List<Tensor> compute(Operator operator, Arguments in, List<long[]> shapes) {
        long[] shape = shapes.getFirst();
        return switch (operator) {
            case Elementwise elementwise -> List.of(elementwise(elementwise, in.get(0)));
            case Binary binary -> List.of(binary(binary.function(), in.get(0), in.get(1), shape));
            case Variadic variadic -> List.of(variadic(variadic.function(), in.all(), shape));
            case Where _ -> List.of(where(in.get(0), in.get(1), in.get(2), shape));
            case Conv conv -> List.of(Sliding.conv(conv, in.get(0), in.get(1), in.find(2), shape));
            case ConvTranspose conv -> List.of(Sliding.convTranspose(conv, in.get(0), in.get(1), in.find(2), shape));
            case Gemm gemm -> List.of(Products.gemm(gemm, in.get(0), in.get(1), in.find(2), shape));
            case MatMul _ -> List.of(Products.matMul(in.get(0), in.get(1), shape));
            case Recurrent recurrent -> Recurrence.run(recurrent, in.tensors(), in.get(0), shapes);
            case BatchNorm norm -> List.of(batchNorm(norm, in));
            case LayerNorm norm -> List.of(layerNorm(norm, in));
            case Pool pool -> List.of(Sliding.pool(pool, in.get(0), shape));
            case GlobalPool pool -> List.of(globalPool(pool.function(), in.get(0), shape));
            case Reduce reduce ->
                List.of(Reductions.reduce(
                        reduce.function(),
                        in.get(0),
                        reduce.resolvedAxes(in.get(0).rank()),
                        shape));
            case ArgReduce reduce -> List.of(Reductions.argReduce(reduce, in.get(0), shape));
            case Softmax softmax -> List.of(Reductions.softmax(softmax, in.get(0)));
            case CumSum sum -> List.of(Reductions.cumSum(sum, in.get(0)));
            case Reshape _, Flatten _, Squeeze _, Unsqueeze _ ->
                List.of(in.get(0).reshape(shape));
            case Transpose transpose ->
                List.of(Moves.transpose(
                        in.get(0),
                        transpose.permutation().stream()
                                .mapToInt(Long::intValue)
                                .toArray()));
            case Concat concat -> List.of(Moves.concat(in.all(), Shape.axis(concat.axis(), shape.length), shape));
            case Split split -> split(split, in.get(0));
            case Slice _ -> List.of(slice(in));
            case Gather gather -> List.of(gather(gather, in.get(0), in.get(1), shape));
            case GatherElements gather -> List.of(gatherElements(gather, in.get(0), in.get(1)));
            case ScatterElements scatter -> List.of(Scattering.scatter(scatter, in.get(0), in.get(1), in.get(2)));
            case TopK top -> Reductions.topK(top, in.get(0), shape);
            case Expand _ -> List.of(expand(in.get(0), shape));
            case Tile _ ->
                List.of(pick(in.get(0), axis -> repeat(shape[axis], in.get(0).shape()[axis])));
            case Pad pad -> List.of(pad(pad, in.get(0), shape));
            case Resize resize -> List.of(Resizing.resize(resize, in.get(0), shape));
            case ShapeOf _, Size _ ->
                List.of(Objects.requireNonNull(
                        operator.infer(in.operands()).getFirst().constant()));
            case ConstantOfShape constant -> List.of(expand(constant.value().reshape(), shape));
            case Range _ -> List.of(range(in.get(0), in.get(2), shape));
            case Trilu trilu -> List.of(trilu(trilu, in.get(0)));
            case Foreign foreign ->
                throw new IllegalArgumentException(
                        foreign.label() + " is kept as its file has it, and only ONNX Runtime can run it");
        };
    }

    /**
     * The inputs of an operator.
     *
     * @param tensors null for one that is left out
     */
    private record Arguments(List<@Nullable Tensor> tensors) {
        @Nullable
        Tensor find(int index) {
            return index < tensors.size() ? tensors.get(index) : null;
        }

        Tensor get(int index) {
            Tensor tensor = find(index);
            if (tensor == null) {
                throw new IllegalArgumentException("input " + index + " is missing");
            }
            return tensor;
        }

        Tensor single(int index) {
            Operands.require(get(index).size() == 1, "input " + index + " must be one number but is " + get(index));
            return get(index);
        }

        List<Tensor> all() {
            return IntStream.range(0, tensors.size()).mapToObj(this::get).toList();
        }

        Operands operands() {
            List<@Nullable Fact> facts = new ArrayList<>();
            for (Tensor tensor : tensors) {
                facts.add(tensor == null ? null : Fact.of(tensor));
            }
            return new Operands(facts, "result");
        }
    }

    private static Tensor elementwise(Elementwise operator, Tensor input) {
        if (operator instanceof Elementwise.Cast(DataType to)) {
            return input.cast(to);
        }
        if (sharesMemory(operator)) {
            return input;
        }
        LongUnaryOperator whole = input.type().isFloat() ? null : Scalars.wholeOf(operator);
        if (whole != null) {
            return Tensor.computeLongs(input.type(), input.shape(), i -> whole.applyAsLong(input.getLong(i)));
        }
        DoubleUnaryOperator function = Scalars.of(operator);
        boolean isTruth = operator instanceof Elementwise.Unary(var name)
                && (name == Elementwise.Unary.Function.IS_NAN || name == Elementwise.Unary.Function.IS_INF);
        return Tensor.compute(
                isTruth ? DataType.BOOL : input.type(), input.shape(), i -> function.applyAsDouble(input.getDouble(i)));
    }

    private static Tensor binary(Binary.Function function, Tensor left, Tensor right, long[] shape) {
        LongUnaryOperator leftAt = Indices.broadcast(left.shape(), shape);
        LongUnaryOperator rightAt = Indices.broadcast(right.shape(), shape);
        DataType type = function.isTruth() ? DataType.BOOL : left.type();
        // Only a power may have inputs of two types.
        if (left.type().isFloat() || right.type().isFloat()) {
            return Tensor.compute(
                    type,
                    shape,
                    i -> Scalars.apply(
                            function, left.getDouble(leftAt.applyAsLong(i)), right.getDouble(rightAt.applyAsLong(i))));
        }
        return Tensor.computeLongs(
                type,
                shape,
                i -> Scalars.apply(
                        function, left.getLong(leftAt.applyAsLong(i)), right.getLong(rightAt.applyAsLong(i))));
    }

    private static Tensor variadic(Variadic.Function function, List<Tensor> inputs, long[] shape) {
        List<LongUnaryOperator> at = inputs.stream()
                .map(input -> Indices.broadcast(input.shape(), shape))
                .toList();
        int count = inputs.size();
        DataType type = inputs.getFirst().type();
        if (type.isFloat()) {
            return Tensor.compute(type, shape, i -> {
                double result = inputs.getFirst().getDouble(at.getFirst().applyAsLong(i));
                for (int input = 1; input < count; input++) {
                    double next = inputs.get(input).getDouble(at.get(input).applyAsLong(i));
                    result = switch (function) {
                        case SUM, MEAN -> result + next;
                        case MINIMUM -> Math.min(result, next);
                        case MAXIMUM -> Math.max(result, next);
                    };
                }
                return function == Variadic.Function.MEAN ? result / count : result;
            });
        }
        return Tensor.computeLongs(type, shape, i -> {
            long result = inputs.getFirst().getLong(at.getFirst().applyAsLong(i));
            for (int input = 1; input < count; input++) {
                long next = inputs.get(input).getLong(at.get(input).applyAsLong(i));
                result = switch (function) {
                    case SUM, MEAN -> result + next;
                    case MINIMUM -> Math.min(result, next);
                    case MAXIMUM -> Math.max(result, next);
                };
            }
            return function == Variadic.Function.MEAN ? result / count : result;
        });
    }

    private static Tensor where(Tensor condition, Tensor yes, Tensor no, long[] shape) {
        LongUnaryOperator conditionAt = Indices.broadcast(condition.shape(), shape);
        LongUnaryOperator yesAt = Indices.broadcast(yes.shape(), shape);
        LongUnaryOperator noAt = Indices.broadcast(no.shape(), shape);
        if (yes.type().isFloat()) {
            return Tensor.compute(
                    yes.type(),
                    shape,
                    i -> condition.getLong(conditionAt.applyAsLong(i)) != 0
                            ? yes.getDouble(yesAt.applyAsLong(i))
                            : no.getDouble(noAt.applyAsLong(i)));
        }
        return Tensor.computeLongs(
                yes.type(),
                shape,
                i -> condition.getLong(conditionAt.applyAsLong(i)) != 0
                        ? yes.getLong(yesAt.applyAsLong(i))
                        : no.getLong(noAt.applyAsLong(i)));
    }

    private static Tensor batchNorm(BatchNorm operator, Arguments in) {
        Tensor input = in.get(0);
        long[] shape = input.shape();
        long behind = Indices.product(shape, 2, shape.length);
        return Tensor.compute(input.type(), shape, i -> {
            long channel = i / behind % shape[1];
            double deviation = Math.sqrt(in.get(4).getDouble(channel) + operator.epsilon());
            double normal = (input.getDouble(i) - in.get(3).getDouble(channel)) / deviation;
            return normal * in.get(1).getDouble(channel) + in.get(2).getDouble(channel);
        });
    }

    private static Tensor layerNorm(LayerNorm operator, Arguments in) {
        long[] shape = in.get(0).shape();
        Tensor shift = in.find(2);
        LongUnaryOperator shiftAt = Indices.broadcast(shift == null ? new long[0] : shift.shape(), shape);
        return Reductions.layerNorm(
                operator,
                in.get(0),
                in.get(1),
                Indices.broadcast(in.get(1).shape(), shape),
                i -> shift == null ? 0 : shift.getDouble(shiftAt.applyAsLong(i)));
    }

    private static Tensor globalPool(Pool.Function function, Tensor input, long[] shape) {
        TreeSet<Integer> axes =
                new TreeSet<>(IntStream.range(2, input.rank()).boxed().toList());
        Reduce.Function reduction = switch (function) {
            case MAX -> Reduce.Function.MAX;
            case AVERAGE -> Reduce.Function.MEAN;
        };
        return Reductions.reduce(reduction, input, axes, shape);
    }

    /** From an axis to where its elements come from. */
    @FunctionalInterface
    private interface Source {
        Along along(int axis);
    }

    private static Tensor pick(Tensor input, Source source) {
        return Moves.pick(
                input, IntStream.range(0, input.rank()).mapToObj(source::along).toList(), 0);
    }

    private static Tensor expand(Tensor input, long[] shape) {
        long[] lengths = new long[shape.length];
        for (int axis = 0; axis < shape.length; axis++) {
            int own = axis - (shape.length - input.rank());
            lengths[axis] = own < 0 ? 1 : input.shape()[own];
        }
        return pick(input.reshape(lengths), axis -> repeat(shape[axis], lengths[axis]));
    }

    /** The same elements again and again. */
    private static Along repeat(long length, long period) {
        return length == period ? Along.whole(length) : new Along(length, position -> position % period);
    }

    private static List<Tensor> split(Split operator, Tensor input) {
        int along = Shape.axis(operator.axis(), input.rank());
        List<Tensor> pieces = new ArrayList<>();
        long start = 0;
        for (long size : operator.sizes()) {
            long first = start;
            pieces.add(pick(
                    input,
                    axis -> axis == along
                            ? new Along(size, position -> first + position)
                            : Along.whole(input.shape()[axis])));
            start += size;
        }
        return pieces;
    }

    private static Tensor slice(Arguments in) {
        List<Slice.Piece> pieces = Slice.pieces(in.operands());
        Operands.require(pieces != null, "starts, ends, axes and steps must be whole numbers");
        Map<Integer, Along> cut = new HashMap<>();
        for (Slice.Piece piece : Objects.requireNonNull(pieces)) {
            long start = piece.start().value();
            cut.put(piece.axis(), new Along(piece.length().value(), i -> start + i * piece.step()));
        }
        return pick(
                in.get(0), axis -> cut.getOrDefault(axis, Along.whole(in.get(0).shape()[axis])));
    }

    private static Tensor gather(Gather operator, Tensor input, Tensor indices, long[] shape) {
        int along = Shape.axis(operator.axis(), input.rank());
        long length = input.shape()[along];
        return pick(
                        input,
                        axis -> axis == along
                                ? new Along(indices.size(), i -> inside(indices.getLong(i), length))
                                : Along.whole(input.shape()[axis]))
                .reshape(shape);
    }

    static long inside(long index, long length) {
        if (index < -length || index >= length) {
            throw new IllegalArgumentException(
                    "index %d is out of range: it must be in [%d, %d)".formatted(index, -length, length));
        }
        return index < 0 ? index + length : index;
    }

    private static Tensor gatherElements(GatherElements operator, Tensor input, Tensor indices) {
        int along = Shape.axis(operator.axis(), input.rank());
        long[] lengths = input.shape();
        long[] strides = Indices.strides(lengths);
        for (int axis = 0; axis < lengths.length; axis++) {
            Operands.require(
                    axis == along || indices.shape()[axis] <= lengths[axis],
                    "indices %s reach beyond %s along axis %d".formatted(indices, input, axis));
        }
        long step = strides[along];
        strides[along] = 0;
        LongUnaryOperator start = Indices.strided(indices.shape(), strides);
        LongUnaryOperator at = i -> start.applyAsLong(i) + inside(indices.getLong(i), lengths[along]) * step;
        return input.type().isFloat()
                ? Tensor.compute(input.type(), indices.shape(), i -> input.getDouble(at.applyAsLong(i)))
                : Tensor.computeLongs(input.type(), indices.shape(), i -> input.getLong(at.applyAsLong(i)));
    }

    private static Tensor pad(Pad operator, Tensor input, long[] shape) {
        long[] lengths = input.shape();
        List<Along> axes = IntStream.range(0, shape.length)
                .mapToObj(axis -> new Along(shape[axis], i -> padded(operator, axis, i, lengths[axis])))
                .toList();
        return Moves.pick(input, axes, operator.value());
    }

    /** Where a padded element comes from; −1 if it is filled in. Negative pads crop the axis before the others extend it. */
    private static long padded(Pad operator, int axis, long index, long length) {
        long before = operator.pads().get(axis);
        long after = operator.pads().get(axis + operator.pads().size() / 2);
        long start = before < 0 ? -before : 0;
        long end = after < 0 ? length + after : length;
        long position = start + index - Math.max(before, 0);
        if (position >= start && position < end) {
            return position;
        }
        return switch (operator.mode()) {
            case CONSTANT -> -1;
            case EDGE -> Math.clamp(position, start, end - 1);
            case WRAP -> start + Math.floorMod(position - start, end - start);
            case REFLECT -> {
                // There and back again, the two ends once each.
                long period = Math.max(2 * (end - start - 1), 1);
                long phase = Math.floorMod(position - start, period);
                yield start + Math.min(phase, period - phase);
            }
        };
    }

    private static Tensor range(Tensor start, Tensor step, long[] shape) {
        return start.type().isFloat()
                ? Tensor.compute(start.type(), shape, i -> start.getDouble(0) + i * step.getDouble(0))
                : Tensor.computeLongs(start.type(), shape, i -> start.getLong(0) + i * step.getLong(0));
    }

    private static Tensor trilu(Trilu operator, Tensor input) {
        long[] shape = input.shape();
        long columns = shape[shape.length - 1];
        long rows = shape[shape.length - 2];
        LongUnaryOperator kept = i -> {
            long fromDiagonal = i % columns - i / columns % rows;
            boolean keeps =
                    operator.upper() ? fromDiagonal >= operator.diagonal() : fromDiagonal <= operator.diagonal();
            return keeps ? 1 : 0;
        };
        return input.type().isFloat()
                ? Tensor.compute(input.type(), shape, i -> kept.applyAsLong(i) == 0 ? 0 : input.getDouble(i))
                : Tensor.computeLongs(input.type(), shape, i -> kept.applyAsLong(i) == 0 ? 0 : input.getLong(i));
    }

    /**
     * Computes a whole graph.
     *
     * @param graph the graph
     * @param inputs what is fed in, by name
     * @return what comes out, by name, in order
     * @throws GraphException if an input is missing or does not fit, or a node cannot be computed; the message names it
     */
    public static SequencedMap<String, Tensor> run(Graph graph, Map<String, Tensor> inputs) {
        Map<String, Tensor> present = new HashMap<>();
        graph.initializers().forEach((name, initializer) -> present.put(name, initializer.tensor()));
        present.putAll(fed(graph, inputs));
        Map<String, Integer> left = new HashMap<>();
        for (Node node : graph.nodes()) {
            List<Tensor> results = compute(node, present);
            for (int i = 0; i < results.size(); i++) {
                String output = node.outputs().get(i);
                if (graph.isOutput(output) || !graph.uses(output).isEmpty()) {
                    present.put(output, results.get(i));
                }
            }
            // Tensors go with their last use: a model's intermediate results together may not fit into memory.
            for (String input : node.inputs()) {
                int uses = left.merge(input, 1, Integer::sum);
                if (uses == graph.uses(input).size() && !graph.isOutput(input)) {
                    present.remove(input);
                }
            }
        }
        SequencedMap<String, Tensor> outputs = new LinkedHashMap<>();
        for (String output : graph.outputs()) {
            outputs.put(output, Objects.requireNonNull(present.get(output)));
        }
        return outputs;
    }

    private static List<Tensor> compute(Node node, Map<String, Tensor> present) {
        List<@Nullable Tensor> arguments = new ArrayList<>();
        node.inputs().forEach(input -> arguments.add(present.get(input)));
        List<Tensor> results;
        try {
            results = evaluate(node.operator(), arguments);
        } catch (IllegalArgumentException problem) {
            throw new GraphException(node, problem);
        }
        if (results == null) {
            throw new GraphException("node " + node + ": its outputs would be larger than " + MOST_BYTES + " bytes");
        }
        return results;
    }

    private static Map<String, Tensor> fed(Graph graph, Map<String, Tensor> inputs) {
        Map<Dimension, Long> symbols = new HashMap<>();
        Map<String, Tensor> fed = new HashMap<>();
        for (Graph.Input input : graph.inputs()) {
            Tensor tensor = inputs.get(input.name());
            if (tensor == null) {
                throw new GraphException("input " + input.name() + " of type " + input.type() + " is missing");
            }
            if (!fits(tensor, input.type(), symbols)) {
                throw new GraphException("input " + input.name() + " must be " + input.type() + " but is " + tensor
                        + (symbols.isEmpty() ? "" : ", where " + symbols));
            }
            fed.put(input.name(), tensor);
        }
        return fed;
    }

    private static boolean fits(Tensor tensor, TensorType type, Map<Dimension, Long> symbols) {
        Shape shape = type.shape();
        return tensor.type() == type.data()
                && tensor.rank() == shape.rank()
                && LongStream.range(0, shape.rank()).allMatch(axis -> {
                    long length = tensor.shape()[(int) axis];
                    Dimension expected = shape.get(axis);
                    return expected.isKnown()
                            ? expected.is(length)
                            : Objects.requireNonNullElse(symbols.putIfAbsent(expected, length), length) == length;
                });
    }
}
