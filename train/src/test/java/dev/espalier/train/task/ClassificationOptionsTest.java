package dev.espalier.train.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.JudgedModel;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.study.Experiment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ClassificationOptionsTest {
    @TempDir
    Path folder;

    private Recipe recipe(String table, String... overrides) throws IOException {
        Path file = folder.resolve("table.csv");
        Files.writeString(file, table);
        List<String> all = new ArrayList<>(List.of("data.path=" + file));
        all.addAll(List.of(overrides));
        return Recipe.parse("test.toml", """
                [data]
                kind = "csv"
                path = "?"
                [task]
                kind = "classification"
                [model]
                kind = "mlp"
                hidden = [16]
                [method]
                kind = "baseline"
                [optimizer]
                rate = 1e-2
                [training]
                prune_for = "size"
                epochs = 15
                batch_size = 32
                """, all);
    }

    private RunResult train(Recipe recipe, String name) throws IOException {
        return Experiment.of(recipe, new RunFolder(folder.resolve(name)), RunOptions.DEFAULT)
                .begin()
                .orElseThrow()
                .getFirst();
    }

    /** Two labels that depend on one number each; both, one or none may hold. */
    private static String twoLabels() {
        Random random = new Random(1);
        StringBuilder table = new StringBuilder("x,y,right,high\n");
        for (int row = 0; row < 400; row++) {
            double x = random.nextGaussian();
            double y = random.nextGaussian();
            table.append(String.format(Locale.ROOT, "%.4f,%.4f,%d,%d%n", x, y, x > 0.5 ? 1 : 0, y > 0 ? 1 : 0));
        }
        return table.toString();
    }

    @Test
    void severalLabelsMayHold() throws IOException {
        RunResult result =
                train(recipe(twoLabels(), "data.label=[\"right\",\"high\"]", "task.multi_label=true"), "labels");
        assertEquals(
                List.of("f1", "exact_match"),
                result.metrics().stream().map(Metric::name).toList());
        assertTrue(result.prunedScores().firstEntry().getValue() > 0.9, result.toString());
        assertTrue(result.prunedScores().lastEntry().getValue() > 0.85, result.toString());
    }

    /** F1 and exact matches as one counts them by hand. */
    @Test
    void metricsOfSeveralLabelsAreWhatTheirNamesSay() throws IOException {
        Task task = Tasks.of(recipe(
                twoLabels(), "data.label=[\"right\",\"high\"]", "task.multi_label=true", "task.label_smoothing=0.1"));
        Graph model = task.model(Weights.seeded(2));
        int[] counts = new int[4]; // hits, said, true, exact
        try (JudgedModel judged = new JudgedModel(task, model, inputs -> Evaluator.run(model, inputs))) {
            Evaluation found = task.evaluate(
                    new Watched(judged, (example, logits) -> {
                        for (int row = 0; row < example.size(); row++) {
                            boolean exact = true;
                            for (int i = 2 * row; i < 2 * row + 2; i++) {
                                int said = logits.getDouble(i) > 0 ? 1 : 0;
                                int truth = (int) Watched.truth(example).getDouble(i);
                                counts[0] += said * truth;
                                counts[1] += said;
                                counts[2] += truth;
                                exact &= said == truth;
                            }
                            counts[3] += exact ? 1 : 0;
                        }
                    }),
                    Task.Part.TEST);
            assertEquals(2.0 * counts[0] / (counts[1] + counts[2]), found.main().getValue(), 1e-12);
            assertEquals(
                    (double) counts[3] / found.samples(),
                    found.scores().lastEntry().getValue(),
                    1e-12);
        }
    }

    @Test
    void labelsOfOtherNumbersAreRefused() throws IOException {
        Recipe recipe = recipe(
                twoLabels().replace(",1,1\n", ",2,1\n"), "data.label=[\"right\",\"high\"]", "task.multi_label=true");
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> Tasks.of(recipe))
                .getMessage());
        assertTrue(message.contains("needs labels of 0 and 1") && message.contains("2.0"), message);
    }

    /** One in twenty is rare, and lies where the others are, too: only if it counts more is it ever said. */
    private static String rareClass() {
        Random random = new Random(5);
        StringBuilder table = new StringBuilder("x,class\n");
        for (int row = 0; row < 2000; row++) {
            boolean rare = row % 20 == 0;
            table.append(String.format(
                    Locale.ROOT, "%.4f,%s%n", random.nextGaussian() + (rare ? 1 : 0), rare ? "rare" : "usual"));
        }
        return table.toString();
    }

    /** How much of the rare class is found. */
    private double found(String name, String... overrides) throws IOException {
        Recipe recipe = recipe(rareClass(), overrides);
        train(recipe, name);
        Task task = Tasks.of(recipe);
        int[] counts = new int[2];
        Graph model =
                OnnxReader.read(new RunFolder(folder.resolve(name)).model()).graph();
        try (JudgedModel judged = new JudgedModel(task, model, inputs -> Evaluator.run(model, inputs))) {
            task.evaluate(
                    new Watched(judged, (example, logits) -> {
                        for (int row = 0; row < example.size(); row++) {
                            if (Watched.truth(example).getLong(row) == 0) { // "rare" comes before "usual"
                                counts[logits.getDouble(2L * row) > logits.getDouble(2L * row + 1) ? 1 : 0]++;
                            }
                        }
                    }),
                    Task.Part.TEST);
        }
        return (double) counts[1] / (counts[0] + counts[1]);
    }

    @Test
    void aRareClassIsFoundIfItCountsMore() throws IOException {
        double equal = found("equal", "divergence.chance_epochs=0", "data.test_fraction=0.5", "training.epochs=4");
        double balanced = found(
                "balanced",
                "task.balanced=true",
                "divergence.chance_epochs=0",
                "data.test_fraction=0.5",
                "training.epochs=4");
        double given = found(
                "given",
                "task.class_weights=[20,1]",
                "divergence.chance_epochs=0",
                "data.test_fraction=0.5",
                "training.epochs=4");
        assertTrue(equal < 0.2, "equal weights find " + equal);
        assertTrue(balanced > 0.5, "balanced weights find " + balanced);
        assertTrue(given > 0.5, "given weights find " + given);
    }

    @Test
    void smoothingRaisesTheLossOfWhoIsSure() throws IOException {
        double[] losses = new double[2];
        for (int i = 0; i < 2; i++) {
            Task task = Tasks.of(recipe(rareClass(), "task.label_smoothing=" + 0.2 * i));
            Graph model = task.model(Weights.seeded(1));
            try (JudgedModel judged = new JudgedModel(task, model, inputs -> Evaluator.run(model, inputs))) {
                losses[i] = task.evaluate(judged, Task.Part.TEST).loss();
            }
        }
        assertTrue(losses[0] != losses[1], losses[0] + " and " + losses[1]);
    }

    @Test
    void weightsMustFitTheClasses() throws IOException {
        Recipe recipe = recipe(rareClass(), "task.class_weights=[1,2,3]");
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> Tasks.of(recipe))
                .getMessage());
        assertTrue(message.contains("has 3 numbers, but there are 2 classes, [rare, usual]"), message);
        Recipe both = recipe(rareClass(), "task.class_weights=[1,2]", "task.balanced=true");
        assertTrue(String.valueOf(assertThrows(IllegalArgumentException.class, () -> Tasks.of(both))
                        .getMessage())
                .contains("set one of them"));
    }
}
