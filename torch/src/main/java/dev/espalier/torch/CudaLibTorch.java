package dev.espalier.torch;

import ai.djl.util.Platform;
import ai.djl.util.Utils;
import dev.espalier.core.user.UserCache;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * The libtorch for CUDA that a user has installed. It is loaded when a GPU is asked for, and only then: who computes on the
 * processor computes with the libtorch that comes along, whatever is installed. What the environment or the class path name
 * goes before.
 *
 * @param cache the user's cache: the file {@code libtorch} in it names the folder of the libraries
 */
public record CudaLibTorch(Path cache) {
    /** The variable, or system property, that names the folder of another libtorch. DJL reads it. */
    public static final String PATH_VARIABLE = "PYTORCH_LIBRARY_PATH";

    /** The same for what DJL's own library is to be made for. */
    static final String FLAVOR_VARIABLE = "PYTORCH_FLAVOR";

    /** What DJL's own library, which comes along, is made for: all of CUDA 12. */
    static final String FLAVOR = "cu128";

    private static final String ENGINE = "pytorch";
    private static final String POINTER = "libtorch";
    private static final int WAIT_MILLISECONDS = 200;

    /** What has the last word on a libtorch before it is kept. */
    @FunctionalInterface
    public interface Trial {
        /**
         * Tries it out.
         *
         * @param folder where it is now
         * @throws IOException if it is good for nothing, with the reason
         */
        void of(LibTorchFolder folder) throws IOException;
    }

    /** {@return that of this user} */
    public static CudaLibTorch ofUser() {
        return new CudaLibTorch(UserCache.folder(System.getenv()));
    }

    /** {@return the version that DJL was made for} */
    public static String wantedVersion() {
        return Platform.fromSystem(ENGINE).getVersion();
    }

    /**
     * Why no libtorch for CUDA could be loaded, whichever it is.
     *
     * @return the reason; empty if DJL has what it takes for this system
     */
    public static Optional<String> whyNever() {
        String system = Platform.fromSystem(ENGINE).getClassifier();
        String library = "jnilib/%s/%s/%s".formatted(system, FLAVOR, LibTorchFolder.library("djl_torch"));
        return CudaLibTorch.class.getClassLoader().getResource(library) != null
                ? Optional.empty()
                : Optional.of("DJL has nothing for CUDA on " + system + ": train on the processor");
    }

    /** {@return the folder that is said to be installed, whether it is still there or not} */
    public Optional<Path> pointer() {
        try {
            Path file = cache.resolve(POINTER);
            return Files.isRegularFile(file)
                    ? Optional.of(Path.of(Files.readString(file).strip()))
                    : Optional.empty();
        } catch (IOException _) {
            return Optional.empty(); // a cache that cannot be read is none
        }
    }

    /** {@return what is installed, if it is still there and good} */
    public Optional<LibTorchFolder> found() {
        return pointer().flatMap(LibTorchFolder::in).filter(LibTorchFolder::cuda);
    }

    /**
     * Chooses the libtorch for whoever wants a GPU, and has DJL load that one, unless it has loaded another.
     *
     * @return the chosen one, be it made for CUDA or not
     */
    public static LibTorchFolder choose() {
        Optional<LibTorchFolder> named =
                Optional.ofNullable(Utils.getEnvOrSystemProperty(PATH_VARIABLE)).flatMap(CudaLibTorch::firstOf);
        if (named.isPresent()) {
            return named.get();
        }
        Optional<LibTorchFolder> installed = ofUser().found();
        Platform bundled = Platform.detectPlatform(ENGINE);
        if (installed.isEmpty() || comesAlong(bundled)) {
            return new LibTorchFolder(
                    Utils.getEngineCacheDir(ENGINE)
                            .resolve("%s-%s-%s"
                                    .formatted(bundled.getVersion(), bundled.getFlavor(), bundled.getClassifier())),
                    Optional.of(bundled.getVersion()),
                    bundled.getFlavor().startsWith("cu"));
        }
        properties(installed.get()).forEach(System::setProperty);
        return installed.get();
    }

    /**
     * Whether a libtorch for CUDA is on the class path. DJL names one for CUDA as well where it found a GPU's driver and nothing
     * on the class path: that one it would only download.
     */
    static boolean comesAlong(Platform bundled) {
        return !bundled.isPlaceholder() && bundled.getFlavor().startsWith("cu");
    }

    /**
     * {@return what tells DJL to load a libtorch, as system properties; environment variables of the same names go before}
     *
     * @param libtorch one for CUDA
     */
    public static Map<String, String> properties(LibTorchFolder libtorch) {
        return Map.of(PATH_VARIABLE, libtorch.path().toString(), FLAVOR_VARIABLE, FLAVOR);
    }

    /** As DJL reads it: several folders, of which the first counts that has what it wants. */
    private static Optional<LibTorchFolder> firstOf(String paths) {
        return Arrays.stream(paths.split(File.pathSeparator, -1))
                .map(Path::of)
                .flatMap(path -> LibTorchFolder.in(path).stream()
                        .filter(found ->
                                found.path().equals(path.toAbsolutePath().normalize())))
                .findFirst();
    }

    /** Why the libtorch of a folder, which is loaded or will be, knows no GPUs; and what to do. */
    static String whyNot(Path folder) {
        return "the libtorch in " + folder + " is made for the processor alone: it has no "
                + LibTorchFolder.library("c10_cuda")
                + (ofUser().found().isPresent()
                        ? "; the installed one could not take its place, as this one was loaded before a GPU was asked for, or is named in "
                                + PATH_VARIABLE
                        : "; './espalier gpu --install' gets one that is made for CUDA, or name its folder in "
                                + PATH_VARIABLE);
    }

    /**
     * Installs a libtorch that is there. A folder stays where it is, and is pointed to; an archive is unpacked into the cache.
     *
     * @param from a folder of libtorch, or of a Python package of it; or an archive of either
     * @param progress told how far it is
     * @param trial has the last word
     * @param stop asked now and then: true to leave everything as it was
     * @return what is installed; empty if it was stopped
     * @throws IOException if something cannot be read or written, or the archive is damaged; all is then as it was
     * @throws IllegalArgumentException if that is not the libtorch that is wanted
     */
    public Optional<LibTorchFolder> install(Path from, Progress progress, Trial trial, BooleanSupplier stop)
            throws IOException {
        if (Files.isDirectory(from)) {
            return Optional.of(keep(fit(from, from), trial));
        }
        try (LibTorchArchive archive = LibTorchArchive.open(from);
                Stage stage = new Stage()) {
            requireSpace(archive.size());
            return archive.unpack(stage.folder, progress, stop)
                    ? Optional.of(publish(stage, from, trial))
                    : Optional.empty();
        }
    }

    /** What is in a folder, if it is what is wanted; {@code from} is what the user calls it. */
    private static LibTorchFolder fit(Path within, Path from) {
        LibTorchFolder folder = LibTorchFolder.in(within)
                .orElseThrow(() -> new IllegalArgumentException(
                        "%s holds no libtorch: there is no %s in it, in its lib or its torch/lib"
                                .formatted(from, LibTorchFolder.library("torch_cpu"))));
        folder.whyUnfit(wantedVersion(), from).ifPresent(reason -> {
            throw new IllegalArgumentException(reason);
        });
        return folder;
    }

    /**
     * Has DJL fetch its own libtorch for CUDA, in another process.
     *
     * @param command what starts a process that calls {@link #fetchByDjl}
     * @param progress told how far it is
     * @param trial has the last word
     * @param stop asked now and then: true to leave everything as it was
     * @return what is installed; empty if it was stopped
     * @throws IOException if it cannot be fetched; all is then as it was
     */
    public Optional<LibTorchFolder> fetch(List<String> command, Progress progress, Trial trial, BooleanSupplier stop)
            throws IOException {
        try (Stage stage = new Stage()) {
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
            Path said = stage.folder.resolve("said.txt");
            builder.redirectOutput(said.toFile());
            Map<String, String> environment = builder.environment();
            environment
                    .keySet()
                    .removeAll(List.of(PATH_VARIABLE, "PYTORCH_VERSION", "PYTORCH_PRECXX11", "DJL_OFFLINE"));
            environment.put("ENGINE_CACHE_DIR", stage.folder.toString());
            environment.put(FLAVOR_VARIABLE, FLAVOR);
            if (!await(builder.start(), () -> progress.at(size(stage.folder), 0), stop)) {
                return Optional.empty();
            }
            Path fetched = fetched(stage.folder.resolve(ENGINE))
                    .orElseThrow(() -> new IOException("DJL could not fetch libtorch: " + last(said)));
            String version =
                    LibTorchFolder.byDjl(fetched.getFileName().toString()).orElseThrow();
            if (LibTorchFolder.in(fetched).filter(LibTorchFolder::cuda).isEmpty()) {
                throw new IOException(
                        "DJL has fetched libtorch %s, which is for the processor alone: its server has no other for this system"
                                .formatted(version));
            }
            Files.move(fetched, stage.folder.resolve("lib"));
            Files.writeString(stage.folder.resolve(LibTorchFolder.VERSION_FILE), version + "\n");
            delete(stage.folder.resolve(ENGINE));
            Files.delete(said);
            return Optional.of(publish(stage, fetched, trial));
        }
    }

    /**
     * Has Maven fetch a libtorch for CUDA that others have built, in another process, with the settings of whoever asks.
     *
     * @param maven what starts Maven
     * @param progress told how far it is, of what is fetched and unpacked together
     * @param trial has the last word
     * @param stop asked now and then: true to leave everything as it was
     * @return what is installed; empty if it was stopped
     * @throws IOException if it cannot be fetched, or is another than it was; all is then as it was
     */
    public Optional<LibTorchFolder> fetchByMaven(
            List<String> maven, Progress progress, Trial trial, BooleanSupplier stop) throws IOException {
        return fetchByMaven(LibTorchByMaven.LINUX, maven, progress, trial, stop);
    }

    /** {@return how many bytes Maven fetches} */
    public static long fetchedByMaven() {
        return LibTorchByMaven.LINUX.fetched();
    }

    /** {@return how many bytes are installed of what Maven fetches} */
    public static long unpackedByMaven() {
        return LibTorchByMaven.LINUX.unpacked();
    }

    Optional<LibTorchFolder> fetchByMaven(
            LibTorchByMaven jars, List<String> maven, Progress progress, Trial trial, BooleanSupplier stop)
            throws IOException {
        try (Stage stage = new Stage()) {
            requireSpace(jars.space());
            return jars.fetch(stage.folder, maven, progress, stop)
                    ? Optional.of(publish(stage, stage.folder, trial))
                    : Optional.empty();
        }
    }

    /** Waits for a process, and ends it; false if it was stopped. */
    static boolean await(Process process, Runnable tick, BooleanSupplier stop) {
        try {
            while (!process.waitFor(WAIT_MILLISECONDS, TimeUnit.MILLISECONDS)) {
                tick.run();
                if (stop.getAsBoolean()) {
                    return false;
                }
            }
            // Ctrl-C ends both processes, and the other one may be quicker.
            return !stop.getAsBoolean();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            process.destroyForcibly().onExit().join();
        }
    }

    /** DJL fetches into a folder of another name, and renames that when it is whole. */
    private static Optional<Path> fetched(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return Optional.empty();
        }
        try (Stream<Path> children = Files.list(folder)) {
            return children.filter(child ->
                            LibTorchFolder.byDjl(child.getFileName().toString()).isPresent())
                    .filter(child -> Files.exists(child.resolve(LibTorchFolder.library("torch_cpu"))))
                    .findFirst();
        }
    }

    private static String last(Path said) {
        try {
            List<String> lines = Files.readAllLines(said, StandardCharsets.UTF_8);
            return lines.isEmpty() ? "its process said nothing" : lines.getLast();
        } catch (IOException problem) {
            return problem.toString();
        }
    }

    /**
     * Has DJL fetch its libtorch to where the environment variables say, as {@link #fetch} has set them. To be called in a
     * process of its own: DJL also loads what it has fetched, which only works where there is a driver.
     *
     * @return what went wrong, be it in fetching or in loading, for the last line of what the process says; empty if nothing did
     */
    public static Optional<String> fetchByDjl() {
        try {
            LibTorchDownload.run();
            return Optional.empty();
        } catch (RuntimeException | LinkageError | AssertionError problem) {
            return Optional.of(LibTorch.cause(problem).toString());
        }
    }

    /** Gives a whole libtorch its place. */
    private LibTorchFolder publish(Stage stage, Path from, Trial trial) throws IOException {
        LibTorchFolder staged = fit(stage.folder, from);
        trial.of(staged);
        Path place = cache.resolve(POINTER + "-" + staged.version().orElseThrow());
        delete(place);
        Files.move(stage.folder, place, StandardCopyOption.ATOMIC_MOVE);
        return keep(LibTorchFolder.in(place).orElseThrow(), _ -> {});
    }

    private LibTorchFolder keep(LibTorchFolder folder, Trial trial) throws IOException {
        trial.of(folder);
        Files.createDirectories(cache);
        Path temporary = Files.createTempFile(cache, POINTER, ".tmp");
        Files.writeString(temporary, folder.path() + "\n");
        Files.move(
                temporary, cache.resolve(POINTER), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        return folder;
    }

    /**
     * {@return how many bytes the cache has room for}
     *
     * @throws IOException if it cannot be made
     */
    public long space() throws IOException {
        Files.createDirectories(cache);
        return Files.getFileStore(cache).getUsableSpace();
    }

    private void requireSpace(long bytes) throws IOException {
        if (space() < bytes) {
            throw new IOException("%s has room for %d MB, and %d are needed: make room, or name another folder in %s"
                    .formatted(cache, space() >> 20, bytes >> 20, UserCache.VARIABLE));
        }
    }

    /** A folder in the cache for what is not whole yet; what is still there when it is closed is deleted. */
    private final class Stage implements AutoCloseable {
        final Path folder;

        Stage() throws IOException {
            Files.createDirectories(cache);
            folder = Files.createTempDirectory(cache, POINTER + "-unfinished-");
        }

        @Override
        public void close() throws IOException {
            delete(folder);
        }
    }

    /** How many bytes there are below a folder so far, while others write to it. */
    static long size(Path folder) {
        if (!Files.isDirectory(folder)) {
            return 0;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            return files.mapToLong(file -> {
                        try {
                            return Files.isRegularFile(file) ? Files.size(file) : 0;
                        } catch (IOException _) {
                            return 0; // renamed meanwhile
                        }
                    })
                    .sum();
        } catch (IOException | UncheckedIOException _) {
            return 0; // a folder was renamed meanwhile
        }
    }

    static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
