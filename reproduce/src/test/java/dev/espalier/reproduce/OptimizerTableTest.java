package dev.espalier.reproduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.train.run.RunOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The paper's table of adaptive optimizers. */
final class OptimizerTableTest {
    @Test
    void everyRowOfThePapersTableIsWhatTrains() {
        Setting setting = new Setting(Scale.SMALL, Optional.empty(), 1, Path.of("nowhere"), RunOptions.DEFAULT);
        Comparison table =
                new OptimizerTable().run(setting).orElseThrow().tables().getFirst();
        assertEquals(
                List.of("SGD", "Momentum", "AdaGrad", "RMSprop", "Adam"),
                table.rows().stream().map(Comparison.Row::name).toList());
        for (Comparison.Row row : table.rows()) {
            for (String figure : List.of("m₁", "D₁", "m at the end", "D at the end")) {
                Comparison.Cell cell = Small.cell(table, row.name(), figure);
                assertEquals(
                        cell.paper().mean(),
                        cell.ours().mean(),
                        1e-9 * Math.abs(cell.paper().mean()),
                        figure);
            }
            for (String figure : List.of("largest difference of m", "largest difference of D")) {
                assertTrue(Small.ours(table, row.name(), figure) < 1e-9, row.name() + ": " + figure);
            }
            assertTrue(Small.ours(table, row.name(), "largest difference of x") < 1e-4, row.name());
        }
        // No two rows are the same: D tells three of them apart, m the others.
        assertEquals(
                5,
                table.rows().stream()
                        .map(row -> List.of(
                                Small.ours(table, row.name(), "m at the end"),
                                Small.ours(table, row.name(), "D at the end")))
                        .distinct()
                        .count());
    }
}
