package dev.espalier.data.array;

import dev.espalier.data.DataException;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An array in NumPy's format: a header that says type and shape, and the numbers, which are read where they are. */
final class NpyArray {
    private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
    private static final int VERSION_AT = 6;
    private static final int LENGTH_AT = 8;
    private static final Pattern DESCR = Pattern.compile("'descr'\\s*:\\s*'([^']*)'");
    private static final Pattern FORTRAN = Pattern.compile("'fortran_order'\\s*:\\s*(True|False)");
    private static final Pattern SHAPE = Pattern.compile("'shape'\\s*:\\s*\\(([0-9, ]*)\\)");
    private static final Map<String, DataType> TYPES = Map.ofEntries(
            Map.entry("<f2", DataType.FLOAT16),
            Map.entry("<f4", DataType.FLOAT32),
            Map.entry("<f8", DataType.FLOAT64),
            Map.entry("|i1", DataType.INT8),
            Map.entry("<i2", DataType.INT16),
            Map.entry("<i4", DataType.INT32),
            Map.entry("<i8", DataType.INT64),
            Map.entry("|u1", DataType.UINT8),
            Map.entry("<u2", DataType.UINT16),
            Map.entry("<u4", DataType.UINT32),
            Map.entry("<u8", DataType.UINT64),
            Map.entry("|b1", DataType.BOOL));
    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final String place;
    private final Tensor array;

    private NpyArray(String place, Tensor array) {
        this.place = place;
        this.array = array;
    }

    /** Reads the header; the numbers stay where they are. */
    static NpyArray of(String place, MemorySegment file) throws DataException {
        if (file.byteSize() < LENGTH_AT + 4
                || !Arrays.equals(file.asSlice(0, MAGIC.length).toArray(ValueLayout.JAVA_BYTE), MAGIC)) {
            throw DataException.in(place, "no array that NumPy saved (numpy.save, numpy.savez)");
        }
        boolean old = file.get(ValueLayout.JAVA_BYTE, VERSION_AT) == 1;
        int start = LENGTH_AT + (old ? 2 : 4);
        long length = old
                ? Short.toUnsignedLong(
                        file.get(ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), LENGTH_AT))
                : Integer.toUnsignedLong(
                        file.get(ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), LENGTH_AT));
        if (start + length > file.byteSize()) {
            throw DataException.in(place, "it ends within its header: cut off?");
        }
        String header =
                new String(file.asSlice(start, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.ISO_8859_1);
        DataType type = type(place, find(place, header, DESCR));
        if (find(place, header, FORTRAN).equals("True")) {
            throw DataException.in(place, "it is in Fortran's order: save numpy.ascontiguousarray(array) instead");
        }
        long[] shape = shape(place, find(place, header, SHAPE));
        if (shape.length == 0 || shape[0] < 1 || shape[0] > Integer.MAX_VALUE) {
            throw DataException.in(
                    place,
                    "its shape is %s: the first axis must be that of rows, 1 or more"
                            .formatted(Arrays.toString(shape)));
        }
        MemorySegment numbers = file.asSlice(start + length);
        long expected = bytes(place, shape, type);
        if (numbers.byteSize() != expected) {
            throw DataException.in(
                    place,
                    "%,d bytes of numbers, but its header announces %,d".formatted(numbers.byteSize(), expected));
        }
        return new NpyArray(place, Tensor.of(type, shape, numbers));
    }

    private static long[] shape(String place, String axes) throws DataException {
        try {
            return Arrays.stream(axes.split(",", -1))
                    .map(String::strip)
                    .filter(text -> !text.isEmpty())
                    .mapToLong(Long::parseLong)
                    .toArray();
        } catch (NumberFormatException malformed) {
            throw DataException.in(place, "its shape is (%s): expected whole numbers".formatted(axes), malformed);
        }
    }

    private static long bytes(String place, long[] shape, DataType type) throws DataException {
        try {
            return Math.multiplyExact(Tensor.size(shape), type.bytes());
        } catch (IllegalArgumentException | ArithmeticException tooLarge) {
            throw DataException.in(
                    place,
                    "its shape is %s: more numbers than memory can hold".formatted(Arrays.toString(shape)),
                    tooLarge);
        }
    }

    private static String find(String place, String header, Pattern pattern) throws DataException {
        Matcher matcher = pattern.matcher(header);
        if (!matcher.find()) {
            throw DataException.in(place, "its header is %s, without %s".formatted(header.strip(), pattern));
        }
        return matcher.group(1);
    }

    private static DataType type(String place, String descr) throws DataException {
        if (descr.contains("O")) {
            throw DataException.in(
                    place, "it holds objects that Python pickled, which can be code and are not read: save numbers");
        }
        DataType type = TYPES.get(descr);
        if (type == null) {
            throw DataException.in(
                    place,
                    "its numbers are of the type %s: save array.astype('<f4'), or one of %s"
                            .formatted(descr, TYPES.keySet().stream().sorted().toList()));
        }
        return type;
    }

    String place() {
        return place;
    }

    Tensor tensor() {
        return array;
    }

    DataType type() {
        return array.type();
    }

    int rows() {
        return (int) array.shape()[0];
    }

    /** The lengths of one row. */
    List<Integer> rowShape() throws DataException {
        List<Integer> lengths = new ArrayList<>();
        long[] shape = array.shape();
        for (long length : Arrays.copyOfRange(shape, 1, shape.length)) {
            if (length < 1 || length > Integer.MAX_VALUE) {
                throw DataException.in(
                        place, "its shape is %s: no axis may be empty".formatted(Arrays.toString(shape)));
            }
            lengths.add((int) length);
        }
        return lengths;
    }

    /** Copies some numbers, by their position in the whole array. */
    void copy(long from, int count, float[] target, int offset) {
        if (array.type() == DataType.FLOAT32) {
            MemorySegment.copy(array.data(), FLOAT, from * Float.BYTES, target, offset, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            target[offset + i] = number(from + i);
        }
    }

    float number(long at) {
        return (float) array.getDouble(at);
    }

    long whole(long at) {
        return array.getLong(at);
    }

    /** Refuses an array with numbers that are not finite: nothing that is computed from them would be. */
    void requireFinite() throws DataException {
        if (!array.type().isFloat()) {
            return;
        }
        long perRow = array.size() / rows();
        for (long i = 0; i < array.size(); i++) {
            float value = number(i);
            if (!Float.isFinite(value)) {
                throw DataException.in(
                        place, "row %,d has the value %s: expected finite numbers".formatted(i / perRow, value));
            }
        }
    }
}
