package dev.espalier.train.study;

import dev.espalier.data.DataSection;
import dev.espalier.settings.Section;
import dev.espalier.train.model.ModelSection;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.task.Task;
import dev.espalier.train.task.TaskSection;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Loaded data and what is learned from it, for trials one after the other: those with the same data, task, model and batches need it loaded once.
 * A trial has a task for itself while it runs.
 */
final class TaskPool implements TaskSource {
    private static final List<Section> DECISIVE =
            List.of(DataSection.SECTION, TaskSection.SECTION, ModelSection.SECTION);

    private final int kept;
    private final Deque<Idle> idle = new ArrayDeque<>();

    /** A task that nobody uses, and what it was loaded by. */
    private record Idle(String key, Task task) {}

    /**
     * A pool.
     *
     * @param kept how many tasks that nobody uses are kept, the newest
     */
    TaskPool(int kept) {
        this.kept = kept;
    }

    @Override
    public Task take(Recipe recipe, TrainingListener listener) throws IOException {
        String key = key(recipe);
        synchronized (idle) {
            for (Iterator<Idle> all = idle.iterator(); all.hasNext(); ) {
                Idle one = all.next();
                if (one.key().equals(key)) {
                    all.remove();
                    return one.task();
                }
            }
        }
        return Tasks.of(recipe, listener);
    }

    @Override
    public void giveBack(Recipe recipe, Task task) {
        synchronized (idle) {
            idle.addFirst(new Idle(key(recipe), task));
            while (idle.size() > kept) {
                idle.removeLast();
            }
        }
    }

    private static String key(Recipe recipe) {
        return DECISIVE.stream()
                        .map(section -> recipe.settings().section(section).toToml())
                        .collect(Collectors.joining())
                + recipe.batching();
    }
}
