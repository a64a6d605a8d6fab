package dev.espalier.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** Tables for a terminal: the first column on the left, the others on the right. */
final class Columns {
    private static final String GAP = "   ";

    private Columns() {}

    /**
     * Prints a table.
     *
     * @param rows cells, the same number in each row
     * @param out where to
     */
    static void print(List<List<String>> rows, PrintWriter out) {
        print(rows, false, out);
    }

    /**
     * Prints a table of words: all columns on the left.
     *
     * @param rows cells, the same number in each row
     * @param out where to
     */
    static void printWords(List<List<String>> rows, PrintWriter out) {
        print(rows, true, out);
    }

    /**
     * Prints a table as Markdown has it.
     *
     * @param rows cells, the same number in each row; the first are the names of the columns
     * @param out where to
     */
    static void printMarkdown(List<List<String>> rows, PrintWriter out) {
        for (int row = 0; row < rows.size(); row++) {
            out.println("| " + String.join(" | ", rows.get(row)) + " |");
            if (row == 0) {
                out.println("|---" + "|---:".repeat(rows.getFirst().size() - 1) + "|");
            }
        }
    }

    private static void print(List<List<String>> rows, boolean words, PrintWriter out) {
        int columns = rows.getFirst().size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int column = 0; column < columns; column++) {
                widths[column] = Math.max(widths[column], row.get(column).length());
            }
        }
        for (List<String> row : rows) {
            List<String> cells = new ArrayList<>();
            for (int column = 0; column < columns; column++) {
                String padding = " ".repeat(widths[column] - row.get(column).length());
                cells.add(words || column == 0 ? row.get(column) + padding : padding + row.get(column));
            }
            out.println(String.join(GAP, cells).stripTrailing());
        }
    }
}
