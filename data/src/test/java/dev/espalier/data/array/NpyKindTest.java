package dev.espalier.data.array;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Column;
import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.Field;
import dev.espalier.data.ImageAugmentation;
import dev.espalier.data.LoadedData;
import dev.espalier.data.Normalization;
import dev.espalier.data.TestData;
import dev.espalier.settings.SettingsException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class NpyKindTest {
    @TempDir
    Path folder;

    private LoadedData load(Path path, String... settings) throws IOException {
        List<String> all = new ArrayList<>(List.of("data.kind=npy", "data.path=" + path, "data.normalize=false"));
        all.addAll(List.of(settings));
        return DataSection.load(DataSection.read(all.toArray(String[]::new)), Context.QUIET);
    }

    private LoadedData load(String... settings) throws IOException {
        return load(folder, settings);
    }

    private void write(String name, byte[] array) throws IOException {
        Files.write(folder.resolve(name + ".npy"), array);
    }

    /** As numpy.save writes: the header is filled up so that the numbers begin at a multiple of 64. */
    private static byte[] npy(int version, String descr, String order, String shape, byte[] data) {
        String header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }".formatted(descr, order, shape);
        int before = version == 1 ? 10 : 12;
        int length = Math.ceilDiv(before + header.length() + 1, 64) * 64 - before;
        ByteBuffer bytes = ByteBuffer.allocate(before + length + data.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put((byte) 0x93).put("NUMPY".getBytes(StandardCharsets.US_ASCII));
        bytes.put((byte) version).put((byte) 0);
        if (version == 1) {
            bytes.putShort((short) length);
        } else {
            bytes.putInt(length);
        }
        bytes.put((header + " ".repeat(length - header.length() - 1) + "\n").getBytes(StandardCharsets.US_ASCII));
        return bytes.put(data).array();
    }

    private static byte[] floats(String shape, float... values) {
        ByteBuffer data = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            data.putFloat(value);
        }
        return npy(1, "<f4", "False", shape, data.array());
    }

    private static byte[] longs(String shape, long... values) {
        ByteBuffer data = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (long value : values) {
            data.putLong(value);
        }
        return npy(2, "<i8", "False", shape, data.array());
    }

    private static Map<String, byte[]> arrays() {
        Map<String, byte[]> arrays = new LinkedHashMap<>();
        arrays.put("x_train", floats("(4, 2)", 1, 2, 3, 4, 5, 6, 7, 8));
        arrays.put("y_train", longs("(4,)", 7, -1, 7, 3));
        arrays.put("x_test", floats("(1, 2)", 9, 10));
        arrays.put("y_test", longs("(1, 1)", 3));
        return arrays;
    }

    private void writeArrays() throws IOException {
        for (Map.Entry<String, byte[]> array : arrays().entrySet()) {
            write(array.getKey(), array.getValue());
        }
    }

    @Test
    void arraysCanHaveTheNamesOfAModel() throws IOException {
        writeArrays();
        LoadedData data = load("data.inputs=[\"input_1 = x_train\"]");
        assertEquals(List.of(new Field.Numbers("input_1", List.of(2))), data.inputs());
        assertEquals(1, data.test().size());
    }

    @Test
    void filesAndArchivesAreTheSame() throws IOException {
        writeArrays();
        Path archive = folder.resolve("all.npz");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(archive))) {
            for (Map.Entry<String, byte[]> array : arrays().entrySet()) {
                zip.putNextEntry(new ZipEntry(array.getKey() + ".npy"));
                zip.write(array.getValue());
            }
        }
        for (Path path : List.of(folder, archive)) {
            LoadedData data = load(path);
            assertEquals(
                    List.of(new Field.Numbers("x", List.of(2))), data.train().inputFields());
            assertEquals(
                    List.of(new Field.Category("y", List.of("-1", "3", "7"))),
                    data.train().targetFields());
            assertArrayEquals(new float[] {5, 6}, TestData.values(data.train(), 2));
            assertArrayEquals(new float[] {9, 10}, TestData.values(data.test(), 0));
            assertEquals(0, TestData.label(data.train(), 1));
            assertEquals(1, TestData.label(data.test(), 0));
        }
        TestData.assertRefused(() -> load(archive, "data.inputs=z"), "all.npz", "no array z", "x_train.npy");
        Files.write(archive, Arrays.copyOf(Files.readAllBytes(archive), 100));
        TestData.assertRefused(() -> load(archive), "all.npz", "no sound .npz file");
    }

    @Test
    void everyTypeOfNumbersIsRead() throws IOException {
        ByteBuffer data = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        Map<String, byte[]> twoAndMinusOne = new LinkedHashMap<>();
        twoAndMinusOne.put(
                "<f2",
                data.putShort((short) 0x4000).putShort((short) 0xbc00).array().clone());
        twoAndMinusOne.put(
                "<f8", data.clear().putDouble(2).putDouble(-1).array().clone());
        twoAndMinusOne.put(
                "|i1", data.clear().put((byte) 2).put((byte) -1).array().clone());
        twoAndMinusOne.put(
                "<i2",
                data.clear().putShort((short) 2).putShort((short) -1).array().clone());
        twoAndMinusOne.put("<i4", data.clear().putInt(2).putInt(-1).array().clone());
        twoAndMinusOne.put("<i8", data.clear().putLong(2).putLong(-1).array().clone());
        writeArrays();
        for (Map.Entry<String, byte[]> type : twoAndMinusOne.entrySet()) {
            int size = 2 * (type.getKey().charAt(2) - '0');
            write("x_test", npy(1, type.getKey(), "False", "(1, 2)", Arrays.copyOf(type.getValue(), size)));
            assertArrayEquals(new float[] {2, -1}, TestData.values(load().test(), 0), type.getKey());
        }
        write("x_test", npy(1, "|u1", "False", "(1, 2)", new byte[] {2, -1}));
        assertArrayEquals(new float[] {2, 255}, TestData.values(load().test(), 0));
        write("x_test", npy(1, "|b1", "False", "(1, 2)", new byte[] {0, 1}));
        assertArrayEquals(new float[] {0, 1}, TestData.values(load().test(), 0));
    }

    @Test
    void numbersToBeEstimatedKeepTheirUnit() throws IOException {
        writeArrays();
        write("y_train", floats("(4,)", 1, 2, 3, 6));
        write("y_test", floats("(1,)", 4));
        LoadedData data = load();
        assertEquals(List.of(new Field.Numbers("y", List.of(1))), data.targets());
        assertEquals(
                new Normalization(List.of(3.0), List.of(Math.sqrt(3.5))),
                data.encoding().targets().getFirst().statistics());
        writeArrays();
        assertEquals(
                List.of(new Field.Numbers("y", List.of(1))),
                load("data.label_type=number").targets());
    }

    @Test
    void severalInputsAreInputsOfTheirOwnAndRowsMayBeHeldOut() throws IOException {
        float[] values = new float[40];
        long[] labels = new long[20];
        for (int i = 0; i < 40; i++) {
            values[i] = i;
            labels[i / 2] = i / 2 % 2;
        }
        write("left", floats("(20, 2)", values));
        write("right", floats("(20,)", Arrays.copyOf(values, 20)));
        write("side", longs("(20,)", labels));
        LoadedData data = load("data.inputs=[\"left\", \"right.npy\"]", "data.targets=side");
        assertEquals(
                List.of(new Field.Numbers("left", List.of(2)), new Field.Numbers("right", List.of())), data.inputs());
        assertEquals(16, data.train().size());
        assertEquals(4, data.test().size());
        for (int row = 0; row < 4; row++) {
            float[] read = TestData.values(data.test(), row);
            assertEquals(read[0], 2 * read[2]);
            assertEquals(read[2] % 2, TestData.label(data.test(), row));
        }
    }

    @Test
    void imagesMayHaveTheirChannelsFirstOrLast() throws IOException {
        writeArrays();
        byte[] pixels = new byte[4 * 2 * 3 * 3];
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = (byte) i;
        }
        write("x_train", npy(1, "|u1", "False", "(4, 2, 3, 3)", pixels));
        Files.delete(folder.resolve("x_test.npy"));
        write("y_train", longs("(4,)", 0, 0, 1, 1));
        LoadedData last = load("data.layout=hwc", "data.padding=1", "data.test_fraction=0.5");
        assertEquals(List.of(new Field.Image("x", 3, 2, 3)), last.train().inputFields());
        assertEquals(new ImageAugmentation(1, false, 0), last.augmentation());
        LoadedData first = load("data.layout=chw", "data.test_fraction=0.5");
        assertEquals(List.of(new Field.Image("x", 2, 3, 3)), first.train().inputFields());
        float[] values = TestData.values(first.train(), 0);
        float[] permuted = TestData.values(last.train(), 0);
        for (int channel = 0; channel < 3; channel++) {
            for (int pixel = 0; pixel < 6; pixel++) {
                assertEquals(values[pixel * 3 + channel], permuted[channel * 6 + pixel]);
            }
        }
        assertEquals(1 / 255f, values[1] - values[0], 1e-6);
        TestData.assertRefused(() -> load("data.layout=hw"), "[2, 3, 3]", "hw has 2 axes");
        assertThrows(SettingsException.class, () -> load("data.flip=true"));
    }

    @Test
    void whatIsNotSoundIsRefused() throws IOException {
        TestData.assertRefused(() -> load(folder.resolve("nowhere")), "no such file");
        writeArrays();
        byte[] sound = arrays().getOrDefault("x_train", new byte[0]);
        for (int length : new int[] {0, 11, 12, 100, sound.length - 1}) {
            write("x_train", Arrays.copyOf(sound, length));
            TestData.assertRefused(this::load, "x_train.npy");
        }
        write("x_train", npy(1, "<f4", "True", "(4, 2)", new byte[32]));
        TestData.assertRefused(this::load, "ascontiguousarray");
        write("x_train", npy(1, ">f4", "False", "(4, 2)", new byte[32]));
        TestData.assertRefused(this::load, ">f4", "astype('<f4')");
        write("x_train", npy(1, "<f4", "False", "()", new byte[4]));
        TestData.assertRefused(this::load, "its shape is []");
        for (String shape : List.of(
                "(9223372036854775808,)", "(4, 2 2)", "(4, 9223372036854775807, 9)", "(4, 4611686018427387904)")) {
            write("x_train", npy(1, "<f4", "False", shape, new byte[32]));
            TestData.assertRefused(this::load, "x_train.npy", "its shape is ");
        }
        write("x_train", floats("(3, 2)", 1, 2, 3, 4, 5, 6));
        TestData.assertRefused(this::load, "y_train.npy", "4 rows", "has 3");
        write("x_train", floats("(4, 2)", 1, 2, 3, Float.NaN, 5, 6, 7, 8));
        TestData.assertRefused(this::load, "x_train.npy", "row 1", "NaN");
        writeArrays();
        write("y_test", longs("(1,)", 4));
        TestData.assertRefused(this::load, "y_test.npy", "class 4", "[-1, 3, 7]");
        writeArrays();
        write("y_train", floats("(4,)", 1, 2, 2.5f, 1));
        TestData.assertRefused(() -> load("data.label_type=category"), "row 2 is 2.5");
        write("y_train", longs("(4,)", 1, 1, 1, 1));
        TestData.assertRefused(this::load, "all labels are [1]");
        assertThrows(SettingsException.class, () -> load("data.test_inputs=[\"a\"]"));
        assertThrows(
                SettingsException.class,
                () -> load("data.inputs=x_train", "data.test_inputs=[\"a\", \"b\"]", "data.test_targets=[\"c\"]"));
        assertThrows(
                IllegalArgumentException.class,
                () -> load("data.test_inputs=[\"a\", \"b\"]", "data.test_targets=[\"c\"]"));
    }

    /** What an archive says of itself need not be so. */
    @Test
    void anArchiveThatLiesAboutLengthsIsRefused() throws IOException {
        Path archive = folder.resolve("all.npz");
        byte[] array = floats("(4, 2)", 1, 2, 3, 4, 5, 6, 7, 8);
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(archive))) {
            zip.putNextEntry(new ZipEntry("x.npy"));
            zip.write(array);
        }
        ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(archive)).order(ByteOrder.LITTLE_ENDIAN);
        int directory = file.getInt(file.capacity() - 6);
        for (int size : new int[] {array.length - 1, array.length + 1, Integer.MAX_VALUE, -2}) {
            Files.write(archive, file.putInt(directory + 24, size).array());
            TestData.assertRefused(() -> NamedArrays.read(archive), "all.npz, x.npy", "announces");
        }
    }

    @Test
    void whatPythonPickledIsRefused() throws IOException {
        writeArrays();
        write("x_train", npy(1, "|O", "False", "(2,)", new byte[] {(byte) 0x80, 2, '.'}));
        TestData.assertRefused(this::load, "x_train.npy", "Python pickled", "are not read");
    }

    /** The size of an entry stands in the archive's table of contents, and may be any. */
    @Test
    void anArchiveThatLiesAboutItsSizeIsRefused() throws IOException {
        Path archive = folder.resolve("all.npz");
        for (int size : new int[] {1_000_000_000, 70}) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
                for (String name : List.of("x_train", "y_train")) {
                    zip.putNextEntry(new ZipEntry(name + ".npy"));
                    zip.write(floats("(3, 1)", 1, 2, 3));
                }
            }
            byte[] changed = bytes.toByteArray();
            ByteBuffer buffer = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < changed.length - 28; i++) {
                if (buffer.getInt(i) == 0x02014b50) {
                    buffer.putInt(i + 24, size);
                }
            }
            Files.write(archive, changed);
            TestData.assertRefused(() -> load(archive), "x_train.npy", "%,d bytes".formatted(size), "announces");
        }
    }

    @Test
    void testArraysMayBeNamed() throws IOException {
        writeArrays();
        LoadedData data = load("data.test_inputs=[\"x_train\"]", "data.test_targets=[\"y_train\"]");
        assertEquals(4, data.test().size());
        assertTrue(data.test().inputs().getFirst() instanceof Column.Numbers);
    }
}
