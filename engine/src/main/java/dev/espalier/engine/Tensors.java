package dev.espalier.engine;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.types.SparseFormat;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.Place;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torch.Torch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Between tensors of a graph and arrays of DJL's PyTorch engine, and the few things that all kernels do to arrays. */
final class Tensors {
    private static final int ALIGNMENT = 64;

    private Tensors() {}

    /** An array as a tensor; its numbers are copied. */
    static Tensor tensor(NDArray array) {
        return copy((PtNDArray) array).tensor();
    }

    /** A copy of an array in the processor's own memory, in row-major order. */
    static Copy copy(PtNDArray array) {
        boolean recorded = JniUtils.isGradMode();
        JniUtils.setGradMode(false);
        try (PtNDManager scratch = array.getManager().newSubManager(array.getDevice());
                NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            PtNDArray source = alias(array);
            source.attach(scratch);
            PtNDArray near = source.toDevice(ai.djl.Device.cpu(), false);
            // Copying into fresh memory undoes strides.
            PtNDArray dense = near.getManager().create(array.getShape(), array.getDataType());
            copy(flat(near), flat(dense));
            MemorySegment memory = memory(dense);
            MemorySegment own = Arena.ofAuto().allocate(memory.byteSize(), ALIGNMENT);
            return new Copy(type(array.getDataType()), array.getShape().getShape(), own.copyFrom(memory));
        } finally {
            JniUtils.setGradMode(recorded);
        }
    }

    private static PtNDArray flat(PtNDArray array) {
        return JniUtils.reshape(array, new long[] {-1});
    }

    /** Overwrites one list of numbers by another, which may be of another type and on another device; differentiable. */
    private static void copy(PtNDArray from, PtNDArray to) {
        JniUtils.indexSet(to, from, new long[] {0}, new long[] {from.getShape().get(0)}, new long[] {1});
    }

    /** Overwrites an array by another of the same type and size, on the same device; nothing is remembered for gradients. */
    static void store(PtNDArray from, PtNDArray to) {
        boolean recorded = JniUtils.isGradMode();
        JniUtils.setGradMode(false);
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            copy(flat(from), flat(to));
        } finally {
            JniUtils.setGradMode(recorded);
        }
    }

    /** A tensor as an array on the manager's device; its numbers are copied once, or twice on their way to a GPU. */
    static PtNDArray upload(PtNDManager manager, Tensor tensor) {
        if (manager.getDevice().equals(ai.djl.Device.cpu())) {
            PtNDArray array = manager.create(shape(tensor.shape()), djl(tensor.type()));
            memory(array).copyFrom(tensor.data());
            return array;
        }
        try (NDManager host = manager.newSubManager(ai.djl.Device.cpu())) {
            PtNDArray array = upload((PtNDManager) host, tensor).toDevice(manager.getDevice(), false);
            array.attach(manager);
            return array;
        }
    }

    /** The same array of samples, channels, height and width, with the channels of a pixel side by side in memory. */
    static PtNDArray channelsLast(PtNDArray images) {
        PtNDArray pixels = images.transpose(0, 2, 3, 1);
        PtNDArray dense = JniUtils.reshape(
                JniUtils.flatten(pixels, 0, -1), pixels.getShape().getShape());
        return dense.transpose(0, 3, 1, 2);
    }

    /** Overwrites an array by a tensor of the same type and shape. */
    static void load(PtNDArray array, Tensor tensor) {
        if (array.getDevice().equals(ai.djl.Device.cpu())) {
            memory(array).copyFrom(tensor.data());
            return;
        }
        try (PtNDManager scratch = array.getManager().newSubManager(array.getDevice());
                NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            copy(flat(upload(scratch, tensor)), flat(array));
        }
    }

    /** The memory of a contiguous array, or the addresses that it has on its device. */
    @SuppressWarnings("restricted") // the memory is libtorch's, and only libtorch knows where it ends
    static MemorySegment memory(PtNDArray array) {
        long bytes = array.getShape().size() * array.getDataType().getNumOfBytes();
        return bytes == 0
                ? MemorySegment.NULL
                : MemorySegment.ofAddress(Torch.address(array)).reinterpret(bytes);
    }

    /**
     * The memory of a parameter or its gradient. Optimizers take single precision, and so does {@link Torch#view}; double
     * precision is for checks. A network makes its arrays in row-major order, and gradients take after their parameters.
     */
    static TensorView view(PtNDArray array) {
        return array.getDataType() == ai.djl.ndarray.types.DataType.FLOAT64
                ? doubles(
                        Torch.place(array.getDevice()),
                        memory(array),
                        array.getShape().getShape())
                : Torch.view(array);
    }

    private static TensorView doubles(Place place, MemorySegment memory, long[] shape) {
        long[] strides = TensorView.of(memory, ElementType.FLOAT64, shape).strides();
        return TensorView.of(place, memory, ElementType.FLOAT64, shape, strides);
    }

    /**
     * Memory of our own with the numbers of an array.
     *
     * @param type what they are
     * @param shape how they are arranged, in row-major order
     * @param memory where they are
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Copy(DataType type, long[] shape, MemorySegment memory) {
        /** A copy of numbers in row-major order. */
        static Copy of(DataType type, long[] shape, MemorySegment numbers) {
            return new Copy(
                    type,
                    shape,
                    Arena.ofAuto().allocate(numbers.byteSize(), ALIGNMENT).copyFrom(numbers));
        }

        /** Room for the numbers of an array. */
        static Copy blank(PtNDArray array) {
            long bytes = array.getShape().size() * array.getDataType().getNumOfBytes();
            return new Copy(
                    Tensors.type(array.getDataType()),
                    array.getShape().getShape(),
                    Arena.ofAuto().allocate(bytes, ALIGNMENT));
        }

        TensorView view() {
            ElementType element = switch (type) {
                case FLOAT32 -> ElementType.FLOAT32;
                case FLOAT64 -> ElementType.FLOAT64;
                default -> throw new IllegalStateException("parameters are no " + type);
            };
            return TensorView.of(memory, element, shape);
        }

        Tensor tensor() {
            return Tensor.of(type, shape, memory);
        }
    }

    /** Another handle of the same array; gradients pass. */
    static PtNDArray alias(PtNDArray array) {
        return isBfloat16(array)
                ? JniUtils.reshape(array, array.getShape().getShape())
                : JniUtils.to(array, array.getDataType(), array.getDevice());
    }

    /** Whether an array is of the one type that {@link Precision#BF16} makes, for which DJL's native code has no number. */
    static boolean isBfloat16(PtNDArray array) {
        return array.getDataType() == ai.djl.ndarray.types.DataType.UNKNOWN;
    }

    /** One number on the same device as an array, of a type that leaves the array's as it is. */
    static PtNDArray scalar(PtNDArray like, double value) {
        ai.djl.ndarray.types.DataType type =
                isBfloat16(like) ? ai.djl.ndarray.types.DataType.FLOAT32 : like.getDataType();
        return JniUtils.full(like.getManager(), shape(), value, type, like.getDevice(), SparseFormat.DENSE);
    }

    static PtNDArray plus(PtNDArray array, double number) {
        return JniUtils.add(array, scalar(array, number));
    }

    static PtNDArray times(PtNDArray array, double number) {
        return JniUtils.mul(array, scalar(array, number));
    }

    static PtNDArray clip(PtNDArray array, double least, double most) {
        return JniUtils.clip(array, number(array, least), number(array, most));
    }

    /** A number of a kind that does not change the array's type; of an integer type one that it can hold, for libtorch refuses others. */
    private static Number number(PtNDArray array, double value) {
        return switch (array.getDataType()) {
            case FLOAT64 -> (Number) value;
            case INT8 -> (Number) Math.clamp((long) value, Byte.MIN_VALUE, Byte.MAX_VALUE);
            case UINT8 -> (Number) Math.clamp((long) value, 0, 0xFF);
            case INT32 -> (Number) Math.clamp((long) value, Integer.MIN_VALUE, Integer.MAX_VALUE);
            case INT64 -> (Number) (long) value;
            default -> (Number) (float) value;
        };
    }

    /** Numbers stored otherwise. libtorch's own conversion, as DJL calls it, cuts gradients off: copying does not. */
    static PtNDArray cast(PtNDArray array, ai.djl.ndarray.types.DataType type) {
        if (array.getDataType() == type) {
            return alias(array);
        }
        boolean fractions = array.getDataType().isFloating() || isBfloat16(array);
        if (!fractions || !type.isFloating() || !JniUtils.isGradMode()) {
            return array.toType(type, false);
        }
        PtNDArray numbers = flat(array);
        PtNDArray result = JniUtils.createEmptyNdArray(
                array.getManager(), numbers.getShape(), type, array.getDevice(), SparseFormat.DENSE);
        copy(numbers, result);
        return JniUtils.reshape(result, array.getShape().getShape());
    }

    /** An array with elements added, or cut off where a number is negative, before and after each axis. */
    static PtNDArray pad(PtNDArray array, long[] before, long[] after, double value) {
        int rank = before.length;
        long[] lastAxisFirst = new long[2 * rank];
        for (int axis = 0; axis < rank; axis++) {
            lastAxisFirst[2 * (rank - 1 - axis)] = before[axis];
            lastAxisFirst[2 * (rank - 1 - axis) + 1] = after[axis];
        }
        return JniUtils.pad(array, lastAxisFirst, value);
    }

    static ai.djl.Device djl(Device device) {
        return device.isGpu() ? ai.djl.Device.gpu(device.place().gpu()) : ai.djl.Device.cpu();
    }

    static ai.djl.ndarray.types.Shape shape(long... lengths) {
        return new ai.djl.ndarray.types.Shape(lengths);
    }

    static ai.djl.ndarray.types.DataType djl(DataType type) {
        return switch (type) {
            case FLOAT32 -> ai.djl.ndarray.types.DataType.FLOAT32;
            case FLOAT64 -> ai.djl.ndarray.types.DataType.FLOAT64;
            case FLOAT16 -> ai.djl.ndarray.types.DataType.FLOAT16;
            case INT8 -> ai.djl.ndarray.types.DataType.INT8;
            case UINT8 -> ai.djl.ndarray.types.DataType.UINT8;
            case INT32 -> ai.djl.ndarray.types.DataType.INT32;
            case INT64 -> ai.djl.ndarray.types.DataType.INT64;
            case BOOL -> ai.djl.ndarray.types.DataType.BOOLEAN;
            // DJL's native code knows no number for these, and ends the process when it is asked for one.
            case BFLOAT16, INT16, UINT16, UINT32, UINT64 ->
                throw new IllegalArgumentException("DJL has no arrays of " + type
                        + " on PyTorch: use FLOAT32, FLOAT64, FLOAT16, INT8, UINT8, INT32, INT64 or BOOL");
        };
    }

    static DataType type(ai.djl.ndarray.types.DataType type) {
        return switch (type) {
            case FLOAT32 -> DataType.FLOAT32;
            case FLOAT64 -> DataType.FLOAT64;
            case FLOAT16 -> DataType.FLOAT16;
            case INT8 -> DataType.INT8;
            case UINT8 -> DataType.UINT8;
            case INT32 -> DataType.INT32;
            case INT64 -> DataType.INT64;
            case BOOLEAN -> DataType.BOOL;
            default -> throw new IllegalArgumentException("a graph has no tensors of " + type);
        };
    }
}
