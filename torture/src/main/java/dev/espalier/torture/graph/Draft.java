package dev.espalier.torture.graph;

import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/** A model that grows by chance: what builds it, where chance comes from, and what both are mostly asked for. */
final class Draft {
    /** So many numbers may a tensor have for one sample, lest the naive evaluator takes all the time. */
    static final long MOST_NUMBERS = 600;

    /** What free lengths count as when sizes are limited. */
    private static final long TYPICAL_LENGTH = 4;

    final GraphBuilder graph = new GraphBuilder("random");
    final List<RandomGraph.Hidden> hidden = new ArrayList<>();
    private final RandomGenerator random;
    private int count;

    Draft(RandomGenerator random) {
        this.random = random;
    }

    /**
     * A tensor of fractions with a batch in front.
     *
     * @param value the tensor
     * @param last whether its channels are along the last axis and not behind the batch
     */
    record Flow(Value value, boolean last) {
        int rank() {
            return value.shape().rank();
        }

        /** The axis of the channels. */
        int axis() {
            return last ? rank() - 1 : 1;
        }

        int channels() {
            return length(axis());
        }

        boolean isKnown(int axis) {
            return value.shape().get(axis).isKnown();
        }

        int length(int axis) {
            return (int) value.shape().get(axis).value();
        }

        /** Axes between which windows slide, all of them behind the channels. */
        boolean isPicture() {
            return !last && rank() >= 3;
        }

        Flow with(Value other) {
            return new Flow(other, last);
        }

        /** Axes other than the batch that have a number for a length. */
        List<Integer> knownAxes() {
            return IntStream.range(1, rank()).filter(this::isKnown).boxed().toList();
        }
    }

    /** A number from 0 up to what is excluded. */
    int below(int bound) {
        return random.nextInt(bound);
    }

    int between(int least, int most) {
        return random.nextInt(least, most + 1);
    }

    boolean once(int in) {
        return random.nextInt(in) == 0;
    }

    boolean flip() {
        return random.nextBoolean();
    }

    double uniform() {
        return random.nextDouble();
    }

    <T> T pick(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }

    @SafeVarargs
    final <T> T pick(T... choices) {
        return choices[random.nextInt(choices.length)];
    }

    /** {@return all numbers below a bound, in any order} */
    List<Integer> order(int bound) {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < bound; i++) {
            order.add(random.nextInt(order.size() + 1), i);
        }
        return order;
    }

    double normal() {
        return (random.nextDouble() + random.nextDouble() + random.nextDouble() - 1.5) * 2;
    }

    String name(String what) {
        return what + count++;
    }

    Value add(String what, Operator operator, Value... inputs) {
        return graph.add(name(what), operator, inputs);
    }

    List<Value> addAll(String what, Operator operator, int outputs, Value... inputs) {
        String name = name(what);
        return graph.addAll(new Node(
                name,
                operator,
                List.of(inputs).stream().map(Value::name).toList(),
                IntStream.range(0, outputs).mapToObj(i -> name + "." + i).toList()));
    }

    Value unary(Unary.Function function, Value x) {
        return add("unary", new Unary(function), x);
    }

    Value binary(Binary.Function function, Value x, Value y) {
        return add("binary", new Binary(function), x, y);
    }

    Value plus(Value x, Value y) {
        return binary(Binary.Function.ADD, x, y);
    }

    Value times(Value x, Value y) {
        return binary(Binary.Function.MULTIPLY, x, y);
    }

    Value cast(Value x, DataType type) {
        return add("cast", new Cast(type), x);
    }

    Value number(double value) {
        return graph.constant(name("number"), Tensor.scalar(DataType.FLOAT32, value));
    }

    Value longs(long... values) {
        return graph.constant(name("longs"), Tensor.of(values));
    }

    Value whole(long value) {
        return graph.constant(name("whole"), Tensor.scalar(DataType.INT64, (double) value));
    }

    /** Numbers between a half and what is a bit larger, to divide by or to take roots of. */
    Value positive(Value x) {
        return plus(unary(Unary.Function.ABS, x), number(0.5));
    }

    /** Not larger than one. */
    Value tamed(Value x) {
        return unary(Unary.Function.TANH, x);
    }

    /** What a tensor says beside another one, of whatever type it is. */
    Flow blend(Flow x, Value other) {
        Value fractions = graph.data(other) == DataType.FLOAT32 ? other : cast(other, DataType.FLOAT32);
        return x.with(plus(x.value(), times(fractions, number(0.25))));
    }

    Tensor tensor(double scale, long... shape) {
        return Tensor.compute(DataType.FLOAT32, shape, i -> scale * normal());
    }

    Value parameter(String what, Tensor contents) {
        return graph.parameter(name(what), contents);
    }

    /** A parameter that stretches along one axis of a tensor. */
    Value along(Flow x, int axis, Tensor contents) {
        long[] shape = new long[x.rank() - axis];
        java.util.Arrays.fill(shape, 1);
        shape[0] = x.length(axis);
        return parameter("along", contents.reshape(shape));
    }

    /** A tensor that can be broadcast to another one, without making it larger. */
    Value mate(Flow x) {
        return switch (below(4)) {
            case 0 -> number(normal());
            case 1 -> {
                int axis = pick(x.knownAxes());
                yield along(x, axis, tensor(1, x.length(axis)));
            }
            case 2 -> tamed(x.value());
            default -> unary(Unary.Function.SOFTSIGN, times(x.value(), number(normal())));
        };
    }

    long numbers(Flow x) {
        long size = 1;
        for (int axis = 1; axis < x.rank(); axis++) {
            Dimension length = x.value().shape().get(axis);
            size *= length.isKnown() ? length.value() : TYPICAL_LENGTH;
        }
        return size;
    }

    /** Whether a tensor may become so many times as large. */
    boolean mayGrow(Flow x, double factor) {
        return numbers(x) * factor <= MOST_NUMBERS;
    }

    /**
     * Weights of a layer, some of whose groups along both axes are zero: inputs that it does not read, outputs that it does not
     * make.
     */
    Tensor weights(int inAxis, int outAxis, long... shape) {
        boolean[] in = zeros((int) shape[inAxis]);
        boolean[] out = zeros((int) shape[outAxis]);
        long fan = Tensor.size(shape) / shape[outAxis];
        double scale = 1.2 / Math.sqrt((double) Math.max(1, fan));
        long inStride = stride(shape, inAxis);
        long outStride = stride(shape, outAxis);
        return Tensor.compute(DataType.FLOAT32, shape, i -> {
            double value = scale * normal();
            boolean gone = in[(int) (i / inStride % shape[inAxis])] || out[(int) (i / outStride % shape[outAxis])];
            return gone ? 0 : value;
        });
    }

    static long stride(long[] shape, int axis) {
        long stride = 1;
        for (int i = axis + 1; i < shape.length; i++) {
            stride *= shape[i];
        }
        return stride;
    }

    /** Which of some groups are zero: mostly none or a few, rarely all. */
    private boolean[] zeros(int groups) {
        double share = once(60) ? 1 : flip() ? 0 : uniform() * 0.6;
        boolean[] zeros = new boolean[groups];
        for (int i = 0; i < groups; i++) {
            zeros[i] = uniform() < share;
        }
        return zeros;
    }

    /** A number for each channel: scales, biases; some of them zero, or all. */
    Tensor channelwise(double mean, int channels) {
        boolean[] zero = zeros(channels);
        return Tensor.compute(DataType.FLOAT32, new long[] {channels}, i -> zero[(int) i] ? 0 : mean + 0.5 * normal());
    }
}
