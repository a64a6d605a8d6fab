package dev.espalier.graph.prune;

import dev.espalier.graph.Node;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.CumSum;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.prune.Rule.Carried;
import dev.espalier.graph.prune.Rule.Mapping;
import dev.espalier.graph.prune.Rule.Sum;
import dev.espalier.graph.prune.Rule.Written;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Operators that work along some axes: where channels are along others, each is treated alone. */
final class AxisRules {
    private AxisRules() {}

    static Rule pool(Site site, Pool pool) {
        // A mean over padding mixes zeros in, unless it does not count them.
        boolean mixesZeros = pool.function() == Pool.Function.AVERAGE
                && pool.countPadding()
                && pool.windows().pads().stream().anyMatch(pad -> pad != 0);
        return pooled(site, mixesZeros ? Carried.ONLY_ZERO : Carried.UNCHANGED);
    }

    static Rule globalPool(Site site) {
        return pooled(site, Carried.UNCHANGED);
    }

    /** Windows slide over all axes behind the second one, along which a layer normalisation may have made channels. */
    private static Rule pooled(Site site, Carried carried) {
        boolean mixesChannels = site.channels(0).axes().stream().anyMatch(axis -> axis >= 2);
        return mixesChannels ? site.opaque() : site.sameAxes(carried);
    }

    static Rule softmax(Site site, Softmax softmax) {
        return mixing(site, softmax.axis(), Carried.NOTHING);
    }

    static Rule cumSum(Site site, CumSum sum) {
        return mixing(site, sum.axis(), Carried.ONLY_ZERO);
    }

    /** Mixes along an axis, which must not be one of the channels. */
    private static Rule mixing(Site site, long axis, Carried carried) {
        boolean mixesChannels = site.channels(0).axes().contains(site.shape(0).axis(axis));
        return mixesChannels ? site.opaque() : site.sameAxes(carried);
    }

    static Rule reduce(Site site, Reduce reduce) {
        Channels input = site.channels(0);
        Set<Integer> reduced = Set.copyOf(reduce.resolvedAxes(site.shape(0).rank()));
        if (input.none() || input.axes().stream().anyMatch(reduced::contains)) {
            return isSum(reduce.function()) && input.axes().size() == 1
                    ? new Sum(List.of(input), List.of(Channels.NONE), reduce)
                    : site.opaque();
        }
        List<Integer> axes = input.axes().stream()
                .map(axis -> reduce.keep() ? axis : axis - before(reduced, axis))
                .toList();
        return site.mapping(
                input, new Channels(axes, input.lengths()), input.all(), reduced(reduce.function()), Written.AS_IT_IS);
    }

    private static int before(Set<Integer> axes, int axis) {
        return (int) axes.stream().filter(other -> other < axis).count();
    }

    private static boolean isSum(Reduce.Function function) {
        return switch (function) {
            case MEAN, SUM, L1, L2, SUM_OF_SQUARES -> true;
            case MAX, MIN, PRODUCT, LOG_SUM_EXP -> false;
        };
    }

    private static Carried reduced(Reduce.Function function) {
        return switch (function) {
            case MEAN, MAX, MIN -> Carried.UNCHANGED;
            case SUM, L1, L2, SUM_OF_SQUARES -> Carried.ONLY_ZERO;
            case PRODUCT, LOG_SUM_EXP -> Carried.NOTHING;
        };
    }

    static Rule batchNorm(Site site, BatchNorm norm) {
        Channels input = site.channels(0);
        if (!input.axes().equals(List.of(1))) {
            return site.opaque();
        }
        List<Channels> inputs = new ArrayList<>(List.of(input));
        int[][][] maps = new int[5][1][];
        maps[0][0] = input.all();
        for (int i = 1; i < 5; i++) {
            inputs.add(Channels.along(site.shape(i), 0));
            maps[i][0] = input.all();
        }
        Carried carried = (output, channel, operands) ->
                (operands[0] - operands[3]) / Math.sqrt(operands[4] + norm.epsilon()) * operands[1] + operands[2];
        return new Mapping(inputs, List.of(input), maps, carried, Written.AS_IT_IS);
    }

    /**
     * A weight that is the same for all, as the first token of a vision transformer is, has its channels along its last axis; a
     * mask, which is no weight, has none.
     */
    static Rule expand(Site site) {
        Shape output = site.outputShape();
        Shape shape = site.shape(0);
        Channels input = site.isParameter(0) && shape.rank() > 0 ? Channels.along(shape, -1) : site.channels(0);
        List<Integer> axes = input.axes().stream()
                .map(axis -> axis + output.rank() - shape.rank())
                .toList();
        Channels result = Channels.along(output, axes);
        boolean stretched = !result.lengths().equals(input.lengths());
        boolean inPlace = site.shape(1).get(0).is(output.rank());
        return input.none() || stretched || !inPlace || !site.tellsLengths(1, result)
                ? site.opaque()
                : site.mapping(input, result, input.all(), Carried.UNCHANGED, AxisRules::writeExpand);
    }

    private static void writeExpand(Rewriter rewriter, Node node, Mapping rule) {
        Kept left = rewriter.kept(node.output());
        String shape = rewriter.lessened(node, left, rewriter.input(node, rule, 1));
        rewriter.add(
                new Node(node.name(), node.operator(), List.of(rewriter.input(node, rule, 0), shape), node.outputs()));
    }

    /** Its statistics need every channel, but who reads it may take a part. */
    static Rule layerNorm(Site site, LayerNorm norm) {
        Shape shape = site.shape(0);
        boolean last = shape.axis(norm.axis()) == shape.rank() - 1;
        return site.opaque(List.of(last ? Channels.along(shape, -1) : Channels.NONE));
    }
}
