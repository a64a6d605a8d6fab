package dev.espalier.torture.file.reader;

import dev.espalier.data.image.Cifar10Files;
import dev.espalier.torture.file.Target;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** CIFAR-10's batches, small ones, whose sums are right whatever they hold. */
public final class CifarTarget implements Target {
    private static final int RECORDS = 2;
    private static final int RECORD = 1 + 3 * 32 * 32;

    /** Called by the service loader. */
    public CifarTarget() {}

    @Override
    public String name() {
        return "cifar";
    }

    @Override
    public Structure structure() {
        return Structure.BYTES;
    }

    @Override
    public List<byte[]> seeds(Path folder) {
        byte[] batch = new byte[RECORDS * RECORD];
        batch[RECORD] = 9;
        return List.of(batch);
    }

    @Override
    public void read(Path folder, byte[] file) throws IOException {
        SequencedMap<String, String> sums = new LinkedHashMap<>();
        for (String name : Cifar10Files.checksums().keySet()) {
            Files.write(folder.resolve(name), file);
            sums.put(name, sum(file));
        }
        new Cifar10Files(RECORDS, sums).loadAll(folder);
    }

    private static String sum(byte[] file) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(file));
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError("every JVM has SHA-256", impossible);
        }
    }
}
