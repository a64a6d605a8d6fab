package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LoadedDataTest {
    @TempDir
    Path folder;

    private static LoadedData digits(double validation, int trainLimit, int testLimit, long seed) throws IOException {
        return DataSection.load(
                DataSection.read(
                        "data.kind=digits",
                        "data.padding=2",
                        "data.flip=true",
                        "data.validation_fraction=" + validation,
                        "data.train_limit=" + trainLimit,
                        "data.test_limit=" + testLimit,
                        "data.split_seed=" + seed),
                Context.QUIET);
    }

    private static Set<List<Float>> contents(Dataset dataset) {
        Set<List<Float>> contents = new HashSet<>();
        for (int row = 0; row < dataset.size(); row++) {
            float[] values = TestData.values(dataset, row);
            Float[] boxed = new Float[values.length];
            Arrays.setAll(boxed, i -> values[i]);
            contents.add(List.of(boxed));
        }
        return contents;
    }

    @Test
    void withoutValidationTheTestPartStandsIn() throws IOException {
        LoadedData data = digits(0, 0, 0, 1);
        assertEquals(1438, data.train().size());
        assertEquals(359, data.test().size());
        assertSame(data.test(), data.validation());
        assertEquals(List.of(new Field.Image("image", 1, 8, 8)), data.inputs());
        assertEquals(10, TestData.classNames(data.train()).size());
        assertEquals(TestData.normalizing(data.train()), data.encoding());
        assertEquals(new ImageAugmentation(2, true, 0), data.augmentation());
    }

    @Test
    void validationIsTakenFromTheTrainingPart() throws IOException {
        LoadedData whole = digits(0, 0, 0, 1);
        LoadedData data = digits(0.1, 0, 0, 1);
        assertEquals(1438, data.train().size() + data.validation().size());
        assertEquals(143.8, data.validation().size(), 5);
        Set<List<Float>> both = contents(data.train());
        both.addAll(contents(data.validation()));
        assertEquals(contents(whole.train()), both);
        assertEquals(contents(whole.test()), contents(data.test()));
        // By what is left to learn from: validation must be as unseen as the test.
        assertEquals(TestData.normalizing(data.train()), data.encoding());
        assertNotEquals(whole.encoding(), data.encoding());
    }

    @Test
    void limitsCountAndTheSeedDraws() throws IOException {
        LoadedData data = digits(0.25, 400, 50, 1);
        assertEquals(300, data.train().size(), 5);
        assertEquals(400, data.train().size() + data.validation().size());
        assertEquals(50, data.test().size());
        int[] counts = new int[10];
        for (int row = 0; row < data.test().size(); row++) {
            counts[TestData.label(data.test(), row)]++;
        }
        Arrays.stream(counts).forEach(count -> assertEquals(5, count, 1));
        assertEquals(contents(data.train()), contents(digits(0.25, 400, 50, 1).train()));
        assertNotEquals(
                contents(data.train()), contents(digits(0.25, 400, 50, 2).train()));
    }

    /** The same batches with and without: what differs in an image is black, and lies in a square of three by three pixels. */
    @Test
    void aSquareOfTrainingImagesIsCutOutAndNothingOfTestImages() throws IOException {
        LoadedData whole = plainDigits(0);
        LoadedData cut = plainDigits(3);
        float black = darkest(whole);
        List<float[]> before = trainingImages(whole);
        List<float[]> after = trainingImages(cut);
        int changed = 0;
        int most = 0;
        for (int image = 0; image < before.size(); image++) {
            int count = 0;
            int top = 8;
            int left = 8;
            int bottom = -1;
            int right = -1;
            for (int i = 0; i < 64; i++) {
                if (before.get(image)[i] != after.get(image)[i]) {
                    assertEquals(black, after.get(image)[i], "the square is not black");
                    count++;
                    top = Math.min(top, i / 8);
                    bottom = Math.max(bottom, i / 8);
                    left = Math.min(left, i % 8);
                    right = Math.max(right, i % 8);
                }
            }
            assertTrue(bottom - top < 3 && right - left < 3, "more than a square of three by three is gone");
            changed += count > 0 ? 1 : 0;
            most = Math.max(most, count);
        }
        assertEquals(9, most, "no whole square was cut out");
        // The rest of them were black there already.
        assertEquals(0.9, (double) changed / before.size(), 0.1);
        assertEquals(contents(whole.test()), contents(cut.test()));
    }

    private static LoadedData plainDigits(int cutout) throws IOException {
        return DataSection.load(DataSection.read("data.kind=digits", "data.cutout=" + cutout), Context.QUIET);
    }

    private static float darkest(LoadedData data) {
        float darkest = Float.MAX_VALUE;
        for (float[] image : trainingImages(data)) {
            for (float pixel : image) {
                darkest = Math.min(darkest, pixel);
            }
        }
        return darkest;
    }

    /** An epoch as a model is given it. */
    private static List<float[]> trainingImages(LoadedData data) {
        List<float[]> images = new ArrayList<>();
        try (Batches batches = data.batches(BatchPlan.training(100, 7), BatchPosition.START, 1)) {
            while (batches.hasNext()) {
                Batch batch = batches.next();
                float[] values = batch.inputs().firstEntry().getValue().toFloats();
                for (int image = 0; image < batch.size(); image++) {
                    images.add(Arrays.copyOfRange(values, 64 * image, 64 * (image + 1)));
                }
            }
        }
        return images;
    }

    @Test
    void tablesAreNormalizedByTheirTrainingPart() throws IOException {
        Files.writeString(folder.resolve("train.csv"), "x,same,y\n1,7,a\n3,7,b\n5,7,a\n");
        Files.writeString(folder.resolve("test.csv"), "x,same,y\n9,8,b\n");
        for (boolean normalize : new boolean[] {true, false}) {
            LoadedData data = DataSection.load(
                    DataSection.read("data.kind=csv", "data.path=" + folder, "data.normalize=" + normalize),
                    Context.QUIET);
            assertEquals(List.of(new Field.Numbers("features", List.of(2))), data.inputs());
            Normalization x = new Normalization(List.of(3.0), List.of(Math.sqrt(8 / 3.0)));
            Normalization same = new Normalization(List.of(7.0), List.of(1.0));
            Normalization none = Normalization.none(1);
            assertEquals(
                    List.of(new ColumnEncoding.Joined(
                            "features",
                            List.of(
                                    new ColumnEncoding.Scaled(new Field.Numbers("x"), normalize ? x : none, 3),
                                    new ColumnEncoding.Scaled(new Field.Numbers("same"), normalize ? same : none, 7)))),
                    data.encoding().inputs());
        }
    }

    @Test
    void partsMustBeAlike() {
        Dataset small = TestData.images(3, new Field.Image("image", 1, 1, 1));
        Dataset large = TestData.images(3, new Field.Image("image", 1, 1, 2));
        assertThrows(IllegalArgumentException.class, () -> new Parts(small, large));
        Dataset other = TestData.labelled(
                "other", (Column.Numbers) small.inputs().getFirst(), List.of("a", "b", "d"), new int[] {0, 1, 2});
        TestData.assertMessage(
                assertThrows(IllegalArgumentException.class, () -> new Parts(small, Optional.of(other), List.of())),
                "[a, b, c]",
                "[a, b, d]");
    }

    @Test
    void allKindsAreFoundByName() {
        assertEquals(
                List.of("digits", "cifar10", "mnist", "fashion-mnist", "images", "csv", "npy", "own", "random"),
                DataSection.KINDS.all().stream()
                        .filter(kind -> kind.getClass().getName().startsWith("dev.espalier.data."))
                        .map(DataKind::name)
                        .toList());
        assertEquals(new Outline.Image(3, 20, 20), outline("data.kind=images", "data.dir=x", "data.size=20"));
        assertEquals(new Outline.Image(1, 8, 8), outline("data.kind=digits"));
        assertEquals(new Outline.Image(1, 28, 28), outline("data.kind=mnist", "data.dir=x"));
        assertEquals(new Outline.Vector(), outline("data.kind=csv", "data.path=x"));
    }

    private static Outline outline(String... settings) {
        return DataSection.KINDS.of(DataSection.read(settings)).outline(DataSection.read(settings));
    }
}
