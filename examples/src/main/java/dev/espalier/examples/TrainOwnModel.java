package dev.espalier.examples;

import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.Layers;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.type.DataType;
import dev.espalier.report.Report;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.run.TrainingRun;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Trains a network of one's own, with checkpoints and a report, and prunes it. */
public final class TrainOwnModel {
    private static final String RECIPE = """
            data.kind = "digits"
            model.kind = "own"
            penalty = { kind = "group-mcp", lambda = 4e-3, beta = 20 }
            optimizer.rate = 5e-3
            schedule.kind = "cosine"
            training = { epochs = 10, batch_size = 64, prune_for = "size" }
            """;

    private TrainOwnModel() {}

    /** Two hidden layers, the second of which also sees what the first one saw. */
    private static Graph model(Weights weights) {
        GraphBuilder graph = new GraphBuilder("own");
        Layers layers = new Layers(graph, weights);
        Value image = graph.input("image", DataType.FLOAT32, "batch", 1, 8, 8);
        Value pixels = layers.flatten("pixels", image);
        Value first = layers.relu("first.relu", layers.linear("first", pixels, 64));
        Value second = layers.relu("second.relu", layers.linear("second", first, 64));
        Value both = layers.add("both", first, second);
        return graph.outputs(layers.linear("answer", both, 10, "logits"));
    }

    /**
     * Runs the example.
     *
     * @param arguments none
     * @throws IOException if nothing can be written
     */
    public static void main(String... arguments) throws IOException {
        Path place = Files.createTempDirectory("espalier").resolve("run");
        // docs: train
        Recipe recipe = Recipe.parse("own.toml", RECIPE, List.of());
        LoadedData data = DataSection.load(recipe.data(), Context.QUIET);
        Task task = Tasks.of(recipe, data, TrainOwnModel::model);
        RunFolder folder = new RunFolder(place);
        RunResult result = new TrainingRun(recipe, task, 1, folder, RunOptions.DEFAULT)
                .begin()
                .orElseThrow();
        Report.of(folder).write(folder.report());
        // docs: end

        System.out.printf(
                Locale.ROOT,
                "accuracy %.3f with %,d of %,d parameters%n",
                result.prunedScores().firstEntry().getValue(),
                result.parametersAfter(),
                result.parametersBefore());
        System.out.println(folder.pruned());
        System.out.println(folder.report());
    }
}
