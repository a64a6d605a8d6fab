package dev.espalier.torture.graph;

import dev.espalier.graph.Value;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torture.graph.Draft.Flow;
import dev.espalier.torture.graph.RandomGraph.Hidden;
import dev.espalier.torture.graph.RandomGraph.Place;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** What models are made of: layers, and the ways in which channels meet between them. */
final class Blocks {
    private final Draft draft;

    Blocks(Draft draft) {
        this.draft = draft;
    }

    Flow any(Flow x) {
        return switch (draft.below(9)) {
            case 0 -> activation(layer(x, width()));
            case 1 -> hidden(x, width());
            case 2 -> x.with(draft.plus(x.value(), hidden(x, x.channels()).value()));
            case 3 -> branches(x);
            case 4 -> splitted(x);
            case 5 -> excited(x);
            case 6 -> shortcut(x);
            case 7 -> grouped(x);
            default -> x.rank() == 3 && x.last() ? attention(x) : shuffled(x);
        };
    }

    int width() {
        return draft.once(8) ? 1 : draft.between(2, 8);
    }

    /** A layer of weights that keeps all other lengths. */
    Flow layer(Flow x, int out) {
        return layer(x, out, new ArrayList<>(), new ArrayList<>());
    }

    /** The same; tells where it has its inputs and its outputs. */
    private Flow layer(Flow x, int out, List<Place> inputs, List<Place> outputs) {
        int in = x.channels();
        boolean biased = draft.flip();
        if (x.last()) {
            boolean linear = x.rank() == 2 && draft.flip();
            Value weight = linear
                    ? draft.parameter("weight", draft.weights(1, 0, out, in))
                    : draft.parameter("weight", draft.weights(0, 1, in, out));
            inputs.add(new Place(weight.name(), linear ? 1 : 0));
            outputs.add(new Place(weight.name(), linear ? 0 : 1));
            if (linear) {
                return x.with(
                        biased
                                ? draft.add("linear", Gemm.LINEAR, x.value(), weight, bias(out, outputs))
                                : draft.add("linear", Gemm.LINEAR, x.value(), weight));
            }
            Value product = draft.add("dense", new MatMul(), x.value(), weight);
            return x.with(biased ? draft.plus(product, bias(out, outputs)) : product);
        }
        int axes = x.rank() - 2;
        if (axes == 0) {
            Value weight = draft.parameter("weight", draft.weights(1, 0, out, in));
            inputs.add(new Place(weight.name(), 1));
            outputs.add(new Place(weight.name(), 0));
            return x.with(draft.add("linear", Gemm.LINEAR, x.value(), weight, bias(out, outputs)));
        }
        int kernel = draft.flip() ? 1 : 3;
        Conv conv = new Conv(windows(axes, kernel / 2), 1);
        Value weight = draft.parameter("weight", draft.weights(1, 0, shape(axes, kernel, out, in)));
        inputs.add(new Place(weight.name(), 1));
        outputs.add(new Place(weight.name(), 0));
        return x.with(
                biased
                        ? draft.add("conv", conv, x.value(), weight, bias(out, outputs))
                        : draft.add("conv", conv, x.value(), weight));
    }

    private Value bias(int size, List<Place> places) {
        Value bias = draft.parameter("bias", draft.channelwise(0, size));
        places.add(new Place(bias.name(), 0));
        return bias;
    }

    static Windows windows(int axes, long pad) {
        return new Windows(
                Collections.nCopies(axes, 1L), Collections.nCopies(2 * axes, pad), Collections.nCopies(axes, 1L));
    }

    static long[] shape(int axes, long kernel, long... front) {
        return LongStream.concat(
                        LongStream.of(front), LongStream.generate(() -> kernel).limit(axes))
                .toArray();
    }

    Flow activation(Flow x) {
        Operator function = switch (draft.below(5)) {
            case 0 -> new Unary(Unary.Function.TANH);
            case 1 -> new Elementwise.LeakyRelu(0.1);
            case 2 -> new Elementwise.Gelu(draft.flip());
            default -> new Unary(Unary.Function.RELU);
        };
        return x.with(draft.add("activation", function, x.value()));
    }

    /** Two layers, of which nobody else sees what is between them. */
    private Flow hidden(Flow x, int out) {
        List<Place> places = new ArrayList<>();
        Flow units = layer(x, width(), new ArrayList<>(), places);
        String weight = places.getFirst().tensor();
        if (!x.last() && draft.flip()) {
            units = norm(units, places);
        }
        units = activation(units);
        if (units.isPicture() && draft.once(3)) {
            units = depthwise(units, places);
        }
        Flow result = layer(units, out, places, new ArrayList<>());
        draft.hidden.add(new Hidden(weight, units.axis(), places));
        return result;
    }

    Flow norm(Flow x, List<Place> places) {
        int channels = x.channels();
        Value scale = draft.parameter("scale", draft.channelwise(1, channels));
        Value shift = draft.parameter("shift", draft.channelwise(0, channels));
        Value mean = draft.graph.buffer(draft.name("mean"), draft.channelwise(0, channels));
        Value variance = draft.graph.buffer(
                draft.name("variance"),
                Tensor.compute(DataType.FLOAT32, new long[] {channels}, i -> 0.5 + draft.uniform()));
        List.of(scale, shift, mean, variance).forEach(value -> places.add(new Place(value.name(), 0)));
        return x.with(draft.add("norm", new BatchNorm(1e-5, 0.9), x.value(), scale, shift, mean, variance));
    }

    private Flow depthwise(Flow x, List<Place> places) {
        int axes = x.rank() - 2;
        Value weight = draft.parameter("filters", draft.weights(1, 0, shape(axes, 3, x.channels(), 1)));
        places.add(new Place(weight.name(), 0));
        return x.with(draft.add(
                "depthwise", new Conv(windows(axes, 1), x.channels()), x.value(), weight, bias(x.channels(), places)));
    }

    private Flow branches(Flow x) {
        Flow left = activation(layer(x, draft.between(1, 4)));
        Flow right = activation(layer(x, draft.between(1, 4)));
        return x.with(draft.add("concat", new Concat(x.axis()), left.value(), right.value()));
    }

    private Flow splitted(Flow x) {
        int channels = x.channels();
        if (channels < 2) {
            return layer(x, width());
        }
        long first = draft.between(1, channels - 1);
        List<Value> parts = draft.addAll("split", new Split(x.axis(), List.of(first, channels - first)), 2, x.value());
        Flow second = activation(x.with(parts.get(1)));
        return x.with(draft.add("concat", new Concat(x.axis()), second.value(), parts.get(0)));
    }

    /** Every channel is scaled by what all channels say. */
    private Flow excited(Flow x) {
        List<Long> inner = IntStream.range(1, x.rank())
                .filter(axis -> axis != x.axis())
                .mapToObj(Long::valueOf)
                .toList();
        Value mean = inner.isEmpty()
                ? x.value()
                : draft.add("mean", new Reduce(Reduce.Function.MEAN, inner, true), x.value());
        Flow scale = layer(activation(layer(x.with(mean), width())), x.channels());
        return x.with(draft.times(x.value(), draft.unary(Unary.Function.SIGMOID, scale.value())));
    }

    /** A shortcut into more channels: those that it lacks are zeros. */
    private Flow shortcut(Flow x) {
        long before = draft.below(3);
        long after = 1L + draft.below(2);
        Long[] pads = new Long[2 * x.rank()];
        java.util.Arrays.fill(pads, 0L);
        pads[x.axis()] = before;
        pads[x.rank() + x.axis()] = after;
        Value padded = draft.add("pad", new Pad(Pad.Mode.CONSTANT, List.of(pads), 0), x.value());
        Flow other = layer(x, (int) (before + x.channels() + after));
        return x.with(draft.plus(padded, other.value()));
    }

    private Flow grouped(Flow x) {
        if (!x.isPicture()) {
            return layer(x, width());
        }
        int channels = x.channels();
        List<Integer> divisors = IntStream.rangeClosed(1, channels)
                .filter(groups -> channels % groups == 0)
                .boxed()
                .toList();
        int groups = draft.pick(divisors);
        int out = groups * draft.between(1, 3);
        int axes = x.rank() - 2;
        Value weight = draft.parameter("weight", draft.weights(1, 0, shape(axes, 3, out, channels / groups)));
        Conv conv = new Conv(windows(axes, 1), groups);
        return x.with(
                draft.flip()
                        ? draft.add("grouped", conv, x.value(), weight, bias(out, new ArrayList<>()))
                        : draft.add("grouped", conv, x.value(), weight));
    }

    /** The channels of two halves by turns. */
    private Flow shuffled(Flow x) {
        int channels = x.channels();
        if (channels % 2 == 1 || x.last() || x.rank() != 4 || x.knownAxes().size() < 3) {
            return activation(x);
        }
        long height = x.length(2);
        long width = x.length(3);
        Value apart = draft.longs(0, 2, channels / 2, height, width);
        Value halves = draft.add("halves", Reshape.DEFAULT, x.value(), apart);
        Value turned = draft.add("turn", new Transpose(List.of(0L, 2L, 1L, 3L, 4L)), halves);
        return x.with(draft.add("shuffle", Reshape.DEFAULT, turned, draft.longs(0, channels, height, width)));
    }

    private Flow attention(Flow x) {
        int heads = draft.between(1, 3);
        int size = draft.between(1, 4);
        Value query = heads(x, heads, size, List.of(0L, 2L, 1L, 3L));
        Value key = heads(x, heads, size, List.of(0L, 2L, 3L, 1L));
        Value value = heads(x, heads, size, List.of(0L, 2L, 1L, 3L));
        Value scores = draft.add("scores", new MatMul(), query, key);
        Value weights = draft.add("weights", new Softmax(-1, false), draft.times(scores, draft.number(0.5)));
        Value context = draft.add("context", new MatMul(), weights, value);
        Value back = draft.add("back", new Transpose(List.of(0L, 2L, 1L, 3L)), context);
        Value merged = draft.add("merge", Reshape.DEFAULT, back, draft.longs(0, 0, (long) heads * size));
        Value sum = draft.plus(x.value(), layer(x.with(merged), x.channels()).value());
        int channels = x.channels();
        return x.with(
                draft.flip()
                        ? sum
                        : draft.add(
                                "norm",
                                new LayerNorm(-1, 1e-3),
                                sum,
                                draft.parameter("scale", draft.channelwise(1, channels)),
                                draft.parameter("shift", draft.channelwise(0, channels))));
    }

    private Value heads(Flow x, int heads, int size, List<Long> order) {
        Value product = layer(x, heads * size).value();
        Value apart = draft.add("heads", Reshape.DEFAULT, product, draft.longs(0, 0, heads, size));
        return draft.add("order", new Transpose(order), apart);
    }
}
