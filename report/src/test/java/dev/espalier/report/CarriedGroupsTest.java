package dev.espalier.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.model.Layers;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PruneReport;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.type.DataType;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.run.TrainingRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a recipe groups is what everybody counts afterwards. */
class CarriedGroupsTest {
    private static final String RECIPE = """
            [data]
            kind = "digits"
            train_limit = 400
            test_limit = 200
            [model]
            kind = "onnx"
            file = "given below"
            [groups]
            join = "joint"
            exclude = ["answer.*"]
            [penalty]
            kind = "group-mcp"
            lambda = 1e-2
            beta = 10
            [optimizer]
            rate = 1e-2
            [training]
            prune_for = "size"
            epochs = 3
            batch_size = 40
            """;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path temporary;

    /** Two layers that read the same numbers, and one that reads the sum of both. */
    private Path model() throws IOException {
        GraphBuilder graph = new GraphBuilder("two readers");
        Layers layers = new Layers(graph, Weights.seeded(1));
        Value flat = layers.flatten("flat", graph.input("image", DataType.FLOAT32, "batch", 1, 8, 8));
        Value sum = graph.add(
                "sum",
                new Binary(Binary.Function.ADD),
                layers.relu("left.relu", layers.linear("left", flat, 12)),
                layers.relu("right.relu", layers.linear("right", flat, 12)));
        Path file = temporary.resolve("start.onnx");
        OnnxWriter.write(graph.outputs(layers.linear("answer", sum, 10)), file);
        return file;
    }

    @Test
    void joinedGroupsAreThoseOfTheFilesTheReportAndTheThreshold() throws IOException {
        Recipe recipe = Recipe.parse("test.toml", RECIPE, List.of("model.file=" + model()));
        RunFolder folder = new RunFolder(temporary.resolve("run"));
        RunResult result = new TrainingRun(recipe, Tasks.of(recipe), 1, folder, RunOptions.DEFAULT)
                .begin()
                .orElseThrow();
        assertTrue(result.groupsLeft() < 1, "nothing became zero: " + result);
        String joined = "left.weight + right.weight";
        Graph trained = OnnxReader.read(folder.model()).graph();
        for (Path file : List.of(folder.model(), folder.pruned())) {
            assertEquals(
                    List.of(joined),
                    ModelGroups.of(OnnxReader.read(file).graph()).layers().stream()
                            .map(LayerGroups::name)
                            .toList());
        }
        PruneReport report = PruneReport.of(Pruner.plan(trained, PruneOptions.DEFAULT), Map.of("batch", 1L));
        assertEquals(result.groupsLeft(), report.groupsNotZero(), 1e-12);
        int left = Objects.requireNonNull(
                folder.metrics().getLast().nonZeroGroups().get(joined));
        assertEquals(left / 64.0, report.groupsNotZero(), 1e-12);

        Path file = temporary.resolve("report.html");
        Report.of(folder).write(file);
        String page = Files.readString(file);
        assertTrue(page.contains(left + " <small>of 64</small>"), "the report counts other groups");

        Graph emptied = Pruner.threshold(trained, PruneOptions.DEFAULT.withThreshold(1e6));
        ModelGroups everything = ModelGroups.of(emptied);
        assertEquals(everything.count(), everything.zeroGroups(emptied));
        assertTrue(
                GroupRules.everything().derive(emptied).zeroGroups(emptied) < 64 + 64 + 12,
                "a weight that is in no group became zero");
    }
}
