package dev.espalier.report;

import dev.espalier.train.journal.Comparison;
import dev.espalier.train.journal.Footprint;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;

/** The page on a smaller model beside its original. */
final class FidelityPage {
    private FidelityPage() {}

    static Page of(Comparison comparison) {
        FidelityView fidelity = FidelityView.of(comparison.likenesses());
        Map<String, Html> values = new HashMap<>();
        values.put("original", Html.text(comparison.original()));
        values.put("smaller", Html.text(comparison.smaller()));
        values.put(
                "summary",
                Html.text("%s samples of %s"
                        .formatted(Numbers.count(comparison.findings().samples().test()), comparison.inputs())));
        values.put(
                "notes",
                Html.join(comparison.notes().stream()
                        .map(note -> Html.of("<p class=\"note\">{}</p>", note))
                        .toList()));
        values.put(
                "lead",
                comparison.likenesses().isEmpty()
                        ? Html.EMPTY
                        : Html.text((comparison.warning().isEmpty() ? "" : comparison.warning() + " ")
                                + FidelityView.sentence(comparison.likenesses().getFirst())
                                + "."));
        values.put("cards", cards(comparison));
        values.put("costs", costs(comparison));
        values.put("sample", Html.text(comparison.sample()));
        values.put("fidelity", fidelity.content());
        values.put("worst", MistakesView.of(comparison.findings().mistakes(), List.of()));
        return new Page(
                comparison.smaller() + " · Espalier",
                Template.load("fidelity.html").fill(values),
                fidelity.charts());
    }

    private static Html cards(Comparison comparison) {
        Footprint before = comparison.before();
        Footprint after = comparison.after();
        return Html.join(List.of(
                share("Size", (double) before.bytes(), (double) after.bytes(), Numbers::bytes),
                share("Parameters", (double) before.parameters(), (double) after.parameters(), Numbers::large),
                share("FLOPs", before.flops(), after.flops(), Numbers::large),
                faster("Speed-up", before.milliseconds(), after.milliseconds(), "on one thread"),
                faster(
                        "Speed-up, %d threads".formatted(comparison.threads()),
                        before.threadedMilliseconds(),
                        after.threadedMilliseconds(),
                        "")));
    }

    private static Html share(String name, double before, double after, DoubleFunction<String> format) {
        return Cards.card(
                name + " kept",
                Numbers.percent(after / before),
                "%s of %s".formatted(format.apply(after), format.apply(before)));
    }

    private static Html faster(String name, double before, double after, String where) {
        return Cards.card(
                name,
                Numbers.times(List.of(before / after)),
                "%s of %s ms %s".formatted(Numbers.compact(after), Numbers.compact(before), where));
    }

    private static Html costs(Comparison comparison) {
        return Table.of(
                        "Both models",
                        List.of(
                                "Model",
                                "Size of the file",
                                "Parameters",
                                "FLOPs",
                                "Latency, 1 thread",
                                "Latency, %d threads".formatted(comparison.threads())))
                .row(Html.of("original <code>{}</code>", comparison.original()), cells(comparison.before()))
                .row(Html.of("small <code>{}</code>", comparison.smaller()), cells(comparison.after()))
                .toHtml();
    }

    private static List<String> cells(Footprint model) {
        return List.of(
                Numbers.bytes((double) model.bytes()),
                Numbers.count(model.parameters()),
                Numbers.large(model.flops()),
                milliseconds(model, Footprint::milliseconds),
                milliseconds(model, Footprint::threadedMilliseconds));
    }

    private static String milliseconds(Footprint model, ToDoubleFunction<Footprint> latency) {
        return Numbers.compact(latency.applyAsDouble(model)) + " ms";
    }
}
