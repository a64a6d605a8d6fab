package dev.espalier.train.task;

import dev.espalier.data.Field;
import dev.espalier.data.LabelType;
import dev.espalier.data.LoadedData;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.util.List;

/** {@code task.kind = "classification"}. */
public final class ClassificationKind implements TaskKind {
    private static final Key<Boolean> MULTI_LABEL = Key.flag(
                    "task.multi_label",
                    "whether a sample may have several labels, or none: the targets are 0 and 1 for each")
            .withDefault(false);
    private static final Key<List<Double>> CLASS_WEIGHTS = Key.decimals(
                    "task.class_weights",
                    "what each class counts in the loss, in the order of the classes; with multi_label, what a 1 counts; if empty,"
                            + " all the same")
            .in(new Range<>("all above 0", weights -> weights.stream().allMatch(weight -> weight > 0)))
            .withDefault(List.of());
    private static final Key<Boolean> BALANCED = Key.flag(
                    "task.balanced", "whether rare classes count as much as frequent ones, in place of class_weights")
            .withDefault(false);
    private static final Key<Double> LABEL_SMOOTHING = Key.decimal(
                    "task.label_smoothing", "how much of the belief in the right class is spread over all classes")
            .in(Range.fraction())
            .withDefault(0.0);

    /** Called by the service loader. */
    public ClassificationKind() {}

    @Override
    public String name() {
        return "classification";
    }

    @Override
    public String meaning() {
        return "which class does a sample belong to?";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(MULTI_LABEL, CLASS_WEIGHTS, BALANCED, LABEL_SMOOTHING);
    }

    @Override
    public boolean suits(List<Field> targets) {
        return targets.size() == 1 && targets.getFirst() instanceof Field.Category;
    }

    @Override
    public Task open(Values values, Materials materials) throws IOException {
        LoadedData data = materials.data(values.of(MULTI_LABEL) ? LabelType.AUTO : LabelType.CATEGORY);
        ClassWeights weights = weights(values);
        double smoothing = values.of(LABEL_SMOOTHING);
        return values.of(MULTI_LABEL)
                ? new MultiLabel(
                        data,
                        TaskModel.builder(materials.model(), MultiLabel.signature(data)),
                        materials.batching(),
                        weights,
                        smoothing)
                : new Classification(
                        data,
                        TaskModel.builder(materials.model(), Classification.signature(data)),
                        materials.batching(),
                        weights,
                        smoothing);
    }

    private static ClassWeights weights(Values values) {
        List<Double> given = values.of(CLASS_WEIGHTS);
        if (values.of(BALANCED) && !given.isEmpty()) {
            throw new IllegalArgumentException("task.balanced = true and task.class_weights = %s: set one of them"
                    .formatted(CLASS_WEIGHTS.print(given)));
        }
        return values.of(BALANCED)
                ? new ClassWeights.Balanced()
                : given.isEmpty() ? new ClassWeights.Equal() : new ClassWeights.Given(given);
    }
}
