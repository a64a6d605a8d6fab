package dev.espalier.torture.file;

import dev.espalier.torture.file.Reading.Failure;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Which exceptions say in words what is wrong with a file, as the command line takes it: {@code IOException}, {@code
 * IllegalArgumentException} and {@code UncheckedIOException} that our own code threw, with a message; and what the system says of a
 * file. One that a library threw past our code is none, even if its type would do: it knows nothing of the file.
 */
final class Judgement {
    private static final String OURS = "dev.espalier.";
    private static final int FRAMES = 60;

    private Judgement() {}

    /** What must not be about an exception; empty if it says what is wrong with the file. */
    static Optional<Failure> of(Throwable thrown) {
        if (isExplained(thrown)) {
            return Optional.empty();
        }
        String first = Arrays.stream(thrown.getStackTrace())
                .filter(frame -> frame.getClassName().startsWith(OURS))
                .findFirst()
                .map(Judgement::place)
                .orElse("?");
        return Optional.of(new Failure(thrown.getClass().getSimpleName() + " at " + first, text(thrown)));
    }

    private static boolean isExplained(Throwable thrown) {
        String message = thrown.getMessage();
        boolean type = thrown instanceof IOException
                || thrown instanceof IllegalArgumentException
                || thrown instanceof UncheckedIOException;
        return thrown instanceof FileSystemException
                || (type && message != null && !message.isBlank() && isOurs(thrown));
    }

    private static boolean isOurs(Throwable thrown) {
        StackTraceElement[] stack = thrown.getStackTrace();
        return thrown.getClass().getName().startsWith(OURS)
                || (stack.length > 0 && stack[0].getClassName().startsWith(OURS));
    }

    static String place(StackTraceElement frame) {
        String type = frame.getClassName();
        return type.substring(type.lastIndexOf('.') + 1) + "." + frame.getMethodName() + ":" + frame.getLineNumber();
    }

    /** The stack, without the thousands of frames of an overflow. */
    private static String text(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text, true));
        return text.toString().lines().limit(FRAMES).collect(Collectors.joining("\n", "", "\n"));
    }
}
