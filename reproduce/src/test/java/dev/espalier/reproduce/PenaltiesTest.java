package dev.espalier.reproduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.report.Figure;
import dev.espalier.reproduce.Comparison.Cell;
import dev.espalier.reproduce.Comparison.Row;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The drawn penalties are the paper's. */
final class PenaltiesTest {
    private static Findings findings() throws IOException {
        return Small.run(new Penalties(), Path.of("unused"));
    }

    @Test
    void everyFormulaOfThePaperIsMet() throws IOException {
        int compared = 0;
        for (Comparison table : findings().tables()) {
            for (Row row : table.rows()) {
                for (Cell cell : row.cells()) {
                    if (Double.isFinite(cell.paper().mean())) {
                        assertEquals(cell.paper().mean(), cell.ours().mean(), 1e-12, table.title() + ", " + row.name());
                        compared++;
                    }
                }
            }
        }
        assertEquals(10 + 10 + 7, compared);
    }

    @Test
    void theTwinAgrees() throws IOException {
        Comparison weighted = findings().tables().get(2);
        int column = Small.column(weighted, "distance to the twin");
        for (Row row : weighted.rows()) {
            assertTrue(row.cells().get(column).ours().mean() < 1e-9, row.name());
        }
    }

    @Test
    void aDearerMetricKeepsGroupsLonger() throws IOException {
        Figure.Plot plot = (Figure.Plot) findings().figures().get(2);
        List<Figure.Point> weighted = plot.curves().get(0).points();
        List<Figure.Point> unweighted = plot.curves().get(1).points();
        for (int i = 0; i < weighted.size(); i++) {
            assertTrue(
                    weighted.get(i).y() >= unweighted.get(i).y(),
                    "‖x‖ = " + weighted.get(i).x());
        }
        assertTrue(weighted.get(60).y() > unweighted.get(60).y());
    }
}
