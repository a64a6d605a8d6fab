package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.ArgReduce;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.ConstantOfShape;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.CumSum;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.GatherElements;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Range;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Size;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Tile;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Trilu;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.op.Variadic;
import dev.espalier.graph.op.Where;
import dev.espalier.graph.prune.Rule.Contraction;
import dev.espalier.graph.prune.Rule.Mapping;
import dev.espalier.graph.prune.Rule.Opaque;
import dev.espalier.graph.prune.Rule.Product;
import dev.espalier.graph.prune.Rule.ShapeOnly;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * From front to back: which tensors have channels, along which axes, and how every node passes them on. Channels begin at
 * the output of a convolution, a linear layer, an embedding or a normalisation.
 */
final class Flow {
    private final Graph graph;
    private final Map<String, Channels> channels = new HashMap<>();
    private final Map<Node, Rule> rules = new HashMap<>();

    Flow(Graph graph) {
        this.graph = graph;
        for (Node node : graph.nodes()) {
            Rule rule = rule(node);
            for (int i = 0; i < node.outputs().size(); i++) {
                channels.put(node.outputs().get(i), rule.outputs().get(i));
            }
            rules.put(node, rule);
        }
    }

    /** The channels of a tensor; none for inputs of the graph, which stay as they are. */
    Channels channels(String tensor) {
        return channels.getOrDefault(tensor, Channels.NONE);
    }

    Rule ruleOf(Node node) {
        Rule rule = rules.get(node);
        if (rule == null) {
            throw new IllegalStateException("no rule for " + node);
        }
        return rule;
    }

    private Rule rule(Node node) {
        Rule rule = switch (node.operator()) {
            case Elementwise e -> alignedElements(node);
            case Binary b -> alignedElements(node);
            case Variadic v -> alignedElements(node);
            case Where w -> alignedElements(node);
            case BatchNorm b -> batchNorm(node);
            case Pool p -> sameAxes(node);
            case GlobalPool p -> sameAxes(node);
            case Softmax softmax -> along(node, List.of(softmax.axis()));
            case CumSum sum -> along(node, List.of(sum.axis()));
            case Reduce reduce -> reduce(node, reduce);
            case Transpose transpose -> transpose(node, transpose);
            case Reshape r -> reshape(node);
            case Flatten f -> reshape(node);
            case Squeeze s -> reshape(node);
            case Unsqueeze u -> reshape(node);
            case Concat concat -> concat(node, concat);
            case Split split -> split(node, split);
            case Slice s -> slice(node);
            case Gather gather -> gather(node, gather);
            case Pad pad -> pad(node, pad);
            case Conv conv -> conv(node, conv);
            case Gemm gemm -> gemm(node, gemm);
            case MatMul m -> matMul(node);
            case LayerNorm norm -> opaque(node, List.of(layerNorm(node, norm)));
            case ShapeOf s -> shapeOnly(node);
            case Size s -> opaque(node);
            case ArgReduce a -> opaque(node);
            case GatherElements g -> opaque(node);
            case Expand e -> opaque(node);
            case Tile t -> opaque(node);
            case ConstantOfShape c -> opaque(node);
            case Range r -> opaque(node);
            case Trilu t -> opaque(node);
        };
        return onlyFollowable(node, rule);
    }

    /**
     * A tensor with channels along several axes has no cut that suits two readers at once, and one whose whole shape is
     * computed with must keep it: these stay whole.
     */
    private Rule onlyFollowable(Node node, Rule rule) {
        for (int i = 0; i < node.outputs().size(); i++) {
            String output = node.outputs().get(i);
            boolean several =
                    rule.outputs().get(i).axes().size() > 1 && (graph.isOutput(output) || readers(output) != 1);
            if (several || shapeIsComputedWith(output, rule.outputs().get(i))) {
                return opaque(node);
            }
        }
        return rule;
    }

    private long readers(String tensor) {
        return graph.uses(tensor).stream()
                .filter(use -> !(use.node().operator() instanceof ShapeOf))
                .count();
    }

    private boolean shapeIsComputedWith(String tensor, Channels along) {
        return graph.uses(tensor).stream()
                .map(Use::node)
                .filter(node -> node.operator() instanceof ShapeOf)
                .flatMap(shape -> graph.uses(shape.output()).stream())
                .anyMatch(use -> !picksOtherLengths(use.node(), along));
    }

    /** Whether what a node takes from a shape has only symbolic lengths: those that are numbers were folded before. */
    private boolean picksOtherLengths(Node node, Channels along) {
        if (along.none()) {
            return true;
        }
        List<Dimension> picked = node.operator() instanceof Gather || node.operator() instanceof Slice
                ? graph.fact(node.output()).elements()
                : null;
        return picked != null && picked.stream().noneMatch(Dimension::isKnown);
    }

    private static Rule opaque(Node node) {
        return opaque(node, Collections.nCopies(node.outputs().size(), Channels.NONE));
    }

    private static Rule opaque(Node node, List<Channels> outputs) {
        return new Opaque(wholeInputs(node), outputs);
    }

    private static List<Channels> wholeInputs(Node node) {
        return Collections.nCopies(node.inputs().size(), Channels.NONE);
    }

    private static Rule shapeOnly(Node node) {
        return new ShapeOnly(wholeInputs(node), List.of(Channels.NONE));
    }

    private Shape shape(Node node, int input) {
        return graph.shape(node.input(input));
    }

    private Channels channels(Node node, int input) {
        return channels(node.input(input));
    }

    /** Every element of the output is a function of one element of each input, after broadcasting. */
    private Rule alignedElements(Node node) {
        Shape output = graph.shape(node.output());
        List<Integer> axes = axesOfOutput(node, output.rank());
        Channels result = Channels.along(output, axes);
        if (result.none()) {
            return opaque(node);
        }
        List<Channels> inputs = new ArrayList<>();
        int[][][] maps = new int[node.inputs().size()][1][];
        for (int i = 0; i < node.inputs().size(); i++) {
            inputs.add(node.has(i) ? aligned(shape(node, i), result, output.rank()) : Channels.NONE);
            maps[i][0] = alignedMap(
                    result,
                    inputs.get(i),
                    output.rank() - (node.has(i) ? shape(node, i).rank() : 0));
        }
        return new Mapping(inputs, List.of(result), maps);
    }

    /** The axes that the inputs have channels along, counted as the output counts them; in the order of the richest. */
    private List<Integer> axesOfOutput(Node node, int rank) {
        List<Integer> axes = new ArrayList<>();
        for (int i = 0; i < node.inputs().size(); i++) {
            if (node.has(i)) {
                int shift = rank - shape(node, i).rank();
                List<Integer> own = channels(node, i).axes().stream()
                        .map(axis -> axis + shift)
                        .toList();
                if (own.size() > axes.size()) {
                    own = new ArrayList<>(own);
                    List<Integer> more = own;
                    axes.stream().filter(axis -> !more.contains(axis)).forEach(own::add);
                    axes = own;
                } else {
                    List<Integer> known = axes;
                    own.stream().filter(axis -> !known.contains(axis)).forEach(axes::add);
                }
            }
        }
        return axes;
    }

    private static Channels aligned(Shape input, Channels result, int rank) {
        int shift = rank - input.rank();
        List<Integer> axes = result.axes().stream()
                .map(axis -> axis - shift)
                .filter(axis -> axis >= 0 && !input.get(axis).is(1))
                .toList();
        return Channels.along(input, axes);
    }

    private static int[] alignedMap(Channels result, Channels input, int shift) {
        int[] map = new int[result.count()];
        List<Integer> position = input.axes().stream()
                .map(axis -> result.axes().indexOf(axis + shift))
                .toList();
        for (int channel = 0; channel < map.length; channel++) {
            int[] places = result.places(channel);
            map[channel] =
                    input.channel(position.stream().mapToInt(i -> places[i]).toArray());
        }
        return map;
    }

    private static int[] identity(Channels channels) {
        return channels.all();
    }

    /** One input, one output, the same axes. */
    private Rule sameAxes(Node node) {
        Channels input = channels(node, 0);
        return input.none() ? opaque(node) : mapping(input, input, identity(input));
    }

    private static Rule mapping(Channels input, Channels output, int[] map) {
        return new Mapping(List.of(input), List.of(output), new int[][][] {{map}});
    }

    /** Works along axes that must not be those of the channels. */
    private Rule along(Node node, List<Long> axes) {
        Shape shape = shape(node, 0);
        boolean mixes = axes.stream().anyMatch(axis -> channels(node, 0).axes().contains(shape.axis(axis)));
        return mixes ? opaque(node) : sameAxes(node);
    }

    private Rule batchNorm(Node node) {
        Channels input = channels(node, 0);
        if (!input.axes().equals(List.of(1))) {
            return opaque(node);
        }
        List<Channels> inputs = new ArrayList<>(List.of(input));
        int[][][] maps = new int[5][1][];
        maps[0][0] = identity(input);
        for (int i = 1; i < 5; i++) {
            inputs.add(Channels.along(shape(node, i), 0));
            maps[i][0] = identity(input);
        }
        return new Mapping(inputs, List.of(input), maps);
    }

    /** Its statistics need every channel, but who reads it may take a part. */
    private Channels layerNorm(Node node, LayerNorm norm) {
        Shape shape = shape(node, 0);
        return shape.axis(norm.axis()) == shape.rank() - 1 ? Channels.along(shape, -1) : Channels.NONE;
    }

    private Rule reduce(Node node, Reduce reduce) {
        Channels input = channels(node, 0);
        Set<Integer> reduced = Set.copyOf(reduce.resolvedAxes(shape(node, 0).rank()));
        if (input.none() || input.axes().stream().anyMatch(reduced::contains)) {
            return opaque(node);
        }
        List<Integer> axes = input.axes().stream()
                .map(axis -> reduce.keep()
                        ? axis
                        : axis
                                - (int) reduced.stream()
                                        .filter(other -> other < axis)
                                        .count())
                .toList();
        return mapping(input, new Channels(axes, input.lengths()), identity(input));
    }

    private Rule transpose(Node node, Transpose transpose) {
        Channels input = channels(node, 0);
        if (input.none()) {
            return opaque(node);
        }
        List<Integer> axes = input.axes().stream()
                .map(axis -> transpose.permutation().indexOf((long) axis))
                .toList();
        return mapping(input, new Channels(axes, input.lengths()), identity(input));
    }

    /**
     * Axes are cut apart or joined. Where one axis of channels is cut into several, all of those are axes of channels;
     * where several are joined, so is the one that comes out of it.
     */
    private Rule reshape(Node node) {
        Channels input = channels(node, 0);
        Shape from = shape(node, 0);
        Shape to = graph.shape(node.output());
        List<Regrouping> regroupings = Regrouping.between(from, to);
        boolean expressible = !(node.operator() instanceof Reshape) || Regrouping.target(from, to) != null;
        if (input.none() || regroupings == null || !expressible) {
            return opaque(node);
        }
        List<Integer> axes = new ArrayList<>();
        List<Integer> seen = new ArrayList<>();
        for (int axis : input.axes()) {
            Regrouping part = regroupings.stream()
                    .filter(candidate -> candidate.holdsInput(axis))
                    .findFirst()
                    .orElse(null);
            if (part == null) {
                return opaque(node);
            }
            for (int outputAxis = part.outputStart(); outputAxis < part.outputEnd(); outputAxis++) {
                if (!seen.contains(outputAxis)) {
                    seen.add(outputAxis);
                    if (!part.cuts() || !to.get(outputAxis).is(1)) {
                        axes.add(outputAxis);
                    }
                }
            }
            if (part.joins() && part.cuts()) {
                return opaque(node);
            }
        }
        Channels output = Channels.along(to, axes);
        int[] map = output.none() ? null : Regrouping.map(from, to, input, output, regroupings);
        return map == null || (!isSorted(input) && !canBeSorted(input, output, map))
                ? opaque(node)
                : new Mapping(
                        withWeights(input, node),
                        List.of(output),
                        padMaps(map, node.inputs().size()));
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

    private static List<Channels> withWeights(Channels first, Node node) {
        List<Channels> inputs = new ArrayList<>(wholeInputs(node));
        inputs.set(0, first);
        return inputs;
    }

    private static int[][][] padMaps(int[] map, int inputs) {
        int[][][] maps = new int[inputs][1][];
        maps[0][0] = map;
        return maps;
    }

    private Rule concat(Node node, Concat concat) {
        Shape output = graph.shape(node.output());
        int axis = output.axis(concat.axis());
        List<Integer> axes = axesOfOutput(node, output.rank());
        Channels result = Channels.along(output, axes);
        if (result.none()) {
            return opaque(node);
        }
        List<Channels> inputs = new ArrayList<>();
        int[][][] maps = new int[node.inputs().size()][1][];
        if (!axes.contains(axis)) {
            for (int i = 0; i < node.inputs().size(); i++) {
                inputs.add(Channels.along(shape(node, i), axes));
                maps[i][0] = identity(result);
            }
            return new Mapping(inputs, List.of(result), maps);
        }
        if (axes.size() > 1) {
            return opaque(node);
        }
        int offset = 0;
        for (int i = 0; i < node.inputs().size(); i++) {
            Channels input = Channels.along(shape(node, i), axis);
            if (input.none()) {
                return opaque(node);
            }
            inputs.add(input);
            int[] map = new int[result.count()];
            Arrays.fill(map, -1);
            for (int channel = 0; channel < input.count(); channel++) {
                map[offset + channel] = channel;
            }
            maps[i][0] = map;
            offset += input.count();
        }
        return new Mapping(inputs, List.of(result), maps);
    }

    private Rule split(Node node, Split split) {
        Channels input = channels(node, 0);
        int axis = shape(node, 0).axis(split.axis());
        if (input.none() || (input.axes().contains(axis) && input.axes().size() > 1)) {
            return opaque(node);
        }
        boolean cut = input.axes().contains(axis);
        List<Channels> outputs = new ArrayList<>();
        int[][][] maps = new int[1][node.outputs().size()][];
        int offset = 0;
        for (int i = 0; i < node.outputs().size(); i++) {
            Channels piece = cut ? Channels.along(graph.shape(node.outputs().get(i)), axis) : input;
            outputs.add(piece);
            int start = cut ? offset : 0;
            maps[0][i] =
                    Arrays.stream(piece.all()).map(channel -> channel + start).toArray();
            offset += piece.count();
        }
        return new Mapping(List.of(input), outputs, maps);
    }

    private Rule slice(Node node) {
        Channels input = channels(node, 0);
        List<Slice.Piece> pieces = Slice.pieces(graph.operands(node));
        if (input.none() || pieces == null) {
            return opaque(node);
        }
        int[] map = identity(input);
        for (Slice.Piece piece : pieces) {
            if (input.axes().contains(piece.axis())) {
                boolean simple = input.axes().size() == 1
                        && piece.step() == 1
                        && piece.start().isKnown()
                        && piece.length().isKnown()
                        && canDropBounds(node, pieces);
                if (!simple) {
                    return opaque(node);
                }
                int start = (int) piece.start().value();
                map = Arrays.copyOfRange(
                        map, start, start + (int) piece.length().value());
            }
        }
        Channels output = Channels.along(graph.shape(node.output()), input.axes());
        return output.none()
                ? opaque(node)
                : new Mapping(
                        withWeights(input, node),
                        List.of(output),
                        padMaps(map, node.inputs().size()));
    }

    /** Whether the bounds of other axes can be written down without those of the channels. */
    private boolean canDropBounds(Node node, List<Slice.Piece> pieces) {
        boolean constant = IntStream.range(1, node.inputs().size())
                .filter(node::has)
                .allMatch(i -> graph.initializers().containsKey(node.input(i)));
        return pieces.size() == 1 || (node.has(3) && constant);
    }

    /** A table with one row for each index has its channels behind the rows; otherwise it picks from an activation. */
    private Rule gather(Node node, Gather gather) {
        Shape table = shape(node, 0);
        int axis = table.axis(gather.axis());
        int added = shape(node, 1).rank() - 1;
        boolean isTable = graph.tensor(node.input(0)) != null;
        Channels input = isTable
                ? (table.rank() == 2 && axis == 0 ? Channels.along(table, 1) : Channels.NONE)
                : channels(node, 0);
        if (input.none()) {
            return opaque(node);
        }
        if (input.axes().contains(axis)) {
            return pick(node, input, axis);
        }
        List<Integer> axes =
                input.axes().stream().map(own -> own > axis ? own + added : own).toList();
        return new Mapping(
                withWeights(input, node), List.of(new Channels(axes, input.lengths())), padMaps(identity(input), 2));
    }

    private Rule pick(Node node, Channels input, int axis) {
        Tensor indices = graph.tensor(node.input(1));
        if (indices == null || indices.rank() != 1 || input.axes().size() > 1) {
            return opaque(node);
        }
        int length = input.count();
        int[] map = Arrays.stream(indices.toLongs())
                .mapToInt(index -> Shape.axis(index, length))
                .toArray();
        Channels output = Channels.along(graph.shape(node.output()), axis);
        return new Mapping(withWeights(input, node), List.of(output), padMaps(map, 2));
    }

    private Rule pad(Node node, Pad pad) {
        Channels input = channels(node, 0);
        int rank = shape(node, 0).rank();
        if (input.none()) {
            return opaque(node);
        }
        int[] map = identity(input);
        for (int axis : input.axes()) {
            int before = pad.pads().get(axis).intValue();
            int after = pad.pads().get(axis + rank).intValue();
            if (before == 0 && after == 0) {
                continue;
            }
            if (input.axes().size() > 1 || pad.mode() != Pad.Mode.CONSTANT || before < 0 || after < 0) {
                return opaque(node);
            }
            map = new int[input.count() + before + after];
            Arrays.fill(map, -1);
            for (int channel = 0; channel < input.count(); channel++) {
                map[before + channel] = channel;
            }
        }
        return mapping(input, Channels.along(graph.shape(node.output()), input.axes()), map);
    }

    private boolean isWeight(Node node, int input) {
        return graph.tensor(node.input(input)) != null;
    }

    private Rule conv(Node node, Conv conv) {
        boolean constantWeights = isWeight(node, 1) && (!node.has(2) || isWeight(node, 2));
        Channels input = Channels.along(shape(node, 0), 1);
        if (!constantWeights || input.none()) {
            return opaque(node);
        }
        boolean padded = conv.windows().pads().stream().anyMatch(pad -> pad != 0);
        return new Product(
                withWeights(input, node),
                List.of(Channels.along(graph.shape(node.output()), 1)),
                1,
                0,
                (int) conv.groups(),
                padded);
    }

    private Rule gemm(Node node, Gemm gemm) {
        boolean bias = !node.has(2) || (isWeight(node, 2) && shape(node, 2).rank() <= 1);
        if (!isWeight(node, 1) || !bias || gemm.transposeA()) {
            return opaque(node);
        }
        int inAxis = gemm.transposeB() ? 1 : 0;
        return product(node, inAxis, 1 - inAxis);
    }

    private Rule matMul(Node node) {
        if (isWeight(node, 1) && shape(node, 1).rank() == 2) {
            return product(node, 0, 1);
        }
        Rule contraction = isWeight(node, 0) || isWeight(node, 1) ? null : contraction(node);
        return contraction == null ? opaque(node) : contraction;
    }

    private Rule product(Node node, int inAxis, int outAxis) {
        Channels input = Channels.along(shape(node, 0), -1);
        Channels output = Channels.along(graph.shape(node.output()), -1);
        return new Product(withWeights(input, node), List.of(output), inAxis, outAxis, 1, false);
    }

    private @Nullable Rule contraction(Node node) {
        int leftRank = shape(node, 0).rank();
        int rightRank = shape(node, 1).rank();
        Channels left = channels(node, 0);
        Channels right = channels(node, 1);
        if (leftRank != rightRank || leftRank < 3 || left.axes().contains(leftRank - 2)) {
            return null;
        }
        boolean leftInner = left.axes().contains(leftRank - 1);
        boolean rightInner = right.axes().contains(rightRank - 2);
        boolean rightOuter = right.axes().contains(rightRank - 1);
        List<Integer> heads = new ArrayList<>(new TreeSet<>(left.axes()));
        heads.removeIf(axis -> axis >= leftRank - 2);
        List<Integer> leftAxes = new ArrayList<>(heads);
        List<Integer> rightAxes = new ArrayList<>(heads);
        List<Integer> outAxes = new ArrayList<>(heads);
        if (leftInner && rightInner) {
            leftAxes.add(leftRank - 1);
            rightAxes.add(rightRank - 2);
        }
        if (rightOuter) {
            rightAxes.add(rightRank - 1);
            outAxes.add(leftRank - 1);
        }
        boolean fits = leftInner == rightInner
                && !(rightInner && rightOuter)
                && !heads.isEmpty()
                && left.axes().equals(leftAxes)
                && right.axes().equals(rightAxes)
                && heads.stream()
                        .allMatch(axis ->
                                shape(node, 0).get(axis).equals(shape(node, 1).get(axis)));
        return fits
                ? new Contraction(
                        List.of(left, right), List.of(Channels.along(graph.shape(node.output()), outAxes)), leftInner)
                : null;
    }
}
