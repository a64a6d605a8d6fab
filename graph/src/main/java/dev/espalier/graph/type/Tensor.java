package dev.espalier.graph.type;

import dev.espalier.core.check.Check;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A tensor with its contents, in row-major order; nobody can change it. */
public final class Tensor {
    private final DataType type;
    private final long[] shape;
    private final long size;
    /** The contents; null if they are made when somebody asks for them. */
    private final @Nullable MemorySegment data;

    /** Makes them; null once that is done. */
    private @Nullable Supplier<MemorySegment> source;

    /** What was made. */
    private volatile @Nullable MemorySegment made;

    private Tensor(DataType type, long[] shape, MemorySegment data) {
        this.type = type;
        this.shape = shape;
        this.size = size(shape);
        this.data = checked(data);
    }

    private Tensor(DataType type, long[] shape, Supplier<MemorySegment> source) {
        this.type = type;
        this.shape = shape;
        this.size = size(shape);
        this.data = null;
        this.source = source;
    }

    private synchronized MemorySegment make() {
        MemorySegment known = made;
        if (known == null) {
            known = checked(Objects.requireNonNull(source).get());
            made = known;
            source = null; // and whatever it was made of
        }
        return known;
    }

    private MemorySegment checked(MemorySegment contents) {
        long needed = Math.multiplyExact(size, type.bytes());
        if (contents.byteSize() != needed) {
            throw new IllegalArgumentException("a tensor %s%s needs %d bytes but there are %d"
                    .formatted(type, Arrays.toString(shape), needed, contents.byteSize()));
        }
        return contents.asReadOnly();
    }

    /**
     * {@return a tensor over memory that nobody writes any more}
     *
     * @param type how its numbers are stored
     * @param shape its lengths
     * @param data its numbers, little-endian, in row-major order
     */
    public static Tensor of(DataType type, long[] shape, MemorySegment data) {
        return new Tensor(type, shape.clone(), data);
    }

    /**
     * {@return a tensor whose contents are made when they are asked for, which may be never}
     *
     * @param type how its numbers are stored
     * @param shape its lengths
     * @param source makes its numbers, once: little-endian, in row-major order, in memory that nobody writes any more
     */
    public static Tensor later(DataType type, long[] shape, Supplier<MemorySegment> source) {
        return new Tensor(type, shape.clone(), source);
    }

    /**
     * {@return a tensor of single precision numbers}
     *
     * @param values its numbers; copied
     * @param shape its lengths; one axis of all numbers if left out
     */
    public static Tensor of(float[] values, long... shape) {
        return filled(DataType.FLOAT32, shape.length == 0 ? new long[] {values.length} : shape, values.length)
                .set((target, i) -> DataType.FLOAT32.storeDouble(target, i, values[(int) i]));
    }

    /**
     * {@return a tensor of whole numbers of eight bytes}
     *
     * @param values its numbers; copied
     * @param shape its lengths; one axis of all numbers if left out
     */
    public static Tensor of(long[] values, long... shape) {
        return filled(DataType.INT64, shape.length == 0 ? new long[] {values.length} : shape, values.length)
                .set((target, i) -> DataType.INT64.storeLong(target, i, values[(int) i]));
    }

    /**
     * A single number.
     *
     * @param type how it is stored
     * @param value the number
     * @return a tensor without axes
     */
    public static Tensor scalar(DataType type, double value) {
        return filled(type, new long[0], 1).set((target, i) -> type.storeDouble(target, i, value));
    }

    /** What computes a tensor's numbers, one by one. */
    @FunctionalInterface
    public interface DoubleSource {
        /**
         * {@return one number}
         *
         * @param index its position in row-major order
         */
        double at(long index);
    }

    /** What computes a tensor's whole numbers, one by one. */
    @FunctionalInterface
    public interface LongSource {
        /**
         * {@return one number}
         *
         * @param index its position in row-major order
         */
        long at(long index);
    }

    /**
     * {@return a tensor of computed numbers, rounded to the type}
     *
     * @param type how they are stored
     * @param shape its lengths
     * @param source computes them
     */
    public static Tensor compute(DataType type, long[] shape, DoubleSource source) {
        return filled(type, shape, size(shape)).set((target, i) -> type.storeDouble(target, i, source.at(i)));
    }

    /**
     * {@return a tensor of computed whole numbers, which a double might not hold}
     *
     * @param type how they are stored
     * @param shape its lengths
     * @param source computes them
     */
    public static Tensor computeLongs(DataType type, long[] shape, LongSource source) {
        return filled(type, shape, size(shape)).set((target, i) -> type.storeLong(target, i, source.at(i)));
    }

    @FunctionalInterface
    private interface Store {
        void store(MemorySegment target, long index);
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Blank(DataType type, long[] shape, MemorySegment memory) {
        Tensor set(Store store) {
            long size = Tensor.size(shape);
            for (long i = 0; i < size; i++) {
                store.store(memory, i);
            }
            return new Tensor(type, shape, memory);
        }
    }

    private static Blank filled(DataType type, long[] shape, long values) {
        Check.sameSize("the array", values, "shape " + Arrays.toString(shape), size(shape));
        long bytes = Math.multiplyExact(values, type.bytes());
        return new Blank(type, shape.clone(), Arena.ofAuto().allocate(bytes, 64));
    }

    /**
     * Number of elements of a shape.
     *
     * @param shape lengths
     * @return their product
     */
    public static long size(long... shape) {
        long size = 1;
        for (long length : shape) {
            Check.atLeast("a length of " + Arrays.toString(shape), length, 0);
            try {
                size = Math.multiplyExact(size, length);
            } catch (ArithmeticException tooLarge) {
                throw new IllegalArgumentException(
                        "shape " + Arrays.toString(shape) + " has more elements than memory can hold", tooLarge);
            }
        }
        return size;
    }

    /**
     * How its numbers are stored.
     *
     * @return the type of one number
     */
    public DataType type() {
        return type;
    }

    /**
     * Its lengths.
     *
     * @return a copy, one for each axis
     */
    public long[] shape() {
        return shape.clone();
    }

    /**
     * Number of axes.
     *
     * @return how many
     */
    public int rank() {
        return shape.length;
    }

    /**
     * Number of elements.
     *
     * @return the product of its lengths
     */
    public long size() {
        return size;
    }

    /**
     * Its type, as a graph knows it.
     *
     * @return the type of its numbers, and its shape
     */
    public TensorType tensorType() {
        return new TensorType(type, Shape.ofLengths(shape));
    }

    /**
     * Its contents.
     *
     * @return read-only memory, little-endian, in row-major order
     */
    public MemorySegment data() {
        MemorySegment known = data != null ? data : made;
        return known != null ? known : make();
    }

    /**
     * {@return one number}
     *
     * @param index position in row-major order
     */
    public double getDouble(long index) {
        return type.loadDouble(data(), index);
    }

    /**
     * One number as a whole number; fractions are cut off.
     *
     * @param index position in row-major order
     * @return the number
     */
    public long getLong(long index) {
        return type.loadLong(data(), index);
    }

    /** {@return the root of the mean of all squares; 0 if there are no numbers} */
    public double rootMeanSquare() {
        double squares = 0;
        for (long i = 0; i < size(); i++) {
            squares += getDouble(i) * getDouble(i);
        }
        return Math.sqrt(squares / Math.max(1, size()));
    }

    /** {@return a copy of all numbers as whole numbers} */
    public long[] toLongs() {
        long[] values = new long[Math.toIntExact(size)];
        Arrays.setAll(values, this::getLong);
        return values;
    }

    /** {@return a copy of all numbers in single precision} */
    public float[] toFloats() {
        float[] values = new float[Math.toIntExact(size)];
        read(0, values);
        return values;
    }

    /**
     * Copies some numbers in a row, in single precision.
     *
     * @param from position of the first one in row-major order
     * @param values where they are put; it is filled
     */
    public void read(long from, float[] values) {
        if (type == DataType.FLOAT32) {
            MemorySegment.ofArray(values)
                    .copyFrom(data().asSlice(from * Float.BYTES, (long) values.length * Float.BYTES));
            return;
        }
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) getDouble(from + i);
        }
    }

    /**
     * The same numbers, stored otherwise.
     *
     * @param other how
     * @return a tensor of the same shape
     */
    public Tensor cast(DataType other) {
        if (other == type) {
            return this;
        }
        return type.isFloat() || other.isFloat()
                ? compute(other, shape, this::getDouble)
                : computeLongs(other, shape, this::getLong);
    }

    /**
     * The same numbers in another shape.
     *
     * @param lengths the new lengths, with the same product
     * @return a tensor on the same memory
     */
    public Tensor reshape(long... lengths) {
        return new Tensor(type, lengths.clone(), data());
    }

    /**
     * The tensor as the optimizers see tensors, for reading.
     *
     * @return a view of the same memory
     */
    public TensorView view() {
        return switch (type) {
            case FLOAT32 -> TensorView.of(data(), ElementType.FLOAT32, shape);
            case FLOAT64 -> TensorView.of(data(), ElementType.FLOAT64, shape);
            default -> cast(DataType.FLOAT32).view();
        };
    }

    /**
     * Whether type, shape and every bit are the same.
     *
     * @param other the other tensor
     * @return true if nothing differs
     */
    public boolean sameAs(Tensor other) {
        return type == other.type && Arrays.equals(shape, other.shape) && data().mismatch(other.data()) < 0;
    }

    @Override
    public String toString() {
        return tensorType().toString();
    }
}
