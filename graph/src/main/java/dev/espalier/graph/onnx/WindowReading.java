package dev.espalier.graph.onnx;

import dev.espalier.graph.op.ConvTranspose;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.Dimension;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** How convolutions and pools say how their window slides. */
final class WindowReading {
    private WindowReading() {}

    /** The lengths of the window, which a pool must give and a convolution may. */
    static List<Long> kernel(NodeReading node) {
        List<Long> kernel = node.longs("kernel_shape", List.of());
        node.require(!kernel.isEmpty(), "attribute kernel_shape is missing");
        return kernel;
    }

    /** The lengths of a convolution's window, which are those of its weights. */
    static List<Long> weightKernel(NodeReading node) {
        List<Dimension> lengths = node.shape(1).dimensions();
        node.require(
                lengths.size() > 2 && lengths.stream().skip(2).allMatch(Dimension::isKnown),
                "weights of shape " + node.shape(1) + " must have two axes and those of a window, of known lengths");
        List<Long> kernel = lengths.stream().skip(2).map(Dimension::value).toList();
        List<Long> given = node.longs("kernel_shape", kernel);
        node.require(given.equals(kernel), "kernel_shape " + given + " does not fit weights of " + node.shape(1));
        return kernel;
    }

    static Windows read(NodeReading node, List<Long> kernel) {
        int axes = kernel.size();
        List<Long> strides = node.longs("strides", Collections.nCopies(axes, 1L));
        List<Long> dilations = node.longs("dilations", Collections.nCopies(axes, 1L));
        node.require(
                strides.size() == axes
                        && dilations.size() == axes
                        && node.shape(0).rank() == axes + 2,
                "strides %s, dilations %s and the input %s do not fit a window of %s"
                        .formatted(strides, dilations, node.shape(0), kernel));
        String mode = node.text("auto_pad", "NOTSET");
        List<Long> none = Collections.nCopies(2 * axes, 0L);
        List<Long> pads = switch (mode) {
            case "NOTSET", "" -> node.longs("pads", none);
            case "VALID" -> none;
            case "SAME_UPPER", "SAME_LOWER" -> same(node, kernel, strides, dilations, mode.equals("SAME_UPPER"));
            default -> throw node.problem("auto_pad " + mode + " must be NOTSET, VALID, SAME_UPPER or SAME_LOWER");
        };
        return new Windows(strides, pads, dilations);
    }

    /** The transpose of a convolution: pads are cut off what comes out, and may be told by the lengths that shall come out. */
    static ConvTranspose transposed(NodeReading node) {
        List<Long> kernel = weightKernel(node);
        int axes = kernel.size();
        List<Long> strides = node.longs("strides", Collections.nCopies(axes, 1L));
        List<Long> dilations = node.longs("dilations", Collections.nCopies(axes, 1L));
        List<Long> added = node.longs("output_padding", Collections.nCopies(axes, 0L));
        node.require(
                strides.size() == axes
                        && dilations.size() == axes
                        && added.size() == axes
                        && node.shape(0).rank() == axes + 2,
                "strides %s, dilations %s, output_padding %s and the input %s do not fit a window of %s"
                        .formatted(strides, dilations, added, node.shape(0), kernel));
        String mode = node.text("auto_pad", "NOTSET");
        List<Long> none = Collections.nCopies(2 * axes, 0L);
        List<Long> wanted = node.longs("output_shape", List.of());
        boolean same = mode.equals("SAME_UPPER") || mode.equals("SAME_LOWER");
        node.require(
                same || mode.equals("NOTSET") || mode.equals("VALID") || mode.isEmpty(),
                "auto_pad " + mode + " must be NOTSET, VALID, SAME_UPPER or SAME_LOWER");
        if (wanted.isEmpty() && !same) {
            List<Long> pads = mode.equals("VALID") ? none : node.longs("pads", none);
            return new ConvTranspose(new Windows(strides, pads, dilations), added, node.whole("group", 1));
        }
        List<Long> before = new ArrayList<>();
        List<Long> after = new ArrayList<>();
        for (int axis = 0; axis < axes; axis++) {
            long window = Math.addExact(Math.multiplyExact(dilations.get(axis), kernel.get(axis) - 1), 1);
            // stride · (length − 1) + added + window − pads is what comes out; for the modes that is stride · length.
            long surplus = Math.addExact(added.get(axis), window) - strides.get(axis);
            if (!wanted.isEmpty()) {
                Dimension length = node.shape(0).get(axis + 2);
                node.require(
                        length.isKnown(),
                        "output_shape " + wanted + " depends on the length " + length
                                + ", which is not known: give the input a fixed size, or explicit pads");
                long target = wanted.get(wanted.size() - axes + axis);
                surplus += Math.multiplyExact(strides.get(axis), length.value()) - target;
            }
            long cut = Math.max(surplus, 0);
            before.add(mode.equals("SAME_UPPER") ? cut / 2 : cut - cut / 2);
            after.add(mode.equals("SAME_UPPER") ? cut - cut / 2 : cut / 2);
            if (surplus < 0) {
                added = new ArrayList<>(added);
                added.set(axis, added.get(axis) - surplus);
            }
        }
        before.addAll(after);
        return new ConvTranspose(new Windows(strides, before, dilations), added, node.whole("group", 1));
    }

    /** As much padding as makes the output as long as the input divided by the stride. */
    private static List<Long> same(
            NodeReading node, List<Long> kernel, List<Long> strides, List<Long> dilations, boolean upper) {
        List<Long> before = new ArrayList<>();
        List<Long> after = new ArrayList<>();
        for (int axis = 0; axis < kernel.size(); axis++) {
            long window = Math.addExact(Math.multiplyExact(dilations.get(axis), kernel.get(axis) - 1), 1);
            long stride = strides.get(axis);
            node.require(stride >= 1, "strides " + strides + " must be at least 1");
            long overlap = window - stride;
            if (stride > 1) {
                Dimension length = node.shape(0).get(axis + 2);
                node.require(
                        length.isKnown(),
                        "auto_pad depends on the length " + length
                                + ", which is not known: give the input a fixed size, or explicit pads");
                // (⌈length / stride⌉ − 1) · stride + window − length
                overlap =
                        Math.multiplyExact(Math.ceilDiv(length.value(), stride) - 1, stride) + window - length.value();
            }
            long added = Math.max(overlap, 0);
            before.add(upper ? added / 2 : added - added / 2);
            after.add(upper ? added - added / 2 : added / 2);
        }
        before.addAll(after);
        return before;
    }
}
