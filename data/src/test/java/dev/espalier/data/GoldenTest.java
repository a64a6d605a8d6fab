package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.espalier.graph.type.Tensor;
import dev.espalier.settings.Values;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Golden numbers on purpose: what a run sees must not change from version to version, or none could be repeated. They are hashes of
 * all rows, their order, splits, limits, normalisation, augmentation and batches, taken when data were still plain labelled
 * samples.
 */
final class GoldenTest {
    private static final BatchPosition START = BatchPosition.START;

    @TempDir
    Path folder;

    private final MessageDigest digest;
    private final Random random = new Random(1);

    GoldenTest() throws NoSuchAlgorithmException {
        digest = MessageDigest.getInstance("SHA-256");
    }

    private void add(int value) {
        digest.update(ByteBuffer.allocate(4).putInt(value).array());
    }

    private void add(long value) {
        digest.update(ByteBuffer.allocate(8).putLong(value).array());
    }

    private void addFloat(float value) {
        add(Float.floatToRawIntBits(value));
    }

    private void add(Dataset part) {
        add(part.size());
        for (int row = 0; row < part.size(); row++) {
            for (float value : TestData.values(part, row)) {
                addFloat(value);
            }
            add(TestData.label(part, row));
        }
    }

    private void add(ColumnEncoding encoding) {
        Normalization by = normalization(encoding);
        by.mean().forEach(value -> add(Double.doubleToRawLongBits(value)));
        by.deviation().forEach(value -> add(Double.doubleToRawLongBits(value)));
    }

    private static Normalization normalization(ColumnEncoding encoding) {
        if (encoding instanceof ColumnEncoding.Joined joined) {
            return new Normalization(
                    joined.parts().stream()
                            .map(part -> normalization(part).mean().getFirst())
                            .toList(),
                    joined.parts().stream()
                            .map(part -> normalization(part).deviation().getFirst())
                            .toList());
        }
        return ((ColumnEncoding.Scaled) encoding).normalization();
    }

    private void add(Batches batches) {
        try (batches) {
            while (batches.hasNext()) {
                Batch batch = batches.next();
                add(batch.position().epoch());
                add(batch.position().batch());
                Tensor input = batch.inputs().firstEntry().getValue();
                for (long length : input.shape()) {
                    add(length);
                }
                for (float value : input.toFloats()) {
                    addFloat(value);
                }
                for (long label : batch.targets().firstEntry().getValue().toLongs()) {
                    add(label);
                }
            }
        }
    }

    private void assertGolden(String hash, int batchSize, long seed, long epochs, String... settings)
            throws IOException {
        Values values = DataSection.read(settings);
        LoadedData data = DataSection.load(values, Context.QUIET);
        add(data.train());
        add(data.validation());
        add(data.test());
        if (values.of(DataSection.NORMALIZE)) {
            add(data.encoding().inputs().getFirst());
        }
        add(data.batches(BatchPlan.training(batchSize, seed), START, epochs));
        add(data.evaluation(data.test(), batchSize));
        assertEquals(
                hash, HexFormat.of().formatHex(digest.digest()).substring(0, 16), () -> String.join(" ", settings));
    }

    @Test
    void digits() throws IOException {
        assertGolden("240b2da97798594c", 64, 1, 2, "data.kind=digits");
        assertGolden(
                "f5a0318cc6270b50",
                50,
                42,
                2,
                "data.kind=digits",
                "data.padding=2",
                "data.flip=true",
                "data.validation_fraction=0.1");
        assertGolden(
                "ca082c88e3871152",
                33,
                3,
                3,
                "data.kind=digits",
                "data.normalize=false",
                "data.padding=1",
                "data.validation_fraction=0.25",
                "data.train_limit=400",
                "data.test_limit=50",
                "data.split_seed=7");
        assertGolden(
                "7515256824c82478",
                16,
                9,
                1,
                "data.kind=digits",
                "data.flip=true",
                "data.train_limit=100",
                "data.split_seed=5");
    }

    @Test
    void filesOfAllKinds() throws IOException {
        String table = "data.path=" + writeTable();
        assertGolden(
                "77e127c9adbbb301",
                8,
                4,
                2,
                "data.kind=csv",
                table,
                "data.label=kind",
                "data.test_fraction=0.25",
                "data.split_seed=3",
                "data.validation_fraction=0.2",
                "data.train_limit=60",
                "data.test_limit=10");
        assertGolden("ca84b82c67caad3b", 8, 4, 2, "data.kind=csv", table, "data.label=kind", "data.normalize=false");
        String images = "data.dir=" + writeImages();
        assertGolden(
                "9ac807a37c7d7b76",
                4,
                4,
                2,
                "data.kind=images",
                images,
                "data.size=8",
                "data.test_fraction=0.25",
                "data.split_seed=3",
                "data.padding=1",
                "data.flip=true",
                "data.validation_fraction=0.2",
                "data.train_limit=15");
        assertGolden("3908d87096108a1e", 4, 4, 2, "data.kind=images", images, "data.size=6", "data.channels=1");
        assertGolden(
                "521f5515f86b5d8c",
                7,
                5,
                2,
                "data.kind=mnist",
                "data.dir=" + writeIdx(),
                "data.padding=2",
                "data.validation_fraction=0.3",
                "data.train_limit=30",
                "data.test_limit=8",
                "data.split_seed=2");
    }

    private Path writeTable() throws IOException {
        StringBuilder text = new StringBuilder("x,kind,y,z\n");
        for (int row = 0; row < 97; row++) {
            text.append(random.nextGaussian()).append(',');
            text.append(List.of("b", "a", "10", "c d").get(random.nextInt(4))).append(',');
            text.append(random.nextInt(1000)).append(',');
            text.append(random.nextFloat() * 1e-3f).append('\n');
        }
        return Files.writeString(folder.resolve("t.csv"), text);
    }

    private Path writeImages() throws IOException {
        for (String name : List.of("red", "blue", "green")) {
            Path images = Files.createDirectories(folder.resolve("images").resolve(name));
            for (int i = 0; i < 9; i++) {
                int width = 5 + random.nextInt(20);
                int height = 5 + random.nextInt(20);
                BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
                for (int y = 0; y < height; y++) {
                    for (int x = 0; x < width; x++) {
                        image.setRGB(x, y, random.nextInt(1 << 24));
                    }
                }
                ImageIO.write(image, "png", images.resolve(i + ".png").toFile());
            }
        }
        return folder.resolve("images");
    }

    private Path writeIdx() throws IOException {
        Path idx = Files.createDirectories(folder.resolve("idx"));
        for (String part : List.of("t10k", "train")) {
            int count = part.equals("train") ? 37 : 11;
            byte[] pixels = new byte[count * 30];
            random.nextBytes(pixels);
            ByteBuffer images = ByteBuffer.allocate(16 + pixels.length)
                    .putInt(2051)
                    .putInt(count)
                    .putInt(5)
                    .putInt(6)
                    .put(pixels);
            Files.write(idx.resolve(part + "-images-idx3-ubyte"), images.array());
            ByteBuffer labels = ByteBuffer.allocate(8 + count).putInt(2049).putInt(count);
            for (int i = 0; i < count; i++) {
                labels.put((byte) random.nextInt(10));
            }
            Files.write(idx.resolve(part + "-labels-idx1-ubyte"), labels.array());
        }
        return idx;
    }
}
