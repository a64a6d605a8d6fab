package dev.espalier.cuda.driver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A library of C functions that return a status.
 *
 * @param name what was opened
 * @param symbols its functions
 */
@SuppressWarnings("restricted") // calling native functions is what this class is for
record NativeLibrary(String name, SymbolLookup symbols) {

    /** The first of some libraries that can be opened; each a file, or a name that the system's loader knows. */
    static NativeLibrary open(String what, List<String> candidates, String mend) {
        for (String candidate : candidates) {
            Optional<NativeLibrary> library = tryToOpen(candidate);
            if (library.isPresent()) {
                return library.get();
            }
        }
        throw new CudaException(
                "%s was not found, neither of %s: %s".formatted(what, String.join(", ", candidates), mend));
    }

    private static Optional<NativeLibrary> tryToOpen(String candidate) {
        try {
            return Optional.of(new NativeLibrary(candidate, SymbolLookup.libraryLookup(candidate, Arena.global())));
        } catch (IllegalArgumentException e) { // says no more than that it could not
            return Optional.empty();
        }
    }

    /** The file that it is in: as it was named, or as the system says where its loader found it. */
    String file() {
        if (name.contains("/")) {
            return name;
        }
        try (Stream<String> mapped = Files.lines(Path.of("/proc/self/maps"))) {
            return mapped.map(line -> line.substring(line.lastIndexOf(' ') + 1))
                    .filter(file -> file.contains("/" + name))
                    .findFirst()
                    .orElse(name);
        } catch (IOException | UncheckedIOException e) {
            return name; // no such system
        }
    }

    /** A function that returns an int. */
    MethodHandle function(String function, MemoryLayout... parameters) {
        MemorySegment address = symbols.find(function)
                .orElseThrow(() -> new CudaException(name + " has no function " + function + ": it is too old"));
        return Linker.nativeLinker().downcallHandle(address, FunctionDescriptor.of(ValueLayout.JAVA_INT, parameters));
    }

    /** Native functions declare no exceptions; what comes out of a call can only be unchecked. */
    static RuntimeException unchecked(Throwable thrown) {
        return switch (thrown) {
            case Error error -> throw error;
            case RuntimeException exception -> exception;
            default -> new IllegalStateException(thrown);
        };
    }
}
