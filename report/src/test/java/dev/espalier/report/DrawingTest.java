package dev.espalier.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Figures as files. */
class DrawingTest {
    private static final Pattern BAR =
            Pattern.compile("<rect x=\"([0-9.]+)\" y=\"\\d+\" width=\"([0-9.]+)\" height=\"11\"");
    private static final Pattern SIZES = Pattern.compile("<text x=\"([0-9.]+)\" [^>]*>([^<]+ → [^<]+)</text>");

    private static double number(MatchResult found, int group) {
        return Double.parseDouble(found.group(group));
    }

    /** A square for each cell, in the colour of what became of it, besides the three of the legend. */
    @Test
    void cellsAreSquares() {
        Figure.Grid grid = new Figure.Grid(
                "layer",
                List.of(
                        List.of(Figure.State.KEPT, Figure.State.ZERO, Figure.State.KEPT),
                        List.of(Figure.State.INDIRECT, Figure.State.ZERO, Figure.State.INDIRECT)));
        String drawing = Drawing.svg(new Figure.Cells("cells", "", List.of(grid)));
        assertEquals(2 + 1, count(drawing, "fill=\"var(--before)\""));
        assertEquals(2 + 1, count(drawing, "fill=\"var(--series-0)\"/>"));
        assertEquals(2 + 1, count(drawing, "opacity=\"0.45\"/>"));
        assertTrue(drawing.contains("layer: of 6 cells 2 are left, 2 were set to zero, 2 went with them"), drawing);
    }

    private static long count(String drawing, String part) {
        return Pattern.compile(part, Pattern.LITERAL).matcher(drawing).results().count();
    }

    /** A letter is about 6.6 wide. */
    @Test
    void barsEndWhereTheirSizesBegin() {
        List<Long> millions = List.of(2_359_296L, 590_000L);
        String drawing = Drawing.svg(new Figure.Sizes("sizes", "", List.of("a", "b"), millions, millions));
        double end = BAR.matcher(drawing)
                .results()
                .mapToDouble(bar -> number(bar, 1) + number(bar, 2))
                .max()
                .orElseThrow();
        double begin = SIZES.matcher(drawing)
                .results()
                .mapToDouble(text -> number(text, 1) - 6.6 * text.group(2).length())
                .min()
                .orElseThrow();
        assertTrue(end < begin, () -> "bars end at " + end + ", and the sizes begin at " + begin + "\n" + drawing);
    }
}
