package dev.espalier.core.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** All memory of the process as one segment, so that kernels address it by plain numbers. Addresses are checked before. */
final class Memory {
    static final MemorySegment ALL = everything();

    private Memory() {}

    @SuppressWarnings("restricted") // the process runs with --enable-native-access; views are validated by their owner
    private static MemorySegment everything() {
        return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    }

    static float get(long address) {
        return ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, address);
    }

    static void set(long address, float value) {
        ALL.set(ValueLayout.JAVA_FLOAT_UNALIGNED, address, value);
    }
}
