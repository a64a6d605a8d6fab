package dev.espalier.train.run;

import dev.espalier.settings.Values;
import dev.espalier.squad.SquadData;
import dev.espalier.train.recipe.EvaluationRecipe;
import dev.espalier.train.task.Materials;
import dev.espalier.train.task.Task;
import dev.espalier.train.task.TaskKind;
import java.io.IOException;

/** {@code task.kind = "answering"}. */
public final class AnsweringKind implements TaskKind {
    /** Called by the service loader. */
    public AnsweringKind() {}

    @Override
    public String name() {
        return "answering";
    }

    @Override
    public String meaning() {
        return "which piece of a text answers a question?";
    }

    @Override
    public Task open(Values values, Materials materials) throws IOException {
        if (!SquadData.isKindOf(materials.dataValues())) {
            throw new IllegalArgumentException(
                    "task.kind = answering and data.kind = %s do not fit: set data.kind to squad"
                            .formatted(materials.dataValues().kind()));
        }
        return Answering.of(materials, EvaluationRecipe.of(materials.evaluation()));
    }
}
