package dev.espalier.graph.type;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** How one number of a tensor is stored, little-endian, as ONNX and safetensors do. */
public enum DataType {
    /** IEEE 754 single precision. */
    FLOAT32(4, Family.FLOAT),
    /** IEEE 754 double precision. */
    FLOAT64(8, Family.FLOAT),
    /** IEEE 754 half precision. */
    FLOAT16(2, Family.FLOAT),
    /** The upper half of a single precision number. */
    BFLOAT16(2, Family.FLOAT),
    /** Signed, one byte. */
    INT8(1, Family.INTEGER),
    /** Unsigned, one byte. */
    UINT8(1, Family.INTEGER),
    /** Signed, two bytes. */
    INT16(2, Family.INTEGER),
    /** Unsigned, two bytes. */
    UINT16(2, Family.INTEGER),
    /** Signed, four bytes. */
    INT32(4, Family.INTEGER),
    /** Unsigned, four bytes. */
    UINT32(4, Family.INTEGER),
    /** Signed, eight bytes. */
    INT64(8, Family.INTEGER),
    /** Unsigned, eight bytes. */
    UINT64(8, Family.INTEGER),
    /** One byte, 0 or 1. */
    BOOL(1, Family.TRUTH);

    private enum Family {
        FLOAT,
        INTEGER,
        TRUTH
    }

    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final int bytes;
    private final Family family;

    DataType(int bytes, Family family) {
        this.bytes = bytes;
        this.family = family;
    }

    /**
     * Size of one number.
     *
     * @return its number of bytes
     */
    public int bytes() {
        return bytes;
    }

    /**
     * Whether numbers have a fraction.
     *
     * @return true for the four floating point types
     */
    public boolean isFloat() {
        return family == Family.FLOAT;
    }

    /**
     * Whether numbers are whole.
     *
     * @return true for the integer types, not for {@link #BOOL}
     */
    public boolean isInteger() {
        return family == Family.INTEGER;
    }

    double loadDouble(MemorySegment segment, long index) {
        return switch (this) {
            case FLOAT32 -> Float.intBitsToFloat(segment.get(INT, index * 4));
            case FLOAT64 -> Double.longBitsToDouble(segment.get(LONG, index * 8));
            case FLOAT16 -> Float.float16ToFloat(segment.get(SHORT, index * 2));
            case BFLOAT16 -> Float.intBitsToFloat(segment.get(SHORT, index * 2) << 16);
            case UINT64 -> unsigned(loadLong(segment, index));
            case INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, BOOL -> loadLong(segment, index);
        };
    }

    long loadLong(MemorySegment segment, long index) {
        return switch (this) {
            case INT8 -> segment.get(ValueLayout.JAVA_BYTE, index);
            case UINT8, BOOL -> Byte.toUnsignedLong(segment.get(ValueLayout.JAVA_BYTE, index));
            case INT16 -> segment.get(SHORT, index * 2);
            case UINT16 -> Short.toUnsignedLong(segment.get(SHORT, index * 2));
            case INT32 -> segment.get(INT, index * 4);
            case UINT32 -> Integer.toUnsignedLong(segment.get(INT, index * 4));
            case INT64, UINT64 -> segment.get(LONG, index * 8);
            case FLOAT32, FLOAT64, FLOAT16, BFLOAT16 -> (long) loadDouble(segment, index);
        };
    }

    void storeDouble(MemorySegment segment, long index, double value) {
        switch (this) {
            case FLOAT32 -> segment.set(INT, index * 4, Float.floatToRawIntBits((float) value));
            case FLOAT64 -> segment.set(LONG, index * 8, Double.doubleToRawLongBits(value));
            case FLOAT16 -> segment.set(SHORT, index * 2, Float.floatToFloat16((float) value));
            case BFLOAT16 -> segment.set(SHORT, index * 2, toBfloat16((float) value));
            case BOOL -> storeLong(segment, index, value != 0 ? 1 : 0);
            case INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64 -> storeLong(segment, index, (long) value);
        }
    }

    void storeLong(MemorySegment segment, long index, long value) {
        switch (this) {
            case INT8, UINT8 -> segment.set(ValueLayout.JAVA_BYTE, index, (byte) value);
            case BOOL -> segment.set(ValueLayout.JAVA_BYTE, index, (byte) (value != 0 ? 1 : 0));
            case INT16, UINT16 -> segment.set(SHORT, index * 2, (short) value);
            case INT32, UINT32 -> segment.set(INT, index * 4, (int) value);
            case INT64, UINT64 -> segment.set(LONG, index * 8, value);
            case FLOAT32, FLOAT64, FLOAT16, BFLOAT16 -> storeDouble(segment, index, (double) value);
        }
    }

    /** Half of it, rounded to odd so that the last bit still counts, and doubled. */
    private static double unsigned(long bits) {
        return bits >= 0 ? (double) bits : (double) ((bits >>> 1) | (bits & 1)) * 2;
    }

    /** Rounds to nearest, ties to even, as hardware does; not-a-number stays one. */
    private static short toBfloat16(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            return (short) ((bits >>> 16) | 0x40);
        }
        return (short) ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16);
    }
}
