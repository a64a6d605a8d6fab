package dev.espalier.core.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ReadingTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private String refusal(Path file) {
        return String.valueOf(
                assertThrows(IOException.class, () -> Reading.text(file)).getMessage());
    }

    @Test
    void whatIsNoTextIsToldByItsName() throws IOException {
        Path bytes = Files.write(folder.resolve("bytes"), new byte[] {(byte) 0xff});
        assertEquals(bytes + " is no text in UTF-8: is it damaged, or another kind of file?", refusal(bytes));
        assertEquals(folder + " is a folder: give a file", refusal(folder));
    }
}
