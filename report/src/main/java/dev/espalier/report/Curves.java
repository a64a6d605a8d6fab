package dev.espalier.report;

import dev.espalier.report.Chart.Band;
import dev.espalier.report.Chart.Format;
import dev.espalier.report.Chart.Line;
import dev.espalier.report.Chart.Lines;
import dev.espalier.report.Chart.Stroke;
import dev.espalier.report.RunData.Seed;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** From the metrics of runs to charts over epochs. */
final class Curves {
    /** How far positive numbers must lie apart before they are shown on a logarithmic axis. */
    private static final double WIDE = 30;

    /** The colours of one run; 7 is grey. */
    private static final int EVALUATION = 0;

    private static final int TRAINING = 1;
    private static final int BASELINE = 7;
    private static final int COLOURS = 7;

    /**
     * What a chart is of.
     *
     * @param id what the chart is known by
     * @param title its title
     * @param format how its numbers are written
     * @param mayBeWide whether its numbers may span orders of magnitude
     * @param value a number of an evaluation
     * @param training the same for training, if there is such
     */
    private record Quantity(
            String id,
            String title,
            Format format,
            boolean mayBeWide,
            ToDoubleFunction<Metrics> value,
            Optional<ToDoubleFunction<Metrics>> training) {

        Quantity(String id, String title, Format format, boolean mayBeWide, ToDoubleFunction<Metrics> value) {
            this(id, title, format, mayBeWide, value, Optional.empty());
        }
    }

    private Curves() {}

    private static List<Quantity> quantities(List<Metric> metrics, List<Metric> trained) {
        List<Quantity> all = new ArrayList<>();
        all.add(new Quantity("loss", "Loss", Format.NUMBER, true, Metrics::loss, Optional.of(Metrics::trainLoss)));
        for (Metric metric : metrics) {
            all.add(new Quantity(
                    "score-" + metric.name(),
                    capital(metric),
                    format(metric),
                    false,
                    line -> Results.score(line.scores(), metric),
                    trained.contains(metric) ? Optional.of(line -> trained(line, metric)) : Optional.empty()));
        }
        // What is measured otherwise in training than in evaluation has no place beside it.
        trained.stream()
                .filter(metric -> !metrics.contains(metric))
                .forEach(metric -> all.add(new Quantity(
                        "train-" + metric.name(),
                        inTraining(metric),
                        format(metric),
                        false,
                        line -> trained(line, metric))));
        all.add(new Quantity("groups", "Groups kept", Format.PERCENT, false, Metrics::groupsLeft));
        all.add(new Quantity("penalty", "Value of the penalty", Format.NUMBER, false, Metrics::penalty));
        all.add(new Quantity("lambda", "λ, strength of the penalty", Format.NUMBER, true, Metrics::lambda));
        all.add(new Quantity("rate", "Learning rate", Format.NUMBER, false, Metrics::learningRate));
        all.add(new Quantity(
                "iterations", "Solver iterations per group", Format.NUMBER, false, Metrics::iterationsPerGroup));
        all.add(new Quantity("speed", "Training samples per second", Format.COUNT, false, Metrics::samplesPerSecond));
        return all;
    }

    private static double trained(Metrics line, Metric metric) {
        return Results.score(line.trainScores(), metric);
    }

    /** How values of a metric are written. */
    static Format format(Metric metric) {
        return switch (metric.unit()) {
            case SHARE -> Format.PERCENT;
            case NUMBER, LABEL -> Format.NUMBER;
        };
    }

    /** The curves of one run, and the loss and scores of its baseline beside them. */
    static List<Lines> of(RunData run) {
        List<Band> bands = bands(run);
        List<Lines> charts = new ArrayList<>();
        for (Quantity quantity : quantities(run.metrics(), run.trained())) {
            boolean evaluated = quantity.id().equals("loss") || quantity.id().startsWith("score-");
            List<Line> lines = new ArrayList<>();
            lines.addAll(lines(evaluated ? "evaluation" : quantity.title(), run, EVALUATION, quantity.value()));
            quantity.training().ifPresent(value -> lines.addAll(lines("training", run, TRAINING, value)));
            if (evaluated) {
                run.baseline()
                        .ifPresent(dense -> lines.addAll(dashed(lines("original", dense, BASELINE, quantity.value()))));
            }
            chart(quantity, bands, lines).ifPresent(charts::add);
        }
        return charts;
    }

    /** The curves of several runs, one colour for each. */
    static List<Lines> of(List<RunData> runs) {
        List<Band> first = bands(runs.getFirst());
        List<Band> bands = runs.stream().allMatch(run -> bands(run).equals(first)) ? first : List.of();
        List<Metric> metrics =
                runs.stream().flatMap(run -> run.metrics().stream()).distinct().toList();
        List<Metric> trained =
                runs.stream().flatMap(run -> run.trained().stream()).distinct().toList();
        List<Lines> charts = new ArrayList<>();
        for (Quantity quantity : quantities(metrics, trained)) {
            List<Line> lines = new ArrayList<>();
            for (int i = 0; i < runs.size(); i++) {
                List<Line> own = lines(runs.get(i).name(), runs.get(i), colour(i), quantity.value());
                // When colours run out, dashes tell runs apart.
                lines.addAll(i / COLOURS % 2 == 0 ? own : dashed(own));
            }
            chart(quantity, bands, lines).ifPresent(charts::add);
        }
        return charts;
    }

    /** The colour of one of several runs. */
    static int colour(int run) {
        return run % COLOURS;
    }

    /** Nothing if there is nothing to see: no number, or nothing but zeros. */
    private static Optional<Lines> chart(Quantity quantity, List<Band> bands, List<Line> lines) {
        List<Double> values = lines.stream()
                .flatMap(line -> line.points().stream())
                .map(point -> point.get(1))
                .filter(Double::isFinite)
                .toList();
        if (values.stream().allMatch(value -> value == 0)) {
            return Optional.empty();
        }
        boolean logarithmic = quantity.mayBeWide() && isWide(values);
        return Optional.of(new Lines(
                quantity.id(),
                quantity.title(),
                describe(quantity, lines),
                quantity.format(),
                logarithmic,
                quantity.id().equals("lambda"),
                bands,
                logarithmic ? lines.stream().map(Curves::positive).toList() : lines));
    }

    /** A logarithm of a loss below zero, such as one that is a logarithm itself, would show nothing of it. */
    private static boolean isWide(List<Double> values) {
        if (values.stream().anyMatch(value -> value < 0)) {
            return false;
        }
        List<Double> positive =
                values.stream().filter(value -> value > 0).sorted().toList();
        return positive.getLast() > WIDE * positive.getFirst();
    }

    /** A logarithmic axis has no place for zero: there, the line has a gap. */
    private static Line positive(Line line) {
        return withPoints(
                line,
                line.points().stream()
                        .map(point -> point.get(1) > 0 ? point : List.of(point.get(0), Double.NaN))
                        .toList());
    }

    private static Line withPoints(Line line, List<List<Double>> points) {
        return new Line(line.name(), line.colour(), line.stroke(), points);
    }

    private static List<Line> dashed(List<Line> lines) {
        return lines.stream()
                .map(line -> line.stroke() == Stroke.SOLID
                        ? new Line(line.name(), line.colour(), Stroke.DASHED, line.points())
                        : line)
                .toList();
    }

    /** One line for a run of one seed; otherwise the mean, and faintly one for each seed. */
    private static List<Line> lines(String name, RunData run, int colour, ToDoubleFunction<Metrics> value) {
        List<List<List<Double>>> curves = run.seeds().stream()
                .map(Seed::metrics)
                .filter(metrics -> metrics.stream().mapToDouble(value).anyMatch(Double::isFinite))
                .map(metrics -> metrics.stream()
                        .filter(line -> isKnown(line, value))
                        .map(line -> List.of(line.epoch(), value.applyAsDouble(line)))
                        .toList())
                .toList();
        if (curves.size() <= 1) {
            return curves.stream()
                    .map(points -> new Line(name, colour, Stroke.SOLID, points))
                    .toList();
        }
        Stream<Line> faint = curves.stream().map(points -> new Line(name, colour, Stroke.FAINT, points));
        return Stream.concat(faint, Stream.of(new Line(name, colour, Stroke.SOLID, mean(curves))))
                .toList();
    }

    /** In epoch 0 nothing is known of training. */
    private static boolean isKnown(Metrics line, ToDoubleFunction<Metrics> value) {
        return line.epoch() > 0 || Double.isFinite(value.applyAsDouble(line));
    }

    /** The mean over seeds, as far as all of them have come. */
    private static List<List<Double>> mean(List<List<List<Double>>> curves) {
        SequencedMap<Double, List<Double>> byEpoch = new TreeMap<>();
        for (List<Double> point : curves.stream().flatMap(List::stream).toList()) {
            byEpoch.computeIfAbsent(point.get(0), epoch -> new ArrayList<>()).add(point.get(1));
        }
        return byEpoch.entrySet().stream()
                .filter(entry -> entry.getValue().size() == curves.size())
                .map(entry -> {
                    Spread spread = Spread.of(entry.getValue());
                    return List.of(entry.getKey(), spread.mean(), spread.deviation());
                })
                .toList();
    }

    /** The phases, from the evaluations that they end with. */
    static List<Band> bands(RunData run) {
        List<Metrics> metrics = run.seeds().stream()
                .map(Seed::metrics)
                .max((one, other) -> Integer.compare(one.size(), other.size()))
                .orElseThrow();
        List<Band> bands = new ArrayList<>();
        double from = 0;
        for (Metrics line : metrics.stream().filter(one -> one.epoch() > 0).toList()) {
            if (!bands.isEmpty() && bands.getLast().name().equals(line.phase())) {
                from = bands.removeLast().from();
            }
            bands.add(new Band(line.phase(), from, line.epoch()));
            from = line.epoch();
        }
        return bands;
    }

    private static String describe(Quantity quantity, List<Line> lines) {
        String curves = lines.stream()
                .filter(line -> line.stroke() != Stroke.FAINT && !line.points().isEmpty())
                .map(line -> "%s from %s to %s"
                        .formatted(
                                line.name(),
                                write(quantity, line.points().getFirst().get(1)),
                                write(quantity, line.points().getLast().get(1))))
                .collect(Collectors.joining("; "));
        return quantity.title() + " over epochs: " + curves;
    }

    private static String write(Quantity quantity, double value) {
        return switch (quantity.format()) {
            case PERCENT -> Numbers.percent(value);
            case NUMBER -> Numbers.compact(value);
            case COUNT -> Numbers.count(value);
        };
    }

    static String inTraining(Metric metric) {
        return capital(metric) + " in training";
    }

    static String capital(Metric metric) {
        return capital(metric.name());
    }

    static String capital(String name) {
        String words = name.replace('_', ' ');
        return words.isEmpty() ? words : words.substring(0, 1).toUpperCase(Locale.ROOT) + words.substring(1);
    }
}
