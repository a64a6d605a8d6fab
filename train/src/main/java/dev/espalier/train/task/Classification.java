package dev.espalier.train.task;

import dev.espalier.data.Column;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

    /**
     * A task.
     *
     * @param data the samples
     * @param builder makes the model; called with different weights
     * @param batching how samples make batches
     */
    public Classification(LoadedData data, Function<Weights, Graph> builder, Batching batching) {
        super(data, signature(data), builder, batching);
        this.label = label(data);
        requireLogits(fitted());
    }

    private static Field.Category label(LoadedData data) {
        if (data.targets().size() == 1 && data.targets().getFirst() instanceof Field.Category classes) {
            return classes;
        }
        throw new IllegalArgumentException(
                "task.kind = classification needs one target that is a class, but %s has %s: choose another task or other data"
                        .formatted(data.train().name(), data.targets()));
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
    private static void requireLogits(Fitted names) {
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

    /** The mean of {@code −ln softmax(logits)[label]}. */
    @Override
    public Objective objective() {
        return formula -> {
            Value logits = formula.model(fitted().output(LOGITS));
            Value labels =
                    formula.target(label.name(), DataType.INT64, logits.shape().get(0));
            SequencedMap<String, Value> terms = Objective.terms(Losses.crossEntropy(formula, logits, labels));
            terms.put(RIGHT, formula.sum(formula.equal(formula.argMax(logits), labels)));
            return terms;
        };
    }

    @Override
    public SequencedMap<Metric, Double> score(Sums sums) {
        return new LinkedHashMap<>(Map.of(ACCURACY, sums.mean(RIGHT)));
    }

    /** Always the most frequent class. */
    @Override
    public OptionalDouble baseline() {
        Column.Categories classes =
                (Column.Categories) data().validation().targets().getFirst();
        int[] counts = new int[classes.field().values().size()];
        int most = 0;
        for (int row = 0; row < data().validation().size(); row++) {
            most = Math.max(most, ++counts[classes.read(row)]);
        }
        return OptionalDouble.of((double) most / data().validation().size());
    }
}
