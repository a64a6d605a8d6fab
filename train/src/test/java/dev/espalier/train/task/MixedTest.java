package dev.espalier.train.task;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.BatchPosition;
import dev.espalier.graph.Graph;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.JudgedModel;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.run.TrainingRun;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MixedTest {
    private static final String SHARE = "mixup/share";
    private static final String CLASS = "label";
    private static final String PARTNER = "mixup/partner/" + CLASS;

    @TempDir
    Path folder;

    private static Recipe recipe(String... overrides) {
        return Recipe.parse("test.toml", """
                [data]
                kind = "digits"
                padding = 1
                train_limit = 600
                test_limit = 200
                [model]
                kind = "mlp"
                hidden = [64]
                [penalty]
                kind = "group-lasso"
                lambda = 0.005
                [optimizer]
                rate = 5e-3
                [training]
                prune_for = "size"
                epochs = 3
                batch_size = 32
                """, List.of(overrides));
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Seen(float[] images, long[] classes, long[] partners, double share) {
        static Seen of(Example example) {
            Tensor image = example.inputs().values().iterator().next();
            Map<String, Tensor> targets = example.targets();
            boolean mixed = targets.containsKey(SHARE);
            return new Seen(
                    image.toFloats(),
                    target(example, CLASS).toLongs(),
                    target(example, mixed ? PARTNER : CLASS).toLongs(),
                    mixed ? target(example, SHARE).getDouble(0) : 1);
        }
    }

    private static Tensor target(Example example, String name) {
        return Objects.requireNonNull(example.targets().get(name), name);
    }

    private static List<Seen> seen(Task task, BatchPosition first, long epochs) {
        List<Seen> seen = new ArrayList<>();
        try (Examples examples = task.examples(7, first, epochs)) {
            examples.forEachRemaining(example -> seen.add(Seen.of(example)));
        }
        return seen;
    }

    /** Every sample is what the share says of itself and of the one at the same place from the end, whose class is its partner's. */
    @Test
    void samplesAreMixedWithTheirPartners() throws IOException {
        List<Seen> plain = seen(Tasks.of(recipe()), BatchPosition.START, 1);
        List<Seen> mixed = seen(Tasks.of(recipe("task.mixup=1")), BatchPosition.START, 1);
        assertEquals(plain.size(), mixed.size());
        for (int batch = 0; batch < plain.size(); batch++) {
            Seen before = plain.get(batch);
            Seen after = mixed.get(batch);
            int rows = before.classes.length;
            int pixels = before.images.length / rows;
            assertTrue(after.share >= 0 && after.share <= 1, "share " + after.share);
            assertArrayEquals(before.classes, after.classes);
            for (int row = 0; row < rows; row++) {
                int partner = rows - 1 - row;
                assertEquals(before.classes[partner], after.partners[row]);
                for (int i = 0; i < pixels; i++) {
                    double expected = after.share * before.images[row * pixels + i]
                            + (1 - after.share) * before.images[partner * pixels + i];
                    assertEquals(expected, after.images[row * pixels + i], 1e-5);
                }
            }
        }
        assertEquals(mixed.size(), mixed.stream().map(Seen::share).distinct().count(), "each batch has its own share");
    }

    /** A run that goes on sees what it would have seen. */
    @Test
    void sharesBelongToBatches() throws IOException {
        Task task = Tasks.of(recipe("task.mixup=0.4"));
        List<Seen> all = seen(task, BatchPosition.START, 2);
        int from = 5;
        List<Seen> rest = seen(task, new BatchPosition(0, from), 2);
        assertEquals(all.size(), from + rest.size());
        for (int batch = 0; batch < rest.size(); batch++) {
            assertEquals(all.get(from + batch).share, rest.get(batch).share);
            assertArrayEquals(all.get(from + batch).images, rest.get(batch).images);
        }
    }

    /** The loss is that by the own classes and that by the partners', by their shares. */
    @Test
    void theLossIsSharedLikeTheSamples() throws IOException {
        Task plain = Tasks.of(recipe("task.kind=classification", "task.label_smoothing=0.1"));
        Task mixed = Tasks.of(recipe("task.kind=classification", "task.label_smoothing=0.1", "task.mixup=1"));
        Graph model = plain.model(Weights.seeded(3));
        try (Examples examples = mixed.examples(7, BatchPosition.START, 1)) {
            Example example = examples.next();
            double share = target(example, SHARE).getDouble(0);
            double own = loss(plain, model, example, target(example, CLASS));
            double partners = loss(plain, model, example, target(example, PARTNER));
            assertTrue(Math.abs(own - partners) > 1e-3, "a batch for which the share matters");
            double loss = loss(mixed, model, example, target(example, CLASS));
            assertEquals(share * own + (1 - share) * partners, loss, 1e-5);
        }
    }

    private static double loss(Task task, Graph model, Example example, Tensor classes) {
        Map<String, Tensor> inputs = new LinkedHashMap<>(example.inputs());
        example.targets().forEach((name, target) -> inputs.put(Objective.input(name), target));
        inputs.put(Objective.input(CLASS), classes);
        Graph behind = task.objective().behind(model);
        behind.inputs().forEach(input -> assertTrue(inputs.containsKey(input.name()), input.name()));
        inputs.keySet()
                .removeIf(name ->
                        behind.inputs().stream().noneMatch(input -> input.name().equals(name)));
        Tensor loss = Evaluator.run(behind, inputs).get(Objective.output(Objective.LOSS));
        return Objects.requireNonNull(loss).getDouble(0);
    }

    /** Who is judged sees samples as they are. */
    @Test
    void nothingIsMixedForWhoIsJudged() throws IOException {
        Task plain = Tasks.of(recipe());
        Task mixed = Tasks.of(recipe("task.mixup=1"));
        Graph model = plain.model(Weights.seeded(3));
        assertEquals(judged(plain, model), judged(mixed, model));
        assertTrue(Tasks.of(recipe("data.padding=0")).isRepeatable());
        assertFalse(Tasks.of(recipe("data.padding=0", "task.mixup=1")).isRepeatable());
    }

    private static Evaluation judged(Task task, Graph model) {
        try (JudgedModel judged = new JudgedModel(task, model, inputs -> Evaluator.run(model, inputs))) {
            return task.evaluate(judged, Task.Part.TEST);
        }
    }

    /** A teacher is asked about the samples that the student sees. */
    @Test
    void whoTeachesIsShownWhatIsMixed() throws IOException {
        Task mixed = Tasks.of(recipe("task.mixup=1"));
        List<float[]> shown = new ArrayList<>();
        Graph model = mixed.model(Weights.seeded(3));
        Task taught = new Distilled(
                mixed,
                mixed.fitted().named(inputs -> {
                    shown.add(inputs.values().iterator().next().toFloats());
                    return Evaluator.run(model, inputs);
                }),
                0.5,
                2);
        List<Seen> seen = seen(taught, BatchPosition.START, 1);
        assertEquals(seen.size(), shown.size());
        for (int batch = 0; batch < seen.size(); batch++) {
            assertArrayEquals(seen.get(batch).images, shown.get(batch));
        }
    }

    @Test
    void whatAnOriginalSaysOfMixedSamplesNobodyAsked() throws IOException {
        Recipe first = recipe("training.epochs=1");
        new TrainingRun(first, Tasks.of(first), 1, new RunFolder(folder.resolve("original")), RunOptions.DEFAULT)
                .begin();
        Recipe recipe = recipe(
                "task.kind=imitation",
                "task.mixup=0.2",
                "model.kind=onnx",
                "model.file=" + new RunFolder(folder.resolve("original")).model());
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> Tasks.of(recipe))
                .getMessage());
        assertTrue(message.contains("task.mixup = 0.2 and task.kind = imitation exclude each other"), message);
    }

    /** Through all phases, with the dense start as teacher. */
    @Test
    void mixedSamplesAreLearnedFrom() throws IOException {
        Recipe recipe = recipe(
                "task.mixup=0.4",
                "task.start_teaches=true",
                "phases.warm_up_epochs=6",
                "phases.heal_epochs=6",
                "data.padding=0",
                "penalty.lambda=0.002");
        RunResult result = new TrainingRun(
                        recipe, Tasks.of(recipe), 1, new RunFolder(folder.resolve("run")), RunOptions.DEFAULT)
                .begin()
                .orElseThrow();
        assertTrue(result.scores().firstEntry().getValue() > 0.85, result.toString());
    }
}
