package dev.espalier.data.table;

import dev.espalier.data.DataException;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/** A file of text in UTF-8, plain or with {@code .gz}, with a byte order mark or without. */
final class PlainText {
    private static final char BYTE_ORDER_MARK = '\ufeff';
    private static final int BUFFER = 1 << 16;

    private PlainText() {}

    /** Reads a text. */
    @FunctionalInterface
    interface Use {
        void read(BufferedReader reader) throws IOException;
    }

    /** Opens a file and lets it be read; what is no such file is told with its name. */
    static void read(Path file, Use use) throws IOException {
        boolean compressed = file.toString().endsWith(".gz");
        try (var stored = Files.newInputStream(file);
                var plain = compressed ? new GZIPInputStream(stored, BUFFER) : stored;
                // Not a charset but its decoder: only that refuses what is not UTF-8.
                var reader =
                        new BufferedReader(new InputStreamReader(plain, StandardCharsets.UTF_8.newDecoder()), BUFFER)) {
            reader.mark(1);
            if (reader.read() != BYTE_ORDER_MARK) {
                reader.reset();
            }
            use.read(reader);
        } catch (UncheckedIOException problem) {
            throw told(file, Objects.requireNonNullElseGet(problem.getCause(), () -> new IOException(problem)));
        } catch (CharacterCodingException | ZipException | EOFException problem) {
            throw told(file, problem);
        }
    }

    private static IOException told(Path file, IOException problem) {
        return switch (problem) {
            case CharacterCodingException malformed -> DataException.in(file, "no UTF-8 text", malformed);
            case ZipException malformed ->
                DataException.in(file, "no sound gzip file: " + malformed.getMessage(), malformed);
            case EOFException cut -> DataException.in(file, "it ends too early: cut off?", cut);
            case IOException other -> other;
        };
    }
}
