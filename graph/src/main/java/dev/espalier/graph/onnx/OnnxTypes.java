package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.TensorProto;
import dev.espalier.graph.type.DataType;
import org.jspecify.annotations.Nullable;

/** ONNX's numbers for the types of elements. */
final class OnnxTypes {
    private OnnxTypes() {}

    /** ONNX's number for a type. */
    static TensorProto.DataType of(DataType type) {
        return switch (type) {
            case FLOAT32 -> TensorProto.DataType.FLOAT;
            case FLOAT64 -> TensorProto.DataType.DOUBLE;
            case FLOAT16 -> TensorProto.DataType.FLOAT16;
            case BFLOAT16 -> TensorProto.DataType.BFLOAT16;
            case INT8 -> TensorProto.DataType.INT8;
            case UINT8 -> TensorProto.DataType.UINT8;
            case INT16 -> TensorProto.DataType.INT16;
            case UINT16 -> TensorProto.DataType.UINT16;
            case INT32 -> TensorProto.DataType.INT32;
            case UINT32 -> TensorProto.DataType.UINT32;
            case INT64 -> TensorProto.DataType.INT64;
            case UINT64 -> TensorProto.DataType.UINT64;
            case BOOL -> TensorProto.DataType.BOOL;
        };
    }

    /** The type behind ONNX's number; null if there is none in a graph. */
    static @Nullable DataType find(long number) {
        for (DataType type : DataType.values()) {
            if (of(type).getNumber() == number) {
                return type;
            }
        }
        return null;
    }

    /** What a number is called, for messages. */
    static String name(long number) {
        TensorProto.DataType type = number == (int) number ? TensorProto.DataType.forNumber((int) number) : null;
        return type == null ? "number " + number : type.name();
    }
}
