package dev.espalier.train.task;

import dev.espalier.graph.Graph;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.OnnxRuntimeModel;
import dev.espalier.settings.Conflict;
import dev.espalier.settings.Key;
import dev.espalier.settings.Kinds;
import dev.espalier.settings.Range;
import dev.espalier.settings.Section;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.ServiceLoader;
import java.util.function.Function;

/** The section {@code [task]} of a recipe: all kinds of tasks that are on the class path, and the teacher that each may have. */
public final class TaskSection {
    private static final Key<String> TEACHER = Key.location(
                    "task.teacher",
                    "an ONNX file whose answers are learned too, relative to where the program is started; if empty, there is none")
            .withDefault("")
            .changeable();
    private static final Key<Double> TEACHER_WEIGHT = Key.decimal(
                    "task.teacher_weight",
                    "how much of the loss is the distance from the teacher; the rest is the task's own")
            .in(Range.share())
            .withDefault(0.5);
    private static final Key<Boolean> START_TEACHES = Key.flag(
                    "task.start_teaches",
                    "whether the teacher is the model itself, as it was when groups could first become zero: after"
                            + " `phases.warm_up_epochs`, or as it came")
            .withDefault(false);
    static final Key<Double> TEMPERATURE = Key.decimal(
                    "task.temperature", "what logits are divided by before they are compared with the teacher's")
            .in(Range.positive())
            .withDefault(2.0);

    private static final Key<Double> MIXUP = Key.decimal(
                    "task.mixup",
                    "how far training mixes each sample with another: α of the beta distribution that shares are drawn from; 0 does not,"
                            + " 0.2 to 1 are usual")
            .in(Range.share())
            .withDefault(0.0);

    /** All kinds, our own and those of others. */
    public static final Kinds<TaskKind> KINDS = Kinds.found(ServiceLoader.load(TaskKind.class));

    /** The section. */
    public static final Section SECTION = Section.of(
            "task",
            "what is learned; `auto` is what the data suggests",
            KINDS,
            Optional.of(AutoTask.NAME),
            List.of(MIXUP, TEACHER, START_TEACHES, TEACHER_WEIGHT, TEMPERATURE));

    private TaskSection() {}

    /**
     * Makes the task.
     *
     * @param values the section's values
     * @param materials what it is made of
     * @return the task, with its data loaded
     * @throws IOException if the data, the model or the teacher cannot be read
     */
    public static Task open(Values values, Materials materials) throws IOException {
        try {
            Task task = mixed(KINDS.of(values).open(values, materials), values);
            return values.of(TEACHER).isEmpty() ? task : taught(task, values);
        } catch (UncheckedIOException unread) { // by a builder of models, which may be called from anywhere
            throw unread.getCause();
        }
    }

    /**
     * Whether a model learns from what it was itself, when groups could first become zero.
     *
     * @param values the section's values
     * @return false if nobody teaches, or a file
     */
    public static boolean startTeaches(Values values) {
        return values.of(START_TEACHES);
    }

    /**
     * One teacher is enough.
     *
     * @param values the section's values
     * @return what is wrong with them, if two are asked for
     */
    public static List<Conflict> twoTeachers(Values values) {
        return Conflict.unless(
                !startTeaches(values) || values.of(TEACHER).isEmpty(),
                START_TEACHES.path(),
                START_TEACHES + " and " + TEACHER + " = " + values.of(TEACHER) + " exclude each other: leave one out");
    }

    /**
     * A task with a teacher, who counts for as much as the section says.
     *
     * @param values the section's values
     * @param task the task
     * @param teacher from inputs to outputs, all by the task's names; see {@link Fitted#named}
     * @return the task
     */
    public static Distilled taught(
            Values values, Task task, Function<Map<String, Tensor>, SequencedMap<String, Tensor>> teacher) {
        return new Distilled(task, teacher, values.of(TEACHER_WEIGHT), values.of(TEMPERATURE));
    }

    private static Task mixed(Task task, Values values) {
        return values.of(MIXUP) == 0 ? task : new Mixed(task, values.of(MIXUP));
    }

    private static Task taught(Task task, Values values) throws IOException {
        Path file = Path.of(values.of(TEACHER));
        Graph graph = OnnxReader.read(file).graph();
        // What the student is fed with is encoded already.
        Graph encoded = RawInputs.without(graph);
        Fitted teacher = task.signature().fit(encoded, TEACHER + " = " + file);
        int threads = Runtime.getRuntime().availableProcessors();
        OnnxRuntimeModel runtime =
                RawInputs.areIn(graph) ? OnnxRuntimeModel.of(encoded, threads) : new OnnxRuntimeModel(file, threads);
        return taught(values, task, teacher.named(runtime::run));
    }
}
