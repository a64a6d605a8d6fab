package dev.espalier.core.tensor;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** How one number is stored. Arithmetic is always in double; only loads and stores differ. */
public enum ElementType {
    /** IEEE 754 single precision, four bytes. */
    FLOAT32(ValueLayout.JAVA_FLOAT_UNALIGNED) {
        @Override
        double load(MemorySegment segment, long index) {
            return segment.get(ValueLayout.JAVA_FLOAT_UNALIGNED, index * Float.BYTES);
        }

        @Override
        void store(MemorySegment segment, long index, double value) {
            segment.set(ValueLayout.JAVA_FLOAT_UNALIGNED, index * Float.BYTES, (float) value);
        }
    },
    /** IEEE 754 double precision, eight bytes. */
    FLOAT64(ValueLayout.JAVA_DOUBLE_UNALIGNED) {
        @Override
        double load(MemorySegment segment, long index) {
            return segment.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, index * Double.BYTES);
        }

        @Override
        void store(MemorySegment segment, long index, double value) {
            segment.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, index * Double.BYTES, value);
        }
    };

    private final ValueLayout layout;

    ElementType(ValueLayout layout) {
        this.layout = layout;
    }

    /**
     * Size of one number.
     *
     * @return its number of bytes
     */
    public long bytes() {
        return layout.byteSize();
    }

    abstract double load(MemorySegment segment, long index);

    abstract void store(MemorySegment segment, long index, double value);
}
