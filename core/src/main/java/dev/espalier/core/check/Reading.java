package dev.espalier.core.check;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reading a file that should be a text; the decoder's own words name neither the file nor what was expected. */
public final class Reading {
    private Reading() {}

    /**
     * Reads a text.
     *
     * @param file a file in UTF-8
     * @return all of it
     * @throws IOException if the file cannot be read, is a folder, or is no text in UTF-8
     */
    public static String text(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new IOException(file + " is a folder: give a file");
        }
        try {
            return Files.readString(file);
        } catch (CharacterCodingException malformed) {
            throw new IOException(file + " is no text in UTF-8: is it damaged, or another kind of file?", malformed);
        }
    }
}
