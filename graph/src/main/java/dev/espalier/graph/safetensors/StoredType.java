package dev.espalier.graph.safetensors;

import dev.espalier.graph.type.DataType;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The format's names of types, in the order in which the format's own writer sorts tensors: the widest first. */
enum StoredType {
    U64(DataType.UINT64),
    I64(DataType.INT64),
    F64(DataType.FLOAT64),
    F32(DataType.FLOAT32),
    U32(DataType.UINT32),
    I32(DataType.INT32),
    BF16(DataType.BFLOAT16),
    F16(DataType.FLOAT16),
    U16(DataType.UINT16),
    I16(DataType.INT16),
    I8(DataType.INT8),
    U8(DataType.UINT8),
    BOOL(DataType.BOOL);

    private final DataType data;

    StoredType(DataType data) {
        this.data = data;
    }

    DataType data() {
        return data;
    }

    static StoredType of(DataType data) {
        return Arrays.stream(values())
                .filter(type -> type.data == data)
                .findFirst()
                .orElseThrow();
    }

    static @Nullable StoredType named(String name) {
        for (StoredType type : values()) {
            if (type.name().equals(name)) {
                return type;
            }
        }
        return null;
    }

    static String names() {
        return Arrays.stream(values()).map(StoredType::name).collect(Collectors.joining(", "));
    }
}
