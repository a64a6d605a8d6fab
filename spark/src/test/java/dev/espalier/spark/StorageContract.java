package dev.espalier.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.train.study.MirroredTrial;
import dev.espalier.train.study.Storage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a study asks of every storage. */
abstract class StorageContract {
    @TempDir
    Path folder;

    /** An empty one. */
    abstract Storage storage() throws IOException;

    @Test
    void whatIsStoredIsFetched() throws IOException {
        Storage storage = storage();
        storage.write("a/b.txt", "one");
        storage.write("a/b.txt", "two");
        assertEquals(Optional.of("two"), storage.read("a/b.txt"));
        assertTrue(storage.exists("a/b.txt"));
        assertFalse(storage.exists("a"), "a folder is no file");
        Path copy = folder.resolve("new/copy.txt");
        assertTrue(storage.fetch("a/b.txt", copy));
        assertEquals("two", Files.readString(copy));
    }

    @Test
    void whatIsNotThereIsSaidToBe() throws IOException {
        Storage storage = storage();
        assertEquals(Optional.empty(), storage.read("none.txt"));
        assertFalse(storage.exists("none.txt"));
        assertEquals(List.of(), storage.list("none"));
        assertEquals(List.of(), storage.list(""));
        storage.delete("none");
    }

    @Test
    void allFilesBelowAFolderAreListedInOrder() throws IOException {
        Storage storage = storage();
        for (String name : List.of("b/2.txt", "b/1.txt", "b/c d/3.txt", "a.txt", "b+.txt")) {
            storage.write(name, name);
        }
        assertEquals(List.of("b/1.txt", "b/2.txt", "b/c d/3.txt"), storage.list("b"));
        assertEquals(List.of("a.txt", "b+.txt", "b/1.txt", "b/2.txt", "b/c d/3.txt"), storage.list(""));
        storage.delete("b");
        assertEquals(List.of("a.txt", "b+.txt"), storage.list(""));
    }

    @Test
    void renamingReplaces() throws IOException {
        Storage storage = storage();
        storage.write("new.txt", "new");
        storage.write("deep/old.txt", "old");
        storage.rename("new.txt", "deep/old.txt");
        storage.rename("deep/old.txt", "deeper/still/it.txt");
        assertEquals(List.of("deeper/still/it.txt"), storage.list(""));
        assertEquals(Optional.of("new"), storage.read("deeper/still/it.txt"));
        assertThrows(IOException.class, () -> storage.rename("none.txt", "other.txt"));
    }

    @Test
    void checksumsTellContentsApart() throws IOException {
        Storage storage = storage();
        storage.write("1.txt", "same");
        storage.write("2.txt", "same");
        storage.write("3.txt", "else");
        assertEquals(storage.checksum("1.txt"), storage.checksum("2.txt"));
        assertNotEquals(storage.checksum("1.txt"), storage.checksum("3.txt"));
    }

    @Test
    void namesStayWithin() throws IOException {
        Storage storage = storage();
        assertThrows(IllegalArgumentException.class, () -> storage.write("../out.txt", "x"));
        assertThrows(IllegalArgumentException.class, () -> storage.exists("a/../../out.txt"));
    }

    @Test
    void whoeverReadsSeesAWholeFile() throws Exception {
        Storage storage = storage();
        String text = "0123456789".repeat(50_000);
        Path from = folder.resolve("from.txt");
        Files.writeString(from, text);
        storage.store(from, "file.txt");
        try (ExecutorService threads = Executors.newFixedThreadPool(1)) {
            Future<?> writer = threads.submit(() -> {
                for (int i = 0; i < 50; i++) {
                    storage.store(from, "file.txt");
                }
                return null;
            });
            int reads = 0;
            while (!writer.isDone() || reads == 0) {
                assertEquals(Optional.of(text), storage.read("file.txt"));
                assertEquals(List.of("file.txt"), storage.list(""));
                reads++;
            }
            writer.get();
        }
    }

    @Test
    void ofTwoAttemptsOneIsCommitted() throws IOException {
        Storage storage = storage();
        for (String attempt : List.of("1", "2")) {
            String place = "lambda-1/attempts/" + attempt + "/";
            storage.write(place + "model.onnx", "the same bytes");
            storage.write(place + "tensorboard/events", "some");
            storage.write(place + "result.json", "{}");
        }
        storage.write("lambda-1/attempts/0/model.onnx", "a torso");
        assertTrue(MirroredTrial.commit(storage, "lambda-1"));
        List<String> files = List.of("lambda-1/model.onnx", "lambda-1/result.json", "lambda-1/tensorboard/events");
        assertEquals(files, storage.list(""));
        assertEquals(Optional.of("the same bytes"), storage.read("lambda-1/model.onnx"));
        assertTrue(MirroredTrial.commit(storage, "lambda-1"), "twice is as good as once");
        assertEquals(files, storage.list(""));
        assertFalse(MirroredTrial.commit(storage, "lambda-2"), "there is no attempt");
    }

    @Test
    void aCommitThatWasBrokenOffGoesOn() throws IOException {
        Storage storage = storage();
        storage.write("model.onnx", "moved already");
        storage.write("attempts/1/pruned.onnx", "not yet");
        storage.write("attempts/1/result.json", "{}");
        assertTrue(MirroredTrial.commit(storage, ""));
        assertEquals(List.of("model.onnx", "pruned.onnx", "result.json"), storage.list(""));
    }
}
