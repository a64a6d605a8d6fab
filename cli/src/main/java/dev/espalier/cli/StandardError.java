package dev.espalier.cli;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Standard error, as the user gave it. The launcher {@code espalier} starts the JVM with a filter there, for a warning that
 * nothing else can suppress, and tells where it has kept the original.
 */
final class StandardError {
    /** Names the descriptor of the original; not set if nothing was done to it. */
    private static final String KEPT = "espalier.stderr";

    private static final int DESCRIPTOR = 2;

    private StandardError() {}

    /** Puts the original back, for this JVM and all native libraries in it. */
    @SuppressWarnings("restricted") // the launcher allows it
    static void restore() {
        Integer kept = Integer.getInteger(KEPT);
        if (kept == null) {
            return;
        }
        Linker linker = Linker.nativeLinker();
        MethodHandle dup2 = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("dup2"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        try {
            // If it fails, the filter stays, and lets everything else through.
            int _ = (int) dup2.invokeExact(kept.intValue(), DESCRIPTOR);
        } catch (Throwable impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
