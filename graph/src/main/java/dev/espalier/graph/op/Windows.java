package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * How a window slides over the axes behind batch and channels.
 *
 * @param strides steps of the window, one for each axis
 * @param pads elements added before each axis, then after each axis
 * @param dilations distance of neighbours within the window
 */
public record Windows(List<Long> strides, List<Long> pads, List<Long> dilations) {

    /** Checks that everything fits. */
    public Windows {
        strides = List.copyOf(strides);
        pads = List.copyOf(pads);
        dilations = List.copyOf(dilations);
        int axes = strides.size();
        Operands.require(
                dilations.size() == axes && pads.size() == 2 * axes,
                "strides %s, dilations %s and pads %s do not fit: for each of %d axes one, one and two"
                        .formatted(strides, dilations, pads, axes));
        Operands.require(
                strides.stream().allMatch(stride -> stride >= 1), "strides " + strides + " must be at least 1");
        Operands.require(
                dilations.stream().allMatch(dilation -> dilation >= 1),
                "dilations " + dilations + " must be at least 1");
        Operands.require(pads.stream().allMatch(pad -> pad >= 0), "pads " + pads + " must be at least 0");
    }

    /**
     * Windows that slide alike along both axes of an image.
     *
     * @param stride steps of the window
     * @param pad elements added on every side
     * @return the windows
     */
    public static Windows square(long stride, long pad) {
        return new Windows(List.of(stride, stride), List.of(pad, pad, pad, pad), List.of(1L, 1L));
    }

    /**
     * Number of axes that the window slides over.
     *
     * @return how many
     */
    public int axes() {
        return strides.size();
    }

    /**
     * The lengths that are left.
     *
     * @param input the shape before, with batch and channels in front
     * @param kernel the window's lengths
     * @param roundUp true to keep a last window that hangs over the end
     * @return one length for each axis behind the channels
     */
    List<Dimension> slide(Shape input, List<Long> kernel, boolean roundUp) {
        Operands.require(
                input.rank() == axes() + 2 && kernel.size() == axes(),
                "input of shape %s and window %s do not fit %d strides".formatted(input, kernel, axes()));
        List<Dimension> lengths = new ArrayList<>();
        for (int axis = 0; axis < axes(); axis++) {
            long window = Math.addExact(Math.multiplyExact(dilations.get(axis), kernel.get(axis) - 1), 1);
            long before = pads.get(axis);
            long added = Math.addExact(before, pads.get(axis + axes()));
            long stride = strides.get(axis);
            Dimension length = input.get(axis + 2);
            Dimension room = length.plus(added - window);
            Dimension steps = room.plus(roundUp ? stride - 1 : 0).dividedBy(stride);
            if (roundUp) {
                // A window that would begin in the padding behind the end is dropped, as in PyTorch and ONNX Runtime.
                steps = steps.min(length.plus(before - 1).dividedBy(stride));
            }
            Operands.require(
                    !room.isKnown() || room.value() >= 0,
                    "the window of %d does not fit into %s plus padding %d".formatted(window, length, added));
            lengths.add(steps.plus(1));
        }
        return lengths;
    }
}
