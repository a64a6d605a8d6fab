package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ImageFolderTest {
    private static final SampleShape.Image TINY = new SampleShape.Image(3, 2, 2);

    @TempDir
    Path folder;

    private static BufferedImage plain(int width, int height, int colour) {
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                image.setRGB(x, y, colour);
            }
        }
        return image;
    }

    private Path write(String path, BufferedImage image) throws IOException {
        Path file = folder.resolve(path);
        Files.createDirectories(file.resolveSibling("."));
        ImageIO.write(image, path.endsWith("png") ? "png" : "jpg", file.toFile());
        return file;
    }

    private DataSplit load() throws IOException {
        return load(folder, TINY);
    }

    private static DataSplit load(Path folder, SampleShape.Image shape) throws IOException {
        return Datasets.load(new DataSource.Images(folder, shape, Holdout.DEFAULT));
    }

    private void writeTwoClasses() throws IOException {
        write("train/red/1.png", plain(5, 7, 0xff0000));
        write("train/red/2.png", plain(2, 2, 0xfe0000));
        write("train/blue/1.jpg", plain(16, 16, 0x0000ff));
        write("test/red/1.png", plain(1, 1, 0xff0000));
        write("test/blue/1.png", plain(2, 2, 0x0000ff));
    }

    @Test
    void foldersAreClassesAndImagesAreResized() throws IOException {
        writeTwoClasses();
        Files.writeString(folder.resolve("train/red/notes.txt"), "no image");
        Files.createDirectories(folder.resolve("train/.hidden"));
        DataSplit split = load();
        assertEquals(List.of("blue", "red"), split.train().classNames());
        assertEquals(3, split.train().size());
        assertEquals(0, split.train().label(0));
        assertArrayEquals(
                new float[] {1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}, TestData.values(split.train(), 1), "sorted by name");
        assertArrayEquals(new float[] {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}, TestData.values(split.train(), 0), 0.02f);
        assertEquals(2, split.test().size());
    }

    @Test
    void theRightSizeIsLeftAsItIs() throws IOException {
        writeTwoClasses();
        BufferedImage image = new BufferedImage(2, 2, BufferedImage.TYPE_INT_RGB);
        int[] colours = {0x010203, 0x405060, 0x7f8081, 0xfdfeff};
        image.setRGB(0, 0, 2, 2, colours, 0, 2);
        write("test/red/1.png", image);
        float[] values = TestData.values(load().test(), 1);
        for (int i = 0; i < 12; i++) {
            assertEquals((colours[i % 4] >> (16 - 8 * (i / 4)) & 0xff) / 255f, values[i]);
        }
    }

    @Test
    void shrinkingAveragesAndGrowingInterpolates() {
        float[] checkers = new float[64];
        for (int i = 0; i < 64; i++) {
            checkers[i] = (i / 8 + i) % 2 * 255;
        }
        byte[] shrunk =
                Resampling.toBytes(new Resampling.Planes(8, 8, List.of(checkers)), new SampleShape.Image(1, 2, 2));
        for (byte value : shrunk) {
            assertEquals(127.5, Byte.toUnsignedInt(value), 10, "no pattern is left");
        }
        byte[] grown = Resampling.toBytes(
                new Resampling.Planes(1, 2, List.of(new float[] {0, 100})), new SampleShape.Image(1, 1, 4));
        assertArrayEquals(new byte[] {0, 25, 75, 100}, grown);
    }

    @Test
    void greyStaysWhatItIs() throws IOException {
        writeTwoClasses();
        BufferedImage grey = new BufferedImage(2, 2, BufferedImage.TYPE_BYTE_GRAY);
        grey.getRaster().setSamples(0, 0, 2, 2, 0, new int[] {0, 100, 128, 255});
        write("test/red/1.png", grey);
        float[] expected = {0, 100 / 255f, 128 / 255f, 1};
        assertArrayEquals(expected, Arrays.copyOf(TestData.values(load().test(), 1), 4));
        DataSplit one = load(folder, new SampleShape.Image(1, 2, 2));
        assertArrayEquals(expected, TestData.values(one.test(), 1));
        assertEquals(0.299f, TestData.values(one.train(), 1)[0], 0.003f, "the luma of red");
    }

    @Test
    void oneFolderIsCutBySeed() throws IOException {
        for (int i = 0; i < 10; i++) {
            write("a/" + i + ".png", plain(2, 2, i));
            write("b/" + i + ".png", plain(2, 2, i));
        }
        DataSplit split = load();
        assertEquals(16, split.train().size());
        assertEquals(4, split.test().size());
    }

    @Test
    void brokenImagesAreNamed() throws IOException {
        writeTwoClasses();
        Random random = new Random(1);
        BufferedImage noise = plain(64, 64, 0);
        for (int i = 0; i < 64 * 64; i++) {
            noise.setRGB(i % 64, i / 64, random.nextInt());
        }
        for (String name : List.of("broken.png", "broken.jpg")) {
            Path file = write("train/red/" + name, noise);
            byte[] whole = Files.readAllBytes(file);
            for (int length : new int[] {0, 4, 20, whole.length / 2, whole.length * 9 / 10}) {
                Files.write(file, Arrays.copyOf(whole, length));
                TestData.assertRefused(this::load, name);
            }
            Files.delete(file);
        }
        Files.writeString(folder.resolve("train/red/text.png"), "no image");
        TestData.assertRefused(this::load, "text.png", "neither PNG nor JPEG");
    }

    @Test
    void foldersThatDoNotFitAreRefused() throws IOException {
        TestData.assertRefused(() -> load(folder.resolve("nowhere"), TINY), "no such folder");
        TestData.assertRefused(this::load, "class folders are []");
        writeTwoClasses();
        write("test/green/1.png", plain(2, 2, 0x00ff00));
        TestData.assertRefused(this::load, "test", "[green]", "[blue, red]");
        Files.createDirectory(folder.resolve("train/green"));
        TestData.assertRefused(this::load, "green", "no images", ".png");
        write("train/green/1.png", plain(2, 2, 0x00ff00));
        assertEquals(3, load().test().size());
        Files.delete(folder.resolve("test/green/1.png"));
        Files.delete(folder.resolve("test/green"));
        TestData.assertRefused(this::load, "green", "the training part has this class");
        assertThrows(
                IllegalArgumentException.class,
                () -> new DataSource.Images(folder, new SampleShape.Image(2, 1, 1), Holdout.DEFAULT));
    }

    @Test
    void aTrainingFolderWithoutTestFolderIsRefused() throws IOException {
        write("train/red/1.png", plain(5, 7, 0xff0000));
        TestData.assertRefused(this::load, "only one of the folders train and test");
    }
}
