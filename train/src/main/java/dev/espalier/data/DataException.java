package dev.espalier.data;

import java.io.IOException;
import java.io.Serial;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Data that is not what it should be; the message names the file, where there are lines the line, and what was expected. */
public final class DataException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    private DataException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    static DataException in(Path file, String problem) {
        return new DataException(file + ": " + problem, null);
    }

    static DataException in(Path file, String problem, Throwable cause) {
        return new DataException(file + ": " + problem, cause);
    }

    static DataException in(Path file, long line, String problem) {
        return new DataException(file + ", line " + line + ": " + problem, null);
    }
}
