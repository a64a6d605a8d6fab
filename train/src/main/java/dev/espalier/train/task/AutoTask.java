package dev.espalier.train.task;

import dev.espalier.data.DataSection;
import dev.espalier.data.Field;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** {@code task.kind = "auto"}: what the data suggests. */
public final class AutoTask implements TaskKind {
    static final String NAME = "auto";

    /** Called by the service loader. */
    public AutoTask() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String meaning() {
        return "what the data suggests";
    }

    @Override
    public Task open(Values values, Materials materials) throws IOException {
        Values data = materials.dataValues();
        Optional<String> suggested = DataSection.KINDS.of(data).task(data);
        String kind = suggested.isPresent() ? suggested.get() : suiting(materials);
        return TaskSection.open(Values.defaults(TaskSection.SECTION, kind), materials);
    }

    private static String suiting(Materials materials) throws IOException {
        materials.data().requireTargets("task.kind = auto");
        List<Field> targets = materials.data().targets();
        List<String> suiting = TaskSection.KINDS.all().stream()
                .filter(kind -> kind.suits(targets))
                .map(TaskKind::name)
                .toList();
        if (suiting.size() != 1) {
            throw new IllegalArgumentException(
                    "task.kind = auto finds %s for %s, whose targets are %s: set task.kind to one of %s"
                            .formatted(
                                    suiting.isEmpty() ? "nothing" : String.join(" and ", suiting),
                                    materials.data().train().name(),
                                    targets,
                                    TaskSection.KINDS.names().stream()
                                            .filter(name -> !name.equals(NAME))
                                            .toList()));
        }
        return suiting.getFirst();
    }
}
