package dev.espalier.reproduce;

import dev.espalier.report.Figure;
import java.util.List;

/**
 * What came out of an item.
 *
 * @param computedBy what did the arithmetic, for the record of where it came from
 * @param tables the tables
 * @param figures what is drawn
 * @param notes what a reader must know to judge the numbers, such as what differs from the paper's protocol
 */
public record Findings(String computedBy, List<Comparison> tables, List<Figure> figures, List<String> notes) {

    /** Copies the lists. */
    public Findings {
        tables = List.copyOf(tables);
        figures = List.copyOf(figures);
        notes = List.copyOf(notes);
    }
}
