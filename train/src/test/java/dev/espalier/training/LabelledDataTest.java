package dev.espalier.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Dataset;
import dev.espalier.data.Normalization;
import dev.espalier.data.Preprocessing;
import dev.espalier.data.SampleShape;
import dev.espalier.recipe.DataRecipe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LabelledDataTest {
    private static final DataRecipe.Digits DIGITS = new DataRecipe.Digits(new DataRecipe.Preparation(true, 2, true));

    @TempDir
    Path folder;

    private static LabelledData digits(double validation, int trainLimit, int testLimit, long seed) throws IOException {
        return LabelledData.load(new DataRecipe(DIGITS, validation, trainLimit, testLimit, seed, 1));
    }

    private static Set<List<Float>> contents(Dataset dataset) {
        Set<List<Float>> contents = new HashSet<>();
        for (int sample = 0; sample < dataset.size(); sample++) {
            float[] values = new float[dataset.shape().size()];
            dataset.copy(sample, values, 0);
            Float[] boxed = new Float[values.length];
            Arrays.setAll(boxed, i -> values[i]);
            contents.add(List.of(boxed));
        }
        return contents;
    }

    @Test
    void withoutValidationTheTestPartStandsIn() throws IOException {
        LabelledData data = digits(0, 0, 0, 1);
        assertEquals(1438, data.train().size());
        assertEquals(359, data.test().size());
        assertSame(data.test(), data.validation());
        assertEquals(new SampleShape.Image(1, 8, 8), data.shape());
        assertEquals(10, data.classes());
        assertEquals(new Preprocessing(Optional.of(Normalization.of(data.train())), 2, true), data.preprocessing());
    }

    @Test
    void validationIsTakenFromTheTrainingPart() throws IOException {
        LabelledData whole = digits(0, 0, 0, 1);
        LabelledData data = digits(0.1, 0, 0, 1);
        assertEquals(1438, data.train().size() + data.validation().size());
        assertEquals(143.8, data.validation().size(), 5);
        Set<List<Float>> both = contents(data.train());
        both.addAll(contents(data.validation()));
        assertEquals(contents(whole.train()), both);
        assertEquals(contents(whole.test()), contents(data.test()));
        // By what is left to learn from: validation must be as unseen as the test.
        assertEquals(
                Optional.of(Normalization.of(data.train())),
                data.preprocessing().normalization());
        assertNotEquals(whole.preprocessing(), data.preprocessing());
    }

    @Test
    void limitsCountAndTheSeedDraws() throws IOException {
        LabelledData data = digits(0.25, 400, 50, 1);
        assertEquals(300, data.train().size(), 5);
        assertEquals(400, data.train().size() + data.validation().size());
        assertEquals(50, data.test().size());
        int[] counts = new int[10];
        for (int sample = 0; sample < data.test().size(); sample++) {
            counts[data.test().label(sample)]++;
        }
        Arrays.stream(counts).forEach(count -> assertEquals(5, count, 1));
        assertEquals(contents(data.train()), contents(digits(0.25, 400, 50, 1).train()));
        assertNotEquals(
                contents(data.train()), contents(digits(0.25, 400, 50, 2).train()));
    }

    @Test
    void tablesAreNormalizedByTheirTrainingPart() throws IOException {
        Files.writeString(folder.resolve("train.csv"), "x,same,y\n1,7,a\n3,7,b\n5,7,a\n");
        Files.writeString(folder.resolve("test.csv"), "x,same,y\n9,8,b\n");
        for (boolean normalize : new boolean[] {true, false}) {
            DataRecipe.Csv table = new DataRecipe.Csv(folder.toString(), true, "y", ",", 0.2, normalize);
            LabelledData data = LabelledData.load(new DataRecipe(table, 0, 0, 0, 1, 1));
            assertEquals(new SampleShape.Vector(2), data.shape());
            Normalization expected = new Normalization(List.of(3.0, 7.0), List.of(Math.sqrt(8 / 3.0), 1.0));
            assertEquals(normalize ? Preprocessing.normalizing(expected) : Preprocessing.NONE, data.preprocessing());
        }
    }

    @Test
    void whatHasNoLabelsIsRefused() {
        DataRecipe.Squad squad = new DataRecipe.Squad("nowhere", "a", "b", 200, 50, 32, 0.1);
        String message = String.valueOf(assertThrows(
                        IllegalArgumentException.class, () -> LabelledData.load(new DataRecipe(squad, 0, 0, 0, 1, 1)))
                .getMessage());
        assertTrue(message.contains("data.kind = squad"), message);
    }
}
