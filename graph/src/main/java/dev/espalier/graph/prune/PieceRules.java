package dev.espalier.graph.prune;

import dev.espalier.graph.Node;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.prune.Rule.Carried;
import dev.espalier.graph.prune.Rule.Mapping;
import dev.espalier.graph.prune.Rule.Spare;
import dev.espalier.graph.prune.Rule.Written;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Operators that put tensors together, cut them apart, pick from them or add to them. */
final class PieceRules {
    private PieceRules() {}

    static Rule concat(Site site, Concat concat) {
        Shape output = site.outputShape();
        int axis = output.axis(concat.axis());
        List<Integer> axes = site.axesOfOutput(output.rank());
        Channels result = Channels.along(output, axes);
        boolean joined = axes.contains(axis);
        if (result.none() || (joined && axes.size() > 1)) {
            return site.opaque();
        }
        List<Channels> inputs = new ArrayList<>();
        int[][][] maps = new int[site.inputs()][1][];
        int offset = 0;
        for (int i = 0; i < site.inputs(); i++) {
            Channels input = Channels.along(site.shape(i), axes);
            if (input.none()) {
                return site.opaque();
            }
            inputs.add(input);
            maps[i][0] = joined ? placed(input, offset, result.count()) : result.all();
            offset += input.count();
        }
        Carried carried = (out, channel, operands) -> joined(maps, channel, operands);
        return new Mapping(inputs, List.of(result), maps, carried, PieceRules::writeConcat, Spare.UNREAD);
    }

    /** All channels of an input behind an offset, with nothing before and behind them. */
    private static int[] placed(Channels input, int offset, int count) {
        int[] map = new int[count];
        Arrays.fill(map, -1);
        for (int channel = 0; channel < input.count(); channel++) {
            map[offset + channel] = channel;
        }
        return map;
    }

    /** A channel that is made of several pieces is constant if they carry the same. */
    private static double joined(int[][][] maps, int channel, double[] operands) {
        double carried = Rule.VARIES;
        boolean first = true;
        for (int i = 0; i < operands.length; i++) { // no stream: asked for every channel
            if (maps[i][0][channel] >= 0) {
                double piece = operands[i] + 0.0; // one zero, not two
                if (!first && Double.compare(piece, carried) != 0) {
                    return Rule.VARIES;
                }
                carried = piece;
                first = false;
            }
        }
        return carried;
    }

    private static void writeConcat(Rewriter rewriter, Node node, Mapping rule) {
        List<String> pieces = new ArrayList<>();
        for (int i = 0; i < node.inputs().size(); i++) {
            int[] map = rule.maps()[i][0];
            if (Arrays.stream(rewriter.kept(node.output()).left()).anyMatch(channel -> map[channel] >= 0)) {
                pieces.add(rewriter.input(node, rule, i));
            }
        }
        if (pieces.size() == 1) {
            rewriter.alias(node.output(), pieces.getFirst());
        } else {
            rewriter.add(new Node(node.name(), node.operator(), pieces, node.outputs()));
        }
    }

    static Rule split(Site site, Split split) {
        Channels input = site.channels(0);
        int axis = site.shape(0).axis(split.axis());
        boolean cut = input.axes().contains(axis);
        if (input.none() || (cut && input.axes().size() > 1)) {
            return site.opaque();
        }
        List<Channels> outputs = new ArrayList<>();
        int[][][] maps = new int[1][site.node().outputs().size()][];
        int offset = 0;
        for (int i = 0; i < site.node().outputs().size(); i++) {
            Shape shape = site.graph().shape(site.node().outputs().get(i));
            Channels piece = cut ? Channels.along(shape, axis) : input;
            if (piece.none()) {
                return site.opaque();
            }
            outputs.add(piece);
            int start = cut ? offset : 0;
            maps[0][i] =
                    Arrays.stream(piece.all()).map(channel -> channel + start).toArray();
            offset += piece.count();
        }
        Written written = cut ? (rewriter, node, rule) -> writeSplit(rewriter, node, rule, split) : Written.AS_IT_IS;
        return new Mapping(List.of(input), outputs, maps, Carried.UNCHANGED, written);
    }

    private static void writeSplit(Rewriter rewriter, Node node, Mapping rule, Split split) {
        List<String> outputs = node.outputs().stream().filter(rewriter::isLive).toList();
        String input = rewriter.input(node, rule, 0);
        if (outputs.size() == 1) {
            rewriter.alias(outputs.getFirst(), input);
            return;
        }
        List<Long> sizes = outputs.stream()
                .map(output -> (long) rewriter.kept(output).left().length)
                .toList();
        rewriter.add(new Node(node.name(), new Split(split.axis(), sizes), List.of(input), outputs));
    }

    static Rule slice(Site site) {
        Channels input = site.channels(0);
        List<Slice.Piece> pieces = Slice.pieces(site.graph().operands(site.node()));
        if (input.none() || pieces == null) {
            return site.opaque();
        }
        int[] map = input.all();
        boolean cut = false;
        for (Slice.Piece piece : pieces) {
            if (input.axes().contains(piece.axis())) {
                boolean simple = input.axes().size() == 1
                        && piece.step() == 1
                        && piece.start().isKnown()
                        && piece.length().isKnown()
                        && canDropBounds(site, pieces);
                if (!simple) {
                    return site.opaque();
                }
                int start = (int) piece.start().value();
                map = Arrays.copyOfRange(
                        map, start, start + (int) piece.length().value());
                cut = true;
            }
        }
        Channels output = Channels.along(site.outputShape(), input.axes());
        Written written = cut ? (rewriter, node, rule) -> writeSlice(rewriter, node, rule, pieces) : Written.AS_IT_IS;
        return output.none() ? site.opaque() : site.mapping(input, output, map, Carried.UNCHANGED, written);
    }

    /** Whether the bounds of other axes can be written down without those of the channels. */
    private static boolean canDropBounds(Site site, List<Slice.Piece> pieces) {
        boolean constant =
                IntStream.range(1, site.inputs()).filter(site.node()::has).allMatch(site::isWeight);
        return pieces.size() == 1 || (site.node().has(3) && constant);
    }

    /** What is cut off along the channels is not even made any more; other axes are still cut. */
    private static void writeSlice(Rewriter rewriter, Node node, Mapping rule, List<Slice.Piece> pieces) {
        List<Integer> axes = rule.inputs().getFirst().axes();
        int[] others = IntStream.range(0, pieces.size())
                .filter(i -> !axes.contains(pieces.get(i).axis()))
                .toArray();
        String input = rewriter.input(node, rule, 0);
        if (others.length == 0) {
            rewriter.alias(node.output(), input);
            return;
        }
        List<String> inputs = new ArrayList<>(List.of(input));
        for (int i = 1; i < node.inputs().size(); i++) {
            inputs.add(
                    node.has(i)
                            ? rewriter.constant(
                                    node.name() + ".bounds" + i, Slices.take(rewriter.weight(node, i), 0, others))
                            : "");
        }
        rewriter.add(new Node(node.name(), node.operator(), inputs, node.outputs()));
    }

    /** A table with one row for each index has its channels behind the rows; otherwise it picks from an activation. */
    static Rule gather(Site site, Gather gather) {
        Shape table = site.shape(0);
        int axis = table.axis(gather.axis());
        int added = site.shape(1).rank() - 1;
        boolean rows = table.rank() == 2 && axis == 0;
        Channels input = !site.isWeight(0) ? site.channels(0) : rows ? Channels.along(table, 1) : Channels.NONE;
        if (input.none()) {
            return site.opaque();
        }
        if (input.axes().contains(axis)) {
            return pick(site, gather, input, axis);
        }
        List<Integer> axes =
                input.axes().stream().map(own -> own > axis ? own + added : own).toList();
        return site.mapping(
                input, new Channels(axes, input.lengths()), input.all(), Carried.UNCHANGED, Written.AS_IT_IS);
    }

    private static Rule pick(Site site, Gather gather, Channels input, int axis) {
        Tensor indices = site.graph().tensor(site.node().input(1));
        Channels output = Channels.along(site.outputShape(), axis);
        if (indices == null || indices.rank() != 1 || input.axes().size() > 1 || output.none()) {
            return site.opaque();
        }
        int length = input.count();
        int[] map = Arrays.stream(indices.toLongs())
                .mapToInt(index -> Shape.axis(index, length))
                .toArray();
        return site.mapping(
                input,
                output,
                map,
                Carried.UNCHANGED,
                (rewriter, node, rule) -> writePick(rewriter, node, rule, gather));
    }

    private static void writePick(Rewriter rewriter, Node node, Mapping rule, Gather gather) {
        int[] map = rule.maps()[0][0];
        int[] sources = Arrays.stream(rewriter.kept(node.output()).left())
                .map(channel -> map[channel])
                .toArray();
        int[] delivered = Arrays.stream(sources).distinct().sorted().toArray();
        String input = rewriter.input(node, rule, 0);
        if (Arrays.equals(sources, delivered)) {
            rewriter.alias(node.output(), input);
            return;
        }
        String indices = rewriter.constant(
                node.name() + ".indices",
                Tensor.of(Arrays.stream(sources)
                        .mapToLong(source -> Arrays.binarySearch(delivered, source))
                        .toArray()));
        rewriter.add(new Node(node.name(), gather, List.of(input, indices), node.outputs()));
    }

    static Rule pad(Site site, Pad pad) {
        Channels input = site.channels(0);
        Channels output = Channels.along(site.outputShape(), input.axes());
        List<Integer> padded = input.axes().stream()
                .filter(axis -> before(pad, axis) != 0 || after(pad, axis) != 0)
                .toList();
        boolean simple = pad.mode() == Pad.Mode.CONSTANT
                && input.axes().size() == 1
                && padded.stream().allMatch(axis -> before(pad, axis) >= 0 && after(pad, axis) >= 0);
        if (input.none() || output.none() || (!padded.isEmpty() && !simple)) {
            return site.opaque();
        }
        int[] map =
                padded.isEmpty() ? input.all() : placed(input, (int) before(pad, padded.getFirst()), output.count());
        Written written = padded.isEmpty()
                ? Written.AS_IT_IS
                : (rewriter, node, rule) -> writePad(rewriter, node, rule, pad, padded.getFirst());
        // What is added along other axes makes a constant two, unless it is the same number.
        boolean mixes = pad.mode() == Pad.Mode.CONSTANT
                && IntStream.range(0, site.shape(0).rank())
                        .filter(axis -> !padded.contains(axis))
                        .anyMatch(axis -> before(pad, axis) > 0 || after(pad, axis) > 0);
        Carried carried = (out, channel, operands) ->
                map[channel] < 0 ? pad.value() : mixes && operands[0] != pad.value() ? Rule.VARIES : operands[0];
        return site.mapping(input, output, map, carried, written);
    }

    private static long before(Pad pad, int axis) {
        return pad.pads().get(axis);
    }

    private static long after(Pad pad, int axis) {
        return pad.pads().get(axis + pad.pads().size() / 2);
    }

    private static void writePad(Rewriter rewriter, Node node, Mapping rule, Pad pad, int axis) {
        int[] map = rule.maps()[0][0];
        int[] left = rewriter.kept(node.output()).left();
        long before = Arrays.stream(left).takeWhile(channel -> map[channel] < 0).count();
        long added = Arrays.stream(left).filter(channel -> map[channel] < 0).count();
        List<Long> pads = new ArrayList<>(pad.pads());
        pads.set(axis, before);
        pads.set(axis + pads.size() / 2, added - before);
        rewriter.add(new Node(
                node.name(),
                new Pad(pad.mode(), pads, pad.value()),
                List.of(rewriter.input(node, rule, 0)),
                node.outputs()));
    }
}
