package dev.espalier.report;

import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Findings.Confusion;
import dev.espalier.train.journal.Findings.Likeness;
import dev.espalier.train.journal.Findings.Outcome;
import dev.espalier.train.journal.Findings.Quantity;
import dev.espalier.train.journal.Findings.Tally;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.journal.Spread;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A finished run in a few sentences. */
final class Summary {
    /** Of more columns that are not read, only their number is told. */
    private static final int NAMED = 6;

    /** A class is told of if its recall is so far below the share of all that is right. */
    private static final double WEAK = 0.1;

    private Summary() {}

    /**
     * Sums up a run.
     *
     * @param run the run
     * @param findings predictions of the displayed model on the test split
     * @param columns the columns that it reads
     * @return nothing if the run is not finished
     */
    static Html of(RunData run, Optional<Findings> findings, InputColumns columns) {
        if (run.results().isEmpty()) {
            return Html.EMPTY;
        }
        List<String> sentences = new ArrayList<>();
        if (run.seeds().size() == 1) {
            findings.flatMap(Summary::warning).ifPresent(sentences::add);
        }
        // Of several seeds, what one model says is not what all do.
        Optional<String> outcome = run.seeds().size() == 1 ? findings.flatMap(Summary::outcome) : Optional.empty();
        sentences.add(outcome.orElseGet(() -> scores(run)) + comparison(run) + ".");
        sentences.add(size(run));
        if (run.seeds().size() == 1) {
            findings.flatMap(Summary::weakness).ifPresent(sentences::add);
            columns(columns).ifPresent(sentences::add);
        }
        return Html.text(String.join(" ", sentences));
    }

    private static String scores(RunData run) {
        return run.metrics().stream()
                .findFirst()
                .map(metric -> "On the test split, the %s of the small model is %s"
                        .formatted(metric.name().replace('_', ' '), score(run, metric)))
                .orElse("The model is pruned");
    }

    private static String score(RunData run, Metric metric) {
        return Numbers.metric(metric, run.results(result -> Results.score(result.prunedScores(), metric)));
    }

    private static Optional<String> warning(Findings findings) {
        return findings.outcome() instanceof Outcome.Fidelity fidelity ? fidelity.warning() : Optional.empty();
    }

    private static Optional<String> outcome(Findings findings) {
        return switch (findings.outcome()) {
            case Outcome.Classes(List<Tally> classes, var _) -> Optional.of(classes(classes));
            case Outcome.Labels(List<Tally> labels) -> Optional.of(labels(labels));
            case Outcome.Quantities quantities
            when !quantities.quantities().isEmpty() ->
                Optional.of(quantity(quantities.quantities().getFirst()));
            case Outcome.Answers answers -> Optional.of(answers(answers));
            case Outcome.Fidelity(List<Likeness> outputs)
            when !outputs.isEmpty() -> Optional.of(FidelityView.sentence(outputs.getFirst()));
            case Outcome.Quantities _, Outcome.Fidelity _, Outcome.Unknown _ -> Optional.empty();
        };
    }

    private static String classes(List<Tally> classes) {
        long tested = classes.stream().mapToLong(Tally::tested).sum();
        long right = classes.stream().mapToLong(Tally::right).sum();
        Tally frequent = frequent(classes);
        return "On the test split, the small model classifies %s of %s samples correctly (%s); always predicting '%s' gives %s"
                .formatted(
                        Numbers.count(right),
                        Numbers.count(tested),
                        Numbers.percent((double) right / tested),
                        frequent.name(),
                        Numbers.percent((double) frequent.tested() / tested));
    }

    private static Tally frequent(List<Tally> classes) {
        return classes.stream().max(Comparator.comparingLong(Tally::tested)).orElseThrow();
    }

    private static String labels(List<Tally> labels) {
        long said = labels.stream().mapToLong(Tally::said).sum();
        long right = labels.stream().mapToLong(Tally::right).sum();
        return "Of %s labels in the test split, the small model finds %s, and it predicts %s that are not there"
                .formatted(
                        Numbers.count(labels.stream().mapToLong(Tally::tested).sum()),
                        Numbers.count(right),
                        Numbers.count(said - right));
    }

    private static String quantity(Quantity quantity) {
        return "On the test split, half of the small model's estimates of %s are off by at most %s, nine of ten by at most %s"
                .formatted(quantity.name(), Numbers.compact(quantity.median()), Numbers.compact(quantity.large()));
    }

    private static String answers(Outcome.Answers answers) {
        return "Of %s questions in the test split, the small model answers %s as people did, and %s more in part"
                .formatted(
                        Numbers.count(answers.exact() + answers.partly() + answers.wrong()),
                        Numbers.count(answers.exact()),
                        Numbers.count(answers.partly()));
    }

    /** Compared with the original, if one was trained. */
    private static String comparison(RunData run) {
        return run.metrics().stream()
                .findFirst()
                .flatMap(metric -> run.baseline()
                        .map(dense -> dense.results(result -> Results.score(result.scores(), metric)))
                        .filter(dense -> !dense.isEmpty())
                        .map(dense -> ". Compared with the original, its %s changes by %s"
                                .formatted(
                                        metric.name().replace('_', ' '),
                                        Numbers.difference(
                                                metric,
                                                Spread.of(run.results(
                                                                result -> Results.score(result.prunedScores(), metric)))
                                                        .mean(),
                                                Spread.of(dense).mean()))))
                .orElse("");
    }

    private static String size(RunData run) {
        double left = Spread.of(run.results(RunResult::parametersLeft)).mean();
        double faster = Spread.of(run.results(RunResult::speedUp)).mean();
        if (left >= 1) {
            return "Nothing could be removed from it.";
        }
        return "It keeps %s of the parameters and needs %s of the time for a sample."
                .formatted(Numbers.percent(left), String.format(Locale.ROOT, "%.0f %%", 100 / faster));
    }

    private static Optional<String> weakness(Findings findings) {
        if (!(findings.outcome() instanceof Outcome.Classes(List<Tally> classes, List<Confusion> confusions))
                || confusions.isEmpty()
                || confusions.getFirst().count() == 1) {
            return Optional.empty();
        }
        Confusion first = confusions.getFirst();
        Tally truth = classes.get(first.truth());
        String most = "It most often predicts %s as %s (%s of %s)."
                .formatted(
                        truth.name(),
                        classes.get(first.said()).name(),
                        Numbers.count(first.count()),
                        Numbers.count(truth.tested()));
        double share = (double) classes.stream().mapToLong(Tally::right).sum()
                / classes.stream().mapToLong(Tally::tested).sum();
        return Optional.of(classes.stream()
                .filter(one -> one.tested() > 0)
                .min(Comparator.comparingDouble(Tally::recall))
                .filter(weakest -> weakest.recall() < share - WEAK)
                .map(weakest -> most
                        + " Its lowest recall is that of %s: %s."
                                .formatted(weakest.name(), Numbers.percent(weakest.recall())))
                .orElse(most));
    }

    private static Optional<String> columns(InputColumns columns) {
        List<String> dropped = columns.dropped();
        if (columns.columns().isEmpty()) {
            return Optional.empty();
        }
        if (dropped.isEmpty()) {
            return Optional.of("It reads all %s columns."
                    .formatted(Numbers.count(columns.columns().size())));
        }
        return Optional.of("It reads %s of %s columns%s."
                .formatted(
                        Numbers.count(columns.surviving()),
                        Numbers.count(columns.columns().size()),
                        dropped.size() > NAMED ? "" : ", without " + String.join(", ", dropped)));
    }
}
