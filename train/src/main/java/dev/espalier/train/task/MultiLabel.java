package dev.espalier.train.task;

import dev.espalier.data.Column;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Formula;
import dev.espalier.graph.objective.Losses;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.train.journal.Metric;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.function.Function;

/**
 * Which labels does a sample have, none or several? For models that say {@code [batch, labels]}, a logit for each label: above 0
 * is yes. The target is a vector of zeros and ones.
 */
public final class MultiLabel extends RowTask {
    private static final Metric F1 = Metric.share("f1");
    private static final Metric EXACT_MATCH = Metric.share("exact_match");

    private static final String LOGITS = "logits";
    private static final String EXACT = "exact";
    private static final String HITS = "hits";
    private static final String SAID = "said";
    private static final String TRUE = "true";

    private final Field.Dense target;
    private final List<Double> weights;
    private final double smoothing;

    /**
     * A task.
     *
     * @param data the samples
     * @param builder makes the model; called with different weights
     * @param batching how samples make batches
     * @param weights what a yes counts in the loss, for each label; a no counts 1
     * @param smoothing how much of the belief in what is right is spread over yes and no, from 0 to below 1
     */
    public MultiLabel(
            LoadedData data,
            Function<Weights, Graph> builder,
            Batching batching,
            ClassWeights weights,
            double smoothing) {
        super(data, signature(data), builder, batching);
        this.target = target(data);
        this.weights = weights.of(
                names(data), balanced(truths(data.train()), data.train().size()));
        this.smoothing = smoothing;
    }

    private static Field.Dense target(LoadedData data) {
        data.requireTargets("task.multi_label");
        if (data.targets().size() == 1
                && data.targets().getFirst() instanceof Field.Dense vector
                && vector.shape().size() == 1) {
            return vector;
        }
        throw new IllegalArgumentException(
                "task.multi_label needs labels of 0 and 1 in one vector, but %s has %s: name several columns in data.label, or an array"
                                .formatted(data.train().name(), data.targets())
                        + " of rows");
    }

    private static List<String> names(LoadedData data) {
        return names(data.encoding().targets().getFirst());
    }

    /** How many nos there are for a yes. */
    private static List<Double> balanced(long[] yes, int rows) {
        List<Double> weights = new ArrayList<>();
        for (long count : yes) {
            weights.add(count == 0 || count == rows ? 1 : (double) (rows - count) / count);
        }
        return weights;
    }

    /** How often each label is true. */
    private static long[] truths(Dataset part) {
        List<Column.Numbers> columns =
                part.targets().stream().map(Column.Numbers.class::cast).toList();
        int labels = columns.stream().mapToInt(column -> column.field().size()).sum();
        long[] counts = new long[labels];
        float[] row = new float[labels];
        for (int r = 0; r < part.size(); r++) {
            int at = 0;
            for (Column.Numbers column : columns) {
                column.read(r, row, at);
                at += column.field().size();
            }
            for (int i = 0; i < labels; i++) {
                if (row[i] != 0 && row[i] != 1) {
                    throw new IllegalArgumentException(
                            "task.multi_label needs labels of 0 and 1, but row %d of %s has %s: choose task.kind = regression or other data"
                                    .formatted(r + 1, part.name(), row[i]));
                }
                counts[i] += (long) row[i];
            }
        }
        return counts;
    }

    /** What a model is given, and that it says a number for each label. */
    static Signature signature(LoadedData data) {
        Shape logits = Shape.of(target(data).size());
        return new Signature(
                data.train().name(),
                Signature.inputsOf(data.inputs()),
                List.of(new Signature.Output(LOGITS, logits, new Signature.Meaning.Labels())));
    }

    @Override
    public List<Metric> metrics() {
        return List.of(F1, EXACT_MATCH);
    }

    /** The mean binary cross entropy over all labels. */
    @Override
    public Objective objective() {
        return formula -> {
            Value logits = formula.model(fitted().output(LOGITS));
            Value truth = formula.target(
                    target.name(), DataType.FLOAT32, logits.shape().get(0), target.size());
            SequencedMap<String, Value> terms =
                    Objective.terms(Losses.binaryCrossEntropy(formula, logits, smooth(formula, truth), weights));
            Value said = formula.greater(logits, formula.number(0));
            Value wrong = formula.sum(formula.absolute(formula.minus(said, truth)), 1);
            terms.put(EXACT, formula.sum(formula.equal(wrong, formula.number(0))));
            terms.put(HITS, formula.sum(formula.times(said, truth)));
            terms.put(SAID, formula.sum(said));
            terms.put(TRUE, formula.sum(truth));
            return terms;
        };
    }

    private Value smooth(Formula formula, Value truth) {
        return smoothing == 0
                ? truth
                : formula.plus(formula.times(truth, formula.number(1 - smoothing)), formula.number(smoothing / 2));
    }

    /** F1 is that of all labels of all samples together; an exact match has every label right. */
    @Override
    public SequencedMap<Metric, Double> score(Sums sums) {
        SequencedMap<Metric, Double> scores = new LinkedHashMap<>();
        scores.put(F1, f1(sums.get(HITS), sums.get(SAID), sums.get(TRUE)));
        scores.put(EXACT_MATCH, sums.mean(EXACT));
        return scores;
    }

    private static double f1(double hits, double said, double right) {
        return said + right == 0 ? 1 : 2 * hits / (said + right);
    }

    @Override
    protected Optional<Inspection> inspection() {
        return Optional.of(new LabelInspection(LOGITS, target.name(), names(data()), truths(data().train())));
    }

    /** Always all labels. */
    @Override
    public OptionalDouble baseline() {
        Dataset part = data().validation();
        long right = 0;
        for (long count : truths(part)) {
            right += count;
        }
        return OptionalDouble.of(f1((double) right, (double) part.size() * target.size(), (double) right));
    }
}
