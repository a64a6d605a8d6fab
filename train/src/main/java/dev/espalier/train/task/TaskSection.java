package dev.espalier.train.task;

import dev.espalier.settings.Kinds;
import dev.espalier.settings.Section;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/** The section {@code [task]} of a recipe: all kinds of tasks that are on the class path. */
public final class TaskSection {
    /** All kinds, our own and those of others. */
    public static final Kinds<TaskKind> KINDS = Kinds.found(ServiceLoader.load(TaskKind.class));

    /** The section. */
    public static final Section SECTION = Section.of(
            "task", "what is learned; `auto` is what the data suggests", KINDS, Optional.of(AutoTask.NAME), List.of());

    private TaskSection() {}

    /**
     * Makes the task.
     *
     * @param values the section's values
     * @param materials what it is made of
     * @return the task, with its data loaded
     * @throws IOException if the data or the model cannot be read
     */
    public static Task open(Values values, Materials materials) throws IOException {
        try {
            return KINDS.of(values).open(values, materials);
        } catch (UncheckedIOException unread) { // by a builder of models, which may be called from anywhere
            throw unread.getCause();
        }
    }
}
