package dev.espalier.report;

import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A page of tables and figures on anything: one file that holds all it needs.
 *
 * @param kind what sort of page it is, above the title
 * @param title what it is about
 * @param paragraphs what is to be said before the numbers
 * @param grids the tables
 * @param figures what is drawn
 * @param details what is to be known besides, by name
 */
public record Article(
        String kind,
        String title,
        List<String> paragraphs,
        List<Grid> grids,
        List<Figure> figures,
        Map<String, String> details) {

    /**
     * A table of words and numbers that are written out.
     *
     * @param title what it shows
     * @param note what is to be said about it; may be empty
     * @param columns the names of the columns
     * @param rows the cells; the first one names the row
     */
    public record Grid(String title, String note, List<String> columns, List<List<String>> rows) {
        /** Copies the lists. */
        public Grid {
            columns = List.copyOf(columns);
            rows = List.copyOf(rows);
        }

        private Html toHtml() {
            Table table = Table.of(title, columns);
            rows.forEach(row -> table.row(Html.text(row.getFirst()), row.subList(1, row.size())));
            return Html.of("<section><h2>{}</h2>{}{}</section>", title, paragraph(note), table.toHtml());
        }
    }

    /**
     * Writes the page.
     *
     * @param file where to; replaced if it exists
     * @throws IOException if it cannot be written
     */
    public void write(Path file) throws IOException {
        RunFolder.replace(file, html());
    }

    String html() {
        List<Chart> charts = IntStream.range(0, figures.size())
                .mapToObj(i -> FigureChart.of(figures.get(i), "figure-" + (i + 1)))
                .toList();
        Html content = Template.load("article.html")
                .fill(Map.of(
                        "kind", Html.text(kind),
                        "title", Html.text(title),
                        "paragraphs",
                                Html.join(paragraphs.stream()
                                        .map(Article::paragraph)
                                        .toList()),
                        "tables", Html.join(grids.stream().map(Grid::toHtml).toList()),
                        "figures", drawn(charts),
                        "details", origin()));
        return new Page(title + " · Espalier", content, charts).toHtml().markup();
    }

    private Html drawn(List<Chart> charts) {
        List<Html> drawn = new ArrayList<>();
        for (int i = 0; i < charts.size(); i++) {
            drawn.add(Html.of(
                    "<div class=\"wide\">{}{}</div>",
                    charts.get(i).toHtml(),
                    paragraph(figures.get(i).caption())));
        }
        return Html.join(drawn);
    }

    private Html origin() {
        Table table = Table.of("Where this came from", List.of("", "Value:"));
        details.forEach((name, value) -> table.row(name, value));
        return table.isEmpty() ? Html.EMPTY : table.toHtml();
    }

    private static Html paragraph(String text) {
        return text.isEmpty() ? Html.EMPTY : Html.of("<p>{}</p>", text);
    }
}
