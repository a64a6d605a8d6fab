package dev.espalier.train.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.Layers;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.type.DataType;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.study.Experiment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An image and three numbers as inputs of one ONNX model, for every kind of task; and outputs that nobody asked for. */
final class SeveralInputsTest {
    private static final int ROWS = 320;

    @TempDir
    Path folder;

    /** All targets depend on both inputs: on the image's brightness and on the first of the numbers. */
    @BeforeEach
    void writeArrays() throws IOException {
        Random random = new Random(4);
        float[] images = new float[ROWS * 16];
        float[] numbers = new float[ROWS * 3];
        float[] height = new float[ROWS];
        float[] place = new float[2 * ROWS];
        float[] kind = new float[ROWS];
        float[] both = new float[2 * ROWS];
        for (int row = 0; row < ROWS; row++) {
            float light = random.nextFloat();
            for (int i = 0; i < 16; i++) {
                images[16 * row + i] = 0.9f * light + 0.1f * random.nextFloat();
            }
            for (int i = 0; i < 3; i++) {
                numbers[3 * row + i] = (float) random.nextGaussian();
            }
            float first = numbers[3 * row];
            height[row] = 100 + 10 * light + 5 * first;
            place[2 * row] = light - first;
            place[2 * row + 1] = -300 * light;
            kind[row] = (light > 0.5 ? 1 : 0) + (first > 0 ? 1 : 0);
            both[2 * row] = light > 0.5 ? 1 : 0;
            both[2 * row + 1] = first > 0 ? 1 : 0;
        }
        Npy.write(folder.resolve("image.npy"), images, ROWS, 1, 4, 4);
        Npy.write(folder.resolve("numbers.npy"), numbers, ROWS, 3);
        Npy.write(folder.resolve("height.npy"), height, ROWS);
        Npy.write(folder.resolve("place.npy"), place, ROWS, 2);
        Npy.write(folder.resolve("kind.npy"), kind, ROWS);
        Npy.write(folder.resolve("both.npy"), both, ROWS, 2);
    }

    /** A hidden layer that reads both, a head for each output, and the hidden layer as an output of its own. */
    private Path model(Map<String, Integer> heads) throws IOException {
        GraphBuilder builder = new GraphBuilder("two");
        Layers layers = new Layers(builder, Weights.seeded(1));
        Value image = builder.input("picture", DataType.FLOAT32, "batch", 1, 4, 4);
        Value numbers = builder.input("numbers", DataType.FLOAT32, "batch", 3);
        Value flat = builder.add("flat", new Flatten(1), image);
        Value hidden = layers.relu(
                "hidden", layers.add("sum", layers.linear("left", flat, 24), layers.linear("right", numbers, 24)));
        List<Value> outputs = new ArrayList<>(List.of(hidden));
        heads.forEach((name, size) -> outputs.add(layers.linear(name, hidden, size)));
        Path file = folder.resolve("two.onnx");
        OnnxWriter.write(builder.outputs(outputs.toArray(Value[]::new)), file);
        return file;
    }

    private RunResult train(Map<String, Integer> heads, String... overrides) throws IOException {
        List<String> all = new ArrayList<>(List.of("data.path=" + folder, "model.file=" + model(heads)));
        all.addAll(List.of(overrides));
        Recipe recipe = Recipe.parse("two.toml", """
                [data]
                kind = "npy"
                inputs = ["image", "numbers"]
                [model]
                kind = "onnx"
                file = "?"
                fresh = true
                [penalty]
                kind = "group-lasso"
                lambda = 1e-3
                [optimizer]
                rate = 1e-2
                [training]
                prune_for = "size"
                epochs = 25
                batch_size = 32
                """, all);
        RunFolder run = new RunFolder(folder.resolve("run"));
        RunResult result = Experiment.of(recipe, run, RunOptions.DEFAULT)
                .begin()
                .orElseThrow()
                .getFirst();
        assertEquals(result.scores(), result.prunedScores(), "pruned with all its inputs and outputs");
        List<String> outputs = OnnxReader.read(run.pruned()).graph().outputs();
        assertEquals(heads.size() + 1, outputs.size());
        assertTrue(outputs.containsAll(heads.keySet()), outputs.toString());
        return result;
    }

    private static double score(RunResult result, String name) {
        return result.scores().entrySet().stream()
                .filter(score -> score.getKey().name().equals(name))
                .mapToDouble(Map.Entry::getValue)
                .findFirst()
                .orElseThrow();
    }

    /** Columns of a table, as inputs that have nothing but their names to tell them apart; and the files take raw rows. */
    @Test
    void columnsOfATableAreInputsByName() throws IOException {
        GraphBuilder builder = new GraphBuilder("wide and deep");
        Layers layers = new Layers(builder, Weights.seeded(1));
        Value wide = builder.input("wide", DataType.FLOAT32, 1, 2);
        Value deep = builder.input("deep", DataType.FLOAT32, 1, 2);
        Value hidden = layers.relu(
                "hidden", layers.add("sum", layers.linear("left", wide, 8), layers.linear("right", deep, 8)));
        Path file = folder.resolve("wide.onnx");
        OnnxWriter.write(builder.outputs(layers.linear("scores", hidden, 7)), file);
        Random random = new Random(2);
        StringBuilder table = new StringBuilder("a,b,color,verdict\n");
        for (int row = 0; row < 200; row++) {
            int a = random.nextInt(100);
            boolean red = random.nextBoolean();
            table.append("%d,%d,%s,%s\n"
                    .formatted(a, random.nextInt(9), red ? "red" : "blue", (a > 50) == red ? "yes" : "no"));
        }
        Files.writeString(folder.resolve("table.csv"), table);
        Recipe recipe = Recipe.parse(
                "wide.toml", """
                [data]
                kind = "csv"
                path = "?"
                inputs = ["deep = color", "wide = a, b"]
                [model]
                kind = "onnx"
                file = "?"
                head = "new"
                [penalty]
                kind = "group-lasso"
                lambda = 1e-4
                [optimizer]
                rate = 2e-2
                [training]
                prune_for = "size"
                epochs = 30
                batch_size = 16
                """, List.of("data.path=" + folder.resolve("table.csv"), "model.file=" + file));
        RunFolder run = new RunFolder(folder.resolve("run"));
        RunResult result = Experiment.of(recipe, run, RunOptions.DEFAULT)
                .begin()
                .orElseThrow()
                .getFirst();
        assertTrue(score(result, "accuracy") > 0.8, result.toString());
        assertEquals(result.scores(), result.prunedScores());
        assertEquals(
                List.of("wide", "deep"),
                OnnxReader.read(run.pruned()).graph().inputs().stream()
                        .map(Graph.Input::name)
                        .toList());
    }

    /** Two targets are two outputs, each in its own unit. */
    @Test
    void numbersAreEstimatedFromTwoInputsByTwoOutputs() throws IOException {
        RunResult result =
                train(Map.of("height", 1, "place", 2), "data.targets=[\"height\",\"place\"]", "data.label_type=number");
        assertEquals(
                List.of("rmse", "mae", "r2"),
                result.metrics().stream().map(Metric::name).toList());
        assertTrue(score(result, "r2") > 0.9, result.toString());
    }

    @Test
    void classesAreSaidFromTwoInputs() throws IOException {
        RunResult result = train(Map.of("said", 3), "data.targets=kind", "data.label_type=category");
        assertTrue(score(result, "accuracy") > 0.8, result.toString());
    }

    @Test
    void labelsAreSaidFromTwoInputs() throws IOException {
        RunResult result = train(
                Map.of("said", 2),
                "data.targets=both",
                "data.label_type=number",
                "task.kind=classification",
                "task.multi_label=true");
        assertTrue(score(result, "f1") > 0.85, result.toString());
    }

    /** The teacher has two inputs as well. */
    @Test
    void aTeacherReadsTwoInputsToo() throws IOException {
        RunResult result = train(
                Map.of("said", 3),
                "data.targets=kind",
                "data.label_type=category",
                "task.teacher=" + folder.resolve("two.onnx"),
                "training.epochs=1",
                "divergence.chance_epochs=0");
        assertTrue(Double.isFinite(result.loss()), result.toString());
    }
}
