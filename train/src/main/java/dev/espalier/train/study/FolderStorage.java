package dev.espalier.train.study;

import dev.espalier.core.check.Writing;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A folder of this machine, or one that is mounted on all.
 *
 * @param root the folder
 */
public record FolderStorage(Path root) implements Storage {
    private static final String TEMPORARY = ".tmp";

    private Path path(String name) {
        Path path = root.resolve(name).normalize();
        if (!path.startsWith(root.normalize())) {
            throw new IllegalArgumentException(name + " is not within " + root);
        }
        return path;
    }

    @Override
    public boolean fetch(String name, Path to) throws IOException {
        try {
            Files.createDirectories(to.toAbsolutePath().getParent());
            Files.copy(path(name), to, StandardCopyOption.REPLACE_EXISTING);
            return true;
        } catch (NoSuchFileException _) {
            return false;
        }
    }

    @Override
    public void store(Path from, String name) throws IOException {
        Path to = path(name);
        Files.createDirectories(to.toAbsolutePath().getParent());
        Path temporary = to.resolveSibling(to.getFileName() + "." + UUID.randomUUID() + TEMPORARY);
        try {
            Files.copy(from, temporary);
            try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
                channel.force(true);
            }
            Files.move(temporary, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            Writing.settle(to.toAbsolutePath().getParent());
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    @Override
    public void rename(String name, String other) throws IOException {
        Path to = path(other);
        Files.createDirectories(to.toAbsolutePath().getParent());
        Files.move(path(name), to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        Writing.settle(to.toAbsolutePath().getParent());
    }

    @Override
    public List<String> list(String folder) throws IOException {
        Path top = path(folder);
        if (!Files.isDirectory(top)) {
            return List.of();
        }
        List<String> found = new ArrayList<>();
        Files.walkFileTree(top, new Visitor() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                String name = String.join("/", names(root.normalize().relativize(file)));
                if (attributes.isRegularFile() && !name.endsWith(TEMPORARY)) {
                    found.add(name);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return found.stream().sorted().toList();
    }

    /** Goes on where a file vanishes that was there a moment ago: other machines give files their names, and delete some. */
    private static class Visitor extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
            if (failure instanceof NoSuchFileException) {
                return FileVisitResult.CONTINUE;
            }
            throw failure;
        }
    }

    private static List<String> names(Path path) {
        return Stream.iterate(0, i -> i < path.getNameCount(), i -> i + 1)
                .map(i -> path.getName(i).toString())
                .toList();
    }

    @Override
    public void delete(String name) throws IOException {
        Path top = path(name);
        Files.walkFileTree(top, new Visitor() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException failure) throws IOException {
                Files.deleteIfExists(folder);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    @Override
    public String checksum(String name) throws IOException {
        try (InputStream file = Files.newInputStream(path(name))) {
            return sha256(file);
        }
    }

    /**
     * {@return the SHA-256 of a stream}
     *
     * @param contents the stream, read to its end
     * @throws IOException if it cannot be read
     */
    public static String sha256(InputStream contents) throws IOException {
        try {
            DigestInputStream digested = new DigestInputStream(contents, MessageDigest.getInstance("SHA-256"));
            byte[] buffer = new byte[1 << 16];
            while (digested.read(buffer) >= 0) {
                // only the sum counts
            }
            return HexFormat.of().formatHex(digested.getMessageDigest().digest());
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public boolean exists(String name) {
        return Files.isRegularFile(path(name));
    }
}
