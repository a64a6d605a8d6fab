package dev.espalier.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DataCacheTest {
    @TempDir
    Path folder;

    /** The data under a scheme that is not known to be this machine's; Hadoop remembers what a name stands for, so each test has another. */
    private final String far = "viewfs://far-" + UUID.randomUUID();

    private Path data;
    private Path cache;

    @BeforeEach
    void makeData() throws IOException {
        data = Files.createDirectories(folder.resolve("data"));
        cache = Files.createDirectories(folder.resolve("cache"));
        Files.createDirectories(data.resolve("images/cats"));
        Files.writeString(data.resolve("images/cats/1.png"), "a cat");
        Files.writeString(data.resolve("images/names.txt"), "cats");
        for (String part : List.of("part-1.parquet", "part-2.parquet", "notes.txt")) {
            Files.writeString(data.resolve(part), part);
        }
    }

    private DataCache cache() {
        Configuration configuration = new Configuration();
        String table = far.substring("viewfs://".length());
        configuration.set(
                "fs.viewfs.mounttable." + table + ".link./d", data.toUri().toString());
        return new DataCache(cache, Path.of("/start"), configuration);
    }

    @Test
    void pathsAreTakenFromWhereTheStudyWasStarted() {
        assertEquals("/start/data/*.parquet", cache().apply("data/*.parquet"));
        assertEquals("/mnt/shared/a.csv", cache().apply("/mnt/shared/a.csv"));
        assertEquals("/mnt/shared/a.csv", cache().apply("file:///mnt/shared/a.csv"));
    }

    @Test
    void aFileIsCopiedUnderItsName() throws IOException {
        Path copy = Path.of(cache().apply(far + "/d/notes.txt"));
        assertTrue(copy.startsWith(cache) && copy.endsWith("notes.txt"), copy::toString);
        assertEquals("notes.txt", Files.readString(copy));
    }

    @Test
    void aFolderIsCopiedWhole() throws IOException {
        Path copy = Path.of(cache().apply(far + "/d/images/"));
        assertEquals("a cat", Files.readString(copy.resolve("cats/1.png")));
        assertEquals("cats", Files.readString(copy.resolve("names.txt")));
    }

    @Test
    void aPatternStaysAPattern() throws IOException {
        String copy = cache().apply(far + "/d/*.parquet");
        assertTrue(copy.endsWith("/d/*.parquet"), copy);
        assertEquals(
                Set.of("part-1.parquet", "part-2.parquet"), names(Path.of(copy).resolveSibling("")));
    }

    @Test
    void whatBelongsToAModelComesWithIt() throws IOException {
        for (String name : List.of("m.onnx", "m.onnx.data", "other.onnx", "tokenizer.json")) {
            Files.writeString(data.resolve(name), name);
        }
        Path copy = Path.of(cache().apply(far + "/d/m.onnx"));
        assertEquals(Set.of("m.onnx", "m.onnx.data", "tokenizer.json"), names(copy.resolveSibling("")));
    }

    @Test
    void theSameIsCopiedOnceAndOtherDataGoesElsewhere() throws IOException {
        String first = cache().apply(far + "/d/notes.txt");
        assertEquals(first, cache().apply(far + "/d/notes.txt"));
        Files.writeString(data.resolve("notes.txt"), "other notes");
        String second = cache().apply(far + "/d/notes.txt");
        assertNotEquals(first, second);
        assertEquals("notes.txt", Files.readString(Path.of(first)), "who uses the old copy keeps it");
        assertEquals("other notes", Files.readString(Path.of(second)));
    }

    @Test
    void twoThatCopyAtOnceDoNotClash() throws Exception {
        Set<String> places = ConcurrentHashMap.newKeySet();
        List<Thread> threads = Stream.generate(this::cache)
                .limit(8)
                .map(one -> Thread.ofPlatform().start(() -> places.add(one.apply(far + "/d/images"))))
                .toList();
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(1, places.size(), places::toString);
        assertEquals(1, names(cache).size(), "no temporary copy stays");
    }

    @Test
    void whatIsMissingIsNamed() {
        for (String place : List.of(far + "/d/none.csv", far + "/d/*.none")) {
            IllegalArgumentException failure = assertThrows(IllegalArgumentException.class, () -> cache().apply(place));
            assertTrue(String.valueOf(failure.getMessage()).startsWith(place + " cannot be read"), failure::toString);
        }
    }

    private static Set<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).collect(Collectors.toSet());
        }
    }
}
