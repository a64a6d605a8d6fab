package dev.espalier.reproduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.prox.NaiveProx;
import dev.espalier.reproduce.McpExactness.Differences;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.StepView.GroupProblem;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where the paper's rule for group MCP is not the minimiser. */
final class McpExactnessTest {
    private static final GroupMcp MCP = new GroupMcp(1, 1.5, GroupWeight.NONE);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static Differences of(double[] x, double[] d) {
        double[] u = {d[0] * x[0], d[1] * x[1]};
        return McpExactness.differences(7, MCP, new GroupProblem(x, u, d, 1));
    }

    @Test
    void whereTheAssumptionHoldsTheRuleDoes() {
        Differences seen = of(new double[] {2, 0}, new double[] {1, 4});
        assertEquals(new Differences(7, 1, 2, 0, 0, 1, 0, 0, 0, 0, 0), seen);
    }

    @Test
    void aGroupThatTheRuleKeepsMayHaveToGo() {
        Differences seen = of(new double[] {1.6, 0.1}, new double[] {0.05, 0.4});
        assertEquals(1, seen.open());
        assertEquals(1, seen.zeroed());
        assertEquals(1, seen.distance(), 1e-12);
        assertTrue(seen.gain() > 0.5, seen.toString());
    }

    /** Brute force knows no theorem: it differs from x exactly where the item says so. */
    @Test
    void differencesAreThoseOfBruteForce() {
        Random random = new Random(5);
        int differing = 0;
        int zeroed = 0;
        for (int i = 0; i < 300; i++) {
            double[] d = {Math.exp(3 * random.nextGaussian() - 2), Math.exp(3 * random.nextGaussian() - 2)};
            double[] x = {3 * random.nextGaussian(), 3 * random.nextGaussian()};
            Differences seen = of(x, d);
            double[] best = NaiveProx.apply(MCP.profileOfSize(2), x, d, 1);
            boolean beyond = Math.hypot(x[0], x[1]) > 1.5;
            boolean kept = Math.hypot(best[0] - x[0], best[1] - x[1]) < 1e-9;
            assertEquals(beyond && !kept, seen.zeroed() + seen.shrunk() > 0, "case " + i + ": " + seen);
            differing += beyond && !kept ? 1 : 0;
            zeroed += (int) seen.zeroed();
        }
        assertTrue(zeroed > 10 && differing > zeroed, zeroed + " of " + differing);
    }

    @Test
    void whatWasSeenSurvivesAnInterruption() throws IOException {
        Recipe recipe = Recipe.parse("test.toml", """
                [data]
                kind = "digits"
                train_limit = 200
                test_limit = 100
                [model]
                kind = "mlp"
                hidden = [16]
                [penalty]
                kind = "group-mcp"
                lambda = 2e-2
                beta = 5
                [optimizer]
                rate = 1e-2
                [training]
                prune_for = "size"
                epochs = 3
                batch_size = 40
                [checkpoint]
                every = 4
                """, List.of());
        ObservedTraining<Differences> training =
                new ObservedTraining<>(recipe, 2, Differences.class, McpExactness::differences);
        ObservedTraining.Seen<Differences> whole =
                training.run(Small.setting(folder), folder.resolve("whole")).orElseThrow();
        assertEquals(
                List.of(1L, 3L, 5L, 7L, 9L, 11L, 13L, 15L),
                whole.samples().stream().map(Differences::step).toList());
        assertTrue(whole.samples().getFirst().groups() > 0);

        AtomicInteger steps = new AtomicInteger();
        RunOptions stopping = RunOptions.DEFAULT.withStop(() -> steps.incrementAndGet() == 6);
        Setting setting = new Setting(Scale.SMALL, Optional.empty(), 1, folder, stopping);
        assertTrue(training.run(setting, folder.resolve("parts")).isEmpty());
        assertEquals(
                whole.samples(),
                training.run(setting, folder.resolve("parts")).orElseThrow().samples());

        Comparison shares = McpExactness.findings(whole, List.of()).tables().getFirst();
        double failing = Small.ours(shares, McpExactness.FAILS, Tenths.ALL);
        assertTrue(failing > 0 && failing <= 1, "share " + failing);

        ObservedTraining<Differences> other =
                new ObservedTraining<>(recipe.withLambda(0.1), 2, Differences.class, McpExactness::differences);
        assertThrows(
                IllegalArgumentException.class,
                () -> other.run(Small.setting(folder), folder.resolve("whole")),
                "what another training has seen is not taken for its own");
    }

    @Test
    void itemsInOneFolderDoNotTakeEachOthersTraining() throws IOException {
        Setting small = Small.setting(folder);
        Path mine = folder(new McpExactness(), small);
        assertNotEquals(mine, folder(new Iterations(), small));
        assertNotEquals(mine, folder(new McpExactness(), small.withSeeds(List.of(2L))));
        assertNotEquals(mine, folder(new McpExactness(), small.withChanges(List.of("training.epochs=2"))));
        // A value that is there anyway, and the precision, make nothing else of it.
        assertEquals(
                mine,
                folder(
                        new McpExactness(),
                        small.withChanges(List.of("training.epochs=12", "training.precision=tf32"))));
        Setting full = new Setting(Scale.FULL, Optional.of(folder), 1, folder, RunOptions.DEFAULT);
        assertNotEquals(mine, folder(new McpExactness(), full));
    }

    private static Path folder(Item item, Setting setting) throws IOException {
        return Observations.plan(item, setting, "observed-digits-mcp", "vgg16-cifar10-mcp-proximal")
                .folder();
    }
}
