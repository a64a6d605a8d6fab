package dev.espalier.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.util.Platform;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.lang.reflect.Method;
import java.net.HttpURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CudaLibTorchTest {
    private static final List<String> LIBRARIES = Stream.of("c10", "c10_cuda", "torch", "torch_cpu", "torch_cuda")
            .map(LibTorchFolder::library)
            .toList();
    private static final int CHARACTERS = 2000;
    private static final Progress NOBODY = (_, _) -> {};
    private static final CudaLibTorch.Trial GOOD = _ -> {};

    @TempDir
    private Path folder = Path.of("");

    private CudaLibTorch place() {
        return new CudaLibTorch(folder.resolve("cache"));
    }

    private Optional<LibTorchFolder> install(Path from) throws IOException {
        return place().install(from, NOBODY, GOOD, () -> false);
    }

    private String refusal(Path from) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, () -> install(from))
                .getMessage());
    }

    /** Nothing is installed, and nothing is left of what was tried. */
    private void assertUntouched() throws IOException {
        assertEquals(Optional.empty(), place().found());
        if (Files.exists(place().cache())) {
            try (Stream<Path> left = Files.list(place().cache())) {
                assertEquals(List.of(), left.toList());
            }
        }
    }

    /** A Python package: {@code torch/version.py} and the libraries in {@code torch/lib}. */
    private Path python(String version, List<String> libraries) throws IOException {
        Path lib = Files.createDirectories(folder.resolve("site-packages/torch/lib"));
        for (String library : libraries) {
            Files.writeString(lib.resolve(library), library);
        }
        Files.writeString(
                lib.resolveSibling("version.py"),
                "from typing import Optional\n__all__ = ['__version__', 'debug']\n__version__ = '" + version
                        + "'\ndebug = False\ncuda: Optional[str] = '12.8'\n");
        return lib;
    }

    private Path zip(Map<String, String> entries) throws IOException {
        Path file = folder.resolve("libtorch.zip");
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(file))) {
            for (Map.Entry<String, String> entry : entries.entrySet()) {
                out.putNextEntry(new ZipEntry(entry.getKey()));
                out.write(entry.getValue().getBytes(StandardCharsets.UTF_8));
                out.closeEntry();
            }
        }
        return file;
    }

    private static Map<String, String> entries(String lib) {
        Map<String, String> entries = new LinkedHashMap<>();
        Random random = new Random(271);
        LIBRARIES.forEach(name -> entries.put(
                lib + name,
                random.ints(CHARACTERS, 'a', 'z' + 1)
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                        .toString()));
        return entries;
    }

    @Test
    void aFolderIsPointedToFromWhicheverFolderAboveIsNamed() throws IOException {
        Path lib = python("2.7.1+cu128", LIBRARIES);
        for (Path named :
                List.of(lib, lib.resolve("..").normalize(), lib.resolve("../..").normalize())) {
            LibTorchFolder installed = install(named).orElseThrow();
            assertEquals(new LibTorchFolder(lib.toAbsolutePath(), Optional.of("2.7.1+cu128"), true), installed);
            assertEquals(Optional.of(installed), place().found());
        }
        try (Stream<Path> kept = Files.list(place().cache())) {
            assertEquals(1, kept.count(), "a name is all that is kept");
        }
        Files.delete(lib.resolve(LibTorchFolder.library("torch_cpu")));
        assertEquals(Optional.empty(), place().found(), "it is gone");
        assertEquals(Optional.of(lib.toAbsolutePath()), place().pointer());
    }

    @Test
    void whatDoesNotFitIsRefusedWithTheReason() throws IOException {
        Path lib = python("2.6.0+cu124", LIBRARIES);
        String older = refusal(lib);
        assertTrue(older.contains("2.6.0+cu124") && older.contains("made for 2.7.1"), older);

        python("2.7.10", LIBRARIES);
        assertTrue(refusal(lib).contains("2.7.10"));

        Files.delete(lib.resolveSibling("version.py"));
        String unknown = refusal(lib);
        assertTrue(unknown.contains("build-version"), unknown);

        python("2.7.1", LIBRARIES);
        Files.delete(lib.resolve(LibTorchFolder.library("torch_cuda")));
        String processor = refusal(lib);
        assertTrue(processor.contains("for the processor alone"), processor);

        String nothing = refusal(folder);
        assertTrue(nothing.contains(LibTorchFolder.library("torch_cpu")), nothing);
        assertUntouched();
    }

    @Test
    void anArchiveIsUnpackedIntoTheCacheWithoutWhatIsPythons() throws IOException {
        Map<String, String> wheel = entries("torch/lib/");
        wheel.put("torch/lib/" + LibTorchFolder.library("torch_python"), "not for us");
        wheel.put("torch/lib/libgomp-98b21ff3.so.1", "a part of it");
        wheel.put("torch/lib/deep/" + LibTorchFolder.library("c10"), "not for us");
        wheel.put("torch/__init__.py", "not for us");
        wheel.put("torch/version.py", "__version__ = '2.7.1+cu126'\n");
        List<Long> told = new ArrayList<>();
        LibTorchFolder installed = place().install(
                        zip(wheel),
                        (bytes, of) -> told.addAll(List.of(bytes, of)),
                        tried -> assertTrue(tried.cuda() && place().found().isEmpty(), "tried before it is installed"),
                        () -> false)
                .orElseThrow();
        assertEquals(place().cache().resolve("libtorch-2.7.1+cu126/lib"), installed.path());
        assertEquals(Optional.of(installed), place().found());
        List<String> expected = new ArrayList<>(LIBRARIES);
        expected.add("libgomp-98b21ff3.so.1");
        try (Stream<Path> files = Files.list(installed.path())) {
            assertEquals(
                    expected.stream().sorted().toList(),
                    files.map(file -> file.getFileName().toString()).sorted().toList());
        }
        for (String name : LIBRARIES) {
            assertEquals(
                    wheel.get("torch/lib/" + name),
                    Files.readString(installed.path().resolve(name)));
        }
        long size = expected.stream()
                .mapToLong(name -> wheel.getOrDefault("torch/lib/" + name, "").length())
                .sum();
        assertEquals(size, told.get(1), "the whole size is known from the beginning");

        // Again, and from PyTorch's own archive: it takes the other's place.
        Map<String, String> zip = entries("libtorch/lib/");
        zip.put("libtorch/build-version", "2.7.1+cu126\n");
        assertEquals(Optional.of(installed), install(zip(zip)));
        try (Stream<Path> kept = Files.list(place().cache())) {
            assertEquals(2, kept.count(), "the libtorch, and what names it");
        }
    }

    @Test
    void whatWouldBeWrittenElsewhereIsRefused() throws IOException {
        for (String name : List.of("libtorch/lib/../../../escaped.so", "/escaped.so", "libtorch\\..\\..\\escaped.so")) {
            Map<String, String> entries = entries("libtorch/lib/");
            entries.put("libtorch/build-version", "2.7.1+cu128\n");
            entries.put(name, "harm");
            String message = refusal(zip(entries));
            assertTrue(message.contains("outside"), message);
            assertFalse(Files.exists(folder.resolve("escaped.so")));
            assertUntouched();
        }
    }

    @Test
    void anArchiveWithoutItsMainLibraryIsRefused() throws IOException {
        Map<String, String> entries = entries("libtorch/lib/");
        entries.put("libtorch/build-version", "2.7.1+cu128\n");
        entries.put("libto..\\/lib/libtorch_cpu.so", String.valueOf(entries.remove("libtorch/lib/libtorch_cpu.so")));
        String message = refusal(zip(entries));
        assertTrue(message.contains("holds no libtorch"), message);
        assertUntouched();
    }

    /** Room is looked for by what the table of contents announces: no more than that may be written. */
    @Test
    void anArchiveThatAnnouncesLessThanItHoldsIsRefused() throws IOException {
        Map<String, String> entries = entries("libtorch/lib/");
        entries.put("libtorch/build-version", "2.7.1+cu128\n");
        Path file = zip(entries);
        byte[] bytes = Files.readAllBytes(file);
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < bytes.length - 28; i++) {
            if (buffer.getInt(i) == 0x02014b50) {
                buffer.putInt(i + 24, 10);
            }
        }
        Files.write(file, bytes);
        IOException problem = assertThrows(IOException.class, () -> install(file));
        assertTrue(String.valueOf(problem.getMessage()).contains("more than it says"), problem::toString);
        assertUntouched();
    }

    @Test
    void anArchiveThatIsCutOffOrDamagedIsRefusedAndLeavesNothing() throws IOException {
        Map<String, String> entries = entries("libtorch/lib/");
        entries.put("libtorch/build-version", "2.7.1+cu128\n");
        byte[] whole = Files.readAllBytes(zip(entries));
        Path file = folder.resolve("libtorch.zip");
        try (RandomAccessFile cut = new RandomAccessFile(file.toFile(), "rw")) {
            cut.setLength(whole.length * 3L / 4);
        }
        String message = refusal(file);
        assertTrue(message.contains("not a whole one"), message);
        assertUntouched();

        // In what is packed of the first library, behind its name: the table at the end is as it was.
        for (int at : List.of(100, 200, CHARACTERS / 3)) {
            byte[] damaged = whole.clone();
            damaged[at] ^= 0x55;
            Files.write(file, damaged);
            IOException problem = assertThrows(IOException.class, () -> install(file), "byte " + at);
            assertTrue(String.valueOf(problem.getMessage()).contains("damaged"), problem::toString);
            assertUntouched();
        }
        Files.write(file, whole);
        assertTrue(install(file).isPresent(), "whole, it is taken");
    }

    @Test
    void whatDoesNotWorkOrIsStoppedLeavesNothing() throws IOException {
        Map<String, String> entries = entries("libtorch/lib/");
        entries.put("libtorch/build-version", "2.7.1+cu128\n");
        Path file = zip(entries);
        CudaLibTorch.Trial bad = _ -> {
            throw new IOException("no cuDNN");
        };
        assertEquals(
                "no cuDNN",
                assertThrows(IOException.class, () -> place().install(file, NOBODY, bad, () -> false))
                        .getMessage());
        assertUntouched();
        Path lib = python("2.7.1+cu128", LIBRARIES);
        assertThrows(IOException.class, () -> place().install(lib, NOBODY, bad, () -> false));
        assertUntouched();
        assertEquals(Optional.empty(), place().install(file, NOBODY, GOOD, () -> true));
        assertUntouched();
    }

    @Test
    void djlHasALibraryForWhatIsInstalled() {
        assumeTrue(
                System.getProperty("os.name").equals("Linux")
                        && System.getProperty("os.arch").equals("amd64"),
                "elsewhere there may be none");
        assertEquals(Optional.empty(), CudaLibTorch.whyNever());
        assertEquals("2.7.1", CudaLibTorch.wantedVersion());
    }

    private static List<String> java(Class<?> program, String... arguments) {
        List<String> words = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-classpath",
                System.getProperty("java.class.path"),
                program.getName()));
        words.addAll(List.of(arguments));
        return words;
    }

    /** Says what is chosen for GPUs. */
    static final class Chooser {
        private Chooser() {}

        public static void main(String[] arguments) {
            LibTorchFolder chosen = CudaLibTorch.choose();
            System.out.println(chosen.cuda() + " " + chosen.path());
            System.out.println(System.getProperty(CudaLibTorch.PATH_VARIABLE) + " "
                    + System.getProperty(CudaLibTorch.FLAVOR_VARIABLE));
            System.out.println(Torch.whyNoCuda().isEmpty());
        }
    }

    private List<String> chosen(Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(java(Chooser.class)).redirectErrorStream(true);
        builder.environment().remove(CudaLibTorch.PATH_VARIABLE);
        builder.environment().put("ESPALIER_CACHE", place().cache().toString());
        builder.environment().putAll(environment);
        List<String> lines = new String(builder.start().getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();
        // What DJL's log says, it says before.
        return lines.subList(Math.max(0, lines.size() - 3), lines.size());
    }

    /** In processes of their own, as DJL is told by system properties. */
    @Test
    void whatIsInstalledIsChosenForGpusUnlessTheEnvironmentNamesAnother() throws IOException {
        List<String> before = chosen(Map.of());
        assertTrue(before.getFirst().startsWith("false "), before::toString);
        assertEquals(List.of("null null", "false"), before.subList(1, 3));

        Path lib = python("2.7.1+cu128", LIBRARIES).toAbsolutePath();
        install(lib);
        assertEquals(List.of("true " + lib, lib + " cu128", "true"), chosen(Map.of()));

        Path other = Files.createDirectory(folder.resolve("other"));
        Files.writeString(other.resolve(LibTorchFolder.library("torch_cpu")), "");
        assertEquals(
                List.of("false " + other.toAbsolutePath(), "null null", "false"),
                chosen(Map.of(CudaLibTorch.PATH_VARIABLE, other.toString())));
    }

    /** As DJL reads what is on the class path, which it does nowhere in public. */
    private Platform platform(String... lines) throws IOException, ReflectiveOperationException {
        Path file = Files.write(folder.resolve("pytorch.properties"), List.of(lines));
        Method read = Platform.class.getDeclaredMethod("fromUrl", URL.class);
        read.setAccessible(true);
        return (Platform) read.invoke(null, file.toUri().toURL());
    }

    /** Where DJL finds a GPU's driver, and nothing of libtorch on the class path, it names one for CUDA that it would download. */
    @Test
    void whatDjlWouldOnlyDownloadDoesNotComeAlong() throws IOException, ReflectiveOperationException {
        Platform there = platform("version=2.7.1", "classifier=linux-x86_64", "flavor=cu128", "libraries=libtorch.so");
        assertTrue(CudaLibTorch.comesAlong(there));
        Platform named = platform("version=2.7.1", "flavor=cu128", "placeholder=true");
        assertEquals("cu128", named.getFlavor());
        assertFalse(CudaLibTorch.comesAlong(named));
        assertFalse(CudaLibTorch.comesAlong(
                platform("version=2.7.1", "classifier=linux-x86_64", "flavor=cpu", "libraries=libtorch.so")));
    }

    /** What DJL asks for, answered without a network: an index, and the libraries packed one by one. */
    static final class FakeServer {
        private FakeServer() {}

        public static void main(String[] arguments) {
            URL.setURLStreamHandlerFactory(protocol -> protocol.equals("https") ? new Answers(arguments[0]) : null);
            CudaLibTorch.fetchByDjl().ifPresent(System.out::println);
        }

        private static final class Answers extends URLStreamHandler {
            private final String how;

            Answers(String how) {
                this.how = how;
            }

            @Override
            protected URLConnection openConnection(URL url) {
                return new HttpURLConnection(url) {
                    @Override
                    public InputStream getInputStream() throws IOException {
                        return new ByteArrayInputStream(answer(how, url.getPath()));
                    }

                    @Override
                    public void connect() {}

                    @Override
                    public void disconnect() {}

                    @Override
                    public boolean usingProxy() {
                        return false;
                    }
                };
            }
        }

        private static byte[] answer(String how, String path) throws IOException {
            if (how.equals("unreachable")) {
                throw new IOException("no way to the server");
            }
            if (path.endsWith("files.txt")) {
                StringBuilder index = new StringBuilder();
                for (String flavor : List.of("cpu", how.equals("processor") ? "cu111x" : "cu128")) {
                    LIBRARIES.stream()
                            .filter(name -> !flavor.equals("cpu") || !name.contains("cuda"))
                            .forEach(
                                    name -> index.append("%s/linux-x86_64/native/lib/%s.gz\n".formatted(flavor, name)));
                }
                return index.toString().getBytes(StandardCharsets.UTF_8);
            }
            if (how.equals("slow")) {
                waitForever();
            }
            ByteArrayOutputStream packed = new ByteArrayOutputStream();
            try (OutputStream out = new GZIPOutputStream(packed)) {
                out.write(path.getBytes(StandardCharsets.UTF_8));
            }
            byte[] bytes = packed.toByteArray();
            return how.equals("cut") && path.contains("torch_cpu") ? Arrays.copyOf(bytes, bytes.length / 2) : bytes;
        }

        private static void waitForever() {
            try {
                Thread.currentThread().join();
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Optional<LibTorchFolder> fetch(String how, BooleanSupplier stop) throws IOException {
        assumeTrue(
                CudaLibTorch.whyNever().isEmpty()
                        && System.getProperty("os.arch").equals("amd64"),
                "DJL has none");
        return place().fetch(java(FakeServer.class, how), NOBODY, GOOD, stop);
    }

    @Test
    void djlFetchesItsOwnAlthoughThereIsOneOnTheClassPath() throws IOException {
        LibTorchFolder fetched = fetch("whole", () -> false).orElseThrow();
        assertEquals(
                new LibTorchFolder(
                        place().cache().resolve("libtorch-2.7.1+cu128/lib"), Optional.of("2.7.1+cu128"), true),
                fetched);
        assertEquals(Optional.of(fetched), place().found());
        String library = LibTorchFolder.library("torch_cuda");
        assertTrue(Files.readString(fetched.path().resolve(library))
                .endsWith("cu128/linux-x86_64/native/lib/" + library + ".gz"));
        try (Stream<Path> kept = Files.list(place().cache())) {
            assertEquals(2, kept.count(), "the libtorch, and what names it");
        }
    }

    @Test
    void whatCannotBeFetchedWholeLeavesNothing() throws IOException {
        for (Map.Entry<String, String> one : Map.of(
                        "unreachable", "no way to the server",
                        "cut", "EOFException",
                        "processor", "2.7.1+cpu, which is for the processor alone")
                .entrySet()) {
            String message = String.valueOf(assertThrows(IOException.class, () -> fetch(one.getKey(), () -> false))
                    .getMessage());
            assertTrue(message.contains(one.getValue()), message);
            assertUntouched();
        }
        int[] asked = {0};
        assertEquals(Optional.empty(), fetch("slow", () -> ++asked[0] > 5));
        assertUntouched();
    }

    /** A JAR as Maven would fetch it, in the folder that the stand-in for Maven serves. */
    private LibTorchByMaven.Jar served(String name, List<String> libraries) throws IOException {
        String root = "org/someone/" + name + "/linux/";
        Path file = Files.createDirectories(folder.resolve("served")).resolve(name + ".jar");
        long unpacked = 0;
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(file))) {
            List<String> others = List.of("libjni" + name + ".so", "deeper/libother.so.1", "classes.txt");
            for (String entry :
                    Stream.concat(libraries.stream(), others.stream()).toList()) {
                out.putNextEntry(new ZipEntry(root + entry));
                out.write(entry.getBytes(StandardCharsets.UTF_8));
                out.closeEntry();
                unpacked += libraries.contains(entry) ? entry.length() : 0;
            }
        }
        return new LibTorchByMaven.Jar(
                "org.someone:" + name + ":1.0:jar:linux",
                Files.size(file),
                unpacked,
                LibTorchByMaven.sha256(file),
                root,
                libraries.stream().map(Pattern::quote).collect(Collectors.joining("|")));
    }

    /** Serves what lies there: at once, never, or not at all. */
    private List<String> maven(String how) throws IOException {
        Path script = folder.resolve("maven.sh");
        Files.writeString(script, """
                for word in "$@"; do
                    case $word in
                    -Dmaven.repo.local=*) repository=${word#*=} ;;
                    -Dartifact=org.someone:*:1.0:jar:linux) name=${word#*:}; name=${name%%:*} ;;
                    esac
                done
                place=$repository/org/someone/$name/1.0
                mkdir -p "$place"
                case $1 in
                slow) echo half >"$place/$name.part"; exec sleep 600 ;;
                refuse) echo "[INFO] not this"; echo "[ERROR] no mirror has $name"; echo "[ERROR] see above"; exit 1 ;;
                esac
                cp "$2/$name.jar" "$place/$name-1.0-linux.jar"
                """);
        return List.of("sh", script.toString(), how, folder.resolve("served").toString());
    }

    private LibTorchByMaven twoJars() throws IOException {
        return new LibTorchByMaven(
                "2.7.1+cu129",
                List.of(served("torch", LIBRARIES), served("cuda", List.of("libcudart.so.12", "libnvrtc.so.12.9"))));
    }

    @Test
    void mavenFetchesTheLibrariesOfSeveralJars() throws IOException {
        LibTorchByMaven jars = twoJars();
        List<Long> progress = new ArrayList<>();
        LibTorchFolder fetched = place().fetchByMaven(
                        jars,
                        maven("at once"),
                        (bytes, of) -> {
                            assertEquals(jars.fetched() + jars.unpacked(), of);
                            progress.add(bytes);
                        },
                        GOOD,
                        () -> false)
                .orElseThrow();
        assertEquals(
                new LibTorchFolder(
                        place().cache().resolve("libtorch-2.7.1+cu129/lib"), Optional.of("2.7.1+cu129"), true),
                fetched);
        assertEquals(Optional.of(fetched), place().found());
        try (Stream<Path> libraries = Files.list(fetched.path())) {
            assertEquals(
                    Stream.concat(LIBRARIES.stream(), Stream.of("libcudart.so.12", "libnvrtc.so.12.9"))
                            .sorted()
                            .toList(),
                    libraries
                            .map(file -> file.getFileName().toString())
                            .sorted()
                            .toList());
        }
        assertEquals("libcudart.so.12", Files.readString(fetched.path().resolve("libcudart.so.12")));
        assertEquals(progress.stream().sorted().toList(), progress);
        assertEquals(jars.fetched() + jars.unpacked(), progress.getLast());
        try (Stream<Path> kept = Files.list(place().cache())) {
            assertEquals(2, kept.count(), "the libtorch, and what names it");
        }
    }

    @Test
    void whatMavenCannotFetchOrHasChangedLeavesNothing() throws IOException {
        LibTorchByMaven jars = twoJars();
        String refused = notByMaven(jars, maven("refuse"));
        assertTrue(refused.contains("could not fetch org.someone:torch") && refused.contains("no mirror has torch"));
        String none = notByMaven(jars, List.of(folder.resolve("no-maven").toString()));
        assertTrue(none.contains("no-maven") && none.contains("ESPALIER_MAVEN"), none);

        int[] asked = {0};
        assertEquals(Optional.empty(), place().fetchByMaven(jars, maven("slow"), NOBODY, GOOD, () -> ++asked[0] > 5));
        assertUntouched();

        served("cuda", List.of("libcudart.so.12", "libnvrtc.so.12.8"));
        String changed = notByMaven(jars, maven("at once"));
        assertTrue(changed.contains("org.someone:cuda") && changed.contains("is another file"), changed);
    }

    /** The names that libtorch 2.7.1 and CUDA's libraries ask the loader for, or load themselves. */
    @Test
    void eachLibraryThatIsNeededIsTakenFromOneJar() {
        List<String> needed = List.of(
                ("libc10.so libc10_cuda.so libtorch.so libtorch_cpu.so libtorch_cuda.so libtorch_cuda_linalg.so libgomp.so.1"
                                + " libopenblas.so.0 libgfortran.so.5 libquadmath.so.0 libcudart.so.12 libcupti.so.12 libcufile.so.0"
                                + " libcufft.so.11 libcurand.so.10 libnvJitLink.so.12 libnvrtc.so.12 libnvrtc-builtins.so.12.9"
                                + " libcublas.so.12 libcublasLt.so.12 libcusparse.so.12 libcusolver.so.11 libcudnn.so.9 libcudnn_adv.so.9"
                                + " libcudnn_cnn.so.9 libcudnn_ops.so.9 libcudnn_graph.so.9 libcudnn_heuristic.so.9"
                                + " libcudnn_engines_precompiled.so.9 libcudnn_engines_runtime_compiled.so.9")
                        .split(" "));
        for (String name : needed) {
            assertEquals(1, takers(name), name);
        }
        for (String name : List.of("libjnitorch.so", "libjniopenblas.so", "libnvjpeg.so.12", "libcufile_rdma.so.1")) {
            assertEquals(0, takers(name), name);
        }
    }

    private static long takers(String library) {
        return LibTorchByMaven.LINUX.jars().stream()
                .filter(jar -> library.matches(jar.libraries()))
                .count();
    }

    private String notByMaven(LibTorchByMaven jars, List<String> maven) throws IOException {
        String message = String.valueOf(
                assertThrows(IOException.class, () -> place().fetchByMaven(jars, maven, NOBODY, GOOD, () -> false))
                        .getMessage());
        assertUntouched();
        return message;
    }
}
