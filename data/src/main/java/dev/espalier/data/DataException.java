package dev.espalier.data;

import java.io.IOException;
import java.io.Serial;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Data that is not what it should be; the message names the file, where there are lines the line, and what was expected. */
public final class DataException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    DataException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /**
     * Something is wrong in a file or folder.
     *
     * @param file which
     * @param problem what is wrong, and what was expected
     * @return the exception
     */
    public static DataException in(Path file, String problem) {
        return new DataException(file + ": " + problem, null);
    }

    /**
     * Something is wrong in a file or folder.
     *
     * @param file which
     * @param problem what is wrong, and what was expected
     * @param cause how that was noticed
     * @return the exception
     */
    public static DataException in(Path file, String problem, Throwable cause) {
        return new DataException(file + ": " + problem, cause);
    }

    /**
     * Something is wrong in a place that is no file.
     *
     * @param place where, such as {@code train.csv, line 3}
     * @param problem what is wrong, and what was expected
     * @return the exception
     */
    public static DataException in(String place, String problem) {
        return new DataException(place + ": " + problem, null);
    }

    /**
     * Something is wrong in a place that is no file.
     *
     * @param place where, such as {@code train.csv, line 3}
     * @param problem what is wrong, and what was expected
     * @param cause how that was noticed
     * @return the exception
     */
    public static DataException in(String place, String problem, Throwable cause) {
        return new DataException(place + ": " + problem, cause);
    }
}
