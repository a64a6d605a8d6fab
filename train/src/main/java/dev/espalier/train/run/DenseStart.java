package dev.espalier.train.run;

import dev.espalier.data.BatchPosition;
import dev.espalier.engine.Network;
import dev.espalier.engine.Precision;
import dev.espalier.graph.Graph;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.task.Distilled;
import dev.espalier.train.task.Example;
import dev.espalier.train.task.Task;
import dev.espalier.train.task.TaskSection;
import java.lang.foreign.MemorySegment;
import java.util.SequencedMap;

/**
 * A network as it was when groups could first become zero: it teaches what becomes of it. Until then there is nothing to teach, and
 * the task's own objective is all that counts.
 */
final class DenseStart implements AutoCloseable {
    private final Network student;
    private final Network network;
    private final Distilled task;
    private final int first;
    private boolean teaches;

    /**
     * A teacher that has not learned yet.
     *
     * @param recipe says when it begins to teach, and for how much it counts
     * @param task what the student learns
     * @param initial the student's graph
     * @param student the student
     * @param precision how exactly it computes
     */
    DenseStart(Recipe recipe, Task task, Graph initial, Network student, Precision precision) {
        this.student = student;
        this.network = new Network(initial, student.device()).precision(precision);
        this.task = TaskSection.taught(recipe.task(), task, task.fitted().named(network::predict));
        this.first = recipe.phases().warmUpEpochs();
    }

    /** Before a step: when the time has come, takes over what the student has learned, and begins to teach. */
    void beforeStep(BatchPosition next) {
        if (!teaches && next.epoch() >= first) {
            // Later than that, it was read from a checkpoint.
            if (next.epoch() == first && next.batch() == 0) {
                network.load(student.graph());
            }
            student.pursue(task.objective());
            teaches = true;
        }
    }

    /** An example as the student learns from it now. */
    Example of(Example example) {
        return teaches ? task.taught(example) : example;
    }

    /** What the student learns now. */
    Task or(Task own) {
        return teaches ? task : own;
    }

    /** What it has learned, as {@link Network#state}. */
    SequencedMap<String, MemorySegment> state() {
        return network.state();
    }

    void restore() {
        network.restore();
    }

    @Override
    public void close() {
        network.close();
    }
}
