package dev.espalier.torch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A libtorch as the files of its folder tell: nothing is loaded.
 *
 * @param path the folder of its libraries
 * @param version its version, {@code 2.7.1+cu128} for one; empty if nothing tells
 * @param cuda whether it is made for CUDA
 */
public record LibTorchFolder(Path path, Optional<String> version, boolean cuda) {
    /** The file beside its libraries, or above them, in which libtorch's own archives tell the version. */
    static final String VERSION_FILE = "build-version";

    /** The same above the libraries of a Python package. */
    static final String PYTHON_FILE = "version.py";

    private static final Pattern IN_PYTHON =
            Pattern.compile("^__version__\\s*(?::\\s*\\w+\\s*)?=\\s*['\"]([^'\"]+)['\"]", Pattern.MULTILINE);

    /** How DJL calls the folders that it makes: {@code 2.7.1-cu128-linux-x86_64}, some with a date. */
    private static final Pattern OF_DJL =
            Pattern.compile("(\\d+\\.\\d+\\.\\d+)(?:-\\d{8})?-(cpu|cu\\d+)(?:-precxx11)?-.*");

    /**
     * Looks at a folder.
     *
     * @param folder that of the libraries, or one above it: of an unpacked archive, of a Python package, of a site's packages
     * @return what is there; empty if that is no libtorch
     */
    public static Optional<LibTorchFolder> in(Path folder) {
        return Stream.of(folder, folder.resolve("lib"), folder.resolve("torch/lib"))
                .map(path -> path.toAbsolutePath().normalize())
                .filter(path -> Files.isRegularFile(path.resolve(library("torch_cpu"))))
                .findFirst()
                .map(path -> new LibTorchFolder(path, versionOf(path), isForCuda(path)));
    }

    /** What the system calls a library of libtorch. */
    static String library(String name) {
        return System.mapLibraryName(name);
    }

    /** What a libtorch that is made for CUDA has in addition. */
    static List<String> forCuda() {
        return List.of(library("c10_cuda"), library("torch_cuda"));
    }

    private static boolean isForCuda(Path path) {
        return forCuda().stream().allMatch(name -> Files.isRegularFile(path.resolve(name)));
    }

    private static Optional<String> versionOf(Path path) {
        return Stream.of(path.resolve(VERSION_FILE), path.resolveSibling(VERSION_FILE))
                .flatMap(LibTorchFolder::text)
                .map(String::strip)
                .findFirst()
                .or(() -> text(path.resolveSibling(PYTHON_FILE))
                        .flatMap(text -> inPython(text).stream())
                        .findFirst())
                .or(() -> byDjl(path.getFileName().toString()));
    }

    /** What Python's file says. */
    private static Optional<String> inPython(String text) {
        Matcher matcher = IN_PYTHON.matcher(text);
        return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
    }

    /** What the name of a folder says that DJL has made. */
    static Optional<String> byDjl(String name) {
        Matcher matcher = OF_DJL.matcher(name);
        return matcher.matches() ? Optional.of(matcher.group(1) + "+" + matcher.group(2)) : Optional.empty();
    }

    private static Stream<String> text(Path file) {
        try {
            return Files.isRegularFile(file) ? Stream.of(Files.readString(file)) : Stream.empty();
        } catch (IOException problem) {
            throw new UncheckedIOException("cannot read " + file + ": " + problem.getMessage(), problem);
        }
    }

    /**
     * Why training on GPUs cannot do with it.
     *
     * @param wanted the version that DJL was made for, {@code 2.7.1}
     * @param from where it comes from, for the message
     * @return the reason, and what to do; empty if it can
     */
    Optional<String> whyUnfit(String wanted, Path from) {
        if (!cuda) {
            return Optional.of(
                    "the libtorch in %s is made for the processor alone, as it has no %s: take one of PyTorch %s for CUDA"
                            .formatted(from, String.join(" and no ", forCuda()), wanted));
        }
        if (version.isEmpty()) {
            return Optional.of(
                    ("nothing tells the version of the libtorch in %s: it must be %s, told by a file %s beside its libraries or above, or by %s"
                                    + " above")
                            .formatted(from, wanted, VERSION_FILE, PYTHON_FILE));
        }
        return version.get().equals(wanted) || version.get().startsWith(wanted + "+")
                ? Optional.empty()
                : Optional.of("the libtorch in %s is of version %s: DJL was made for %s, and takes no other"
                        .formatted(from, version.get(), wanted));
    }
}
