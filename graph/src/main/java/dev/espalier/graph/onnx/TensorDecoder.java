package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.TensorProto;
import com.google.protobuf.ByteString;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** ONNX's tensors, in all the forms that they are stored in. Nothing is allocated before its size was checked. */
final class TensorDecoder {
    /** Nobody's tensor has more; a hostile file might. */
    static final int MOST_AXES = 64;

    private final ExternalData external;

    TensorDecoder(ExternalData external) {
        this.external = external;
    }

    Tensor decode(TensorProto tensor, String what) throws IOException {
        DataType type = type(tensor, what);
        long[] shape = shape(tensor, what);
        long count;
        long bytes;
        try {
            count = Tensor.size(shape);
            bytes = Math.multiplyExact(count, type.bytes());
        } catch (IllegalArgumentException | ArithmeticException impossible) {
            throw new OnnxException(what + " has dimensions that cannot be: " + impossible.getMessage(), impossible);
        }
        if (tensor.hasSegment()) {
            throw new OnnxException(what + " is stored in segments, which is not supported");
        }
        if (tensor.getDataLocation() == TensorProto.DataLocation.EXTERNAL) {
            return Tensor.of(type, shape, external.find(tensor, bytes));
        }
        if (!tensor.getRawData().isEmpty()) {
            return raw(tensor.getRawData(), type, shape, bytes, what);
        }
        return listed(tensor, type, shape, count, what);
    }

    private static DataType type(TensorProto tensor, String what) throws OnnxException {
        DataType type = OnnxTypes.find(tensor.getDataType());
        if (type == null) {
            throw new OnnxException(what + " has elements of type " + OnnxTypes.name(tensor.getDataType())
                    + ", which is not supported; supported are " + List.of(DataType.values()));
        }
        return type;
    }

    private static long[] shape(TensorProto tensor, String what) throws OnnxException {
        if (tensor.getDimsCount() > MOST_AXES) {
            throw new OnnxException(
                    what + " has " + tensor.getDimsCount() + " axes; there may be at most " + MOST_AXES);
        }
        return tensor.getDimsList().stream().mapToLong(Long::longValue).toArray();
    }

    private static Tensor raw(ByteString raw, DataType type, long[] shape, long bytes, String what)
            throws OnnxException {
        requireSize(what, "raw_data", raw.size(), bytes);
        MemorySegment memory = Arena.ofAuto().allocate(bytes, 64);
        raw.copyTo(memory.asByteBuffer());
        return Tensor.of(type, shape, memory);
    }

    /** The typed lists; narrow types share the list of 32-bit numbers, half precision as its bits. */
    private static Tensor listed(TensorProto tensor, DataType type, long[] shape, long count, String what)
            throws OnnxException {
        return switch (type) {
            case FLOAT32 -> {
                requireSize(what, "float_data", tensor.getFloatDataCount(), count);
                yield Tensor.compute(type, shape, i -> tensor.getFloatData((int) i));
            }
            case FLOAT64 -> {
                requireSize(what, "double_data", tensor.getDoubleDataCount(), count);
                yield Tensor.compute(type, shape, i -> tensor.getDoubleData((int) i));
            }
            case INT64 -> {
                requireSize(what, "int64_data", tensor.getInt64DataCount(), count);
                yield Tensor.computeLongs(type, shape, i -> tensor.getInt64Data((int) i));
            }
            case UINT32, UINT64 -> {
                requireSize(what, "uint64_data", tensor.getUint64DataCount(), count);
                yield Tensor.computeLongs(type, shape, i -> tensor.getUint64Data((int) i));
            }
            case INT8, UINT8, INT16, UINT16, INT32, BOOL, FLOAT16, BFLOAT16 -> {
                requireSize(what, "int32_data", tensor.getInt32DataCount(), count);
                DataType bits = type.isFloat() ? DataType.UINT16 : type;
                Tensor numbers = Tensor.computeLongs(bits, shape, i -> tensor.getInt32Data((int) i));
                yield Tensor.of(type, shape, numbers.data());
            }
        };
    }

    private static void requireSize(String what, String field, long size, long needed) throws OnnxException {
        if (size != needed) {
            throw new OnnxException(what + " needs " + needed + (field.equals("raw_data") ? " bytes" : " numbers")
                    + " in " + field + " but has " + size);
        }
    }
}
