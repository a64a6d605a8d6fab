package dev.espalier.data.image;

import dev.espalier.data.Columns;
import dev.espalier.data.DataException;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.data.Parts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** The files of CIFAR-10's official binary version: records of a label and 3×32×32 bytes. */
public final class Cifar10Files {
    static final String TEST = "test_batch.bin";
    static final String UNPACKED = "cifar-10-batches-bin";
    static final String ARCHIVE = "cifar-10-binary.tar.gz";

    private static final int RECORDS = 10_000;
    static final Field.Image FIELD = new Field.Image(LabelledImages.IMAGE, 3, 32, 32);
    private static final int RECORD = 1 + FIELD.size();
    private static final int WHITE = 255;
    private static final List<String> CLASSES =
            List.of("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck");

    private final int records;
    private final SequencedMap<String, String> checksums;

    /**
     * Smaller files than the official ones, as tests have them.
     *
     * @param records how many images each of them has
     * @param checksums from their names to their SHA-256 sums, the test file last
     */
    public Cifar10Files(int records, SequencedMap<String, String> checksums) {
        this.records = records;
        this.checksums = new LinkedHashMap<>(checksums);
    }

    /**
     * The files and the SHA-256 sums of their official content.
     *
     * @return from the names to the sums, in hexadecimal; the training files in order, then the test file
     */
    public static SequencedMap<String, String> checksums() {
        SequencedMap<String, String> sums = new LinkedHashMap<>();
        sums.put("data_batch_1.bin", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5");
        sums.put("data_batch_2.bin", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed");
        sums.put("data_batch_3.bin", "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67");
        sums.put("data_batch_4.bin", "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48");
        sums.put("data_batch_5.bin", "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add");
        sums.put(TEST, "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b");
        return sums;
    }

    /**
     * Checks all files.
     *
     * @param folder holds the files, or the folder {@code cifar-10-batches-bin} with them
     * @return the folder that holds them
     * @throws IOException naming every file that is missing or not the official one
     */
    public static Path verify(Path folder) throws IOException {
        return official().verifyAll(folder);
    }

    static Cifar10Files official() {
        return new Cifar10Files(RECORDS, checksums());
    }

    /** How many bytes all files have. */
    long size() {
        return (long) records * RECORD * checksums.size();
    }

    List<String> names() {
        return List.copyOf(checksums.keySet());
    }

    /** Where the files belong: into the folder itself if some of them lie there, otherwise into that of the archive. */
    static Path home(Path folder) {
        return Files.exists(folder.resolve(TEST)) ? folder : folder.resolve(UNPACKED);
    }

    /** Whether not all files are there, in the folder itself or in that of the archive. */
    boolean isMissingIn(Path folder) {
        return List.of(folder, folder.resolve(UNPACKED)).stream()
                .allMatch(place -> !missing(place).isEmpty());
    }

    private List<String> missing(Path place) {
        return checksums.keySet().stream()
                .filter(name -> !Files.isRegularFile(place.resolve(name)))
                .toList();
    }

    Path verifyAll(Path folder) throws IOException {
        Path found = find(folder);
        List<String> problems = new ArrayList<>();
        for (Map.Entry<String, String> file : checksums.entrySet()) {
            try {
                read(found.resolve(file.getKey()), file.getValue());
            } catch (IOException problem) {
                problems.add(problem.getMessage());
            }
        }
        if (!problems.isEmpty()) {
            throw DataException.in(found, String.join("; ", problems));
        }
        return found;
    }

    /**
     * Reads all files.
     *
     * @param folder holds the files, or the folder {@code cifar-10-batches-bin} with them
     * @return the images
     * @throws IOException naming the file that is missing or not what it should be
     */
    public Parts loadAll(Path folder) throws IOException {
        Path found = find(folder);
        List<byte[]> train = new ArrayList<>();
        List<byte[]> test = new ArrayList<>();
        for (Map.Entry<String, String> file : checksums.entrySet()) {
            byte[] bytes = read(found.resolve(file.getKey()), file.getValue());
            List<byte[]> part = file.getKey().equals(TEST) ? test : train;
            for (int from = 0; from < bytes.length; from += RECORD) {
                part.add(Arrays.copyOfRange(bytes, from, from + RECORD));
            }
        }
        return new Parts(dataset("CIFAR-10 train", train), dataset("CIFAR-10 test", test));
    }

    private static Dataset dataset(String name, List<byte[]> records) {
        int[] labels = records.stream().mapToInt(sample -> sample[0]).toArray();
        records.replaceAll(sample -> Arrays.copyOfRange(sample, 1, RECORD));
        byte[][] rows = records.toArray(byte[][]::new);
        return LabelledImages.dataset(name, Columns.images(FIELD, rows, WHITE), CLASSES, labels);
    }

    private byte[] read(Path file, String checksum) throws IOException {
        long expected = (long) records * RECORD;
        long size = Files.size(file);
        if (size != expected) {
            throw DataException.in(
                    file, "%d bytes, but the official file has %d: download it again".formatted(size, expected));
        }
        byte[] bytes = Files.readAllBytes(file);
        String actual = sha256(bytes);
        if (!actual.equals(checksum)) {
            throw DataException.in(
                    file,
                    "the SHA-256 sum is %s, but that of the official file is %s: download it again"
                            .formatted(actual, checksum));
        }
        for (int i = 0; i < records; i++) {
            if (bytes[i * RECORD] < 0 || bytes[i * RECORD] >= CLASSES.size()) {
                throw DataException.in(
                        file,
                        "the label of record %d is %d: labels are 0 to %d"
                                .formatted(i, Byte.toUnsignedInt(bytes[i * RECORD]), CLASSES.size() - 1));
            }
        }
        return bytes;
    }

    private Path find(Path folder) throws IOException {
        Path unpacked = folder.resolve(UNPACKED);
        Path found = Files.isDirectory(unpacked) && !Files.exists(folder.resolve(TEST)) ? unpacked : folder;
        List<String> missing = missing(found);
        if (!missing.isEmpty()) {
            throw DataException.in(
                    found,
                    "no %s: expected the official binary batches %s%s"
                            .formatted(
                                    String.join(", ", missing),
                                    String.join(", ", checksums.keySet()),
                                    mend(folder, found)));
        }
        return found;
    }

    private static String mend(Path folder, Path found) {
        if (!Files.isDirectory(folder)) {
            return "; there is no such folder";
        }
        if (Files.exists(folder.resolve(ARCHIVE))) {
            return "; unpack " + ARCHIVE + " there (tar xzf " + ARCHIVE + ")";
        }
        if (Files.exists(found.resolve("data_batch_1")) || Files.exists(found.resolve("cifar-10-batches-py"))) {
            return "; the files there are the Python version: get " + ARCHIVE;
        }
        return "; they are in " + ARCHIVE;
    }

    private static String sha256(byte[] bytes) {
        return HexFormat.of().formatHex(sha256().digest(bytes));
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError("every JVM has SHA-256", impossible);
        }
    }
}
