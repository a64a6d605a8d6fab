package dev.espalier.train.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.Graph;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.JudgedModel;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.run.TrainingRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SequencedMap;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DistilledTest {
    @TempDir
    Path folder;

    private static Recipe recipe(String... overrides) {
        return Recipe.parse("test.toml", """
                [data]
                kind = "digits"
                train_limit = 600
                test_limit = 200
                [model]
                kind = "mlp"
                hidden = [64]
                [method]
                kind = "baseline"
                [optimizer]
                rate = 5e-3
                [training]
                prune_for = "size"
                epochs = 8
                batch_size = 32
                """, List.of(overrides));
    }

    private RunResult train(Recipe recipe, Task task, String name) throws IOException {
        return new TrainingRun(recipe, task, 1, new RunFolder(folder.resolve(name)), RunOptions.DEFAULT)
                .begin()
                .orElseThrow();
    }

    /** With all weight on the teacher, labels count for nothing, and the student gets as good as the teacher nevertheless. */
    @Test
    void aStudentLearnsFromATeachersFileAlone() throws IOException {
        RunResult teacher = train(recipe(), Tasks.of(recipe()), "teacher");
        Path file = new RunFolder(folder.resolve("teacher")).model();
        Recipe recipe = recipe("model.hidden=[24]", "task.teacher=" + file, "task.teacher_weight=1");
        Task task = Tasks.of(recipe);
        assertEquals(Tasks.of(recipe()).metrics(), task.metrics());
        RunResult student = train(recipe, task, "student");
        double expected = teacher.scores().firstEntry().getValue();
        assertTrue(student.scores().firstEntry().getValue() > expected - 0.08, student + " and " + teacher);
        assertTrue(student.loss() < 0.5 * teacher.loss() + 0.5, "the loss is the distance to the teacher: " + student);
    }

    /** A model is as far from itself as it can be near: the distance is 0, for classes, labels and numbers. */
    @Test
    void whoSaysTheSameIsNotFar() throws IOException {
        for (Task task : List.of(Tasks.of(recipe()), numbers(), labels())) {
            Graph model = task.model(Weights.seeded(1));
            Graph other = task.model(Weights.seeded(2));
            assertEquals(0, distance(task, model, model), 1e-5, task.toString());
            assertTrue(distance(task, model, other) > 1e-3, task.toString());
        }
    }

    private static double distance(Task task, Graph model, Graph teacher) {
        Fitted names = task.signature().fit(teacher, "the teacher");
        Task taught = new Distilled(task, names.named(inputs -> Evaluator.run(teacher, inputs)), 1, 3);
        try (JudgedModel judged = new JudgedModel(taught, model, inputs -> Evaluator.run(model, inputs))) {
            return taught.evaluate(judged, Task.Part.TEST).loss();
        }
    }

    private Task numbers() throws IOException {
        LoadedData data = data("number");
        Signature signature = Regression.signature(data);
        return new Regression(
                data,
                weights -> signature.inUnits(mlp(weights)),
                new Batching(32, 64, 1),
                new Regression.Loss.Squares());
    }

    private Task labels() throws IOException {
        return new MultiLabel(data("yes"), DistilledTest::mlp, new Batching(32, 64, 1), new ClassWeights.Equal(), 0);
    }

    private static Graph mlp(Weights weights) {
        return Mlp.ofVectors(1, 2, List.of(16), weights);
    }

    /** {@code number = 3 a − 2 b} with much noise, and whether it is above 0 without. */
    private LoadedData data(String label) throws IOException {
        Random random = new Random(9);
        List<String> lines = new ArrayList<>(List.of("a,b,number,yes"));
        for (int row = 0; row < 400; row++) {
            double a = random.nextGaussian();
            double b = random.nextGaussian();
            double number = 3 * a - 2 * b;
            lines.add("%s,%s,%s,%s".formatted(a, b, number + 20 * random.nextGaussian(), number > 0 ? 1 : 0));
        }
        Path file = folder.resolve("numbers.csv");
        Files.write(file, lines);
        return DataSection.load(
                DataSection.read(
                        "data.kind=csv",
                        "data.path=" + file,
                        "data.label=" + label,
                        "data.label_type=number",
                        "data.normalize=false",
                        "data.ignore=[\"" + (label.equals("yes") ? "number" : "yes") + "\"]"),
                Context.QUIET);
    }

    /** Labels are nearly all noise. A teacher that knows better makes a student that does. */
    @Test
    void anyTaskCanHaveATeacherInJava() throws IOException {
        Function<Map<String, Tensor>, SequencedMap<String, Tensor>> teacher = inputs -> {
            Tensor rows = inputs.values().iterator().next();
            long batch = rows.shape()[0];
            Tensor said = Tensor.compute(
                    DataType.FLOAT32,
                    new long[] {batch, 1},
                    i -> 3 * rows.getDouble(2 * i) - 2 * rows.getDouble(2 * i + 1));
            return new LinkedHashMap<>(Map.of("number", said));
        };
        Recipe recipe = recipe("data.kind=csv", "data.path=none", "model.kind=own", "divergence.chance_epochs=0");
        Task taught = new Distilled(numbers(), teacher, 1, 1);
        double left = train(recipe, taught, "taught").loss();
        // What is to be known is 13 of the label's variance of 413.
        assertTrue(left < 0.1 * 13 / 413, "distance from the teacher, in variances of the label: " + left);
    }

    @Test
    void aTeacherMustFitTheTask() throws IOException {
        train(recipe("training.epochs=1", "divergence.chance_epochs=0"), Tasks.of(recipe()), "teacher");
        Path file = new RunFolder(folder.resolve("teacher")).model();
        String message = String.valueOf(assertThrows(
                        IllegalArgumentException.class,
                        () -> Tasks.of(recipe("data.kind=csv", "data.path=" + table(), "task.teacher=" + file)))
                .getMessage());
        assertTrue(message.contains("task.teacher = " + file + " does not fit"), message);
    }

    private Path table() throws IOException {
        data("number");
        return folder.resolve("numbers.csv");
    }
}
