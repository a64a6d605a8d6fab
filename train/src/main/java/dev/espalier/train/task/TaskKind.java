package dev.espalier.train.task;

import dev.espalier.data.Field;
import dev.espalier.settings.Kind;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.util.List;

/**
 * A kind of task: {@code task.kind} by name, its own keys, and what it makes of their values.
 *
 * <p>Kinds are services. Somebody else's is a public class with a constructor without arguments, whose name stands in a file
 * {@code META-INF/services/dev.espalier.train.task.TaskKind}; nothing of ours has to know it.
 */
public interface TaskKind extends Kind {
    /**
     * Whether it is what one would do with such data, if nobody says: {@code task.kind = "auto"} looks for it.
     *
     * @param targets what the data has to be said
     * @return false if it has to be asked for by name
     */
    default boolean suits(List<Field> targets) {
        return false;
    }

    /**
     * Makes the task.
     *
     * @param values the values of {@code [task]}
     * @param materials what it is made of
     * @return the task, with its data loaded
     * @throws IOException if the data or the model cannot be read
     * @throws IllegalArgumentException if data and model are not for this task; the message says what to change
     */
    Task open(Values values, Materials materials) throws IOException;
}
