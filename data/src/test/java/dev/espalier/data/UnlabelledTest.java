package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import dev.espalier.settings.SettingsException;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Inputs alone, of every kind, and for models that say what they take. */
final class UnlabelledTest {
    @TempDir
    Path folder;

    private static Context model(ModelInput... inputs) {
        return new Context(Context.QUIET.progress(), Optional.empty(), () -> List.of(inputs));
    }

    private static ModelInput input(String name, DataType type, OptionalLong places, int... sample) {
        List<Dimension> lengths = new ArrayList<>(List.of(Dimension.symbol("batch")));
        IntStream.of(sample).forEach(length -> lengths.add(Dimension.of(length)));
        return new ModelInput(
                name,
                new TensorType(type, new Shape(lengths)),
                IntStream.of(sample).boxed().toList(),
                places);
    }

    private static LoadedData load(Context context, String... settings) throws IOException {
        return DataSection.load(DataSection.read(settings), context);
    }

    private void write(String name, String type, byte[] data, int... shape) throws IOException {
        String lengths = Arrays.stream(shape).mapToObj(length -> length + ",").collect(Collectors.joining());
        byte[] header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n"
                .formatted(type, lengths)
                .getBytes(StandardCharsets.US_ASCII);
        ByteBuffer bytes = ByteBuffer.allocate(10 + header.length + data.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put((byte) 0x93)
                .put("NUMPY".getBytes(StandardCharsets.US_ASCII))
                .put((byte) 1)
                .put((byte) 0);
        bytes.putShort((short) header.length).put(header).put(data);
        Files.write(folder.resolve(name + ".npy"), bytes.array());
    }

    private void writeFloats(String name, int... shape) throws IOException {
        int size = Arrays.stream(shape).reduce(1, Math::multiplyExact);
        ByteBuffer data = ByteBuffer.allocate(4 * size).order(ByteOrder.LITTLE_ENDIAN);
        IntStream.range(0, size).forEach(i -> data.putFloat(i));
        write(name, "<f4", data.array(), shape);
    }

    private void writeLongs(String name, long[] values, int... shape) throws IOException {
        ByteBuffer data = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        Arrays.stream(values).forEach(data::putLong);
        write(name, "<i8", data.array(), shape);
    }

    private static Tensor first(LoadedData data, String name) {
        try (Batches batches =
                Batches.evaluation(data.train(), data.encoding(), data.train().size())) {
            Batch batch = batches.next();
            assertEquals(0, batch.targets().size());
            return Objects.requireNonNull(batch.inputs().get(name), name);
        }
    }

    @Test
    void aTableNeedsNoLabels() throws IOException {
        Path file = Files.writeString(
                folder.resolve("t.csv"),
                "a,b\n"
                        + IntStream.range(0, 100)
                                .mapToObj(i -> i + "," + -i + "\n")
                                .collect(Collectors.joining()));
        LoadedData data = load(
                Context.QUIET,
                "data.kind=csv",
                "data.path=" + file,
                "data.labelled=false",
                "data.normalize=false",
                "data.validation_fraction=0.25",
                "data.train_limit=40",
                "data.test_limit=10");
        assertEquals(
                List.of(30, 10, 10),
                List.of(
                        data.train().size(),
                        data.validation().size(),
                        data.test().size()));
        assertEquals(List.of(new Field.Numbers("features", List.of(2))), data.inputs());
        assertEquals(List.of(), data.targets());
        Tensor features = first(data, "features");
        assertArrayEquals(new long[] {30, 2}, features.shape());
        assertEquals(-features.getDouble(0), features.getDouble(1));
        assertEquals(data.encoding(), Encoding.parse(data.encoding().toJson()));
        Path single = Files.writeString(folder.resolve("one.csv"), "a\n1\n2\n3\n4\n5\n");
        assertEquals(
                4,
                load(Context.QUIET, "data.kind=csv", "data.path=" + single, "data.labelled=false")
                        .train()
                        .size());
    }

    @Test
    void whatNeedsLabelsIsToldWhatToDo() throws IOException {
        Path file = Files.writeString(folder.resolve("t.csv"), "a,b\n1,2\n3,4\n5,6\n");
        LoadedData data = load(Context.QUIET, "data.kind=csv", "data.path=" + file, "data.labelled=false");
        TestData.assertMessage(
                assertThrows(IllegalArgumentException.class, () -> data.requireTargets("task.kind = regression")),
                "task.kind = regression needs labels",
                "t.csv",
                "data.labelled = true",
                "task.kind = \"imitation\"");
        for (List<String> both : List.of(
                List.of("data.kind=csv", "data.label=a"),
                List.of("data.kind=npy", "data.targets=[\"a\"]"),
                List.of("data.kind=npy", "data.test_targets=[\"a\"]"))) {
            List<String> all = new ArrayList<>(List.of("data.path=x", "data.labelled=false"));
            all.addAll(both);
            assertThrows(SettingsException.class, () -> DataSection.read(all.toArray(String[]::new)), both::toString);
        }
    }

    @Test
    void allImagesBelowAFolderAreTaken() throws IOException {
        for (String name : List.of("b.png", "a/deep/c.png", "a/d.png", ".hidden/e.png")) {
            Path file = folder.resolve(name);
            Files.createDirectories(Objects.requireNonNull(file.getParent()));
            BufferedImage image = new BufferedImage(2, 1, BufferedImage.TYPE_INT_RGB);
            image.setRGB(0, 0, 0xff0000);
            image.setRGB(1, 0, 0x00ff00);
            ImageIO.write(image, "png", file.toFile());
        }
        String[] settings = {
            "data.kind=images",
            "data.dir=" + folder,
            "data.labelled=false",
            "data.size=1",
            "data.width=2",
            "data.white=255",
            "data.mean=[1,2,3]",
            "data.std=[2,2,2]",
            "data.test_fraction=0.4"
        };
        LoadedData planes = load(Context.QUIET, settings);
        assertEquals(2, planes.train().size());
        assertEquals(1, planes.test().size());
        assertArrayEquals(
                new float[] {127, -0.5f, -1, 126.5f, -1.5f, -1.5f},
                TestData.values(planes.encoding().apply(planes.train()), 0),
                1e-4f);
        List<String> other = new ArrayList<>(List.of(settings));
        other.addAll(List.of("data.channels_last=true", "data.blue_first=true"));
        LoadedData pixels = load(Context.QUIET, other.toArray(String[]::new));
        assertEquals(List.of(new Field.Numbers("image", List.of(1, 2, 3))), pixels.inputs());
        assertArrayEquals(
                new float[] {-1.5f, -1, 127, -1.5f, 126.5f, -0.5f},
                TestData.values(pixels.encoding().apply(pixels.train()), 0),
                1e-4f);
        assertArrayEquals(
                new float[] {0, 0, 255, 0, 255, 0},
                TestData.values(pixels.encoding().raw().apply(pixels.train()), 0),
                1e-4f);
        Encoding outside = pixels.encoding().outside();
        assertEquals(outside, outside.raw());
        assertEquals(outside, outside.outside());
        assertEquals(outside, Encoding.parse(outside.toJson()));
        Path empty = Files.createDirectory(folder.resolve("empty"));
        TestData.assertRefused(
                () -> load(Context.QUIET, "data.kind=images", "data.dir=" + empty, "data.labelled=false"),
                "no images below it",
                ".png");
    }

    @Test
    void arraysHaveTheNamesAndTypesOfTheModel() throws IOException {
        writeLongs("input_ids", new long[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5, 2);
        writeLongs("user", new long[] {3, 2, 1, 0, 3}, 5);
        writeFloats("age", 5, 1);
        Context takes = model(
                input("age", DataType.FLOAT32, OptionalLong.empty(), 1),
                input("input_ids", DataType.INT64, OptionalLong.of(11), 2),
                input("user", DataType.INT64, OptionalLong.of(4)));
        String[] settings = {"data.kind=npy", "data.path=" + folder, "data.labelled=false", "data.normalize=false"};
        LoadedData data = load(takes, settings);
        assertEquals(
                List.of("age", "input_ids", "user"),
                data.inputs().stream().map(Field::name).toList());
        assertEquals(DataType.FLOAT32, first(data, "age").type());
        Tensor ids = first(data, "input_ids");
        assertEquals(DataType.INT64, ids.type());
        assertArrayEquals(new long[] {4, 2}, ids.shape());
        assertEquals(ids.getLong(0) + 1, ids.getLong(1));
        assertEquals(DataType.INT64, first(data, "user").type());
        assertArrayEquals(new long[] {4}, first(data, "user").shape());
        Context smaller = model(
                input("age", DataType.FLOAT32, OptionalLong.empty(), 1),
                input("input_ids", DataType.INT64, OptionalLong.of(10), 2),
                input("user", DataType.INT64, OptionalLong.of(4)));
        TestData.assertRefused(
                () -> load(smaller, settings), "input_ids.npy", "row 4 has 10", "a table of 10 places", "from 0 to 9");
        TestData.assertRefused(
                () -> load(model(input("picture", DataType.FLOAT32, OptionalLong.empty(), 3, 4, 4)), settings),
                "picture float32[batch × 3 × 4 × 4]",
                "age.npy",
                "data.inputs");
    }

    @Test
    void oneArrayIsTheOneInput() throws IOException {
        writeFloats("sound", 5, 3);
        for (String path : List.of("", "sound.npy")) {
            LoadedData data = load(
                    model(input("onnx::Flatten_0", DataType.FLOAT32, OptionalLong.empty(), 3)),
                    "data.kind=npy",
                    "data.path=" + folder.resolve(path),
                    "data.labelled=false",
                    "data.normalize=false");
            assertEquals(List.of(new Field.Numbers("onnx::Flatten_0", List.of(3))), data.inputs());
            assertEquals(
                    first(data, "onnx::Flatten_0").getDouble(0) + 1,
                    first(data, "onnx::Flatten_0").getDouble(1));
        }
    }

    @Test
    void noiseIsDrawnForAnyModel() throws IOException {
        Context takes = model(
                input("x", DataType.FLOAT32, OptionalLong.empty(), 2, 3),
                input("ids", DataType.INT64, OptionalLong.of(7), 4),
                input("mask", DataType.INT64, OptionalLong.empty(), 4),
                input("user", DataType.INT64, OptionalLong.of(5)));
        LoadedData data = load(takes, "data.kind=random", "data.rows=500");
        assertEquals(400, data.train().size());
        assertTrue(data.notes().getFirst().contains("noise"), data.notes()::toString);
        Tensor noise = first(data, "x");
        double sum = 0;
        double squares = 0;
        for (long i = 0; i < noise.size(); i++) {
            sum += noise.getDouble(i);
            squares += noise.getDouble(i) * noise.getDouble(i);
        }
        assertEquals(0, sum / noise.size(), 0.08);
        assertEquals(1, squares / noise.size(), 0.1);
        Tensor ids = first(data, "ids");
        assertEquals(
                7,
                IntStream.range(0, (int) ids.size())
                        .mapToLong(ids::getLong)
                        .distinct()
                        .count());
        Tensor mask = first(data, "mask");
        assertEquals(
                mask.size(),
                IntStream.range(0, (int) mask.size()).mapToLong(mask::getLong).sum());
        assertEquals(
                List.of(400L),
                Arrays.stream(first(data, "user").shape()).boxed().toList());
        assertEquals(
                noise.getDouble(5),
                first(load(takes, "data.kind=random", "data.rows=500"), "x").getDouble(5));
        assertNotEquals(
                noise.getDouble(5),
                first(load(takes, "data.kind=random", "data.rows=500", "data.seed=2"), "x")
                        .getDouble(5));
        TestData.assertMessage(
                assertThrows(IllegalArgumentException.class, () -> load(Context.QUIET, "data.kind=random")),
                "model.kind to onnx");
    }

    /** Rows of like length make batches; each row once, in another order each epoch, and the same again. */
    @Test
    void batchesOfLikeLengthAreHardlyFilledUp() {
        int rows = 1000;
        Field.Tokens field = new Field.Tokens("ids", 200);
        Column.Sequences sequences = new Column.Sequences() {
            @Override
            public Field.Tokens field() {
                return field;
            }

            @Override
            public int[] read(int row) {
                int[] ids = new int[1 + row * 37 % 199];
                Arrays.fill(ids, row + 1);
                return ids;
            }

            @Override
            public int length(int row) {
                return read(row).length;
            }
        };
        Dataset dataset = new Dataset("texts", rows, List.of(sequences), List.of());
        BatchPlan plan = BatchPlan.training(16, 3);
        List<Integer> order = order(plan, dataset, 0);
        assertEquals(rows, order.stream().distinct().count());
        assertEquals(order, order(plan, dataset, 0));
        assertNotEquals(order, order(plan, dataset, 1));
        long filled = 0;
        long all = 0;
        for (int from = 0; from < rows; from += 16) {
            List<Integer> batch = order.subList(from, Math.min(rows, from + 16));
            int longest = batch.stream().mapToInt(sequences::length).max().orElseThrow();
            all += (long) longest * batch.size();
            filled += batch.stream()
                    .mapToLong(row -> longest - sequences.length(row))
                    .sum();
        }
        assertTrue(filled < all / 20, filled + " of " + all);
        Dataset sorted = dataset.byLength();
        Column.Sequences rising = (Column.Sequences) sorted.inputs().getFirst();
        assertTrue(IntStream.range(1, rows).allMatch(row -> rising.length(row - 1) <= rising.length(row)));
        assertEquals(
                rows,
                IntStream.range(0, rows)
                        .map(row -> rising.read(row)[0])
                        .distinct()
                        .count());
        List<Integer> longests = IntStream.iterate(0, from -> from < 320, from -> from + 16)
                .map(from -> sequences.length(order.get(from)))
                .boxed()
                .toList();
        assertNotEquals(longests.stream().sorted().toList(), longests, "batches come in random order");
    }

    private static List<Integer> order(BatchPlan plan, Dataset dataset, long epoch) {
        return IntStream.of(plan.order(dataset, epoch)).boxed().toList();
    }
}
