package dev.espalier.graph.eval;

import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.ConvTranspose;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Windows that slide over the axes behind batch and channels: convolution and pooling, along any number of axes. */
final class Sliding {
    private Sliding() {}

    /**
     * What one position of the window sees of one channel.
     *
     * @param inside positions in the channel
     * @param kernel the positions in the window that see them
     * @param padded how many elements of the window lie on the channel or on its padding
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record View(int[] inside, int[] kernel, int padded) {

        static View of(Windows windows, long[] kernel, long[] lengths, long[] at) {
            int most = Math.toIntExact(Tensor.size(kernel));
            int[] inside = new int[most];
            int[] seenBy = new int[most];
            int seen = 0;
            int padded = 0;
            for (int element = 0; element < most; element++) {
                long rest = element;
                long position = 0;
                long stride = 1;
                boolean isInside = true;
                boolean isPadded = true;
                for (int axis = kernel.length - 1; axis >= 0; axis--) {
                    long along = at[axis] * windows.strides().get(axis)
                            - windows.pads().get(axis)
                            + rest % kernel[axis] * windows.dilations().get(axis);
                    rest /= kernel[axis];
                    isInside &= along >= 0 && along < lengths[axis];
                    isPadded &= along < lengths[axis] + windows.pads().get(axis + kernel.length);
                    position += along * stride;
                    stride *= lengths[axis];
                }
                padded += isPadded ? 1 : 0;
                if (isInside) {
                    inside[seen] = (int) position;
                    seenBy[seen++] = element;
                }
            }
            return new View(Arrays.copyOf(inside, seen), Arrays.copyOf(seenBy, seen), padded);
        }

        /** The views of all positions, in row-major order. */
        static View[] all(Windows windows, long[] kernel, long[] lengths, long[] positions) {
            View[] views = new View[Math.toIntExact(Tensor.size(positions))];
            long[] at = new long[positions.length];
            for (int i = 0; i < views.length; i++) {
                long rest = i;
                for (int axis = at.length - 1; axis >= 0; axis--) {
                    at[axis] = rest % positions[axis];
                    rest /= positions[axis];
                }
                views[i] = of(windows, kernel, lengths, at);
            }
            return views;
        }
    }

    private static long[] behindChannels(long[] shape) {
        return Arrays.copyOfRange(shape, 2, shape.length);
    }

    static Tensor conv(Conv operator, Tensor input, Tensor weight, @Nullable Tensor bias, long[] shape) {
        long[] lengths = behindChannels(input.shape());
        long[] kernel = behindChannels(weight.shape());
        View[] views = View.all(operator.windows(), kernel, lengths, behindChannels(shape));
        double[] x = Products.doubles(input);
        double[] w = Products.doubles(weight);
        int channelSize = (int) Tensor.size(lengths);
        int kernelSize = (int) Tensor.size(kernel);
        int filters = (int) shape[1];
        int depth = (int) weight.shape()[1];
        int filtersInGroup = (int) (filters / operator.groups());
        return Tensor.compute(input.type(), shape, index -> {
            View view = views[(int) (index % views.length)];
            int filter = (int) (index / views.length % filters);
            int image = (int) (index / views.length / filters);
            int firstChannel = image * (int) input.shape()[1] + filter / filtersInGroup * depth;
            double sum = bias == null ? 0 : bias.getDouble(filter);
            for (int channel = 0; channel < depth; channel++) {
                int from = (firstChannel + channel) * channelSize;
                int by = (filter * depth + channel) * kernelSize;
                for (int i = 0; i < view.inside.length; i++) {
                    sum += x[from + view.inside[i]] * w[by + view.kernel[i]];
                }
            }
            return sum;
        });
    }

    /** What an element of the input sees as a convolution's window is what it adds to. */
    static Tensor convTranspose(
            ConvTranspose operator, Tensor input, Tensor weight, @Nullable Tensor bias, long[] shape) {
        long[] lengths = behindChannels(shape);
        long[] kernel = behindChannels(weight.shape());
        View[] views = View.all(operator.windows(), kernel, lengths, behindChannels(input.shape()));
        double[] x = Products.doubles(input);
        double[] w = Products.doubles(weight);
        int channelSize = (int) Tensor.size(lengths);
        int kernelSize = (int) Tensor.size(kernel);
        int depth = (int) input.shape()[1];
        int filtersInGroup = (int) weight.shape()[1];
        int depthOfGroup = (int) (depth / operator.groups());
        double[] sums = new double[Math.toIntExact(Tensor.size(shape))];
        for (int index = 0; index < x.length; index++) {
            View view = views[index % views.length];
            int channel = index / views.length % depth;
            int image = index / views.length / depth;
            int firstFilter = image * (int) shape[1] + channel / depthOfGroup * filtersInGroup;
            for (int filter = 0; filter < filtersInGroup; filter++) {
                int to = (firstFilter + filter) * channelSize;
                int by = (channel * filtersInGroup + filter) * kernelSize;
                for (int i = 0; i < view.inside.length; i++) {
                    sums[to + view.inside[i]] += x[index] * w[by + view.kernel[i]];
                }
            }
        }
        return Tensor.compute(input.type(), shape, index -> {
            double shift = bias == null ? 0 : bias.getDouble(index / channelSize % shape[1]);
            return sums[(int) index] + shift;
        });
    }

    static Tensor pool(Pool operator, Tensor input, long[] shape) {
        long[] lengths = behindChannels(input.shape());
        long[] kernel = operator.kernel().stream().mapToLong(length -> length).toArray();
        View[] views = View.all(operator.windows(), kernel, lengths, behindChannels(shape));
        long channelSize = Tensor.size(lengths);
        return Tensor.compute(input.type(), shape, index -> {
            View view = views[(int) (index % views.length)];
            long channel = index / views.length * channelSize;
            return switch (operator.function()) {
                case MAX ->
                    Arrays.stream(view.inside)
                            .mapToDouble(position -> input.getDouble(channel + position))
                            .reduce(Double.NEGATIVE_INFINITY, Math::max);
                case AVERAGE -> {
                    double sum = 0;
                    for (int position : view.inside) {
                        sum += input.getDouble(channel + position);
                    }
                    yield sum / (operator.countPadding() ? view.padded : view.inside.length);
                }
            };
        });
    }
}
