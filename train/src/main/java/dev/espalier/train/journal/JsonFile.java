package dev.espalier.train.journal;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.espalier.core.check.Writing;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** Records as JSON files for people and programs: names in lower case with underscores, null for what is not finite. */
public final class JsonFile {
    private JsonFile() {}

    /**
     * Writes a record so that a crash leaves the old file or the new one, whole.
     *
     * @param file the file; replaced if it exists
     * @param record what it shall hold
     * @throws IOException if it cannot be written; then the old one is still there
     */
    public static void write(Path file, Object record) throws IOException {
        RunFolder.replace(file, Json.pretty(record));
    }

    /**
     * Reads a record back.
     *
     * @param <T> what it is
     * @param file the file
     * @param type what it is
     * @return the record
     * @throws IOException if it cannot be read, or is damaged
     */
    public static <T> T read(Path file, Class<T> type) throws IOException {
        return parse(file.toString(), Files.readString(file), type);
    }

    /**
     * {@return a record on one line}
     *
     * @param record the record
     */
    public static String line(Object record) {
        return Json.line(record);
    }

    /**
     * {@return a record on many lines, for people}
     *
     * @param record the record
     */
    public static String text(Object record) {
        return Json.pretty(record);
    }

    /**
     * Reads a record from a text.
     *
     * @param <T> what it is
     * @param source what messages call it
     * @param text the text
     * @param type what it is
     * @return the record
     * @throws IOException if the text is damaged
     */
    public static <T> T parse(String source, String text, Class<T> type) throws IOException {
        try {
            return Json.parse(text, type);
        } catch (JsonProcessingException broken) {
            throw new DamagedException(source, broken);
        }
    }

    /**
     * Adds a record to a file, on a line of its own, and forces it to disk: what is written later may count on it.
     *
     * @param file the file; made if it is missing
     * @param record what to add
     * @throws IOException if it cannot be written
     */
    public static void append(Path file, Object record) throws IOException {
        Writing.to(file, () -> {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
                byte[] line = (Json.line(record) + "\n").getBytes(StandardCharsets.UTF_8);
                Writing.all(channel, ByteBuffer.wrap(line));
                channel.force(true);
            }
        });
    }

    /**
     * Reads a file of records, one a line. A last line that was cut off by a crash is left out.
     *
     * @param <T> what the records are
     * @param file the file
     * @param type what the records are
     * @return the records; none if there is no file
     * @throws IOException if it cannot be read
     */
    public static <T> List<T> lines(Path file, Class<T> type) throws IOException {
        if (!Files.exists(file)) {
            return List.of();
        }
        String text = Files.readString(file);
        List<T> records = new ArrayList<>();
        for (String line : text.substring(0, text.lastIndexOf('\n') + 1).lines().toList()) {
            records.add(parse(file.toString(), line, type));
        }
        return records;
    }
}
