package dev.espalier.train.task;

import dev.espalier.data.Column;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Losses;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.train.journal.Metric;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.function.Function;

/** Which class does a sample belong to? For models that say {@code [batch, classes]}, a number for each class. */
public final class Classification extends RowTask {
    private static final Metric ACCURACY = Metric.share("accuracy");

    /** The sum that counts how many samples a model gets right. */
    private static final String RIGHT = "right";

    private static final String LOGITS = "logits";

    private final Field.Category label;
    private final List<Double> weights;
    private final double smoothing;

    /**
     * A task in which all classes count the same.
     *
     * @param data the samples
     * @param builder makes the model; called with different weights
     * @param batching how samples make batches
     */
    public Classification(LoadedData data, Function<Weights, Graph> builder, Batching batching) {
        this(data, builder, batching, new ClassWeights.Equal(), 0);
    }

    /**
     * A task.
     *
     * @param data the samples
     * @param builder makes the model; called with different weights
     * @param batching how samples make batches
     * @param weights what each class counts in the loss
     * @param smoothing how much of the belief in the right class is spread over all, from 0 to below 1
     */
    public Classification(
            LoadedData data,
            Function<Weights, Graph> builder,
            Batching batching,
            ClassWeights weights,
            double smoothing) {
        super(data, signature(data), builder, batching);
        this.label = label(data);
        this.weights = weights.of(label.values(), balanced(data.train()));
        this.smoothing = smoothing;
        requireLogits(fitted());
    }

    /** {@code rows / (classes · rows of the class)}: a mean row counts 1. */
    private static List<Double> balanced(Dataset train) {
        int[] counts = counts(train);
        return Arrays.stream(counts)
                .mapToObj(count -> (double) train.size() / (counts.length * Math.max(1, count)))
                .toList();
    }

    private static int[] counts(Dataset part) {
        Column.Categories classes = (Column.Categories) part.targets().getFirst();
        int[] counts = new int[classes.field().values().size()];
        for (int row = 0; row < part.size(); row++) {
            counts[classes.read(row)]++;
        }
        return counts;
    }

    private static Field.Category label(LoadedData data) {
        data.requireTargets("task.kind = classification");
        if (data.targets().size() == 1 && data.targets().getFirst() instanceof Field.Category classes) {
            return classes;
        }
        throw new IllegalArgumentException(
                "task.kind = classification needs one target that is a class, but %s has %s: choose another task or other data, or"
                                .formatted(data.train().name(), data.targets())
                        + " task.multi_label = true for targets of 0 and 1");
    }

    /** What a model is given, and that it says a number for each class. */
    static Signature signature(LoadedData data) {
        Shape logits = Shape.of(label(data).values().size());
        return new Signature(
                data.train().name(),
                Signature.inputsOf(data.inputs()),
                List.of(new Signature.Output(LOGITS, logits, new Signature.Meaning.Classes())));
    }

    /**
     * The loss takes the logarithm of the softmax itself. A logarithm of a softmax at the end is harmless: doing that twice changes
     * nothing.
     */
    private void requireLogits(Fitted names) {
        String output = names.output(LOGITS);
        Node last = names.model().producer(output);
        if (last != null && last.operator() instanceof Softmax softmax && !softmax.logarithm()) {
            throw new IllegalArgumentException(
                    "the model's output %s comes from a softmax, but training needs the numbers in front of it: export it without"
                            .formatted(output));
        }
    }

    @Override
    public List<Metric> metrics() {
        return List.of(ACCURACY);
    }

    /** The mean of {@code −ln softmax(logits)[label]}, weighted and smoothed if asked. */
    @Override
    public Objective objective() {
        return formula -> {
            Value logits = formula.model(fitted().output(LOGITS));
            Value labels =
                    formula.target(label.name(), DataType.INT64, logits.shape().get(0));
            SequencedMap<String, Value> terms =
                    Objective.terms(Losses.crossEntropy(formula, logits, labels, weights, smoothing));
            terms.put(RIGHT, formula.sum(formula.equal(formula.argMax(logits), labels)));
            return terms;
        };
    }

    @Override
    public SequencedMap<Metric, Double> score(Sums sums) {
        return new LinkedHashMap<>(Map.of(ACCURACY, sums.mean(RIGHT)));
    }

    @Override
    protected Optional<Inspection> inspection() {
        return Optional.of(new ClassInspection(LOGITS, label.name(), label.values(), counts(data().train())));
    }

    /** Always the most frequent class. */
    @Override
    public OptionalDouble baseline() {
        Dataset part = data().validation();
        int most = Arrays.stream(counts(part)).max().orElseThrow();
        return OptionalDouble.of((double) most / part.size());
    }
}
