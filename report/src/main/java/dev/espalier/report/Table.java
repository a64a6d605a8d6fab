package dev.espalier.report;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** A table that is built row by row. The first column names the rows; other columns are numbers unless they are words. */
final class Table {
    private final String caption;
    private final List<Column> columns;
    private final List<Html> rows = new ArrayList<>();

    private record Column(String name, boolean words) {}

    private Table(String caption, List<Column> columns) {
        this.caption = caption;
        this.columns = columns;
    }

    /**
     * An empty table.
     *
     * @param caption what it shows, for those who do not see it
     * @param columns the names of the columns; one that ends with a colon has words
     */
    static Table of(String caption, List<String> columns) {
        return new Table(
                caption,
                columns.stream()
                        .map(name -> name.endsWith(":")
                                ? new Column(name.substring(0, name.length() - 1), true)
                                : new Column(name, false))
                        .toList());
    }

    Table row(String name, Object... cells) {
        return row(Html.EMPTY, Html.text(name), List.of(cells));
    }

    Table row(Html name, List<?> cells) {
        return row(Html.EMPTY, name, cells);
    }

    /** A row that sums up the others. */
    Table summary(String name, List<?> cells) {
        return row(Html.of(" class=\"total\""), Html.text(name), cells);
    }

    private Table row(Html attributes, Html name, List<?> cells) {
        if (cells.size() != columns.size() - 1) {
            throw new IllegalArgumentException(
                    "%d cells beside the row's name, but %d columns".formatted(cells.size(), columns.size()));
        }
        Html contents = Html.join(IntStream.range(0, cells.size())
                .mapToObj(i -> columns.get(i + 1).words()
                        ? Html.of("<td class=\"words\">{}</td>", cells.get(i))
                        : Html.of("<td>{}</td>", cells.get(i)))
                .toList());
        rows.add(Html.of("<tr{}><th scope=\"row\">{}</th>{}</tr>", attributes, name, contents));
        return this;
    }

    boolean isEmpty() {
        return rows.isEmpty();
    }

    Html toHtml() {
        Html head = Html.join(columns.stream()
                .map(column -> column.words()
                        ? Html.of("<th scope=\"col\" class=\"words\">{}</th>", column.name())
                        : Html.of("<th scope=\"col\">{}</th>", column.name()))
                .toList());
        // Wide tables scroll by themselves, also for those who use the keyboard.
        return Html.of(
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>"
                        + "<caption>{}</caption>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody></table></div>",
                caption,
                caption,
                head,
                Html.join(rows));
    }
}
