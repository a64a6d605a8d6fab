package dev.espalier.graph.prune;

import dev.espalier.graph.Node;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.prune.Rule.Carried;
import dev.espalier.graph.prune.Rule.Mapping;
import dev.espalier.graph.prune.Rule.Written;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Operators that keep all elements and count them otherwise. */
final class ReshapeRules {
    private ReshapeRules() {}

    static Rule transpose(Site site, Transpose transpose) {
        Channels input = site.channels(0);
        if (input.none()) {
            return site.opaque();
        }
        List<Integer> axes = input.axes().stream()
                .map(axis -> transpose.permutation().indexOf((long) axis))
                .toList();
        return site.mapping(
                input, new Channels(axes, input.lengths()), input.all(), Carried.UNCHANGED, Written.AS_IT_IS);
    }

    /** A shape of its own, which says how many channels there are. */
    static Rule reshape(Site site) {
        Rule rule = regrouped(site, site.shape(0), ReshapeRules::writeReshape);
        boolean expressible = Reshape.target(site.shape(0), site.outputShape()) != null
                || site.tellsLengths(1, rule.outputs().getFirst());
        return expressible ? rule : site.opaque();
    }

    static Rule flatten(Site site) {
        return regrouped(site, site.shape(0), Written.AS_IT_IS);
    }

    static Rule unsqueeze(Site site) {
        return regrouped(site, site.shape(0), Written.AS_IT_IS);
    }

    /** What is dropped has a length of one, whether that can be told beforehand or not. */
    static Rule squeeze(Site site, Squeeze squeeze) {
        Shape from = site.shape(0);
        for (long axis : squeeze.axes()) {
            from = from.with(axis, Dimension.ONE);
        }
        return regrouped(site, from, Written.AS_IT_IS);
    }

    /**
     * Axes are cut apart or joined. Where one axis of channels is cut into several, all of those are axes of channels;
     * where several are joined, so is the one that comes out of it.
     */
    private static Rule regrouped(Site site, Shape from, Written written) {
        Channels input = site.channels(0);
        Shape to = site.outputShape();
        List<Regrouping> regroupings = Regrouping.between(from, to);
        if (input.none() || regroupings == null) {
            return site.opaque();
        }
        List<Integer> axes = axes(input, to, regroupings);
        Channels output = axes == null ? Channels.NONE : Channels.along(to, axes);
        int[] map = output.none() ? null : Regrouping.map(from, to, input, output, regroupings);
        return map == null || (!isSorted(input) && !canBeSorted(input, output, map))
                ? site.opaque()
                : site.mapping(input, output, map, Carried.UNCHANGED, written);
    }

    /** The axes of channels that come out; null if they are both cut and joined. */
    private static @Nullable List<Integer> axes(Channels input, Shape to, List<Regrouping> regroupings) {
        List<Integer> axes = new ArrayList<>();
        List<Integer> seen = new ArrayList<>();
        for (int axis : input.axes()) {
            Regrouping part = regroupings.stream()
                    .filter(candidate -> candidate.holdsInput(axis))
                    .findFirst()
                    .orElse(null);
            if (part == null || (part.joins() && part.cuts())) {
                return null;
            }
            for (int outputAxis = part.outputStart(); outputAxis < part.outputEnd(); outputAxis++) {
                if (!seen.contains(outputAxis)) {
                    seen.add(outputAxis);
                    if (!part.cuts() || !to.get(outputAxis).is(1)) {
                        axes.add(outputAxis);
                    }
                }
            }
        }
        return axes;
    }

    private static boolean isSorted(Channels channels) {
        return channels.axes().stream().sorted().toList().equals(channels.axes());
    }

    /**
     * Axes that are joined in another order than they count leave their channels in disorder, which a permutation along
     * one axis can mend.
     */
    private static boolean canBeSorted(Channels input, Channels output, int[] map) {
        boolean joined = output.axes().size() < input.axes().size();
        return !joined || (output.axes().size() == 1 && map.length == input.count());
    }

    private static void writeReshape(Rewriter rewriter, Node node, Mapping rule) {
        Kept left = rewriter.kept(node.output());
        List<Long> target = Reshape.target(rewriter.shape(node.input(0)), rewriter.shape(node.output()));
        Operator operator = target == null ? node.operator() : Reshape.DEFAULT;
        String shape = target == null
                ? rewriter.lessened(node, left, rewriter.input(node, rule, 1))
                : told(rewriter, node, left, target);
        List<String> inputs = List.of(rewriter.input(node, rule, 0), shape);
        int[] wanted = left.inOrderOfAxes();
        int[] moved =
                rule.maps()[0][0].length == rule.inputs().getFirst().count() ? moved(rewriter, node, rule) : wanted;
        if (Arrays.equals(moved, wanted)) {
            rewriter.add(new Node(node.name(), operator, inputs, node.outputs()));
            return;
        }
        // Joined axes mix heads of which different places are left: they are put back in order.
        String mixed = rewriter.fresh(node.output() + ".mixed");
        rewriter.add(new Node(node.name(), operator, inputs, List.of(mixed)));
        List<Integer> order = Arrays.stream(moved).boxed().toList();
        String indices = rewriter.constant(
                node.name() + ".order",
                Tensor.of(Arrays.stream(wanted).mapToLong(order::indexOf).toArray()));
        rewriter.add(new Node(
                rewriter.fresh(node.name() + ".sorted"),
                new Gather(left.channels().axes().getFirst()),
                List.of(mixed, indices),
                node.outputs()));
    }

    /** A shape in numbers. */
    private static String told(Rewriter rewriter, Node node, Kept left, List<Long> target) {
        List<Long> smaller = new ArrayList<>(target);
        for (int i = 0; i < left.lengths().size(); i++) {
            smaller.set(left.channels().axes().get(i), (long) left.lengths().get(i));
        }
        return rewriter.constant(
                node.name() + ".shape",
                Tensor.of(smaller.stream().mapToLong(Long::longValue).toArray(), smaller.size()));
    }

    /** The channels of a reshape's output in the order in which those that are left of its input lie in memory. */
    private static int[] moved(Rewriter rewriter, Node node, Mapping rule) {
        int[] map = rule.maps()[0][0];
        Map<Integer, Integer> outputs = new HashMap<>();
        for (int channel = 0; channel < map.length; channel++) {
            outputs.put(map[channel], channel);
        }
        BitSet need = rewriter.needed(node, 0);
        Kept input = need == null
                ? Kept.all(rule.inputs().getFirst())
                : Kept.of(rule.inputs().getFirst(), need);
        return Arrays.stream(input.inOrderOfAxes()).map(outputs::get).toArray();
    }
}
