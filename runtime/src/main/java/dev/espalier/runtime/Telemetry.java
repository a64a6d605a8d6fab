package dev.espalier.runtime;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * ONNX Runtime tells its makers that it is used, unless an environment variable forbids it before it is loaded. Nobody who prunes a model
 * asked for that. Besides, what it looks through for it includes the command line, by a function that recurses for every letter: with a class
 * path of some ten thousand letters the process dies without a word.
 */
final class Telemetry {
    private static final String VARIABLE = "ORT_DISABLE_TELEMETRY";

    private Telemetry() {}

    /** Forbids it in this process, unless the variable is set already, to whatever. */
    @SuppressWarnings("restricted") // whoever uses ONNX Runtime has to enable native access anyway
    static void off() {
        Linker linker = Linker.nativeLinker();
        SymbolLookup library = linker.defaultLookup();
        Optional<MemorySegment> setenv = library.find("setenv");
        if (System.getenv(VARIABLE) != null || setenv.isEmpty()) {
            return; // Windows has no such function, and there it is a matter of the system's settings
        }
        MethodHandle set = linker.downcallHandle(
                setenv.get(),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        try (Arena arena = Arena.ofConfined()) {
            int failed = (int) set.invokeExact(arena.allocateFrom(VARIABLE), arena.allocateFrom("1"), 0);
            if (failed != 0) {
                throw new IllegalStateException("the environment variable %s cannot be set".formatted(VARIABLE));
            }
        } catch (RuntimeException | Error problem) {
            throw problem;
        } catch (Throwable impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
