package dev.espalier.train.task;

import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.util.List;

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
        return new Classification(
                data,
                TaskModel.builder(materials.model(), Classification.signature(data)),
                materials.batching());
    }
}
