package dev.espalier.torch;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/** A libtorch in an archive: a zip as PyTorch offers, or a Python wheel, which is a zip too. */
final class LibTorchArchive implements AutoCloseable {
    /** Neither Java nor libtorch has a use for these, and DJL would load them. */
    private static final Pattern OF_PYTHON = Pattern.compile("lib(torch_python|shm)\\..*");

    private static final Pattern LIBRARY = Pattern.compile("[\\w.+-]+\\.(so(\\.\\d+)*|dylib|dll)");
    private static final int BUFFER = 1 << 20;

    private final Path file;
    private final ZipFile zip;

    /** The folder within the archive that has the libraries, with a slash behind it; empty for the archive itself. */
    private final String root;

    /** The names of those that are taken. */
    private final Predicate<String> libraries;

    private LibTorchArchive(Path file, ZipFile zip, String root, Predicate<String> libraries) {
        this.file = file;
        this.zip = zip;
        this.root = root;
        this.libraries = libraries;
    }

    /** Opens an archive. Its table of contents is at its end: one that was cut off is refused here. */
    static LibTorchArchive open(Path file) throws IOException {
        ZipFile zip = zip(file);
        try {
            return new LibTorchArchive(
                    file,
                    zip,
                    root(file, zip),
                    name -> LIBRARY.matcher(name).matches()
                            && !OF_PYTHON.matcher(name).matches());
        } catch (RuntimeException problem) {
            zip.close();
            throw problem;
        }
    }

    /**
     * Opens an archive that has a part of a libtorch.
     *
     * @param root the folder in it that has the libraries, with a slash behind it
     * @param libraries the names of those that are taken; none has a slash
     */
    static LibTorchArchive open(Path file, String root, Pattern libraries) throws IOException {
        return new LibTorchArchive(file, zip(file), root, libraries.asMatchPredicate());
    }

    private static ZipFile zip(Path file) throws IOException {
        try {
            return new ZipFile(file.toFile());
        } catch (ZipException | EOFException problem) {
            throw new IllegalArgumentException(
                    "%s is no zip archive, or not a whole one (%s): fetch it again, or name the folder of a libtorch"
                            .formatted(file, problem.getMessage()),
                    problem);
        }
    }

    private static String root(Path file, ZipFile zip) {
        List<String> names = zip.stream()
                .map(ZipEntry::getName)
                .map(name -> name.replace('\\', '/'))
                .toList();
        for (String name : names) {
            if (name.startsWith("/") || List.of(name.split("/", -1)).contains("..")) {
                throw new IllegalArgumentException(
                        "%s is refused: its entry \"%s\" would be written outside of the folder that it is unpacked to"
                                .formatted(file, name));
            }
        }
        String library = LibTorchFolder.library("torch_cpu");
        return names.stream()
                .filter(name -> name.equals(library) || name.endsWith("/" + library))
                .findFirst()
                .map(name -> name.substring(0, name.length() - library.length()))
                .orElseThrow(() -> new IllegalArgumentException(
                        "%s holds no libtorch: there is no %s in any of its folders".formatted(file, library)));
    }

    /** What is unpacked: the libraries, and what tells the version. */
    private List<? extends ZipEntry> wanted() {
        return zip.stream()
                .filter(entry -> entry.getName().startsWith(root))
                .filter(entry -> libraries.test(entry.getName().substring(root.length())))
                .toList();
    }

    /** How many bytes there will be. */
    long size() {
        return wanted().stream().mapToLong(ZipEntry::getSize).sum();
    }

    /**
     * Unpacks the libraries into {@code lib} below a folder, and what tells the version beside.
     *
     * @param folder a folder; what is there already is kept, or replaced
     * @param progress told how far it is
     * @param stop asked now and then: true to leave
     * @return false if it was left
     */
    boolean unpack(Path folder, Progress progress, BooleanSupplier stop) throws IOException {
        Path place = Files.createDirectories(folder.resolve("lib"));
        long all = size();
        long done = 0;
        for (ZipEntry entry : wanted()) {
            Path to = place.resolve(entry.getName().substring(root.length()));
            if (!unpack(entry, to, done, all, progress, stop)) {
                return false;
            }
            done += entry.getSize();
        }
        String above = root.substring(0, root.lastIndexOf('/', root.length() - 2) + 1);
        for (String name : Stream.of(LibTorchFolder.VERSION_FILE, LibTorchFolder.PYTHON_FILE)
                .flatMap(name -> Stream.of(root + name, above + name))
                .toList()) {
            ZipEntry entry = zip.getEntry(name);
            if (entry != null) {
                unpack(entry, folder.resolve(name.substring(name.lastIndexOf('/') + 1)), done, all, progress, stop);
            }
        }
        return true;
    }

    /** What {@link ZipFile} does not check: that as much comes out as went in, and the same. */
    private boolean unpack(ZipEntry entry, Path to, long before, long all, Progress progress, BooleanSupplier stop)
            throws IOException {
        CRC32 sum = new CRC32();
        long count = 0;
        try (InputStream in = zip.getInputStream(entry);
                OutputStream out = Files.newOutputStream(to)) {
            byte[] buffer = new byte[BUFFER];
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                if (stop.getAsBoolean()) {
                    return false;
                }
                sum.update(buffer, 0, read);
                out.write(buffer, 0, read);
                count += read;
                if (count > entry.getSize()) {
                    throw damaged(entry, "there is more than it says");
                }
                progress.at(before + count, all);
            }
        } catch (ZipException | EOFException problem) {
            throw damaged(entry, String.valueOf(problem.getMessage()));
        }
        if (count != entry.getSize() || sum.getValue() != entry.getCrc()) {
            throw damaged(entry, "its checksum is another");
        }
        return true;
    }

    private IOException damaged(ZipEntry entry, String how) {
        return new IOException("%s is damaged at %s (%s): fetch it again".formatted(file, entry.getName(), how));
    }

    @Override
    public void close() throws IOException {
        zip.close();
    }
}
