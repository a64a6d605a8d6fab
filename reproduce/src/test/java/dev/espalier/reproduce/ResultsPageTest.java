package dev.espalier.reproduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.Provenance;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.run.Origin;
import dev.espalier.train.run.RunOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From the small files of runs to kept results, and from these to a page. */
final class ResultsPageTest {
    private static final Path DOCS = Path.of("..", "docs");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void thePageOfTheRepositoryIsWhatItsResultsSay() throws IOException {
        ResultsPage page = new ResultsPage(DOCS);
        SequencedMap<Path, String> files = page.files();
        for (Map.Entry<Path, String> file : files.entrySet()) {
            assertEquals(
                    file.getValue(),
                    Files.readString(file.getKey()),
                    () -> file.getKey() + " is not what docs/results says: ./espalier reproduce --page docs");
        }
        for (Path plot : page.plots()) {
            assertTrue(files.containsKey(plot), () -> plot + " is of nothing: ./espalier reproduce --page docs");
        }
    }

    private RunFolder run(String name, long seed) throws IOException {
        RunFolder run = new RunFolder(folder.resolve("runs/full").resolve(name)).seed(seed);
        Files.createDirectories(run.path());
        return run;
    }

    /** The small files of a run of VGG-16 over some epochs, without a result. */
    private RunFolder train(String row, String name, long seed, int epochs, String... changes) throws IOException {
        return trainAs("vgg16-cifar10-" + row, name, seed, epochs, changes);
    }

    private RunFolder trainAs(String recipe, String name, long seed, int epochs, String... changes) throws IOException {
        RunFolder run = run(name, seed);
        RunFolder.replace(
                run.recipe(),
                ShippedRecipe.of(recipe, List.of(changes))
                        .withSeed(seed)
                        .with("data.dir=/somewhere/else")
                        .toToml());
        run.write(new Provenance(
                "1", "abc", "2030-01-02T03:04:05Z", seed, "25", "Linux", "amd64", 16, "PyTorch", "a GPU", "gpu"));
        for (int epoch = 1; epoch <= epochs; epoch++) {
            JsonFile.append(
                    run.metricsFile(),
                    new Metrics(
                            391L * epoch,
                            epoch,
                            "sparsify",
                            20 + 5.0 * epoch,
                            4000,
                            1e-3,
                            2e-5,
                            1,
                            scores(0.5),
                            0.1,
                            1,
                            scores(0.9 + 1e-4 * epoch + 0.01 * seed),
                            0.25,
                            1,
                            0,
                            new LinkedHashMap<>(Map.of("conv", 1000, "linear", 57)),
                            new LinkedHashMap<>()));
        }
        return run;
    }

    private static SequencedMap<Metric, Double> scores(double accuracy) {
        return new LinkedHashMap<>(Map.of(Metric.share("accuracy"), accuracy));
    }

    private static void finish(RunFolder run, long seed) throws IOException {
        run.write(new RunResult(
                seed,
                39100,
                520,
                2e-5,
                1,
                scores(0.8 + 0.1 * seed),
                scores(0.8 + 0.1 * seed),
                0.2,
                0.2,
                1000,
                30,
                2000,
                500,
                1e-6,
                10,
                4,
                RunResult.Files.UNKNOWN));
    }

    private ResultsPage page() throws IOException {
        Path docs = folder.resolve("docs");
        Files.createDirectories(docs);
        if (!Files.exists(docs.resolve("results.md"))) {
            Files.writeString(docs.resolve("results.md"), """
                    before
                    <!-- full scale of table1, made by: ./espalier reproduce --page docs -->
                    <!-- end of full scale -->
                    between
                    <!-- full scale of table2, made by: ./espalier reproduce --page docs -->
                    old
                    <!-- end of full scale -->
                    after
                    """);
        }
        return new ResultsPage(docs);
    }

    @Test
    void runsOfSeveralMachinesBecomeOnePage() throws IOException {
        String lasso = "vgg16-cifar10-lasso-proximal";
        finish(train("lasso-proximal", lasso, 1, 100), 1);
        finish(train("lasso-proximal", lasso, 2, 100, "training.precision=tf32"), 2);
        train("mcp-proximal", "vgg16-cifar10-mcp-proximal", 1, 100); // its machine was lost before it was judged
        train("lasso-subgradient", "vgg16-cifar10-lasso-subgradient", 1, 100); // before its threshold
        train("baseline", "vgg16-cifar10-baseline", 1, 40); // on the way
        finish(
                train("lasso-proximal", lasso + "__optimizer.weight_decay-0.1", 1, 100, "optimizer.weight_decay=0.1"),
                1);
        List<String> said = page().gather(folder.resolve("runs"));
        assertEquals(4, said.stream().filter(line -> line.startsWith("kept ")).count(), said.toString());
        assertEquals(
                2, said.stream().filter(line -> line.contains(" is left out: ")).count(), said.toString());
        assertTrue(page().gather(folder.resolve("runs")).getFirst().startsWith("replaced "));

        Path kept = folder.resolve("docs/results/full").resolve(lasso).resolve("seed-2.json");
        RowResult second = JsonFile.read(kept, RowResult.class);
        assertEquals("tf32", second.precision());
        assertEquals(4228, second.groups());
        assertEquals(5, second.secondsPerEpoch(), 1e-9);
        assertEquals(100, second.course().epochs().size());
        assertEquals(0.03, second.parameters().left(), 1e-12);
        assertEquals(2.5, second.speedUp(), 1e-12);
        assertFalse(Files.readString(kept).contains("/somewhere/else"), "where data lay is told");

        page().write();
        String text = Files.readString(folder.resolve("docs/results.md"));
        assertTrue(text.contains("| Baseline: not run | 0 |"), text);
        assertTrue(
                text.contains(
                        "| ℓ1/ℓ2 + prox. | 2 | 22.03 ± 0.33 % | 20.00 ± 0.00 % | 89.55 ± 0.14 % | 95.00 ± 7.07 % |"),
                text);
        assertTrue(
                text.contains("| ℓ1/ℓ2 + prox., optimizer.weight_decay = 0.1 | 1 | – | 20.00 % | – | 90.00 % |"), text);
        assertTrue(text.contains("| Group MCP + prox. | 1 | 22.63 ± 0.15 % | 25.00 % |"), text);
        assertTrue(
                text.contains("Group MCP + prox., seed 1: the network on the device, not judged by ONNX Runtime."),
                text);
        assertTrue(text.contains("| tf32 | 520 | 2030-01-02 | abc |"), text);
        assertTrue(
                text.contains("\nbetween\n")
                        && text.endsWith("Full scale: not run yet.\n\n<!-- end of full scale -->\nafter\n"),
                text);
        String drawing =
                Files.readString(folder.resolve("docs/images/results-table1-score-against-group-sparsity.svg"));
        assertTrue(drawing.contains("<title>Score against group sparsity</title>"), drawing);
        assertEquals(List.of(), page().write(), "a page that is made again is the same");
    }

    /** Of all rows one is kept as the text has it, and one as the program does it, with a variant. */
    @Test
    void waysAreShownSideBySide() throws IOException {
        String lasso = "vgg16-cifar10-lasso-proximal";
        finish(train("lasso-proximal", lasso, 1, 100), 1);
        String program = "program/" + lasso;
        finish(trainAs(program, program, 1, 100), 1);
        finish(trainAs(program, program + "__optimizer.epsilon-1.0e-8", 1, 100, "optimizer.epsilon=1e-8"), 1);
        page().gather(folder.resolve("runs"));
        assertTrue(Files.exists(
                folder.resolve("docs/results/full").resolve(program).resolve("seed-1.json")));
        page().write();
        String text = Files.readString(folder.resolve("docs/results.md"));
        assertTrue(text.contains("**Three ways side by side**"), text);
        assertTrue(
                text.contains(
                        "| ℓ1/ℓ2 + prox. | 22.03 ± 0.33 % | 20.00 % | 20.00 % | 89.55 ± 0.14 % | 90.00 % | 90.00 % |"),
                text);
        assertTrue(
                text.contains("| ℓ1/ℓ2 + prox., as the program does, optimizer.epsilon = 1.0e-8 | 22.03 ± 0.33 % |"),
                text);
        assertTrue(
                text.contains(
                        "| Group MCP (values by groups) | 20.93 ± 0.30 % | not run | not run | 89.59 ± 0.30 % | not run | not run |"),
                text);
        assertTrue(text.contains("| ℓ1/ℓ2 + prox., as the program does | 1 | 22.03 ± 0.33 % | 20.00 % |"), text);
        assertFalse(text.contains("as the program does: not run"), text);
    }

    @Test
    void anItemIsKeptWithItsTables() throws IOException {
        Path runs = folder.resolve("runs");
        IllegalArgumentException nothing = assertThrows(IllegalArgumentException.class, () -> page().gather(runs));
        assertTrue(String.valueOf(nothing.getMessage()).contains("full/RECIPE/seed-N"), nothing.getMessage());
        Setting full = new Setting(Scale.FULL, Optional.empty(), 1, runs, RunOptions.DEFAULT);
        assertTrue(Reproduction.of(Items.of("penalties"), full, "espalier reproduce penalties")
                .isPresent());
        page().gather(runs);
        IllegalArgumentException noPlace = assertThrows(IllegalArgumentException.class, () -> page().write());
        assertTrue(String.valueOf(noPlace.getMessage()).contains("has no place for penalties"), noPlace.getMessage());
        Files.writeString(
                folder.resolve("docs/results.md"),
                "<!-- full scale of penalties, made by: ./espalier reproduce --page docs -->\n<!-- end of full scale -->\n");
        page().write();
        String text = Files.readString(folder.resolve("docs/results.md"));
        assertTrue(text.contains("Full scale, `espalier reproduce penalties`, on "), text);
        assertTrue(text.contains("MCP, paper | MCP, ours"), text);
        assertTrue(text.contains("](images/results-penalties-"), text);
    }

    private static void write(Path runs, String base, Item item, String command) throws IOException {
        JsonFile.write(runs.resolve(base + ".provenance.json"), Origin.of(1, "", RunOptions.DEFAULT, false));
        JsonFile.write(
                runs.resolve(base + ".json"),
                new Reproduction.Contents(
                        item.name(),
                        item.title(),
                        item.place(),
                        "full",
                        List.of(1L),
                        command,
                        1,
                        List.of(),
                        List.of(),
                        List.of("the same of both")));
    }

    /** As models are trained on different days: what one run has does not take the place of another's. */
    @Test
    void rowsOfAnItemThatWereRunApartAreKeptBesideEachOther() throws IOException {
        Item item = Items.of("pruned-layers");
        Path runs = Files.createDirectories(folder.resolve("runs"));
        write(runs, "pruned-layers-bert", item, "espalier for bert");
        page().gather(runs);
        write(runs, "pruned-layers-vgg16", item, "espalier for vgg16");
        page().gather(runs);
        Path text = Files.writeString(
                folder.resolve("docs/results.md"),
                "<!-- full scale of pruned-layers, made by: ./espalier reproduce --page docs -->\n<!-- end of full scale -->\n");
        page().write();
        String written = Files.readString(text);
        int first = written.indexOf("espalier for vgg16");
        assertTrue(first >= 0 && first < written.indexOf("espalier for bert"), written);
        assertEquals(written.indexOf("the same of both"), written.lastIndexOf("the same of both"), written);

        Path both = Files.createDirectories(folder.resolve("both"));
        String rows = KeptResults.part(item, List.of("bert", "vgg16"));
        assertEquals("vgg16+bert", rows);
        write(both, "pruned-layers-" + rows, item, "espalier for both");
        page().gather(both);
        page().write();
        String together = Files.readString(text);
        assertTrue(together.contains("espalier for both") && !together.contains("espalier for bert"), together);

        Path whole = Files.createDirectories(folder.resolve("whole"));
        assertEquals("", KeptResults.part(item, item.rows()));
        write(whole, "pruned-layers", item, "espalier for all");
        page().gather(whole);
        page().write();
        String all = Files.readString(text);
        assertTrue(all.contains("espalier for all") && !all.contains("espalier for both"), all);
        IllegalArgumentException older = assertThrows(IllegalArgumentException.class, () -> page().gather(runs));
        assertTrue(String.valueOf(older.getMessage()).contains("has all rows of pruned-layers"), older.getMessage());
    }
}
