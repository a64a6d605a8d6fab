package dev.espalier.core.check;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Writing to a file, told by that file's name if it fails. What the system says names none, or that of a temporary file which
 * nobody knows.
 */
public final class Writing {
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
