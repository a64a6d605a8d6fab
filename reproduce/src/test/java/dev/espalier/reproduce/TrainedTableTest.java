package dev.espalier.reproduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.type.Tensor;
import dev.espalier.report.Figure;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.run.Progress;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.TrainingListener;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tables and what is made of their trainings, all at small scale or smaller. */
final class TrainedTableTest {
    /** A few steps: enough to see that everything is put together. */
    private static final List<String> TINY =
            List.of("training.epochs=1", "data.train_limit=64", "data.test_limit=32", "divergence.chance_epochs=0");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    /** Counts steps, and remembers notes. */
    private static final class Watch implements TrainingListener {
        private final AtomicInteger steps = new AtomicInteger();
        private final List<String> notes = new ArrayList<>();

        @Override
        public void onStep(Progress progress) {
            steps.incrementAndGet();
        }

        @Override
        public void onNote(String text) {
            notes.add(text);
        }
    }

    private Setting setting(int seeds, RunOptions options) {
        return new Setting(Scale.SMALL, Optional.empty(), seeds, folder, options);
    }

    private Setting tiny(int seeds, RunOptions options) {
        return setting(seeds, options).withChanges(TINY);
    }

    private Findings runTiny(Item item) throws IOException {
        return item.run(tiny(1, RunOptions.DEFAULT)).orElseThrow();
    }

    /** Where a row's training is, in these few steps. */
    private RunFolder tinyRun(String table, String recipe) throws IOException {
        TrainedTable item = (TrainedTable) Items.of(table);
        PaperRow row = item.table().row(recipe);
        Trainings trainings = new Trainings(tiny(1, RunOptions.DEFAULT));
        String name =
                trainings.variant(row, trainings.recipe(item.table(), row)).folder(recipe);
        return new RunFolder(folder.resolve("small").resolve(name)).seed(1);
    }

    /** The real small scale, as on the command line, stopped in its third training. */
    @Test
    void theFirstTableShowsWhatThePaperSaysAlsoAfterAStop() throws IOException {
        Item item = Items.of("table1");
        Watch before = new Watch();
        Setting stopped = setting(1, RunOptions.DEFAULT.withListener(before).withStop(() -> before.steps.get() >= 600));
        assertTrue(item.run(stopped).isEmpty());
        Watch after = new Watch();
        Findings findings =
                item.run(setting(1, RunOptions.DEFAULT.withListener(after))).orElseThrow();
        assertEquals(600, before.steps.get());
        assertTrue(after.notes.stream().noneMatch(note -> note.contains("baseline")), after.notes.toString());
        assertTrue(after.notes.stream().anyMatch(note -> note.startsWith("going on from")), after.notes.toString());

        Comparison table = findings.tables().getFirst();
        assertEquals(5, table.rows().size());
        assertEquals(
                0.2203,
                Small.cell(table, "ℓ1/ℓ2 + prox.", "group sparsity").paper().mean(),
                1e-12);
        Small.assertBetween(0.95, 1, Small.ours(table, "Baseline", "test accuracy"), "accuracy of the baseline");
        assertEquals(1, Small.ours(table, "Baseline", "group sparsity"));
        for (String row : List.of("ℓ1/ℓ2 + prox.", "Group MCP + prox.")) {
            Small.assertBetween(0.90, 1, Small.ours(table, row, "test accuracy"), "accuracy of " + row);
            Small.assertBetween(0.1, 0.95, Small.ours(table, row, "group sparsity"), "group sparsity of " + row);
            Small.assertBetween(0.01, 0.85, Small.ours(table, row, "parameters left"), "size of " + row);
        }
        // The paper's point: without a threshold, subgradients leave every group.
        assertEquals(
                2,
                findings.notes().stream()
                        .filter(note -> note.contains("100.00 % of its groups were not zero before the threshold"))
                        .count(),
                findings.notes().toString());
        Figure.Plot price = (Figure.Plot) findings.figures().getFirst();
        assertEquals(5, price.curves().getFirst().points().size());
        assertEquals(4, price.curves().getLast().points().size());

        thresholdAgrees(table);
    }

    /** The curve passes through the row of the table, which has the same training and the same threshold. */
    private void thresholdAgrees(Comparison table) throws IOException {
        Comparison curve = Small.run(Items.of("threshold"), folder).tables().getFirst();
        Comparison.Row chosen = curve.rows().stream()
                .filter(row -> row.name().endsWith("as in the table"))
                .findFirst()
                .orElseThrow();
        for (String figure : List.of("group sparsity", "test accuracy", "parameters left")) {
            assertEquals(Small.ours(table, "ℓ1/ℓ2", figure), Small.ours(curve, chosen.name(), figure), 1e-12, figure);
        }
        assertEquals(1, Small.ours(curve, "t = 0.0", "group sparsity"));
        assertEquals(0, Small.ours(curve, "t = 1.0", "group sparsity"));
        Small.assertBetween(0.05, 0.2, Small.ours(curve, "t = 1.0", "test accuracy"), "accuracy of nothing");
        double last = 1;
        for (Comparison.Row row : curve.rows()) {
            double share = Small.ours(curve, row.name(), "group sparsity");
            assertTrue(share <= last, row.name());
            last = share;
        }
    }

    @Test
    void bertsTableHasTheTwoScoresOfSquad() throws IOException {
        Comparison table = runTiny(Items.of("table2")).tables().getFirst();
        assertEquals(5, table.rows().size());
        assertEquals(
                0.7995,
                Small.cell(table, "Group MCP, λ = 1e-4, β = 4e2", "F1").paper().mean(),
                1e-12);
        for (Comparison.Row row : table.rows()) {
            double exact = Small.ours(table, row.name(), "EM");
            Small.assertBetween(exact, 1, Small.ours(table, row.name(), "F1"), "F1 of " + row.name());
        }
    }

    @Test
    void moreSeedsGiveADeviationAndKeepWhatIsThere() throws IOException {
        Item item = Items.of("table4");
        assertTrue(item.run(tiny(1, RunOptions.DEFAULT)).isPresent());
        Watch watch = new Watch();
        Findings two = item.run(tiny(2, RunOptions.DEFAULT.withListener(watch))).orElseThrow();
        assertEquals(
                3,
                watch.notes.stream().filter(note -> note.endsWith(", seed 2")).count(),
                watch.notes.toString());
        assertTrue(watch.notes.stream().noneMatch(note -> note.endsWith(", seed 1")), watch.notes.toString());
        Comparison.Cell cell = Small.cell(two.tables().getFirst(), "Group MCP", "test accuracy");
        assertEquals(2, cell.ours().runs());
        assertTrue(Double.isFinite(cell.ours().deviation()));
        assertEquals(2, Small.ours(two.tables().getFirst(), "Group MCP", "runs"));
        Path second = tinyRun("table4", "resnet34-cifar10-mcp").path().resolveSibling("seed-2");
        assertTrue(Files.exists(second.resolve("report.html")));
    }

    /** One row first, stopped in the middle; then it goes on, and another seed alone; then another row and a variant. */
    @Test
    void rowsAreRunOneByOneAndComeTogether() throws IOException {
        Item item = Items.of("table4");
        List<String> longer = new ArrayList<>(TINY);
        longer.add("training.batch_size=8");
        Setting lasso = setting(1, RunOptions.DEFAULT).withChanges(longer).withRows(List.of("lasso"));
        Watch before = new Watch();
        assertTrue(item.run(setting(1, RunOptions.DEFAULT.withListener(before).withStop(() -> before.steps.get() >= 3))
                        .withChanges(longer)
                        .withRows(lasso.rows()))
                .isEmpty());
        Comparison one = item.run(lasso).orElseThrow().tables().getFirst();
        assertEquals(3, before.steps.get());
        assertEquals(
                List.of("Baseline: not run", "ℓ1/ℓ2", "Group MCP: not run"),
                one.rows().stream().map(Comparison.Row::name).toList());
        assertEquals(0, Small.ours(one, "Baseline: not run", "runs"));
        assertEquals(1, Small.ours(one, "ℓ1/ℓ2", "runs"));
        assertTrue(one.note().contains("training.batch_size = 8"), one.note());

        // Another precision, or evaluated less often, is the same row, and another seed is one more run of it.
        List<String> otherPrecision = new ArrayList<>(longer);
        otherPrecision.add("training.precision=tf32");
        otherPrecision.add("evaluation.every=2");
        Comparison two = item.run(lasso.withSeeds(List.of(1L, 7L)).withChanges(otherPrecision))
                .orElseThrow()
                .tables()
                .getFirst();
        assertEquals(2, Small.ours(two, "ℓ1/ℓ2", "runs"));

        // Another batch size is not.
        Comparison mcp = item.run(tiny(1, RunOptions.DEFAULT).withRows(List.of("mcp")))
                .orElseThrow()
                .tables()
                .getFirst();
        assertEquals(1, Small.ours(mcp, "Group MCP", "runs"));
        assertEquals(0, Small.ours(mcp, "ℓ1/ℓ2: not run", "runs"));

        IllegalArgumentException unknown = assertThrows(
                IllegalArgumentException.class, () -> Reproduction.of(item, lasso.withRows(List.of("ridge")), ""));
        assertEquals(
                "--rows ridge: table4 has no such row; choose some of baseline, lasso, mcp, program-baseline, program-lasso, program-mcp",
                unknown.getMessage());
    }

    /** What the program does is run where it is named, has the paper's numbers too, and is not taken for the row. */
    @Test
    void rowsAsTheProgramDoesAreRunWhereTheyAreNamed() throws IOException {
        Item item = Items.of("table1");
        List<String> rows = List.of("program-baseline", "program-mcp-subgradient-inverse-groups");
        Findings findings = item.run(tiny(1, RunOptions.DEFAULT).withRows(rows)).orElseThrow();
        Comparison table = findings.tables().getFirst();
        assertEquals(
                List.of(
                        "Baseline: not run",
                        "ℓ1/ℓ2: not run",
                        "ℓ1/ℓ2 + prox.: not run",
                        "Group MCP: not run",
                        "Group MCP + prox.: not run",
                        "Baseline, as the program does",
                        "Group MCP, as the program does (values by inverse-groups)"),
                table.rows().stream().map(Comparison.Row::name).toList());
        Comparison.Cell cell =
                Small.cell(table, "Group MCP, as the program does (values by inverse-groups)", "group sparsity");
        assertEquals(0.2093, cell.paper().mean(), 1e-12);
        assertTrue(Double.isFinite(cell.ours().mean()));
        RunFolder run = tinyRun("table1", "program/vgg16-cifar10-mcp-subgradient-inverse-groups");
        assertTrue(Files.readString(run.recipe()).contains("value_weight = \"inverse-groups\""));
    }

    @Test
    void aTrainingThatGoesNowhereLeavesItsRowEmpty() throws IOException {
        List<String> hopeless = new ArrayList<>(TINY);
        hopeless.add("divergence.largest_loss=1e-9");
        Findings findings = Items.of("table4")
                .run(setting(1, RunOptions.DEFAULT).withChanges(hopeless))
                .orElseThrow();
        Comparison table = findings.tables().getFirst();
        assertEquals("Baseline: given up", table.rows().getFirst().name());
        assertTrue(Double.isNaN(Small.ours(table, "Baseline: given up", "test accuracy")));
    }

    @Test
    void layersAreCountedInTheModelsThatAreThere() throws IOException {
        PrunedLayers item = new PrunedLayers();
        Findings dense = runTiny(item);
        Comparison summary = dense.tables().getFirst();
        assertEquals(4, dense.tables().size());
        assertEquals(
                0.48,
                Small.cell(summary, "BERT, group MCP", "effective sparsity")
                        .paper()
                        .mean());
        Figure.Sizes drawn = (Figure.Sizes) dense.figures().getLast();
        assertEquals(37, drawn.parts().size(), "layers of ResNet-34 with its shortcuts");
        assertFalse(drawn.before().contains(0L));

        // One input of the third convolution less: 32 filters of 3×3 there, and a filter of 16 inputs before it.
        RunFolder run = tinyRun("table1", "vgg16-cifar10-lasso-proximal");
        OnnxWriter.write(withoutInput(OnnxReader.read(run.model()).graph(), "features.2.conv.weight", 5), run.model());
        Watch watch = new Watch();
        Findings pruned =
                item.run(tiny(1, RunOptions.DEFAULT.withListener(watch))).orElseThrow();
        assertEquals(0, watch.steps.get());
        String name = "VGG-16, ℓ1/ℓ2 + prox.";
        Comparison layers = pruned.tables().get(1);
        assertEquals(name, layers.title());
        assertEquals(
                List.of("features.1.conv", "16", "16", "16", "15", "2,304", "2,160", "93.75 %"),
                layers.body().get(1));
        assertEquals(
                List.of("features.2.conv", "16", "15", "32", "32", "4,608", "4,320", "93.75 %"),
                layers.body().get(2));
        double weights = sum(layers, 4);
        assertEquals(1 - 432 / weights, Small.ours(pruned.tables().getFirst(), name, "weights of layers left"), 1e-12);
        // Scale and shift of the normalisation go with the filter.
        assertEquals(
                Small.ours(summary, name, "parameters left") - 432 - 2,
                Small.ours(pruned.tables().getFirst(), name, "parameters left"));
        assertEquals(
                Small.ours(summary, name, "group sparsity") - 1 / 97.0,
                Small.ours(pruned.tables().getFirst(), name, "group sparsity"),
                1e-12);
        assertEquals(1 / 0.9375, Small.ours(pruned.tables().getFirst(), name, "largest reduction of a layer"), 1e-12);
    }

    /** λ is adapted until as many groups are left as in the paper, and the drawing is of a small network at any scale. */
    @Test
    void smallNetworksAreDrawnAtThePapersSparsity() throws IOException {
        PrunedLayers item = new PrunedLayers();
        Setting full = new Setting(Scale.FULL, Optional.empty(), 1, folder, RunOptions.DEFAULT)
                .withChanges(TINY)
                .withRows(List.of("small-resnet34"));
        item.require(full);
        Findings findings = item.run(full).orElseThrow();
        String name = "A thin ResNet-34 at the paper's group sparsity";
        assertEquals(
                0.3104,
                Small.cell(findings.tables().getFirst(), name, "group sparsity")
                        .paper()
                        .mean());
        assertEquals(1, findings.figures().size());
        assertEquals(
                List.of(
                        "vgg16",
                        "bert",
                        "resnet34",
                        "program-bert",
                        "program-resnet34",
                        "small-bert",
                        "small-resnet34"),
                item.rows());
    }

    private static Graph withoutInput(Graph model, String weight, int channel) {
        Tensor old = Objects.requireNonNull(model.tensor(weight));
        long[] shape = old.shape();
        long pixels = shape[2] * shape[3];
        return model.withTensors(Map.of(
                weight,
                Tensor.compute(old.type(), shape, i -> i / pixels % shape[1] == channel ? 0 : old.getDouble(i))));
    }

    private static double sum(Comparison table, int column) {
        return table.rows().stream()
                .mapToDouble(row -> row.cells().get(column).ours().mean())
                .sum();
    }
}
