package dev.espalier.train.task;

import dev.espalier.data.DataSection;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.Function;

/** {@code task.kind = "classification"}. */
public final class ClassificationKind implements TaskKind {
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
    public boolean suits(List<Field> targets) {
        return targets.size() == 1 && targets.getFirst() instanceof Field.Category;
    }

    @Override
    public Task open(Values values, Materials materials) throws IOException {
        LoadedData data = materials.data();
        Function<Weights, Graph> builder = TaskModel.builder(materials.model(), Classification.signature(data));
        try {
            return new Classification(
                    data,
                    builder,
                    Classification.batches(
                            materials.batchSize(), materials.dataValues().of(DataSection.LOADERS)),
                    materials.evaluationBatchSize());
        } catch (UncheckedIOException unread) {
            throw unread.getCause();
        }
    }
}
