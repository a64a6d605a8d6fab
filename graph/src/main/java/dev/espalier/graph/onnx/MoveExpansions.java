package dev.espalier.graph.onnx;

import dev.espalier.graph.onnx.Expansions.Steps;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.stream.LongStream;

/** Operators that put elements elsewhere, read as those that all of them can be made of. */
final class MoveExpansions {
    private MoveExpansions() {}

    /** Channels become the elements of blocks: {@code [n, b·b·c, h, w]} to {@code [n, c, h·b, w·b]}. */
    static void depthToSpace(NodeReading node, Steps steps) {
        long block = block(node);
        long channels = channels(node);
        node.require(channels % (block * block) == 0, channels + " channels do not fall into blocks of " + block + "²");
        String mode = node.text("mode", "DCR");
        node.require(mode.equals("DCR") || mode.equals("CRD"), "mode " + mode + " must be DCR or CRD");
        long left = channels / (block * block);
        String x = steps.input(0);
        String batch = steps.lengths(x, 0, 1);
        String size = steps.lengths(x, 2, 4);
        boolean blocksFirst = mode.equals("DCR");
        String parts = blocksFirst ? steps.list(block, block, left) : steps.list(left, block, block);
        String apart = steps.step("Reshape", x, steps.along("Concat", 0, batch, parts, size));
        String turned =
                blocksFirst ? steps.transposed(apart, 0, 3, 4, 1, 5, 2) : steps.transposed(apart, 0, 1, 4, 2, 5, 3);
        String larger = steps.step("Mul", size, steps.list(block));
        steps.step("Reshape", turned, steps.along("Concat", 0, batch, steps.list(left), larger));
        steps.finish();
    }

    /** The way back: {@code [n, c, h·b, w·b]} to {@code [n, b·b·c, h, w]}. */
    static void spaceToDepth(NodeReading node, Steps steps) {
        long block = block(node);
        long channels = channels(node);
        String x = steps.input(0);
        String batch = steps.lengths(x, 0, 1);
        String blocks = steps.list(block);
        String height = steps.step("Div", steps.lengths(x, 2, 3), blocks);
        String width = steps.step("Div", steps.lengths(x, 3, 4), blocks);
        String apart = steps.step(
                "Reshape", x, steps.along("Concat", 0, batch, steps.list(channels), height, blocks, width, blocks));
        String turned = steps.transposed(apart, 0, 3, 5, 1, 2, 4);
        steps.step(
                "Reshape",
                turned,
                steps.along("Concat", 0, batch, steps.list(channels * block * block), height, width));
        steps.finish();
    }

    private static long block(NodeReading node) {
        long block = node.whole("blocksize", 0);
        node.require(block >= 1 && block <= 1024, "blocksize " + block + " must be in [1, 1024]");
        node.require(node.shape(0).rank() == 4, "input of shape " + node.shape(0) + " must have 4 axes");
        return block;
    }

    private static long channels(NodeReading node) {
        Dimension channels = node.shape(0).get(1);
        node.require(channels.isKnown(), "the number of channels, " + channels + ", is not known");
        return channels.value();
    }

    /** One of two values, by whether a place along the new axis is the index; none is for an index out of range. */
    static void oneHot(NodeReading node, Steps steps) {
        int rank = node.shape(0).rank();
        int axis = Shape.axis(node.whole("axis", -1), rank + 1);
        String indices = steps.cast(steps.input(0), DataType.INT64);
        String depth = steps.step("Reshape", steps.cast(steps.input(1), DataType.INT64), steps.list());
        String zero = steps.constant(0);
        String one = steps.constant(1);
        String fromFront =
                steps.step("Where", steps.step("Less", indices, zero), steps.step("Add", indices, depth), indices);
        String places = steps.step("Range", zero, depth, one);
        String behind = steps.list(LongStream.rangeClosed(1, rank - axis).toArray());
        String column = rank == axis ? places : steps.step("Unsqueeze", places, behind);
        String hit = steps.step("Equal", steps.step("Unsqueeze", fromFront, steps.list(axis)), column);
        String on = steps.along("Gather", 0, steps.input(2), one);
        String off = steps.along("Gather", 0, steps.input(2), zero);
        steps.step("Where", hit, on, off);
        steps.finish();
    }

    /** Rows put in the place of others: the tensor's first axes are made one, as for GatherND. */
    static void scatterNd(NodeReading node, Steps steps) {
        int rank = node.shape(0).rank();
        int count = Expansions.indices(node);
        String x = steps.input(0);
        String position = Expansions.position(steps, count);
        String flat = steps.list(-1);
        String rest = count == rank ? "" : steps.lengths(x, count, rank);
        String shape = rest.isEmpty() ? flat : steps.along("Concat", 0, flat, rest);
        String rows = steps.step("Reshape", x, shape);
        String updates = steps.step("Reshape", steps.input(2), shape);
        String ones = steps.list(LongStream.concat(
                        LongStream.of(-1), LongStream.generate(() -> 1).limit(rank - count))
                .toArray());
        String indices = steps.step("Expand", steps.step("Reshape", position, ones), steps.step("Shape", updates));
        String scattered = steps.scatter(node.text("reduction", "none"), rows, indices, updates);
        steps.step("Reshape", scattered, steps.step("Shape", x));
        steps.finish();
    }
}
