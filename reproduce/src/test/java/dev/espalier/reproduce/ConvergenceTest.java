package dev.espalier.reproduce;

import static dev.espalier.reproduce.Small.assertBetween;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.reproduce.Comparison.Row;
import dev.espalier.train.run.RunOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The theorem's claims, on problems whose constants are known. */
final class ConvergenceTest {
    private static List<Comparison> tables = List.of();

    @BeforeAll
    static void descend() throws IOException {
        tables = Small.run(new Convergence(), Path.of("unused")).tables();
    }

    private static double value(Comparison table, Row row, String column) {
        return row.cells().get(Small.column(table, column)).ours().mean();
    }

    /** Below the bound at all times, but not by so much that something else must be wrong. */
    private static void assertBounded(Comparison table, Row row) {
        assertBetween(1e-6, 1, value(table, row, WithoutNoise.BY_BOUND), row.name() + ", measured / bound");
    }

    @Test
    void withoutNoiseTheMeanFallsLikeOneByTheNumberOfSteps() {
        Comparison table = tables.get(0);
        assertEquals(20, table.rows().size());
        for (Row row : table.rows()) {
            assertBetween(-1.02, -0.98, value(table, row, WithoutNoise.EXPONENT), row.name());
            assertBetween(1, 5, value(table, row, "groups not zero"), row.name());
            if (!row.name().contains("fused")) {
                assertBounded(table, row);
            }
        }
    }

    @Test
    void theFusedOptimizerGoesTheSameWay() {
        Comparison table = tables.get(0);
        for (String problem : List.of("least squares, ℓ1/ℓ2", "logistic, group MCP")) {
            double slow = Small.ours(table, problem + ", RMSprop", "mean dist²");
            double fused = Small.ours(table, problem + ", RMSprop, fused", "mean dist²");
            assertEquals(slow, fused, 1e-3 * slow, problem);
        }
    }

    @Test
    void withNoiseTheFloorIsProportionalToOneByTheBatchSize() {
        Comparison table = tables.get(1);
        assertEquals(4, table.rows().size());
        for (Row row : table.rows()) {
            // Where a group is close to its threshold, as here with the logistic loss, the floor falls faster, never
            // slower.
            double steepest = row.name().startsWith("least squares") ? -1.15 : -1.5;
            assertBetween(steepest, -0.85, value(table, row, WithNoise.EXPONENT), row.name());
            assertBounded(table, row);
        }
    }

    @Test
    void errorsThatSumUpLeaveTheRateAndOthersDoNot() {
        Comparison table = tables.get(2);
        for (String problem : List.of("least squares, ℓ1/ℓ2, ", "logistic, ℓ1/ℓ2, ")) {
            for (String good : List.of(WithErrors.EXACT, WithErrors.SUMMABLE)) {
                assertBetween(-1.02, -0.98, Small.ours(table, problem + good, WithoutNoise.EXPONENT), problem + good);
            }
            assertEquals(0, Small.ours(table, problem + WithErrors.EXACT, "K"));
            assertBetween(
                    -0.85,
                    0.1,
                    Small.ours(table, problem + WithErrors.CONSTANT, WithoutNoise.EXPONENT),
                    problem + WithErrors.CONSTANT);
            double summable = Small.ours(table, problem + WithErrors.SUMMABLE, WithErrors.LEVEL);
            double constant = Small.ours(table, problem + WithErrors.CONSTANT, WithErrors.LEVEL);
            assertTrue(constant > 1e6 * summable, constant + " is not far above " + summable);
        }
        table.rows().forEach(row -> assertBounded(table, row));
    }

    @Test
    void theCorollaryKeepsItsPromise() {
        Comparison table = tables.get(3);
        assertEquals(4, table.rows().size());
        for (Row row : table.rows()) {
            double wanted = value(table, row, WithPromise.WANTED);
            assertBetween(0, wanted, value(table, row, WithPromise.REACHED), row.name());
            assertTrue(value(table, row, "dist² at the start") > wanted, row.name());
            assertTrue(
                    value(table, row, WithPromise.VARIANCE_MET) <= value(table, row, WithPromise.VARIANCE), row.name());
        }
    }

    /** Theorem 3 is about x_R: its mean is that over all steps, up to the luck of the draw, and below the bound. */
    @Test
    void theDrawnOutputOfAlgorithm2HasTheMeanOverAllSteps() {
        Comparison table = tables.get(4);
        assertEquals(12, table.rows().size());
        for (Row row : table.rows()) {
            double drawn = value(table, row, WithDrawnOutput.DRAWN);
            double expected = value(table, row, WithDrawnOutput.EXPECTED);
            assertEquals(expected, drawn, 4 * value(table, row, WithDrawnOutput.ERROR), row.name());
            assertBetween(1e-12, value(table, row, WithDrawnOutput.BOUND), drawn, row.name());
            assertBetween(0, expected, value(table, row, WithDrawnOutput.LAST), row.name());
        }
    }

    @Test
    void itCanBeStopped() {
        Setting stopped = new Setting(
                Scale.SMALL, Optional.empty(), 1, Path.of("unused"), RunOptions.DEFAULT.withStop(() -> true));
        assertTrue(new Convergence().run(stopped).isEmpty());
    }
}
