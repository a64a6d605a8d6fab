package dev.espalier.core.tensor;

import dev.espalier.core.check.Check;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A tensor in memory that somebody else owns: a segment, an element type, a shape and strides.
 *
 * <p>Elements are addressed by their <em>logical index</em>: their position when the tensor is read in row-major order
 * of its shape, whatever the strides say. Nothing is ever copied: writes go through to the owner's memory.
 */
public final class TensorView {
    private final Place place;
    private final MemorySegment segment;
    private final ElementType type;
    private final long[] shape;
    private final long[] strides;
    private final long size;
    private final boolean contiguous;

    private TensorView(Place place, MemorySegment segment, ElementType type, long[] shape, long[] strides) {
        if (shape.length != strides.length) {
            throw new IllegalArgumentException("shape " + Arrays.toString(shape) + " and strides "
                    + Arrays.toString(strides) + " do not fit: they must have the same number of dimensions");
        }
        long count = 1;
        long last = 0;
        for (int axis = 0; axis < shape.length; axis++) {
            Check.atLeast("shape[" + axis + "]", shape[axis], 0);
            Check.atLeast("strides[" + axis + "]", strides[axis], 0);
            count = Math.multiplyExact(count, shape[axis]);
            last = Math.addExact(last, Math.multiplyExact(Math.max(shape[axis] - 1, 0), strides[axis]));
        }
        long needed = count == 0 ? 0 : Math.multiplyExact(Math.addExact(last, 1), type.bytes());
        if (segment.byteSize() < needed) {
            throw new IllegalArgumentException("shape %s with strides %s needs %d bytes of %s but the memory has %d"
                    .formatted(Arrays.toString(shape), Arrays.toString(strides), needed, type, segment.byteSize()));
        }
        this.place = place;
        this.segment = segment;
        this.type = type;
        this.shape = shape;
        this.strides = strides;
        this.size = count;
        this.contiguous = Arrays.equals(strides, rowMajor(shape));
    }

    /**
     * {@return a view of raw memory}
     *
     * @param segment the memory; element zero of the tensor is at its beginning
     * @param type how a number is stored
     * @param shape number of elements along every dimension
     * @param strides distance, in elements, between neighbours along every dimension
     */
    public static TensorView of(MemorySegment segment, ElementType type, long[] shape, long[] strides) {
        return of(Place.HOST, segment, type, shape, strides);
    }

    /**
     * {@return a view of raw memory anywhere}
     *
     * @param place where the memory is; unless that is the host, elements cannot be read or written one by one
     * @param segment the memory, or the addresses that it has on its device; element zero of the tensor is at its beginning
     * @param type how a number is stored
     * @param shape number of elements along every dimension
     * @param strides distance, in elements, between neighbours along every dimension
     */
    public static TensorView of(Place place, MemorySegment segment, ElementType type, long[] shape, long[] strides) {
        return new TensorView(place, segment, type, shape.clone(), strides.clone());
    }

    /**
     * {@return a view of raw memory in row-major order}
     *
     * @param segment the memory
     * @param type how a number is stored
     * @param shape number of elements along every dimension
     */
    public static TensorView of(MemorySegment segment, ElementType type, long... shape) {
        return of(Place.HOST, segment, type, shape, rowMajor(shape));
    }

    /**
     * {@return a view of a float array in row-major order}
     *
     * @param values the array, written through
     * @param shape number of elements along every dimension; one dimension of all elements if left out
     */
    public static TensorView of(float[] values, long... shape) {
        return ofArray(MemorySegment.ofArray(values), ElementType.FLOAT32, values.length, shape);
    }

    /**
     * {@return a view of a double array in row-major order}
     *
     * @param values the array, written through
     * @param shape number of elements along every dimension; one dimension of all elements if left out
     */
    public static TensorView of(double[] values, long... shape) {
        return ofArray(MemorySegment.ofArray(values), ElementType.FLOAT64, values.length, shape);
    }

    private static TensorView ofArray(MemorySegment segment, ElementType type, int length, long[] shape) {
        return of(segment, type, shape.length == 0 ? new long[] {length} : shape);
    }

    /**
     * {@return the element at a logical index}
     *
     * @param index position in row-major order of the shape
     */
    public double get(long index) {
        return type.load(segment, position(index));
    }

    /**
     * Writes the element at a logical index, rounded to the element type.
     *
     * @param index position in row-major order of the shape
     * @param value its new value
     */
    public void set(long index, double value) {
        type.store(segment, position(index), value);
    }

    private long position(long index) {
        if (!place.isHost()) {
            throw new IllegalStateException("the tensor is on " + place
                    + ", where its elements cannot be read or written one by one: copy it to the host");
        }
        if (contiguous) {
            return index;
        }
        long rest = index;
        long position = 0;
        for (int axis = shape.length - 1; axis >= 0; axis--) {
            position += rest % shape[axis] * strides[axis];
            rest /= shape[axis];
        }
        return position;
    }

    /**
     * Number of elements.
     *
     * @return the product of the shape
     */
    public long size() {
        return size;
    }

    /**
     * Number of elements along every dimension.
     *
     * @return a copy of the shape
     */
    public long[] shape() {
        return shape.clone();
    }

    /**
     * Distance, in elements, between neighbours along every dimension.
     *
     * @return a copy of the strides
     */
    public long[] strides() {
        return strides.clone();
    }

    /**
     * How a number is stored.
     *
     * @return the element type
     */
    public ElementType type() {
        return type;
    }

    /**
     * Where the memory is.
     *
     * @return the host, or a device
     */
    public Place place() {
        return place;
    }

    /**
     * The memory behind the view.
     *
     * @return the segment, element zero first
     */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * Whether logical index and memory position are the same.
     *
     * @return true if the strides are those of row-major order
     */
    public boolean contiguous() {
        return contiguous;
    }

    @Override
    public String toString() {
        return type + Arrays.toString(shape);
    }

    private static long[] rowMajor(long[] shape) {
        long[] strides = new long[shape.length];
        long stride = 1;
        for (int axis = shape.length - 1; axis >= 0; axis--) {
            strides[axis] = stride;
            if (Math.multiplyHigh(stride, Math.max(shape[axis], 1)) != 0 || stride * Math.max(shape[axis], 1) < 0) {
                throw new IllegalArgumentException("shape " + Arrays.toString(shape)
                        + " is out of range: it has more elements than memory can hold");
            }
            stride *= Math.max(shape[axis], 1);
        }
        return strides;
    }
}
