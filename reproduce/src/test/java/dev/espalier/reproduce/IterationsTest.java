package dev.espalier.reproduce;

import static dev.espalier.reproduce.Small.assertBetween;
import static dev.espalier.reproduce.Small.ours;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.penalty.Profile;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.StepView.GroupProblem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The solvers side by side, while a network is trained. */
final class IterationsTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void theSolversCompareAsInThePaper() throws IOException {
        Findings findings = Small.run(new Iterations(), folder);
        Comparison perGroup = findings.tables().get(0);
        for (String column : List.of(Tenths.FIRST, Tenths.LAST, Tenths.ALL)) {
            double newton = ours(perGroup, Iterations.NEWTON, column);
            assertTrue(newton > 1, column);
            assertTrue(ours(perGroup, Iterations.BISECTION, column) > 2 * newton, column);
            assertTrue(ours(perGroup, Iterations.ADAPROX, column) > newton, column);
            assertTrue(ours(perGroup, Iterations.COLD, column) < newton / 2, column);
        }
        assertTrue(ours(perGroup, Iterations.NEWTON, Tenths.LAST) < ours(perGroup, Iterations.NEWTON, Tenths.FIRST));
        assertTrue(ours(perGroup, Iterations.WARM, Tenths.LAST) < ours(perGroup, Iterations.COLD, Tenths.LAST));
        // The optimizer does in float32, from its own norms, what was seen from outside.
        assertEquals(
                ours(perGroup, Iterations.WARM, Tenths.ALL), ours(perGroup, Iterations.OPTIMIZER, Tenths.ALL), 0.4);
        assertEquals(
                1.65,
                Small.cell(perGroup, Iterations.NEWTON, Tenths.LAST).paper().mean());
        Comparison sums = findings.tables().get(1);
        assertBetween(2, 8, ours(sums, "iterations of bisection, by those of Newton", "value"), "ratio");
        assertBetween(0.3, 0.95, ours(sums, "share of groups that are not zero, at the end", "value"), "share");
        assertTrue(Files.exists(folder.resolve("small/iterations/run/pruned.onnx")));
    }

    @Test
    void aZeroGroupCostsNothingButAdaProxDoesNotKnow() {
        Iterations.Costs zero = Iterations.costs(
                1,
                Profile.norm(1),
                new GroupProblem(new double[] {1, 1}, new double[] {0.1, 0.2}, new double[] {1, 9}, 1));
        assertEquals(0, zero.nonZero());
        assertEquals(0, zero.newton() + zero.bisection() + zero.cold() + zero.warm());
        assertTrue(zero.adaProx() > 0);
        Iterations.Costs solved = Iterations.costs(
                1, Profile.norm(1), new GroupProblem(new double[] {1, 1}, new double[] {3, 2}, new double[] {1, 9}, 1));
        assertEquals(1, solved.nonZero());
        assertTrue(solved.newton() > solved.cold(), solved.toString());
    }

    @Test
    void whatItCannotDoIsRefusedFirst() {
        Setting noData = new Setting(Scale.FULL, Optional.empty(), 1, folder, RunOptions.DEFAULT);
        IllegalArgumentException missing =
                assertThrows(IllegalArgumentException.class, () -> new Iterations().require(noData));
        assertTrue(String.valueOf(missing.getMessage()).contains("espalier data cifar10"), missing.getMessage());
        Setting seeds = new Setting(Scale.SMALL, Optional.empty(), 3, folder, RunOptions.DEFAULT);
        IllegalArgumentException several =
                assertThrows(IllegalArgumentException.class, () -> new McpExactness().require(seeds));
        assertTrue(String.valueOf(several.getMessage()).contains("--seeds 3"), several.getMessage());
    }
}
