package dev.espalier.train.task;

import dev.espalier.data.Column;
import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.LabelType;
import dev.espalier.data.LoadedData;
import dev.espalier.data.Normalization;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Formula;
import dev.espalier.graph.objective.Losses;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metric.Direction;
import dev.espalier.train.journal.Metric.Unit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.function.Function;

/**
 * How much is it? For models that say numbers in the unit of the labels: an output for each target. The loss is that of
 * {@code (estimate − truth) / deviation}, with the deviation that a target has in the training part, so that learning rates and λ
 * mean the same in any unit.
 *
 * <p>Of a single number, errors are in its unit. Those of several numbers, which may be metres and kilograms, are in multiples of
 * their deviations, all together.
 */
public final class Regression extends RowTask {
    private static final String SQUARES = "squares";
    private static final String ABSOLUTES = "absolutes";
    private static final String PINBALL = "pinball";
    private static final String TRUTHS = "truths";
    private static final String SQUARED_TRUTHS = "squared_truths";

    /** What training makes small, of an error in units of the target's deviation. */
    public sealed interface Loss {
        /** The mean of the squares: estimates become means. */
        record Squares() implements Loss {}

        /** The mean of the absolute values: estimates become medians. */
        record Absolutes() implements Loss {}

        /**
         * Squares of small errors and absolute values of large ones, so that outliers count less.
         *
         * @param delta where small ends, in deviations
         */
        record Huber(double delta) implements Loss {}

        /**
         * What makes quantiles of estimates.
         *
         * @param share how much of all truths lies below, between 0 and 1
         */
        record Quantile(double share) implements Loss {}
    }

    private final Loss loss;
    private final List<Target> targets;

    /** How many numbers are estimated for a sample. */
    private final int numbers;

    private final Metric rmse;
    private final Metric mae;
    private final Metric pinball;
    private final Metric r2 = new Metric("r2", Unit.NUMBER, Direction.HIGHER);

    /** One thing to be estimated, with a mean and a deviation for each of its numbers. */
    private record Target(Field.Dense field, Normalization unit) {
        static Target of(ColumnEncoding encoding, String data) {
            if (!(encoding.to() instanceof Field.Dense field)) {
                throw new IllegalArgumentException(
                        "task.kind = regression needs targets that are numbers, but %s has %s: choose another task, other data, or"
                                        .formatted(data, encoding.to())
                                + " data.label_type = number");
            }
            Normalization found = encoding.statistics();
            int run = field.size() / found.mean().size();
            return new Target(field, new Normalization(repeated(found.mean(), run), repeated(found.deviation(), run)));
        }

        private static List<Double> repeated(List<Double> values, int run) {
            List<Double> repeated = new ArrayList<>();
            values.forEach(value -> repeated.addAll(Collections.nCopies(run, value)));
            return repeated;
        }

        Shape sample() {
            return field.shape().isEmpty()
                    ? Shape.of(1)
                    : new Shape(field.shape().stream().map(Dimension::of).toList());
        }
    }

    /**
     * A task.
     *
     * @param data the samples
     * @param builder makes the model, called with different weights; what it says is in the labels' own unit, see
     *     {@link Signature#inUnits}
     * @param batching how samples make batches
     * @param loss what training makes small
     */
    public Regression(LoadedData data, Function<Weights, Graph> builder, Batching batching, Loss loss) {
        super(measured(data), signature(data), builder, batching);
        this.loss = loss;
        this.targets = targets(data());
        this.numbers =
                targets.stream().mapToInt(target -> target.field().size()).sum();
        Unit unit = numbers == 1 ? Unit.LABEL : Unit.NUMBER;
        this.rmse = new Metric("rmse", unit, Direction.LOWER);
        this.mae = new Metric("mae", unit, Direction.LOWER);
        this.pinball = new Metric("pinball", unit, Direction.LOWER);
    }

    /** The same data, whose encoding knows means and deviations of the targets. */
    private static LoadedData measured(LoadedData data) {
        data.requireTargets("task.kind = regression");
        List<ColumnEncoding> targets = new ArrayList<>();
        for (ColumnEncoding encoding : data.encoding().targets()) {
            int at = targets.size();
            targets.add(
                    encoding instanceof ColumnEncoding.Plain(Field.Dense field)
                            ? new ColumnEncoding.Measured(
                                    field,
                                    Normalization.of(
                                            (Column.Numbers)
                                                    data.train().targets().get(at),
                                            data.train().size()))
                            : encoding);
        }
        return data.withEncoding(new Encoding(data.encoding().inputs(), targets));
    }

    private static List<Target> targets(LoadedData data) {
        return data.encoding().targets().stream()
                .map(encoding -> Target.of(encoding, data.train().name()))
                .toList();
    }

    /**
     * What a model is given, and that it says a number for each one that is to be estimated.
     *
     * @param data the samples
     * @return what a model must fit
     */
    public static Signature signature(LoadedData data) {
        return new Signature(
                data.train().name(),
                Signature.inputsOf(data.inputs()),
                targets(measured(data)).stream()
                        .map(target -> new Signature.Output(
                                target.field().name(),
                                target.sample(),
                                new Signature.Meaning.Quantities(target.unit())))
                        .toList());
    }

    /** Beginning with the one whose best value is where the loss is smallest. */
    @Override
    public List<Metric> metrics() {
        return switch (loss) {
            case Loss.Squares _, Loss.Huber _ -> List.of(rmse, mae, r2);
            case Loss.Absolutes _ -> List.of(mae, rmse, r2);
            case Loss.Quantile _ -> List.of(pinball, mae, rmse, r2);
        };
    }

    @Override
    public Objective objective() {
        return formula -> {
            SequencedMap<String, Value> terms = new LinkedHashMap<>();
            for (Target target : targets) {
                add(terms, formula, target);
            }
            return terms;
        };
    }

    private void add(SequencedMap<String, Value> terms, Formula formula, Target target) {
        Value estimates = formula.model(fitted().output(target.field().name()));
        Dimension batch = estimates.shape().get(0);
        List<Object> shape = new ArrayList<>(List.of(batch));
        shape.addAll(target.field().shape());
        Value truths = formula.target(target.field().name(), DataType.FLOAT32, shape.toArray());
        if (target.field().shape().isEmpty()) {
            truths = formula.column(truths);
        }
        Value deviation = formula.constant(Signature.numbers(target.unit().deviation(), target.sample()));
        Value mean = formula.constant(Signature.numbers(target.unit().mean(), target.sample()));
        Value error = formula.divide(formula.minus(estimates, truths), deviation);
        Value own = formula.divide(formula.minus(truths, mean), deviation);
        double share = (double) target.field().size() / numbers;
        add(terms, formula, Objective.LOSS, formula.times(loss(formula, error), formula.number(share)));
        add(terms, formula, SQUARES, formula.sum(formula.square(error)));
        add(terms, formula, ABSOLUTES, formula.sum(formula.absolute(error)));
        if (loss instanceof Loss.Quantile(double quantile)) {
            add(terms, formula, PINBALL, formula.sum(Losses.tilted(formula, error, quantile)));
        }
        add(terms, formula, TRUTHS, formula.sum(own));
        add(terms, formula, SQUARED_TRUTHS, formula.sum(formula.square(own)));
    }

    private static void add(SequencedMap<String, Value> terms, Formula formula, String name, Value value) {
        terms.merge(name, value, formula::plus);
    }

    private Value loss(Formula formula, Value error) {
        return switch (loss) {
            case Loss.Squares _ -> Losses.squares(formula, error);
            case Loss.Absolutes _ -> Losses.absolutes(formula, error);
            case Loss.Huber(double delta) -> Losses.huber(formula, error, delta);
            case Loss.Quantile(double share) -> Losses.pinball(formula, error, share);
        };
    }

    /**
     * {@code r2} is {@code 1 − Σ(estimate − truth)² / Σ(truth − mean truth)²}: 1 is perfect, and 0 as good as the mean.
     */
    @Override
    public SequencedMap<Metric, Double> score(Sums sums) {
        double count = (double) sums.samples() * numbers;
        double unit = numbers == 1 ? targets.getFirst().unit().deviation().getFirst() : 1;
        double spread = sums.get(SQUARED_TRUTHS) - sums.get(TRUTHS) * sums.get(TRUTHS) / count;
        Map<Metric, Double> found = new HashMap<>();
        found.put(rmse, unit * Math.sqrt(sums.get(SQUARES) / count));
        found.put(mae, unit * sums.get(ABSOLUTES) / count);
        found.put(r2, 1 - sums.get(SQUARES) / spread);
        if (loss instanceof Loss.Quantile) {
            found.put(pinball, unit * sums.get(PINBALL) / count);
        }
        SequencedMap<Metric, Double> scores = new LinkedHashMap<>();
        metrics().forEach(metric -> scores.put(metric, Objects.requireNonNull(found.get(metric))));
        return scores;
    }

    @Override
    protected Optional<Inspection> inspection() {
        List<QuantityInspection.Estimated> estimated = new ArrayList<>();
        for (int t = 0; t < targets.size(); t++) {
            Target target = targets.get(t);
            List<String> names = names(data().encoding().targets().get(t));
            for (int i = 0; i < names.size(); i++) {
                estimated.add(new QuantityInspection.Estimated(
                        target.field().name(),
                        i,
                        names.size(),
                        names.get(i),
                        target.unit().deviation().get(i)));
            }
        }
        return Optional.of(new QuantityInspection(estimated, data().test().size()));
    }

    /** Always the training part's mean; where the loss asks for it, its median or another quantile. */
    @Override
    public OptionalDouble baseline() {
        float[][] learned = values(data().train());
        double[] guess = new double[numbers];
        for (int i = 0; i < numbers; i++) {
            float[] sorted = learned[i].clone();
            Arrays.sort(sorted);
            guess[i] = switch (loss) {
                case Loss.Squares _, Loss.Huber _ -> mean(sorted);
                case Loss.Absolutes _ -> sorted[sorted.length / 2];
                case Loss.Quantile(double share) -> sorted[(int) (share * sorted.length)];
            };
        }
        SequencedMap<String, Double> sums = new LinkedHashMap<>();
        float[][] judged = values(data().validation());
        for (int i = 0; i < numbers; i++) {
            for (float truth : judged[i]) {
                double error = guess[i] - truth;
                sums.merge(SQUARES, error * error, Double::sum);
                sums.merge(ABSOLUTES, Math.abs(error), Double::sum);
                sums.merge(TRUTHS, (double) truth, Double::sum);
                sums.merge(SQUARED_TRUTHS, (double) truth * truth, Double::sum);
                if (loss instanceof Loss.Quantile(double share)) {
                    sums.merge(PINBALL, error > 0 ? (1 - share) * error : -share * error, Double::sum);
                }
            }
        }
        return OptionalDouble.of(
                score(new Sums(sums, judged[0].length)).firstEntry().getValue());
    }

    private static double mean(float[] values) {
        double sum = 0;
        for (float value : values) {
            sum += value;
        }
        return sum / values.length;
    }

    /** The targets of a part in units of their deviations, number by number. */
    private float[][] values(Dataset part) {
        float[][] values = new float[numbers][part.size()];
        List<Column> columns = data().encoding().apply(part).targets();
        int first = 0;
        for (int c = 0; c < columns.size(); c++) {
            Target target = targets.get(c);
            float[] row = new float[target.field().size()];
            for (int r = 0; r < part.size(); r++) {
                ((Column.Numbers) columns.get(c)).read(r, row, 0);
                for (int i = 0; i < row.length; i++) {
                    double mean = target.unit().mean().get(i);
                    values[first + i][r] =
                            (float) ((row[i] - mean) / target.unit().deviation().get(i));
                }
            }
            first += row.length;
        }
        return values;
    }

    /** {@code task.kind = "regression"}. */
    public static final class Kind implements TaskKind {
        private enum Choice {
            MSE,
            HUBER,
            MAE,
            QUANTILE
        }

        private static final Key<Choice> LOSS = Key.choice(
                        "task.loss",
                        Choice.class,
                        "what training makes small, of errors in units of the labels' deviation")
                .withDefault(Choice.MSE);
        private static final Key<Double> DELTA = Key.decimal(
                        "task.delta", "huber: up to where errors are squared, in deviations")
                .in(Range.positive())
                .withDefault(1.0);
        private static final Key<Double> QUANTILE = Key.decimal(
                        "task.quantile", "quantile: the share of labels that are to lie below what is estimated")
                .in(Range.betweenZeroAndOne())
                .withDefault(0.5);

        /** Called by the service loader. */
        public Kind() {}

        @Override
        public String name() {
            return "regression";
        }

        @Override
        public String meaning() {
            return "how much is it?";
        }

        @Override
        public List<Key<?>> keys() {
            return List.of(LOSS, DELTA, QUANTILE);
        }

        @Override
        public boolean suits(List<Field> targets) {
            return !targets.isEmpty() && targets.stream().allMatch(Field.Numbers.class::isInstance);
        }

        @Override
        public Task open(Values values, Materials materials) throws IOException {
            LoadedData data = materials.data(LabelType.NUMBER);
            Loss loss = switch (values.of(LOSS)) {
                case MSE -> new Loss.Squares();
                case MAE -> new Loss.Absolutes();
                case HUBER -> new Loss.Huber(values.of(DELTA));
                case QUANTILE -> new Loss.Quantile(values.of(QUANTILE));
            };
            return new Regression(
                    data, TaskModel.builder(materials.model(), signature(data)), materials.batching(), loss);
        }
    }
}
