package dev.espalier.engine;

import ai.djl.pytorch.jni.LibUtils;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** Where libtorch's switch of TF32 stands, asked from libtorch itself by a function that nothing but tests needs. */
final class Tf32 {
    private Tf32() {}

    /** Whether products of matrices may be rounded to TF32. */
    @SuppressWarnings("restricted") // calling native functions is what this is for
    static boolean isAllowed() {
        SymbolLookup library = SymbolLookup.libraryLookup(
                Path.of(LibUtils.getLibtorchPath(), System.mapLibraryName("torch_cpu")), Arena.global());
        MethodHandle context = Linker.nativeLinker()
                .downcallHandle(
                        library.findOrThrow("_ZN2at13globalContextEv"), FunctionDescriptor.of(ValueLayout.ADDRESS));
        MethodHandle allowed = Linker.nativeLinker()
                .downcallHandle(
                        library.findOrThrow("_ZNK2at7Context15allowTF32CuBLASEv"),
                        FunctionDescriptor.of(ValueLayout.JAVA_BOOLEAN, ValueLayout.ADDRESS));
        try {
            return (boolean) allowed.invokeExact((MemorySegment) context.invokeExact());
        } catch (Throwable thrown) {
            throw new AssertionError(thrown);
        }
    }
}
