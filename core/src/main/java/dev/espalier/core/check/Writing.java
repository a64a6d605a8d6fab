package dev.espalier.core.check;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Writing to a file: so that it is there whole or not at all, and told by that file's name if it fails. What the system says names none,
 * or that of a temporary file which nobody knows.
 */
public final class Writing {
    private static final String TEMPORARY = ".tmp";

    private Writing() {}

    /** What writes. */
    @FunctionalInterface
    public interface Action {
        /**
         * Writes.
         *
         * @throws IOException if that is not possible
         */
        void run() throws IOException;
    }

    /**
     * Writes.
     *
     * @param file what the user calls the file
     * @param action writes it, by way of whatever other files
     * @throws IOException if that is not possible; the message names the file and the reason
     */
    public static void to(Path file, Action action) throws IOException {
        try {
            action.run();
        } catch (IOException refused) {
            throw new IOException("cannot write " + file + ": " + reason(refused), refused);
        }
    }

    /** What a file shall hold. */
    @FunctionalInterface
    public interface Contents {
        /**
         * Writes it.
         *
         * @param channel where to
         * @throws IOException if that is not possible
         */
        void writeTo(FileChannel channel) throws IOException;
    }

    /**
     * Replaces a file so that any end, of the process or of the power, leaves the old one or the new one, whole: another file is written and
     * forced to disk, takes the place, and the folder, which says what is where, is forced as well.
     *
     * @param file the file; replaced if it exists
     * @param contents what it shall hold
     * @throws IOException if it cannot be written; then the old one is still there
     */
    public static void whole(Path file, Contents contents) throws IOException {
        Path temporary = file.resolveSibling(file.getFileName() + TEMPORARY);
        try {
            try (FileChannel channel = FileChannel.open(
                    temporary,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING,
                    StandardOpenOption.WRITE)) {
                contents.writeTo(channel);
                channel.force(true);
            }
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException refused) {
            remove(temporary, refused);
            throw refused;
        }
        settle(file.toAbsolutePath().getParent());
    }

    /**
     * What a file was to become that an end of the process left.
     *
     * @param left any file
     * @return the file that it would have replaced; the same if it is no temporary one
     */
    public static Path meant(Path left) {
        String name = String.valueOf(left.getFileName());
        return name.endsWith(TEMPORARY)
                ? left.resolveSibling(name.substring(0, name.length() - TEMPORARY.length()))
                : left;
    }

    /**
     * Replaces a file so by a text.
     *
     * @param file the file; replaced if it exists
     * @param text what it shall hold
     * @throws IOException if it cannot be written; then the old one is still there
     */
    public static void whole(Path file, String text) throws IOException {
        whole(file, channel -> all(channel, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8))));
    }

    private static void remove(Path temporary, IOException cause) {
        try {
            if (Files.isRegularFile(temporary)) {
                Files.delete(temporary);
            }
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    /**
     * Writes bytes where a channel stands, however few the system takes at a time.
     *
     * @param channel where to
     * @param bytes what; all of it is gone afterwards
     * @throws IOException if they cannot be written
     */
    public static void all(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /**
     * Makes a folder, and those that it is in, so that a cut of the power leaves what is then written there.
     *
     * @param folder the folder; it may be there
     * @return the folder
     * @throws IOException if it cannot be made
     */
    public static Path folder(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            Path above = folder.toAbsolutePath().getParent();
            if (above != null) {
                folder(above);
            }
            Files.createDirectories(folder);
            settle(above);
        }
        return folder;
    }

    /**
     * Forces to disk what is in a folder under which name.
     *
     * @param folder the folder; null for what is in none
     * @throws IOException if the disk refuses
     */
    public static void settle(@Nullable Path folder) throws IOException {
        if (folder == null) {
            return;
        }
        FileChannel channel;
        try {
            channel = FileChannel.open(folder, StandardOpenOption.READ);
        } catch (AccessDeniedException _) {
            return; // Windows opens no folder, and the folder of another user need not be readable
        }
        try (channel) {
            channel.force(true);
        }
    }

    /**
     * Why the system does not let something be written.
     *
     * @param refused what it says
     * @return the same without any file's name
     */
    public static String reason(IOException refused) {
        return switch (refused) {
            case NoSuchFileException _ -> "there is no such folder";
            case AccessDeniedException _ -> "permission denied";
            case FileSystemException other when other.getReason() != null -> String.valueOf(other.getReason());
            case FileSystemException other -> other.getClass().getSimpleName().replace("Exception", "");
            case IOException other -> String.valueOf(other.getMessage());
        };
    }
}
