package dev.espalier.graph.op;

import dev.espalier.graph.type.DataType;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/** Sets of types that ONNX admits for inputs of operators, as the newest version of an operator has them. */
final class Types {
    /** All floating point types. */
    static final Set<DataType> FLOATS = only(DataType.FLOAT32, DataType.FLOAT64, DataType.FLOAT16, DataType.BFLOAT16);

    /** Truth values alone. */
    static final Set<DataType> TRUTHS = only(DataType.BOOL);

    /** All but truth values. */
    static final Set<DataType> NUMBERS = Collections.unmodifiableSet(EnumSet.complementOf(EnumSet.of(DataType.BOOL)));

    /** Floating point types, and integers with a sign. */
    static final Set<DataType> SIGNED = and(FLOATS, DataType.INT8, DataType.INT16, DataType.INT32, DataType.INT64);

    /** Floating point types, and integers of four bytes or more. */
    static final Set<DataType> WIDE = and(FLOATS, DataType.INT32, DataType.INT64, DataType.UINT32, DataType.UINT64);

    /** Those, and integers of one byte. */
    static final Set<DataType> WIDE_OR_BYTES = and(WIDE, DataType.INT8, DataType.UINT8);

    /** Floating point types, and integers of one byte. */
    static final Set<DataType> FLOATS_OR_BYTES = and(FLOATS, DataType.INT8, DataType.UINT8);

    private Types() {}

    private static Set<DataType> only(DataType first, DataType... others) {
        return Collections.unmodifiableSet(EnumSet.of(first, others));
    }

    private static Set<DataType> and(Set<DataType> some, DataType... others) {
        Set<DataType> all = EnumSet.copyOf(some);
        Collections.addAll(all, others);
        return Collections.unmodifiableSet(all);
    }
}
