package dev.espalier.data.image;

import dev.espalier.data.DataException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.jspecify.annotations.Nullable;

/**
 * Brings CIFAR-10's official binary batches into a folder: verifies what is there, and where files are missing gets the
 * archive and unpacks it.
 *
 * <p>The archive is loaded into a file {@code ….part}, which an interrupted download goes on with. It is unpacked into a
 * folder of its own and verified there; only then do the files move to where they belong. An archive that the user has put
 * there is used instead.
 */
public final class Cifar10Download {
    /** The authors' site. */
    public static final URI OFFICIAL = URI.create("https://www.cs.toronto.edu/~kriz/" + Cifar10Files.ARCHIVE);

    private static final String ARCHIVE_SUM = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd";
    private static final Set<String> THIS_MACHINE = Set.of("127.0.0.1", "localhost", "[::1]");
    /** What an archive has besides its files: names, and a page to read. */
    private static final long BESIDES = 1 << 20;

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int CHUNK = 1 << 16;
    private static final int OK = 200;
    private static final int PARTIAL = 206;
    private static final int NOTHING_LEFT = 416;

    private final Cifar10Files files;
    private final String archiveSum;
    private final URI from;
    private final Progress progress;

    /** Told as a download goes. */
    @FunctionalInterface
    public interface Progress {
        /**
         * Some more is there.
         *
         * @param bytes how much in all
         * @param total how much there is; 0 if the server does not say
         */
        void at(long bytes, long total);
    }

    /** Tests have smaller files of their own. */
    Cifar10Download(Cifar10Files files, String archiveSum, URI from, Progress progress) {
        this.files = files;
        this.archiveSum = archiveSum;
        this.from = from;
        this.progress = progress;
    }

    /**
     * A download.
     *
     * @param from where the archive lies: {@link #OFFICIAL}, or a mirror
     * @param progress who is told
     * @throws IllegalArgumentException if others could listen in and send something else: a mirror has {@code https}, unless it is on
     *     this machine
     */
    public Cifar10Download(URI from, Progress progress) {
        this(Cifar10Files.official(), ARCHIVE_SUM, from, progress);
        boolean local = "http".equals(from.getScheme()) && THIS_MACHINE.contains(String.valueOf(from.getHost()));
        if (!"https".equals(from.getScheme()) && !local) {
            throw new IllegalArgumentException(
                    from + " is refused: it must start with https://, or with http:// and be on this machine");
        }
    }

    /**
     * Verifies the files in a folder, and gets them first where some are missing.
     *
     * @param folder holds the files, or the folder {@code cifar-10-batches-bin} with them; made if it is missing
     * @return the folder that holds them
     * @throws IOException naming every file that is not the official one, or what to do where there is no network
     * @throws InterruptedException if this thread is interrupted
     */
    public Path into(Path folder) throws IOException, InterruptedException {
        if (files.isMissingIn(folder)) {
            Files.createDirectories(folder);
            Path archive = folder.resolve(Cifar10Files.ARCHIVE);
            boolean given = Files.isRegularFile(archive);
            if (!given) {
                download(archive);
            }
            requireSum(archive);
            unpack(archive, folder);
            if (!given) {
                Files.delete(archive);
            }
        }
        return files.verifyAll(folder);
    }

    private void download(Path archive) throws IOException, InterruptedException {
        Path part = archive.resolveSibling(archive.getFileName() + ".part");
        long have = Files.exists(part) ? Files.size(part) : 0;
        try (HttpClient client = HttpClient.newBuilder()
                .connectTimeout(PATIENCE)
                // Not from https to http.
                .followRedirects(HttpClient.Redirect.NORMAL)
                .build()) {
            HttpResponse<InputStream> response = ask(client, have);
            if (response.statusCode() == NOTHING_LEFT && have > 0) {
                // What is there is not the beginning of what the server has, or all of it: then the sum was never
                // checked.
                response.body().close();
                have = 0;
                response = ask(client, have);
            }
            try (InputStream body = response.body()) {
                if (response.statusCode() == OK) {
                    // The server starts over, whatever it was asked for.
                    have = 0;
                    Files.deleteIfExists(part);
                } else if (response.statusCode() != PARTIAL) {
                    throw new IOException("the server answers with status " + response.statusCode());
                }
                long rest =
                        response.headers().firstValueAsLong("Content-Length").orElse(0);
                append(body, part, have, rest == 0 ? 0 : have + rest);
            }
        } catch (IOException failure) {
            throw DataException.in(archive, mend(failure), failure);
        }
        Files.move(part, archive, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private HttpResponse<InputStream> ask(HttpClient client, long have) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(from);
        if (have > 0) {
            request.header("Range", "bytes=" + have + "-");
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    }

    private void append(InputStream body, Path part, long have, long total) throws IOException {
        long count = have;
        byte[] chunk = new byte[CHUNK];
        try (OutputStream target = Files.newOutputStream(part, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            for (int read = body.read(chunk); read >= 0; read = body.read(chunk)) {
                count += read;
                // Images hardly shrink: an archive that is longer than its files is another.
                if (count > files.size() + BESIDES) {
                    Files.delete(part);
                    throw new IOException("it is longer than the official archive, which has less than %,d bytes"
                            .formatted(files.size() + BESIDES));
                }
                target.write(chunk, 0, read);
                progress.at(count, total);
            }
        }
    }

    private String mend(IOException failure) {
        String reason = failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
        return "cannot load %s (%s); run this again to go on, or download it by hand (SHA-256 %s), put it there and run this again"
                .formatted(from, reason, archiveSum);
    }

    private void requireSum(Path archive) throws IOException {
        MessageDigest digest = Cifar10Files.sha256();
        byte[] chunk = new byte[CHUNK];
        try (InputStream content = Files.newInputStream(archive)) {
            for (int read = content.read(chunk); read >= 0; read = content.read(chunk)) {
                digest.update(chunk, 0, read);
            }
        }
        String actual = HexFormat.of().formatHex(digest.digest());
        if (!actual.equals(archiveSum)) {
            // Out of the way: the next attempt must not take it for the archive.
            Path wrong = archive.resolveSibling(archive.getFileName() + ".wrong");
            Files.move(archive, wrong, StandardCopyOption.REPLACE_EXISTING);
            throw DataException.in(
                    wrong,
                    "the SHA-256 sum is %s, but that of the official archive is %s: delete it and run this again"
                            .formatted(actual, archiveSum));
        }
    }

    private void unpack(Path archive, Path folder) throws IOException {
        Path temporary = Files.createTempDirectory(folder, ".cifar10-");
        try {
            try (InputStream stored = Files.newInputStream(archive);
                    InputStream plain = new GZIPInputStream(stored, CHUNK)) {
                unpack(plain, temporary, files.size() + BESIDES);
            }
            Path unpacked = files.verifyAll(temporary);
            Path home = Files.createDirectories(Cifar10Files.home(folder));
            for (String name : files.names()) {
                Files.move(
                        unpacked.resolve(name),
                        home.resolve(name),
                        StandardCopyOption.ATOMIC_MOVE,
                        StandardCopyOption.REPLACE_EXISTING);
            }
        } finally {
            delete(temporary);
        }
    }

    /**
     * Unpacks the regular files below a folder; everything else in the archive is left out.
     *
     * @param plain a tar archive
     * @param folder where its files go
     * @param most how many bytes it may hold
     * @throws IOException if it is no sound archive, holds more, or leads out of the folder
     */
    public static void unpack(InputStream plain, Path folder, long most) throws IOException {
        long left = most;
        try (TarArchiveInputStream archive = new TarArchiveInputStream(plain)) {
            for (TarArchiveEntry entry = next(archive); entry != null; entry = next(archive)) {
                if (!entry.isCheckSumOK()) {
                    throw new IOException("no sound tar archive: the checksum of a header is wrong");
                }
                left -= entry.getSize();
                if (left < 0) {
                    throw new IOException("the tar archive holds more than %,d bytes".formatted(most));
                }
                if (isPlain(entry)) {
                    Path file = place(entry, folder);
                    if (file.equals(folder.normalize())) {
                        throw new IOException("the tar archive holds a file that is called " + entry.getName());
                    }
                    Files.createDirectories(file.resolveSibling("."));
                    try {
                        Files.copy(archive, file, StandardCopyOption.REPLACE_EXISTING);
                    } catch (IOException problem) {
                        throw new IOException(
                                "%s cannot be unpacked: %s".formatted(entry.getName(), problem.getMessage()), problem);
                    }
                }
            }
        }
    }

    private static Path place(TarArchiveEntry entry, Path folder) throws IOException {
        try {
            // Refuses a name that leads out of the folder, but not that of the folder itself.
            return entry.resolveIn(folder).normalize();
        } catch (IOException | InvalidPathException refused) {
            throw new IOException("the tar archive holds a file that is refused: " + refused.getMessage(), refused);
        }
    }

    private static @Nullable TarArchiveEntry next(TarArchiveInputStream archive) throws IOException {
        try {
            return archive.getNextEntry();
        } catch (IOException | RuntimeException malformed) {
            // Its reader throws whatever comes.
            throw new IOException("no sound tar archive: " + malformed.getMessage(), malformed);
        }
    }

    /** Not {@code isFile}: that takes links and devices for files. */
    private static boolean isPlain(TarArchiveEntry entry) {
        return entry.getLinkFlag() == TarConstants.LF_NORMAL
                || (entry.getLinkFlag() == TarConstants.LF_OLDNORM && !entry.isDirectory());
    }

    private static void delete(Path folder) throws IOException {
        List<Path> all;
        try (Stream<Path> entries = Files.walk(folder)) {
            all = entries.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path entry : all) {
            Files.delete(entry);
        }
    }
}
