package dev.espalier.report;

import dev.espalier.train.journal.Findings.Glimpse;
import dev.espalier.train.journal.Findings.Mistake;
import java.awt.image.BufferedImage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Samples that a model gets wrong: pictures to look at, rows in a table, texts to read. */
final class MistakesView {
    /** So many rows or texts are shown at once. */
    private static final int FIRST = 8;

    /** Longer words are read, not compared. */
    private static final int LONG = 60;

    /** Of more columns, those that count most are shown. */
    private static final int MOST_COLUMNS = 12;

    private MistakesView() {}

    /**
     * Shows mistakes.
     *
     * @param mistakes the worst first
     * @param ranked names of columns, those that count most first; what is missing counts least
     */
    static Html of(List<Mistake> mistakes, List<String> ranked) {
        if (mistakes.isEmpty()) {
            return Html.EMPTY;
        }
        List<Glimpse> all =
                mistakes.stream().flatMap(mistake -> mistake.inputs().stream()).toList();
        if (all.stream().anyMatch(Glimpse.Picture.class::isInstance)) {
            return Html.of(
                    "<div class=\"mistakes\">\n{}\n</div>",
                    Html.join(mistakes.stream().map(MistakesView::picture).toList()));
        }
        boolean read =
                all.stream().anyMatch(glimpse -> words(glimpse).length() > LONG) || all.size() <= mistakes.size();
        return read
                ? folded(
                        mistakes,
                        some -> Html.join(some.stream().map(MistakesView::text).toList()))
                : table(mistakes, ranked);
    }

    /** The first few at once; the others for who wants to know more. */
    private static Html folded(List<Mistake> mistakes, Function<List<Mistake>, Html> view) {
        if (mistakes.size() <= FIRST) {
            return view.apply(mistakes);
        }
        return Html.of(
                "{}<details><summary>{} more</summary>\n{}\n</details>",
                view.apply(mistakes.subList(0, FIRST)),
                mistakes.size() - FIRST,
                view.apply(mistakes.subList(FIRST, mistakes.size())));
    }

    private static String words(Glimpse glimpse) {
        return switch (glimpse) {
            case Glimpse.Words(var _, String text) -> text;
            case Glimpse.Picture _ -> "";
        };
    }

    private static Html picture(Mistake mistake) {
        List<Html> parts = new ArrayList<>();
        for (Glimpse glimpse : mistake.inputs()) {
            parts.add(
                    switch (glimpse) {
                        case Glimpse.Words(String name, String text) -> Html.of("<span>{}: {}</span>", name, text);
                        case Glimpse.Picture picture ->
                            Html.of(
                                    "<img src=\"{}\" width=\"{}\" height=\"{}\" alt=\"{}\">",
                                    Png.url(image(picture)),
                                    picture.width(),
                                    picture.height(),
                                    mistake.truth().isEmpty()
                                            ? "Sample %d of the test split".formatted(mistake.row())
                                            : "Sample %d of the test split, %s, taken for %s"
                                                    .formatted(mistake.row(), mistake.truth(), mistake.said()));
                    });
        }
        return Html.of(
                "<figure class=\"mistake\">{}<figcaption>{}</figcaption></figure>", Html.join(parts), words(mistake));
    }

    /** What it should have said and what it says, if there are words for it, and how wrong that is. */
    private static Html words(Mistake mistake) {
        return mistake.truth().isEmpty()
                ? Html.of("<b>row {}</b> <span>{}</span>", Numbers.count(mistake.row()), mistake.note())
                : Html.of(
                        "<b>{}</b>, but it says <b>{}</b> <span>{}</span>",
                        mistake.truth(),
                        mistake.said(),
                        mistake.note());
    }

    private static BufferedImage image(Glimpse.Picture picture) {
        boolean colour = picture.channels() == 3;
        BufferedImage image = new BufferedImage(
                picture.width(), picture.height(), colour ? BufferedImage.TYPE_INT_RGB : BufferedImage.TYPE_BYTE_GRAY);
        int plane = picture.width() * picture.height();
        for (int i = 0; i < plane; i++) {
            int x = i % picture.width();
            int y = i / picture.width();
            for (int channel = 0; channel < (colour ? 3 : 1); channel++) {
                image.getRaster().setSample(x, y, channel, Byte.toUnsignedInt(picture.pixels()[channel * plane + i]));
            }
        }
        return image;
    }

    private static Html text(Mistake mistake) {
        return Html.of(
                "<blockquote class=\"mistake\">{}<footer>{}</footer></blockquote>",
                Html.join(mistake.inputs().stream()
                        .map(glimpse -> mistake.inputs().size() == 1
                                ? Html.of("<p>{}</p>", words(glimpse))
                                : Html.of("<p><span>{}:</span> {}</p>", glimpse.name(), words(glimpse)))
                        .toList()),
                words(mistake));
    }

    private static Html table(List<Mistake> mistakes, List<String> ranked) {
        List<String> names = mistakes.getFirst().inputs().stream()
                .map(Glimpse::name)
                .sorted(Comparator.comparingInt(
                        name -> ranked.contains(name) ? ranked.indexOf(name) : Integer.MAX_VALUE))
                .limit(MOST_COLUMNS)
                .toList();
        List<String> columns = new ArrayList<>(List.of("Row", "Truth", "Model says", "How wrong:"));
        columns.addAll(names);
        Html shown = folded(mistakes, some -> rows(some, columns, names).toHtml());
        int left = mistakes.getFirst().inputs().size() - names.size();
        return left == 0
                ? shown
                : Html.of("{}<p class=\"hint\">The columns that count most; {} more are not shown.</p>", shown, left);
    }

    private static Table rows(List<Mistake> mistakes, List<String> columns, List<String> names) {
        Table table = Table.of("Mistakes", columns);
        for (Mistake mistake : mistakes) {
            Map<String, String> inputs = mistake.inputs().stream()
                    .collect(Collectors.toMap(Glimpse::name, MistakesView::words, (one, other) -> one + " " + other));
            List<String> cells = new ArrayList<>(List.of(mistake.truth(), mistake.said(), mistake.note()));
            names.forEach(name -> cells.add(inputs.getOrDefault(name, "")));
            table.row(Html.text(Numbers.count(mistake.row())), cells);
        }
        return table;
    }
}
