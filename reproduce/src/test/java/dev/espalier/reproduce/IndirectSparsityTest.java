package dev.espalier.reproduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.report.Figure;
import dev.espalier.report.Figure.Grid;
import dev.espalier.report.Figure.State;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The paper's Figure 4 from a trained network. */
final class IndirectSparsityTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void whatIsDrawnIsWhatThePlanLeaves() throws IOException {
        Findings findings = Small.run(new IndirectSparsity(), folder);
        Comparison table = findings.tables().getFirst();
        List<Grid> grids = ((Figure.Cells) findings.figures().getFirst()).grids();
        assertEquals(4, grids.size());
        for (Comparison.Row row : table.rows()) {
            assertEquals(
                    Small.ours(table, row.name(), "left, by the plan"),
                    Small.ours(table, row.name(), "left"),
                    row.name());
        }
        // The paper's rule, from right to left: a zero column takes a row of the layer before with it.
        long indirect = 0;
        for (int layer = 0; layer + 1 < grids.size(); layer++) {
            for (int channel = 0; channel < grids.get(layer).rows().size(); channel++) {
                int column = channel;
                boolean read = grids.get(layer + 1).rows().stream().anyMatch(row -> row.get(column) == State.KEPT);
                boolean made = grids.get(layer).rows().get(channel).contains(State.KEPT);
                assertEquals(read, made, grids.get(layer).name() + ", channel " + channel);
            }
            indirect += grids.get(layer).count(State.INDIRECT);
        }
        assertTrue(indirect > 20, indirect + " filters were pruned indirectly");
    }
}
