package dev.espalier.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** NVIDIA's run-time compiler: from CUDA C to the machine code of a GPU, in the process. */
public final class Nvrtc {
    /** The variable that names the library, where it lies in an unusual place. */
    static final String LIBRARY_VARIABLE = "ESPALIER_NVRTC";

    private static final String TORCH_VARIABLE = "PYTORCH_LIBRARY_PATH";
    private static final List<String> NAMES = List.of("libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12");
    private static final int SUCCESS = 0;

    /** The oldest that knows all instructions that our kernels use (sixteen bytes written as one). */
    private static final Version OLDEST = new Version(12, 3);

    private static final String MEND = "install CUDA's libnvrtc, or name the file in " + LIBRARY_VARIABLE;

    private final NativeLibrary library;
    private final MethodHandle create;
    private final MethodHandle compile;
    private final MethodHandle destroy;
    private final MethodHandle logSize;
    private final MethodHandle log;
    private final MethodHandle binarySize;
    private final MethodHandle binary;
    private final MethodHandle version;

    /** A version, as CUDA's are counted. */
    record Version(int major, int minor) {
        /** Why one of a file cannot be used. */
        Optional<String> whyTooOld(String file) {
            return major > OLDEST.major || (major == OLDEST.major && minor >= OLDEST.minor)
                    ? Optional.empty()
                    : Optional.of("the CUDA compiler NVRTC in %s is of CUDA %s, and must be of %s or newer: %s"
                            .formatted(file, this, OLDEST, MEND));
        }

        @Override
        public String toString() {
            return major + "." + minor;
        }
    }

    /** The compiler; throws a {@link CudaException} with the reason if there is none, or it is too old. */
    public Nvrtc() {
        this(NativeLibrary.open("the CUDA compiler NVRTC", candidates(System.getenv()), MEND));
        readVersion().whyTooOld(file()).ifPresent(reason -> {
            throw new CudaException(reason);
        });
    }

    private Nvrtc(NativeLibrary library) {
        this.library = library;
        create = library.function("nvrtcCreateProgram", ADDRESS, ADDRESS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS);
        compile = library.function("nvrtcCompileProgram", JAVA_LONG, JAVA_INT, ADDRESS);
        destroy = library.function("nvrtcDestroyProgram", ADDRESS);
        logSize = library.function("nvrtcGetProgramLogSize", JAVA_LONG, ADDRESS);
        log = library.function("nvrtcGetProgramLog", JAVA_LONG, ADDRESS);
        binarySize = library.function("nvrtcGetCUBINSize", JAVA_LONG, ADDRESS);
        binary = library.function("nvrtcGetCUBIN", JAVA_LONG, ADDRESS);
        version = library.function("nvrtcVersion", ADDRESS, ADDRESS);
    }

    /** {@return its version, as CUDA's are counted} */
    public String version() {
        return readVersion().toString();
    }

    private Version readVersion() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment major = arena.allocate(JAVA_INT);
            MemorySegment minor = arena.allocate(JAVA_INT);
            require("nvrtcVersion", (int) version.invokeExact(major, minor));
            return new Version(major.get(JAVA_INT, 0), minor.get(JAVA_INT, 0));
        } catch (Throwable thrown) {
            throw NativeLibrary.unchecked(thrown);
        }
    }

    /** {@return the file that it was loaded from; its name alone, if the system's loader found it and does not tell where} */
    public String file() {
        return library.file();
    }

    /**
     * Where the library may be: where the variable says; where the loader looks; in CUDA's usual folders; beside PyTorch, of
     * Python or of DJL, which brings its own. Where PyTorch is, a system property may say too: DJL reads it likewise.
     */
    static List<String> candidates(Map<String, String> environment) {
        List<String> candidates = new ArrayList<>();
        String named = environment.get(LIBRARY_VARIABLE);
        if (named != null) {
            candidates.add(named);
        }
        candidates.addAll(NAMES);
        List<Path> folders = new ArrayList<>();
        for (String variable : List.of("CUDA_HOME", "CUDA_PATH")) {
            String home = environment.get(variable);
            if (home != null) {
                folders.add(Path.of(home, "lib64"));
            }
        }
        folders.add(Path.of("/usr/local/cuda/lib64"));
        String torch = environment.getOrDefault(TORCH_VARIABLE, System.getProperty(TORCH_VARIABLE));
        if (torch != null) {
            Path lib = Path.of(torch);
            folders.add(lib);
            folders.addAll(children(lib.resolve("../../nvidia"), "lib"));
        }
        folders.addAll(children(Path.of(System.getProperty("user.home"), ".djl.ai", "pytorch"), ""));
        for (Path folder : folders) {
            candidates.addAll(librariesIn(folder));
        }
        return candidates;
    }

    private static List<Path> children(Path folder, String below) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> children = Files.list(folder)) {
            return children.map(child -> child.resolve(below)).sorted().toList();
        } catch (IOException e) {
            return List.of(); // not ours to look into
        }
    }

    private static List<String> librariesIn(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().matches("libnvrtc(-[0-9a-f]+)?\\.so.*"))
                    .map(file -> file.toAbsolutePath().normalize().toString())
                    .sorted()
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /**
     * Compiles a source.
     *
     * @param name what messages call it
     * @param source CUDA C
     * @param options of the compiler
     * @return machine code
     */
    public byte[] compile(String name, String source, List<String> options) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = arena.allocate(JAVA_LONG);
            require("nvrtcCreateProgram", (int) create.invokeExact(
                    handle,
                    arena.allocateFrom(source),
                    arena.allocateFrom(name),
                    0,
                    MemorySegment.NULL,
                    MemorySegment.NULL));
            long program = handle.get(JAVA_LONG, 0);
            try {
                MemorySegment arguments = arena.allocate(ADDRESS, Math.max(1, options.size()));
                for (int i = 0; i < options.size(); i++) {
                    arguments.setAtIndex(ADDRESS, i, arena.allocateFrom(options.get(i)));
                }
                int status = (int) compile.invokeExact(program, options.size(), arguments);
                if (status != SUCCESS) {
                    throw new CudaException("%s of %s could not compile %s %s:%n%s"
                            .formatted(
                                    "NVRTC",
                                    library.name(),
                                    name,
                                    options,
                                    log(arena, program).strip()));
                }
                MemorySegment size = arena.allocate(JAVA_LONG);
                require("nvrtcGetCUBINSize", (int) binarySize.invokeExact(program, size));
                MemorySegment code = arena.allocate(size.get(JAVA_LONG, 0));
                require("nvrtcGetCUBIN", (int) binary.invokeExact(program, code));
                return code.toArray(JAVA_BYTE);
            } finally {
                require("nvrtcDestroyProgram", (int) destroy.invokeExact(handle));
            }
        } catch (Throwable thrown) {
            throw NativeLibrary.unchecked(thrown);
        }
    }

    @SuppressWarnings("checkstyle:IllegalThrows") // as method handles declare
    private String log(Arena arena, long program) throws Throwable {
        MemorySegment size = arena.allocate(JAVA_LONG);
        require("nvrtcGetProgramLogSize", (int) logSize.invokeExact(program, size));
        MemorySegment text = arena.allocate(Math.max(1, size.get(JAVA_LONG, 0)));
        require("nvrtcGetProgramLog", (int) log.invokeExact(program, text));
        return text.getString(0);
    }

    private static void require(String function, int status) {
        if (status != SUCCESS) {
            throw new CudaException(function + " failed with status " + status);
        }
    }
}
