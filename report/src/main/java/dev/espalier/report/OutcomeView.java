package dev.espalier.report;

import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Findings.Confusion;
import dev.espalier.train.journal.Findings.Likeness;
import dev.espalier.train.journal.Findings.Outcome;
import dev.espalier.train.journal.Findings.Quantity;
import dev.espalier.train.journal.Findings.Tally;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Predictions of a small model on the test split.
 *
 * @param content what there is to read
 * @param charts what is drawn into it
 */
record OutcomeView(Html content, List<Chart> charts) {
    static final OutcomeView NONE = new OutcomeView(Html.EMPTY, List.of());

    /** Of more classes there is no matrix, but the pairs that are confused most. All pairs of fewer are known. */
    private static final int MATRIX = 32;

    private static final int PAIRS = 20;

    static OutcomeView of(Findings findings) {
        List<Html> parts = new ArrayList<>();
        List<Chart> charts = new ArrayList<>();
        parts.add(Html.of("<p>{}</p>", samples(findings.samples())));
        switch (findings.outcome()) {
            case Outcome.Classes classes -> {
                parts.add(classes.classes().size() <= MATRIX ? matrix(classes) : pairs(classes));
                parts.add(tallies("Classes", "Class", classes.classes()));
            }
            case Outcome.Labels(List<Tally> labels) -> parts.add(tallies("Labels", "Label", labels));
            case Outcome.Quantities quantities -> quantities(quantities, parts, charts);
            case Outcome.Answers answers -> parts.add(answers(answers));
            case Outcome.Fidelity(List<Likeness> outputs) -> {
                FidelityView fidelity = FidelityView.of(outputs);
                parts.add(fidelity.content());
                charts.addAll(fidelity.charts());
            }
            case Outcome.Unknown _ -> {}
        }
        return new OutcomeView(Html.join(parts), charts);
    }

    private static String samples(Findings.Samples samples) {
        String train = Numbers.count(samples.train());
        String test = Numbers.count(samples.test());
        return samples.validation() == 0
                ? "The training split has %s samples, the test split %s; the test split also served for validation."
                        .formatted(train, test)
                : "The training split has %s samples, the validation split %s, the test split %s."
                        .formatted(train, Numbers.count(samples.validation()), test);
    }

    /** A row for what samples are, a column for what they are taken for. */
    private static Html matrix(Outcome.Classes outcome) {
        List<Tally> classes = outcome.classes();
        Map<List<Integer>, Long> counts = new HashMap<>();
        outcome.confusions().forEach(pair -> counts.put(List.of(pair.truth(), pair.said()), pair.count()));
        IntStream.range(0, classes.size())
                .forEach(i -> counts.put(List.of(i, i), classes.get(i).right()));
        Html head = Html.join(classes.stream()
                .map(said -> Html.of("<th scope=\"col\">{}</th>", said.name()))
                .toList());
        List<Html> rows = new ArrayList<>();
        for (int i = 0; i < classes.size(); i++) {
            int truth = i;
            Html cells = Html.join(IntStream.range(0, classes.size())
                    .mapToObj(said -> cell(
                            counts.getOrDefault(List.of(truth, said), 0L),
                            classes.get(truth).tested(),
                            truth == said))
                    .toList());
            rows.add(Html.of(
                    "<tr><th scope=\"row\">{}</th>{}</tr>", classes.get(i).name(), cells));
        }
        return Html.of(
                "<p>A row for what samples are, a column for what the model takes them for: <span class=\"hit\">right</span> on the"
                        + " diagonal, <span class=\"miss\">wrong</span> beside it.</p>"
                        + "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Confusion matrix\">"
                        + "<table class=\"matrix\"><caption>Confusion matrix</caption>\n<thead><tr><th></th>{}</tr></thead>\n"
                        + "<tbody>\n{}\n</tbody></table></div>",
                head,
                Html.join(rows));
    }

    /** The larger the share of its row, the stronger the colour. */
    private static Html cell(long count, long row, boolean isRight) {
        if (count == 0) {
            return Html.of("<td class=\"none\">0</td>");
        }
        return Html.of(
                "<td class=\"{}\" style=\"--share: {}%\">{}</td>",
                isRight ? "hit" : "miss",
                Math.max(8, Math.round(100.0 * count / Math.max(row, 1))),
                Numbers.count(count));
    }

    private static Html pairs(Outcome.Classes outcome) {
        Table table = Table.of(
                "Classes that are taken for each other most often",
                List.of("Class", "Taken for:", "Samples", "Share of the class"));
        for (Confusion pair : outcome.confusions()
                .subList(0, Math.min(PAIRS, outcome.confusions().size()))) {
            Tally truth = outcome.classes().get(pair.truth());
            table.row(
                    truth.name(),
                    outcome.classes().get(pair.said()).name(),
                    Numbers.count(pair.count()),
                    Numbers.percent((double) pair.count() / truth.tested()));
        }
        return table.isEmpty() ? Html.EMPTY : table.toHtml();
    }

    /** Of many, those that are found least. */
    private static Html tallies(String caption, String first, List<Tally> tallies) {
        Table table =
                Table.of(caption, List.of(first, "Training split", "Test split", "Predicted", "Recall", "Precision"));
        List<Tally> shown = tallies.size() <= MATRIX
                ? tallies
                : tallies.stream()
                        .filter(tally -> tally.tested() > 0)
                        .sorted(Comparator.comparingDouble(Tally::recall))
                        .limit(PAIRS)
                        .toList();
        shown.forEach(tally -> table.row(
                tally.name(),
                Numbers.count(tally.trained()),
                Numbers.count(tally.tested()),
                Numbers.count(tally.said()),
                Numbers.percent(tally.recall()),
                Numbers.percent(tally.precision())));
        return Html.of(
                "{}<p class=\"hint\">{}Recall is the share of those in the test split that are found, precision the share of those"
                        + " predicted that are right.</p>",
                table.toHtml(),
                shown.size() < tallies.size()
                        ? "Of %s, these %d are found least. ".formatted(Numbers.count(tallies.size()), shown.size())
                        : "");
    }

    private static void quantities(Outcome.Quantities outcome, List<Html> parts, List<Chart> charts) {
        List<Html> places = new ArrayList<>();
        for (Quantity quantity : outcome.quantities()) {
            parts.add(Html.of("<p>{}</p>", errors(quantity)));
            String id = "quantity-" + outcome.quantities().indexOf(quantity);
            List<Chart> own = List.of(
                    new Chart.Scatter(
                            id,
                            "Estimates of " + quantity.name() + " against the truth",
                            "Estimates of %s against the truth, %d samples: on the line they are right"
                                    .formatted(
                                            quantity.name(), quantity.truths().size()),
                            quantity.name(),
                            IntStream.range(0, quantity.truths().size())
                                    .mapToObj(i -> List.of(
                                            quantity.truths().get(i),
                                            quantity.estimates().get(i)))
                                    .toList()),
                    new Chart.Histogram(
                            id + "-errors",
                            "Errors in " + quantity.name(),
                            "How often errors in %s are how large: half are at most %s"
                                    .formatted(quantity.name(), Numbers.compact(quantity.median())),
                            "estimate less truth",
                            quantity.errors().from(),
                            quantity.errors().width(),
                            quantity.errors().counts()));
            own.forEach(chart -> places.add(chart.toHtml()));
            charts.addAll(own);
        }
        parts.add(Html.of("<div class=\"charts\">\n{}\n</div>", Html.join(places)));
        if (outcome.quantities().size() < outcome.count()) {
            parts.add(Html.of(
                    "<p class=\"hint\">{} more numbers are estimated.</p>",
                    Numbers.count(outcome.count() - outcome.quantities().size())));
        }
    }

    private static String errors(Quantity quantity) {
        return "Half of the estimates of %s are off by at most %s, nine of ten by at most %s; on average they are %s too %s."
                .formatted(
                        quantity.name(),
                        Numbers.compact(quantity.median()),
                        Numbers.compact(quantity.large()),
                        Numbers.compact(Math.abs(quantity.bias())),
                        quantity.bias() > 0 ? "high" : "low");
    }

    private static Html answers(Outcome.Answers answers) {
        double all = Math.max(1, answers.exact() + answers.partly() + answers.wrong());
        return Table.of("Answers", List.of("Answers", "Questions", "Share"))
                .row("as people gave them", Numbers.count(answers.exact()), Numbers.percent(answers.exact() / all))
                .row(
                        "with some words in common",
                        Numbers.count(answers.partly()),
                        Numbers.percent(answers.partly() / all))
                .row("wrong", Numbers.count(answers.wrong()), Numbers.percent(answers.wrong() / all))
                .toHtml();
    }
}
