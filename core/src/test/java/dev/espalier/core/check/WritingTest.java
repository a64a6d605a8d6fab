package dev.espalier.core.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WritingTest {
    private static final Path FILE = Path.of("model.onnx");

    private static String message(IOException refused) {
        return String.valueOf(assertThrows(
                        IOException.class,
                        () -> Writing.to(FILE, () -> {
                            throw refused;
                        }))
                .getMessage());
    }

    @Test
    void theFileIsNamedAndNoOther() {
        assertEquals(
                "cannot write model.onnx: No space left on device",
                message(new IOException("No space left on device")));
        assertEquals(
                "cannot write model.onnx: permission denied", message(new AccessDeniedException("model.onnx.tmp")));
        assertEquals(
                "cannot write model.onnx: Read-only file system",
                message(new FileSystemException("model.onnx.tmp", null, "Read-only file system")));
        assertEquals(
                "cannot write model.onnx: FileAlreadyExists",
                message(new FileAlreadyExistsException("model.onnx.tmp")));
    }

    @Test
    void aMissingFolderIsTold() {
        Path file = Path.of("no-such-folder/file");
        assertEquals(
                "cannot write " + file + ": there is no such folder",
                assertThrows(IOException.class, () -> Writing.to(file, () -> Files.writeString(file, "")))
                        .getMessage());
    }

    @Test
    void aFullDiskIsTold() {
        Path full = Path.of("/dev/full");
        assumeTrue(Files.exists(full), "there is no /dev/full here");
        assertEquals(
                "cannot write /dev/full: No space left on device",
                assertThrows(IOException.class, () -> Writing.to(full, () -> Files.writeString(full, "text")))
                        .getMessage());
    }

    @Test
    void aFileIsReplacedWholeOrNotAtAll(@TempDir Path temporary) throws IOException {
        Path folder = Writing.folder(temporary.resolve("a").resolve("b"));
        Path file = folder.resolve("file");
        Writing.whole(file, "one");
        assertThrows(
                IOException.class,
                () -> Writing.whole(file, channel -> {
                    Writing.all(channel, ByteBuffer.wrap(new byte[] {1, 2, 3}));
                    throw new IOException("No space left on device");
                }));
        assertEquals("one", Files.readString(file));
        Writing.whole(file, "two");
        assertEquals("two", Files.readString(file));
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(List.of(file), files.toList(), "nothing else is left");
        }
        assertEquals(folder, Writing.folder(folder), "it may be there");
    }
}
