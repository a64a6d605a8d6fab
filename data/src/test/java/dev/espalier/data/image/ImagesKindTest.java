package dev.espalier.data.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.data.TestData;
import dev.espalier.settings.SettingsException;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.zip.CRC32;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ImagesKindTest {

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

    private LoadedData load(String... settings) throws IOException {
        return load(Context.QUIET, settings);
    }

    private LoadedData load(Context context, String... settings) throws IOException {
        List<String> all = new ArrayList<>(List.of("data.kind=images", "data.size=2", "data.dir=" + folder));
        all.addAll(List.of(settings));
        return DataSection.load(DataSection.read(all.toArray(String[]::new)), context);
    }

    private void writeTwoClasses() throws IOException {
        write("train/red/1.png", plain(5, 7, 0xff0000));
        write("train/red/2.png", plain(2, 2, 0xfe0000));
        write("train/blue/1.jpg", plain(16, 16, 0x0000ff));
        write("test/red/1.png", plain(1, 1, 0xff0000));
        write("test/blue/1.png", plain(2, 2, 0x0000ff));
    }

    /** A model that was trained before wants its pixels as they were then. */
    @Test
    void meansAndDeviationsCanBeGiven() throws IOException {
        writeTwoClasses();
        LoadedData data = load("data.mean=[0.5,0.25,0]", "data.std=[0.5,0.5,0.1]");
        float[] red = TestData.values(data.encoding().apply(data.test()), 1);
        assertArrayEquals(new float[] {1, 1, 1, 1, -0.5f, -0.5f, -0.5f, -0.5f, 0, 0, 0, 0}, red, 1e-6f);
        LoadedData same = load("data.mean=[0.5]", "data.std=[0.5]");
        red = TestData.values(same.encoding().apply(same.test()), 1);
        assertArrayEquals(new float[] {1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1}, red, 1e-6f);
        String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> load("data.mean=[0.5,0.5]", "data.std=[0.5,0.5]"))
                        .getMessage());
        assertTrue(message.contains("2 numbers, but image has 3 channels"), message);
        refuses("data.mean=[0.5]", "data.std has 0");
        refuses("data.mean=[127.5]", "data.mean", "from 0 to data.white = 1");
        refuses("data.white=255", "data.normalize = false");
    }

    private static void refuses(String setting, String... parts) {
        String message = String.valueOf(
                assertThrows(SettingsException.class, () -> DataSection.read("data.kind=images", "data.dir=.", setting))
                        .getMessage());
        for (String part : parts) {
            assertTrue(message.contains(part), message);
        }
    }

    @Test
    void foldersAreClassesAndImagesAreResized() throws IOException {
        writeTwoClasses();
        Files.writeString(folder.resolve("train/red/notes.txt"), "no image");
        Files.createDirectories(folder.resolve("train/.hidden"));
        LoadedData split = load();
        assertEquals(List.of("blue", "red"), TestData.classNames(split.train()));
        assertEquals(3, split.train().size());
        assertEquals(0, TestData.label(split.train(), 0));
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
                Resampling.toBytes(new Resampling.Planes(8, 8, List.of(checkers)), new Field.Image("", 1, 2, 2));
        for (byte value : shrunk) {
            assertEquals(127.5, Byte.toUnsignedInt(value), 10, "no pattern is left");
        }
        byte[] grown = Resampling.toBytes(
                new Resampling.Planes(1, 2, List.of(new float[] {0, 100})), new Field.Image("", 1, 1, 4));
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
        LoadedData one = load("data.channels=1");
        assertArrayEquals(expected, TestData.values(one.test(), 1));
        assertEquals(0.299f, TestData.values(one.train(), 1)[0], 0.003f, "the luma of red");
    }

    @Test
    void oneFolderIsCutBySeed() throws IOException {
        for (int i = 0; i < 10; i++) {
            write("a/" + i + ".png", plain(2, 2, i));
            write("b/" + i + ".png", plain(2, 2, i));
        }
        LoadedData split = load();
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
        Path huge = write("train/red/huge.png", noise);
        ByteBuffer header =
                ByteBuffer.wrap(Files.readAllBytes(huge)).putInt(16, 1 << 20).putInt(20, 1 << 20);
        CRC32 sum = new CRC32();
        sum.update(header.array(), 12, 17);
        Files.write(huge, header.putInt(29, (int) sum.getValue()).array());
        TestData.assertRefused(this::load, "huge.png", "an image of 1048576 x 1048576 pixels");
        Files.delete(huge);
        ImageIO.write(noise, "bmp", folder.resolve("train/red/other.png").toFile());
        TestData.assertRefused(this::load, "other.png", "neither PNG nor JPEG");
        Files.delete(folder.resolve("train/red/other.png"));
        Files.writeString(folder.resolve("train/red/text.png"), "no image");
        TestData.assertRefused(this::load, "text.png", "neither PNG nor JPEG", "data.skip_broken = true");
    }

    @Test
    void allBrokenImagesAreToldAtOnceAndSkippedOnlyIfAsked() throws IOException {
        writeTwoClasses();
        LoadedData sound = load();
        Files.writeString(folder.resolve("train/blue/0.png"), "no image");
        Files.writeString(folder.resolve("train/red/1x.jpg"), "no image");
        Files.writeString(folder.resolve("test/red/2.png"), "no image");
        TestData.assertRefused(
                this::load, "3 images cannot be read", "train/blue/0.png", "train/red/1x.jpg", "test/red/2.png");
        for (String memory : List.of("data.memory=0", "data.memory=1")) {
            LoadedData some = load("data.skip_broken=true", memory);
            assertTrue(some.notes().toString().contains("test/red/2.png"), some.notes()::toString);
            assertSameRows(sound.train(), some.train());
            assertSameRows(sound.test(), some.test());
        }
    }

    private static void assertSameRows(Dataset expected, Dataset actual) {
        assertEquals(expected.size(), actual.size());
        for (int row = 0; row < expected.size(); row++) {
            assertArrayEquals(TestData.values(expected, row), TestData.values(actual, row));
            assertEquals(TestData.label(expected, row), TestData.label(actual, row));
        }
    }

    @Test
    void whatDoesNotFitIntoMemoryIsDecodedAgainAndIsTheSame() throws IOException {
        for (int i = 0; i < 4; i++) {
            write("a/" + i + ".png", plain(600, 600, 0x123456 + i));
            write("b/" + i + ".png", plain(600, 600, 0xff00ff - i));
        }
        LoadedData kept = load("data.size=300");
        LoadedData lazy = load("data.size=300", "data.memory=1");
        assertEquals(List.of(), kept.notes());
        assertTrue(lazy.notes().toString().contains("8 images take 2 MB, more than the 1 MB"), lazy.notes()::toString);
        assertSameRows(kept.train(), lazy.train());
        assertSameRows(kept.test(), lazy.test());
        assertEquals(kept.encoding(), lazy.encoding());
        // Read when it is asked for.
        Files.delete(folder.resolve("a/0.png"));
        Files.delete(folder.resolve("a/1.png"));
        assertThrows(UncheckedIOException.class, () -> assertSameRows(kept.train(), lazy.train()));
    }

    @Test
    void progressCountsEveryImageOnce() throws IOException {
        writeTwoClasses();
        List<Long> counts = new ArrayList<>();
        load(new Context((what, done, total) -> counts.add(done * 100 + total), Optional.empty()));
        assertEquals(List.of(105L, 205L, 305L, 405L, 505L), counts);
    }

    @Test
    void foldersThatDoNotFitAreRefused() throws IOException {
        TestData.assertRefused(() -> load("data.dir=" + folder.resolve("nowhere")), "no such folder");
        TestData.assertRefused(this::load, "class folders", "are []", ".png");
        writeTwoClasses();
        write("test/green/1.png", plain(2, 2, 0x00ff00));
        TestData.assertRefused(this::load, "test", "[green]", "[blue, red]");
        Files.createDirectory(folder.resolve("train/green"));
        TestData.assertRefused(this::load, "[green]", "[blue, red]");
        write("train/green/1.png", plain(2, 2, 0x00ff00));
        assertEquals(3, load().test().size());
        Files.delete(folder.resolve("test/green/1.png"));
        assertTrue(load().notes().toString().contains("no test image of class green"));
        Files.delete(folder.resolve("test/green"));
        TestData.assertRefused(this::load, "green", "the training part has this class");
        assertThrows(IllegalArgumentException.class, () -> load("data.channels=2"));
    }

    @Test
    void emptyFoldersAreNoClassesAndAreMentioned() throws IOException {
        writeTwoClasses();
        Files.createDirectory(folder.resolve("train/green"));
        LoadedData data = load();
        assertEquals(List.of("blue", "red"), TestData.classNames(data.train()));
        assertTrue(data.notes().toString().contains("green has no images"), data.notes()::toString);
    }

    @Test
    void aTrainingFolderWithoutTestFolderIsRefused() throws IOException {
        write("train/red/1.png", plain(5, 7, 0xff0000));
        TestData.assertRefused(this::load, "only one of the folders train and test");
    }
}
