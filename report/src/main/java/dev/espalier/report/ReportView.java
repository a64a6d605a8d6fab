package dev.espalier.report;

/**
 * What a report says, without the page around it: for a page of somebody else's that brings {@link ReportAssets} along. Its markup
 * is safe to put into a page: all text in it is escaped.
 *
 * @param title what it is about
 * @param content the markup of a header and a main part; charts are empty figures
 * @param charts what is drawn into the figures: a JSON array for {@code espalierReport.show}
 */
public record ReportView(String title, String content, String charts) {
    static ReportView of(Page page) {
        return new ReportView(
                page.title(), page.content().markup(), Json.of(page.charts()).markup());
    }
}
