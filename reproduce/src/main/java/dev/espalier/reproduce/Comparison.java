package dev.espalier.reproduce;

import dev.espalier.report.Article;
import dev.espalier.report.Unit;
import dev.espalier.train.journal.Spread;
import java.util.ArrayList;
import java.util.List;

/**
 * A table: what we measured and, where the paper has a number, that beside it.
 *
 * @param title what it shows
 * @param note what is to be said about it; may be empty
 * @param subject what the rows are, as the head of the first column
 * @param columns what is measured
 * @param rows of what
 */
public record Comparison(String title, String note, String subject, List<Column> columns, List<Row> rows) {

    /** Copies the lists, and checks that every row has a cell for every column. */
    public Comparison {
        columns = List.copyOf(columns);
        rows = List.copyOf(rows);
        for (Row row : rows) {
            if (row.cells().size() != columns.size()) {
                throw new IllegalArgumentException("row %s has %d cells, but there are %d columns"
                        .formatted(row.name(), row.cells().size(), columns.size()));
            }
        }
    }

    /**
     * What is measured.
     *
     * @param name its name
     * @param unit how its numbers are written
     */
    public record Column(String name, Unit unit) {}

    /**
     * What it is measured of.
     *
     * @param name its name
     * @param cells one for each column
     */
    public record Row(String name, List<Cell> cells) {
        /** Copies the cells. */
        public Row {
            cells = List.copyOf(cells);
        }

        /**
         * A row.
         *
         * @param name its name
         * @param cells one for each column
         * @return the row
         */
        public static Row of(String name, Cell... cells) {
            return new Row(name, List.of(cells));
        }
    }

    /**
     * A number, twice.
     *
     * @param paper what the paper says; {@link Quote#NONE} if nothing
     * @param ours what we measured; {@link Quote#NONE} if nothing
     */
    public record Cell(Spread paper, Spread ours) {
        /** Neither of us has a number. */
        public static final Cell EMPTY = new Cell(Quote.NONE, Quote.NONE);

        /**
         * A number that the paper does not have.
         *
         * @param value what we measured
         * @return the cell
         */
        public static Cell ours(double value) {
            return new Cell(Quote.NONE, Quote.number(value));
        }

        /**
         * A number that the paper does not have.
         *
         * @param spread what we measured
         * @return the cell
         */
        public static Cell ours(Spread spread) {
            return new Cell(Quote.NONE, spread);
        }
    }

    private boolean inPaper(int column) {
        return rows.stream()
                .anyMatch(row -> Double.isFinite(row.cells().get(column).paper().mean()));
    }

    /**
     * The table as words: a column for each number, two where the paper has one.
     *
     * @return the names of the columns
     */
    public List<String> head() {
        List<String> head = new ArrayList<>(List.of(subject));
        for (int i = 0; i < columns.size(); i++) {
            String name = columns.get(i).name();
            if (inPaper(i)) {
                head.add(name + ", paper");
                head.add(name + ", ours");
            } else {
                head.add(name);
            }
        }
        return List.copyOf(head);
    }

    /**
     * The table as words.
     *
     * @return the rows, each with a cell for each name in {@link #head}
     */
    public List<List<String>> body() {
        return rows.stream().map(this::written).toList();
    }

    private List<String> written(Row row) {
        List<String> cells = new ArrayList<>(List.of(row.name()));
        for (int i = 0; i < columns.size(); i++) {
            Unit unit = columns.get(i).unit();
            Cell cell = row.cells().get(i);
            if (inPaper(i)) {
                cells.add(unit.write(cell.paper()));
            }
            cells.add(unit.write(cell.ours()));
        }
        return List.copyOf(cells);
    }

    Article.Grid toGrid() {
        return new Article.Grid(title, note, head(), body());
    }
}
