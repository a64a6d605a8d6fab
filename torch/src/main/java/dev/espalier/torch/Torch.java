package dev.espalier.torch;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.SparseFormat;
import ai.djl.pytorch.engine.PtNDArray;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.Place;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.torch.LibTorch.Autocast;
import dev.espalier.torch.LibTorch.Cuda;
import dev.espalier.torch.LibTorch.Lookup;
import dev.espalier.torch.LibTorch.Memory;
import dev.espalier.torch.LibTorch.OneDnnSwitch;
import dev.espalier.torch.LibTorch.Operators;
import dev.espalier.torch.LibTorch.Tensors;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The memory of DJL's PyTorch arrays, without copies, and what of libtorch DJL does not offer: switches, and GPUs.
 *
 * <p>Views and addresses are good while their array is open and its memory is not replaced ({@link NDArray#set} replaces
 * it); nobody checks that. libtorch does not notice what is written through them: <em>never write between a forward pass
 * and the backward pass that belongs to it</em>, or the gradients are wrong without a word. After the backward pass
 * writing is safe.
 */
public final class Torch {
    /** Part of the message of a failure that libtorch tells no more of than a code. */
    public static final String FAILED = "of libtorch failed with code";

    private static final String AARCH64 = "aarch64";

    /** {@code c10::DeviceType::CPU}. */
    private static final byte CPU = 0;

    /** {@code c10::DeviceType::CUDA}. */
    private static final byte CUDA = 1;

    private Torch() {}

    /**
     * An array's memory as a tensor: what is written to one is read from the other. Arrays that are views themselves
     * (transposed, sliced, broadcast) keep their strides.
     *
     * @param array a dense float32 array of the PyTorch engine, on the CPU or a GPU
     * @return its memory where it is, lent for as long as the array is open; that of a GPU cannot be read element by element
     */
    public static TensorView view(NDArray array) {
        PtNDArray ours = require(array);
        if (array.getDataType() != DataType.FLOAT32) {
            throw refused(
                    array, "holds " + array.getDataType(), "float32: convert it with toType(DataType.FLOAT32, false)");
        }
        long[] shape = array.getShape().getShape();
        Tensors tensors = tensors();
        long[] strides = tensors.strides(ours.getHandle(), shape.length);
        return TensorView.of(
                place(array.getDevice()),
                memory(tensors.address(ours.getHandle()), shape, strides),
                ElementType.FLOAT32,
                shape,
                strides);
    }

    /**
     * Where the arrays of a device are.
     *
     * @param device the CPU or a GPU
     * @return the place of their memory
     */
    public static Place place(Device device) {
        if (device.isGpu()) {
            return Place.gpu(device.getDeviceId());
        }
        if (device.equals(Device.cpu())) {
            return Place.HOST;
        }
        throw new IllegalArgumentException("device " + device + " is not possible: it must be the CPU or a GPU");
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

    /**
     * Whether {@link #share} and {@link #zero} can be done with this libtorch.
     *
     * @return false if it lacks a function; the log says which
     */
    public static boolean shares() {
        return LibTorch.memory() instanceof Lookup.Found<Memory>;
    }

    /**
     * Has an array use the memory of another from now on, wherever it is known: as the gradient of a parameter as well. Its own is
     * given up, with what is there.
     *
     * @param array the array
     * @param memory another of the same type and shape, on the same device; it may be closed afterwards
     */
    public static void share(NDArray array, NDArray memory) {
        PtNDArray ours = require(array);
        PtNDArray other = require(memory);
        if (array.getDataType() != memory.getDataType()
                || !array.getShape().equals(memory.getShape())
                || !array.getDevice().equals(memory.getDevice())) {
            throw refused(
                    memory,
                    "of " + memory.getDataType() + " on " + memory.getDevice(),
                    "like that which it lends its memory to");
        }
        required("the sharing of memory", LibTorch.memory()).share(ours.getHandle(), other.getHandle());
    }

    /**
     * Sets an array to zero, in place.
     *
     * @param array the array
     */
    public static void zero(NDArray array) {
        required("the sharing of memory", LibTorch.memory()).zero(require(array).getHandle());
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
        return required("the memory of arrays", LibTorch.tensors());
    }

    static <T> T required(String what, Lookup<T> lookup) {
        return switch (lookup) {
            case Lookup.Found<T>(T found) -> found;
            case Lookup.Missing<T>(String reason) ->
                throw new UnsupportedOperationException(what + " cannot be reached: " + reason
                        + "; use the libtorch that this version of DJL was made for");
        };
    }

    /**
     * The GPUs that libtorch can compute on.
     *
     * @return how many, or why none
     */
    public static Gpus gpus() {
        return gpus(LibTorch.cuda());
    }

    static Gpus gpus(Lookup<Cuda> lookup) {
        return switch (lookup) {
            case Lookup.Found<Cuda>(Cuda cuda) -> {
                int count = cuda.deviceCount();
                yield count > 0
                        ? new Gpus.Found(count)
                        : new Gpus.None("libtorch finds no GPU: nvidia-smi tells whether the driver sees one, and"
                                + " CUDA_VISIBLE_DEVICES must not hide it");
            }
            case Lookup.Missing<Cuda>(String reason) -> new Gpus.None(reason);
        };
    }

    /**
     * Why the libtorch that is loaded when a GPU is asked for knows none. Nothing is loaded to find that out.
     *
     * @return the reason, and what to do; empty if it is made for CUDA, whether or not it then finds a GPU
     */
    public static Optional<String> whyNoCuda() {
        LibTorchFolder chosen = CudaLibTorch.choose();
        return chosen.cuda() ? Optional.empty() : Optional.of(CudaLibTorch.whyNot(chosen.path()));
    }

    /**
     * The stream that libtorch's work on a GPU is queued in, for the calling thread. What is queued there afterwards finds
     * that work done.
     *
     * @param gpu number of the GPU, from 0
     * @return the CUDA stream as an address; 0 for CUDA's own default
     */
    public static long stream(int gpu) {
        return required("the stream of a GPU", LibTorch.cuda()).currentStream(gpu);
    }

    /**
     * Makes GPUs compute the same for the same: cuDNN then chooses among algorithms that add up in a fixed order. This holds
     * for the whole process.
     */
    public static void tuneGpus() {
        required("the switches of GPUs", LibTorch.gpuSwitches()).requireDeterminism();
    }

    /**
     * Whether GPUs may round the factors of products and convolutions to TF32: eight bits of exponent, eleven of mantissa.
     * libtorch's own default is yes for convolutions and no for the rest. This holds for the whole process.
     *
     * @param allowed true for speed, false for single precision
     */
    public static void allowTf32(boolean allowed) {
        required("the switches of GPUs", LibTorch.gpuSwitches()).allowTf32(allowed);
    }

    /** What is switched back when it is closed, on the same thread. */
    @FunctionalInterface
    public interface Switched extends AutoCloseable {
        @Override
        void close();
    }

    /**
     * Has products and convolutions on a device computed in bfloat16 on this thread, until it is closed. Weights stay single
     * precision, and so do gradients, sums and norms: libtorch's autocast.
     *
     * @param device the CPU or a GPU
     * @return to be closed
     */
    public static Switched bfloat16(Device device) {
        Autocast autocast = required("products in bfloat16", LibTorch.autocast());
        byte type = place(device).isHost() ? CPU : CUDA;
        boolean before = autocast.switchTo(type, true);
        return () -> autocast.switchTo(type, before);
    }

    /**
     * Whether there is {@link #attention}.
     *
     * @return false for a libtorch that is too old
     */
    public static boolean hasAttention() {
        return LibTorch.operators() instanceof Lookup.Found<Operators>;
    }

    /**
     * Attention as a whole, {@code softmax(scale · query · keyᵀ + mask) · value}, without the scores in memory where libtorch can do without.
     * Gradients follow it, and the switches of this thread ({@link #bfloat16}) hold for it.
     *
     * @param query {@code [batch, heads, queries, width]}
     * @param key {@code [batch, heads, keys, width]}
     * @param value {@code [batch, heads, keys, width of values]}
     * @param mask what is added to the scores, of a shape that can be broadcast to theirs; null for nothing
     * @param dropped the share of scores that is dropped behind the softmax
     * @param scale what products are multiplied with
     * @return {@code [batch, heads, queries, width of values]}, in the manager of the query
     */
    public static NDArray attention(
            NDArray query, NDArray key, NDArray value, @Nullable NDArray mask, double dropped, double scale) {
        Operators operators = required("attention", LibTorch.operators());
        long handle = operators.call(
                "aten::scaled_dot_product_attention",
                operators.share(require(query).getHandle()),
                operators.share(require(key).getHandle()),
                operators.share(require(value).getHandle()),
                mask == null
                        ? 0
                        : operators.option(operators.share(require(mask).getHandle())),
                Double.doubleToRawLongBits(dropped),
                0, // not causal: what is hidden, the mask hides
                operators.option(Double.doubleToRawLongBits(scale)),
                0); // as many heads of keys as of queries
        return new PtNDArray(require(query).getManager(), handle);
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
