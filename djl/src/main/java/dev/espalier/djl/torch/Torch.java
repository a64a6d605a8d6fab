package dev.espalier.djl.torch;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.SparseFormat;
import ai.djl.pytorch.engine.PtNDArray;
import dev.espalier.djl.torch.LibTorch.Lookup;
import dev.espalier.djl.torch.LibTorch.OneDnnSwitch;
import dev.espalier.djl.torch.LibTorch.Tensors;
import dev.espalier.tensor.ElementType;
import dev.espalier.tensor.TensorView;
import java.lang.foreign.MemorySegment;

/**
 * The memory of DJL's PyTorch arrays, without copies, and a switch of libtorch that DJL does not offer.
 *
 * <p>Views and addresses are good while their array is open and its memory is not replaced ({@link NDArray#set} replaces
 * it); nobody checks that. libtorch does not notice what is written through them: <em>never write between a forward pass
 * and the backward pass that belongs to it</em>, or the gradients are wrong without a word. After the backward pass
 * writing is safe.
 */
public final class Torch {
    private static final String AARCH64 = "aarch64";

    private Torch() {}

    /**
     * An array's memory as a tensor: what is written to one is read from the other. Arrays that are views themselves
     * (transposed, sliced, broadcast) keep their strides.
     *
     * @param array a dense float32 array of the PyTorch engine, on the CPU
     * @return its memory, lent for as long as the array is open
     */
    public static TensorView view(NDArray array) {
        PtNDArray ours = require(array);
        if (!array.getDevice().equals(Device.cpu())) {
            throw refused(
                    array, "is on " + array.getDevice(), "on the CPU: move it with toDevice(Device.cpu(), false)");
        }
        if (array.getDataType() != DataType.FLOAT32) {
            throw refused(
                    array, "holds " + array.getDataType(), "float32: convert it with toType(DataType.FLOAT32, false)");
        }
        long[] shape = array.getShape().getShape();
        Tensors tensors = tensors();
        long[] strides = tensors.strides(ours.getHandle(), shape.length);
        return TensorView.of(
                memory(tensors.address(ours.getHandle()), shape, strides), ElementType.FLOAT32, shape, strides);
    }

    /**
     * The segment that a shape with strides covers. Where an axis has one place, libtorch may say any stride: there the
     * one of row-major order takes its place, so that what is contiguous is seen to be.
     */
    @SuppressWarnings("restricted") // the memory is libtorch's, and only libtorch knows where it ends
    private static MemorySegment memory(long address, long[] shape, long[] strides) {
        long last = 0;
        long rowMajor = 1;
        boolean empty = false;
        for (int axis = shape.length - 1; axis >= 0; axis--) {
            if (shape[axis] == 1) {
                strides[axis] = rowMajor;
            }
            empty |= shape[axis] == 0;
            last += Math.max(shape[axis] - 1, 0) * strides[axis];
            rowMajor *= Math.max(shape[axis], 1);
        }
        return MemorySegment.ofAddress(address).reinterpret(empty ? 0 : (last + 1) * ElementType.FLOAT32.bytes());
    }

    /**
     * The address of an array's first element, in the memory of the device that the array is on.
     *
     * @param array a dense array of the PyTorch engine, of any type and on any device
     * @return the address; zero if the array is empty
     */
    public static long address(NDArray array) {
        return tensors().address(require(array).getHandle());
    }

    private static PtNDArray require(NDArray array) {
        if (!(array instanceof PtNDArray ours)) {
            throw refused(array, "is a " + array.getClass().getSimpleName(), "an array of the PyTorch engine");
        }
        if (array.getDataType() == DataType.STRING) {
            throw refused(array, "holds strings", "an array of numbers");
        }
        if (array.getSparseFormat() != SparseFormat.DENSE) {
            throw refused(array, "is sparse (" + array.getSparseFormat() + ")", "dense: convert it with toDense()");
        }
        return ours;
    }

    private static IllegalArgumentException refused(NDArray array, String problem, String legal) {
        String name = array.getName() == null ? "array" : "array " + array.getName();
        return new IllegalArgumentException(
                "%s of shape %s %s: it must be %s".formatted(name, array.getShape(), problem, legal));
    }

    private static Tensors tensors() {
        return tensors(LibTorch.tensors());
    }

    static Tensors tensors(Lookup<Tensors> lookup) {
        return switch (lookup) {
            case Lookup.Found<Tensors>(Tensors found) -> found;
            case Lookup.Missing<Tensors>(String reason) ->
                throw new UnsupportedOperationException("the memory of arrays cannot be reached: " + reason
                        + "; use the libtorch that this version of DJL was made for");
        };
    }

    /**
     * Chooses what trains fastest on this machine: oneDNN off on aarch64, where libtorch's own convolutions are faster; on
     * other machines it stays as it is. This holds for the whole process.
     *
     * @return where the switch of oneDNN stands now
     */
    public static OneDnn tune() {
        return System.getProperty("os.arch", "").equals(AARCH64) ? switchOneDnn(false) : oneDnn();
    }

    /**
     * Switches oneDNN on or off, for the whole process. Results may differ in their last bits.
     *
     * @param enabled whether libtorch may compute with oneDNN
     * @return where the switch stands now
     */
    public static OneDnn switchOneDnn(boolean enabled) {
        if (LibTorch.oneDnnSwitch() instanceof Lookup.Found<OneDnnSwitch>(OneDnnSwitch found)) {
            found.switchTo(enabled);
        }
        return oneDnn();
    }

    /**
     * Whether libtorch may compute with oneDNN.
     *
     * @return where the switch stands
     */
    public static OneDnn oneDnn() {
        return state(LibTorch.oneDnnSwitch());
    }

    static OneDnn state(Lookup<OneDnnSwitch> lookup) {
        return switch (lookup) {
            case Lookup.Found<OneDnnSwitch>(OneDnnSwitch found) -> new OneDnn.Known(found.enabled());
            case Lookup.Missing<OneDnnSwitch>(String reason) -> new OneDnn.Unknown(reason);
        };
    }
}
