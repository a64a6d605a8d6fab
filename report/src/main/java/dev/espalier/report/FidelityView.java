package dev.espalier.report;

import dev.espalier.train.journal.FidelityFigure;
import dev.espalier.train.journal.FidelityFigure.Measure;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Findings.Cosines;
import dev.espalier.train.journal.Findings.Deviant;
import dev.espalier.train.journal.Findings.Likeness;
import dev.espalier.train.journal.Findings.NotFinite;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * How faithful a smaller model is to its original, output by output.
 *
 * @param content what there is to read
 * @param charts what is drawn into it
 */
record FidelityView(Html content, List<Chart> charts) {
    static FidelityView of(List<Likeness> outputs) {
        List<Html> parts = new ArrayList<>();
        List<Chart> charts = new ArrayList<>();
        for (Likeness output : outputs) {
            Chart chart = cosines(output, "cosines-" + outputs.indexOf(output));
            charts.add(chart);
            parts.add(Html.of("<h3>{} <span class=\"hint\">read as {}</span></h3>", output.output(), output.meaning()));
            parts.addAll(notFinite(output));
            parts.add(figures(output));
            parts.add(Html.of("<dl class=\"cards\">\n{}\n</dl>", Html.join(cards(output))));
            parts.add(Html.of("<div class=\"charts\">\n{}\n</div>", chart.toHtml()));
            parts.add(worst(output));
        }
        parts.add(Html.of(
                "<p class=\"hint\">The trivial model gives the same output for all inputs: the original's most frequent class, or the mean of its"
                        + " outputs. Skill is the share of the way from there to the original, (fidelity − trivial) / (1 − trivial): 1 is the"
                        + " original itself, 0 no better than the trivial model. The first measure of each output counts. A cosine of 1 is the"
                        + " same direction, 0 nothing in common. R² is 1 for equal numbers, and 0 for no better than"
                        + " always predicting the original's mean. The relative error is the root of the mean squared difference, as a share of"
                        + " the root of the original's mean square.</p>"));
        return new FidelityView(Html.join(parts), charts);
    }

    /** What counts most, in a sentence without its full stop. */
    static String sentence(Likeness output) {
        String said = Double.isFinite(output.agreement())
                ? "The small model predicts the same class as the original in %s of all cases"
                        .formatted(Numbers.percent(output.agreement()))
                : "The cosine between the outputs of the small model and of the original is %s on average, and at least %s for 99 of 100 samples"
                        .formatted(
                                Findings.cosine(output.cosine().mean()),
                                Findings.cosine(output.cosine().low()));
        return said + output.figure().map(FidelityView::skill).orElse("");
    }

    private static String skill(FidelityFigure figure) {
        Measure measure = figure.measure();
        String trivial = measure.write(figure.trivial());
        return (switch (measure) {
                    case AGREEMENT -> ", and a model that always gives the same output in %s".formatted(trivial);
                    case COSINE ->
                        "; that of a model that always gives the same output is %s on average".formatted(trivial);
                    case WHOLE_AGREEMENT, BALANCED_AGREEMENT, TOP_AGREEMENT, TOKEN_COSINE, R2 ->
                        ". The %s is %s, that of a model that always gives the same output %s"
                                .formatted(measure.words(), measure.write(figure.fidelity()), trivial);
                })
                + ": a skill of " + figure.skillInWords();
    }

    /** A row for each measure: the smaller model, a trivial one, and how far the smaller is on the way from the latter to the original. */
    private static Html figures(Likeness output) {
        if (output.figures().isEmpty()) {
            return Html.EMPTY;
        }
        Table table =
                Table.of("Fidelity of " + output.output(), List.of("Measure", "Small model", "Trivial model", "Skill"));
        for (FidelityFigure figure : output.figures()) {
            Measure measure = figure.measure();
            table.row(
                    measure.words(),
                    measure.write(figure.fidelity()),
                    measure.write(figure.trivial()),
                    figure.skillInWords());
        }
        return table.toHtml();
    }

    private static List<Html> notFinite(Likeness output) {
        NotFinite strange = output.notFinite();
        if (strange.rows().isEmpty()) {
            return List.of();
        }
        return List.of(Html.of(
                "<p class=\"note\">Numbers that are not finite: in {} answers of the original and {} of the small model, the first for rows {}. These"
                        + " samples are omitted from all figures.</p>",
                Numbers.count(strange.original()),
                Numbers.count(strange.smaller()),
                strange.rows().stream().map(Numbers::count).collect(Collectors.joining(", "))));
    }

    private static List<Html> cards(Likeness output) {
        List<Html> cards = new ArrayList<>();
        output.figure()
                .ifPresent(figure -> cards.add(Cards.card(
                        "Skill",
                        figure.skillInWords(),
                        "%s %s, trivial model %s"
                                .formatted(
                                        figure.measure().words(),
                                        figure.measure().write(figure.fidelity()),
                                        figure.measure().write(figure.trivial())))));
        if (Double.isFinite(output.agreement())) {
            cards.add(Cards.card(
                    "Same class",
                    Numbers.percent(output.agreement()),
                    output.agreement() == output.wholeAgreement()
                            ? "of %s samples".formatted(Numbers.count(output.samples()))
                            : "everywhere in %s of the samples".formatted(Numbers.percent(output.wholeAgreement()))));
            cards.add(Cards.card("Divergence", Numbers.compact(output.divergence()), "Kullback–Leibler, on average"));
        }
        cards.add(cosine("Cosine", output.cosine()));
        if (Double.isFinite(output.tokenCosine().mean())) {
            cards.add(cosine("Cosine of tokens", output.tokenCosine()));
        }
        cards.add(Cards.card("R²", Findings.cosine(output.explained()), "of the original's spread"));
        cards.add(Cards.card("Relative error", Numbers.percent(output.relativeError()), "of the original's size"));
        cards.add(Cards.card("Numbers differ by", Numbers.compact(output.largestDifference()), "at most"));
        return cards;
    }

    private static Html cosine(String name, Cosines cosine) {
        return Cards.card(
                name,
                Findings.cosine(cosine.mean()),
                "median %s, 1st percentile %s, minimum %s"
                        .formatted(
                                Findings.cosine(cosine.median()),
                                Findings.cosine(cosine.low()),
                                Findings.cosine(cosine.least())));
    }

    private static Chart cosines(Likeness output, String id) {
        return new Chart.Histogram(
                id,
                "Cosines of " + output.output(),
                "Histogram of the cosine between the two models' outputs for a sample: 99 of 100 are at least %s"
                        .formatted(Findings.cosine(output.cosine().low())),
                "cosine",
                output.cosines().from(),
                output.cosines().width(),
                output.cosines().counts());
    }

    private static Html worst(Likeness output) {
        if (output.worst().isEmpty()) {
            return Html.of("<p>Both models give the same output for every sample.</p>");
        }
        boolean words =
                output.worst().stream().anyMatch(deviant -> !deviant.original().isEmpty());
        List<String> columns = new ArrayList<>(List.of("Row", "Cosine", "Largest difference"));
        if (words) {
            columns.addAll(List.of("Original:", "Small:"));
        }
        Table table = Table.of("Rows for which %s differs most".formatted(output.output()), columns);
        for (Deviant deviant : output.worst()) {
            List<String> cells =
                    new ArrayList<>(List.of(Findings.cosine(deviant.cosine()), Numbers.compact(deviant.difference())));
            if (words) {
                cells.addAll(List.of(deviant.original(), deviant.smaller()));
            }
            table.row(Html.text(Numbers.count(deviant.row())), cells);
        }
        return Html.of(
                "<details><summary>The {} rows that differ most</summary>\n{}\n</details>",
                output.worst().size(),
                table.toHtml());
    }
}
