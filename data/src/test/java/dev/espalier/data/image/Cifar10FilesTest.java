package dev.espalier.data.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.espalier.data.Column;
import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.LoadedData;
import dev.espalier.data.Normalization;
import dev.espalier.data.Parts;
import dev.espalier.data.TestData;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Random;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class Cifar10FilesTest {
    private static final int RECORDS = 4;
    private static final int RECORD = 3073;

    @TempDir
    Path folder;

    private final SequencedMap<String, byte[]> contents = new LinkedHashMap<>();
    private final SequencedMap<String, String> checksums = new LinkedHashMap<>();

    /** Random files with small sizes under the official names. */
    private Cifar10Files small(Path where) throws IOException, NoSuchAlgorithmException {
        Random random = new Random(1);
        for (String name : Cifar10Files.checksums().keySet()) {
            byte[] content = new byte[RECORDS * RECORD];
            random.nextBytes(content);
            for (int i = 0; i < RECORDS; i++) {
                content[i * RECORD] = (byte) random.nextInt(10);
            }
            put(where, name, content);
        }
        return new Cifar10Files(RECORDS, checksums);
    }

    private void put(Path where, String name, byte[] content) throws IOException, NoSuchAlgorithmException {
        Files.write(where.resolve(name), content);
        contents.put(name, content);
        checksums.put(
                name,
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content)));
    }

    @Test
    void recordsBecomeSamplesInTheOrderOfTheFiles() throws Exception {
        Parts split = small(folder).loadAll(folder);
        assertEquals(5 * RECORDS, split.train().size());
        assertEquals(RECORDS, split.test().orElseThrow().size());
        assertEquals("truck", TestData.classNames(split.test().orElseThrow()).get(9));
        assertRecord(split.train(), 4 * RECORDS + 1, "data_batch_5.bin", 1);
        assertRecord(split.test().orElseThrow(), 3, "test_batch.bin", 3);
    }

    private void assertRecord(Dataset dataset, int sample, String file, int record) {
        byte[] content = contents.getOrDefault(file, new byte[0]);
        assertEquals(content[record * RECORD], TestData.label(dataset, sample));
        float[] expected = new float[RECORD - 1];
        for (int i = 0; i < expected.length; i++) {
            expected[i] = Byte.toUnsignedInt(content[record * RECORD + 1 + i]) / 255f;
        }
        assertArrayEquals(expected, TestData.values(dataset, sample));
    }

    @Test
    void theFolderOfTheUnpackedArchiveIsFound() throws Exception {
        Path unpacked = Files.createDirectory(folder.resolve("cifar-10-batches-bin"));
        Cifar10Files files = small(unpacked);
        assertEquals(RECORDS, files.loadAll(folder).test().orElseThrow().size());
        assertEquals(unpacked, files.verifyAll(folder));
        assertEquals(unpacked, files.verifyAll(unpacked));
    }

    @Test
    void aChangedByteIsRefused() throws Exception {
        Cifar10Files files = small(folder);
        byte[] changed = Files.readAllBytes(folder.resolve("data_batch_3.bin"));
        changed[5000]++;
        Files.write(folder.resolve("data_batch_3.bin"), changed);
        TestData.assertRefused(
                () -> files.loadAll(folder),
                "data_batch_3.bin",
                "SHA-256",
                checksums.getOrDefault("data_batch_3.bin", "?"));
    }

    @Test
    void aTruncatedFileIsRefusedWithBothSizes() throws Exception {
        Cifar10Files files = small(folder);
        byte[] content = Files.readAllBytes(folder.resolve("test_batch.bin"));
        Files.write(folder.resolve("test_batch.bin"), Arrays.copyOf(content, content.length - 1));
        TestData.assertRefused(
                () -> files.loadAll(folder), "test_batch.bin", "12291 bytes", "12292", "download it again");
    }

    @Test
    void verifyingNamesEveryBadFile() throws Exception {
        Cifar10Files files = small(folder);
        Files.write(folder.resolve("data_batch_2.bin"), new byte[7]);
        Files.write(folder.resolve("data_batch_4.bin"), new byte[RECORDS * RECORD]);
        TestData.assertRefused(
                () -> files.verifyAll(folder), "data_batch_2.bin: 7 bytes", "data_batch_4.bin: the SHA-256");
    }

    @Test
    void missingFilesAreAllNamed() throws Exception {
        Cifar10Files files = small(folder);
        Files.delete(folder.resolve("data_batch_2.bin"));
        Files.delete(folder.resolve("test_batch.bin"));
        TestData.assertRefused(() -> files.loadAll(folder), "no data_batch_2.bin, test_batch.bin");
        Files.write(folder.resolve("cifar-10-binary.tar.gz"), new byte[1]);
        TestData.assertRefused(() -> files.loadAll(folder), "tar xzf cifar-10-binary.tar.gz");
        TestData.assertRefused(() -> files.loadAll(folder.resolve("nowhere")), "there is no such folder");
    }

    @Test
    void aLabelOutOfRangeIsRefusedEvenWithTheRightSum() throws Exception {
        small(folder);
        byte[] content = contents.getOrDefault("test_batch.bin", new byte[0]);
        content[RECORD] = 10;
        put(folder, "test_batch.bin", content);
        Cifar10Files files = new Cifar10Files(RECORDS, checksums);
        TestData.assertRefused(() -> files.loadAll(folder), "test_batch.bin", "record 1", "10", "0 to 9");
    }

    @Test
    void theRealFilesHaveTheirSumsTheirCountsAndTheirNormalization() throws IOException {
        String data = System.getenv("ESPALIER_DATA");
        assumeTrue(data != null, "ESPALIER_DATA names no folder with CIFAR-10 (the folder itself, or cifar10 in it)");
        Path parent = Path.of(data);
        Path real = Files.isDirectory(parent.resolve("cifar10")) ? parent.resolve("cifar10") : parent;
        LoadedData split = DataSection.load(DataSection.read("data.kind=cifar10", "data.dir=" + real), Context.QUIET);
        assertEquals(50_000, split.train().size());
        assertEquals(10_000, split.test().size());
        for (Dataset part : new Dataset[] {split.train(), split.test()}) {
            int[] counts = new int[10];
            for (int sample = 0; sample < part.size(); sample++) {
                counts[TestData.label(part, sample)]++;
            }
            int[] expected = new int[10];
            Arrays.fill(expected, part.size() / 10);
            assertArrayEquals(expected, counts);
        }
        Normalization computed = Normalization.of(
                (Column.Numbers) split.train().inputs().getFirst(),
                split.train().size());
        for (int channel = 0; channel < 3; channel++) {
            assertEquals(Cifar10Kind.USUAL.mean().get(channel), computed.mean().get(channel), 5e-5);
            assertEquals(
                    Cifar10Kind.USUAL.deviation().get(channel),
                    computed.deviation().get(channel),
                    5e-5);
        }
    }
}
