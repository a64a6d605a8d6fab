package dev.espalier.graph.onnx;

import dev.espalier.core.check.Writing;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Two files that are written beside their targets and take their places at the end. If the second cannot, the first target is
 * put back, so that the two always belong together.
 */
final class Replacement implements AutoCloseable {
    private static final String TEMPORARY = ".tmp";
    private static final String OLD = ".old";

    private final Path firstTarget;
    private final Path secondTarget;
    private final Path first;
    private final Path second;
    private @Nullable Path backup;

    Replacement(Path firstTarget, Path secondTarget) throws IOException {
        this.firstTarget = firstTarget;
        this.secondTarget = secondTarget;
        this.second = beside(secondTarget);
        try {
            this.first = beside(secondTarget);
        } catch (IOException problem) {
            Files.deleteIfExists(second);
            throw problem;
        }
    }

    private static Path beside(Path target) throws IOException {
        // Not createTempFile, whose files nobody else may read: a model has the rights that any new file has.
        return Files.createFile(folder(target).resolve(start(target) + UUID.randomUUID() + TEMPORARY));
    }

    private static Path folder(Path target) throws IOException {
        Path folder = target.toAbsolutePath().getParent();
        if (folder == null) {
            throw new IOException(target + " is in no folder");
        }
        return folder;
    }

    /** What the names of the files begin with that shall take a target's place. */
    private static String start(Path target) {
        return "." + target.getFileName() + ".";
    }

    /** Removes what replacements of a file left that were killed. */
    static void removeRemains(Path target) throws IOException {
        try (DirectoryStream<Path> remains = Files.newDirectoryStream(
                folder(target), file -> isRemains(target, file.getFileName().toString()))) {
            for (Path file : remains) {
                Files.deleteIfExists(file);
            }
        }
    }

    private static boolean isRemains(Path target, String name) {
        return name.startsWith(start(target)) && (name.endsWith(TEMPORARY) || name.endsWith(TEMPORARY + OLD));
    }

    /** Where to write the first file. */
    Path first() {
        return first;
    }

    /** Where to write the second file. */
    Path second() {
        return second;
    }

    /** Puts the second file in its place, and the first one if it is wanted; both are on disk by then, and their names afterwards. */
    void commit(boolean both) throws IOException {
        force(second);
        if (both) {
            force(first);
            moveBoth();
        } else {
            move(second, secondTarget);
        }
        Writing.settle(second.getParent());
    }

    private static void force(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
    }

    private void moveBoth() throws IOException {
        if (Files.exists(firstTarget)) {
            Path old = first.resolveSibling(first.getFileName() + OLD);
            move(firstTarget, old);
            backup = old;
        }
        try {
            move(first, firstTarget);
            move(second, secondTarget);
        } catch (IOException problem) {
            if (backup != null) {
                move(backup, firstTarget);
                backup = null;
            } else {
                Files.deleteIfExists(firstTarget);
            }
            throw problem;
        }
    }

    private static void move(Path from, Path to) throws IOException {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (AtomicMoveNotSupportedException notHere) {
            Files.move(from, to, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** Removes what is left. */
    @Override
    public void close() throws IOException {
        Files.deleteIfExists(first);
        Files.deleteIfExists(second);
        if (backup != null) {
            Files.deleteIfExists(backup);
        }
    }
}
