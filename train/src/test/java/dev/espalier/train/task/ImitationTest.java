package dev.espalier.train.task;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.BatchPosition;
import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.SmallCnn;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.run.TrainedModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ImitationTest {
    private static final ImageOptions DIGITS = new ImageOptions(10, 1, 8);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init") // see below
    private Path file;

    @BeforeEach
    void writeModel() throws IOException {
        file = write(Mlp.ofImages(DIGITS, List.of(12), Weights.seeded(5)));
    }

    private Path write(Graph model) throws IOException {
        Path written = folder.resolve(model.name() + ".onnx");
        OnnxWriter.write(model, written);
        return written;
    }

    private Task task(Path model, String... overrides) throws IOException {
        List<String> all = new ArrayList<>(List.of("model.file=" + model));
        all.addAll(List.of(overrides));
        return Tasks.of(Recipe.parse("test.toml", """
                [data]
                kind = "digits"
                train_limit = 70
                test_limit = 40
                [model]
                kind = "onnx"
                [task]
                kind = "imitation"
                [method]
                kind = "baseline"
                [optimizer]
                rate = 1e-3
                [training]
                epochs = 1
                batch_size = 32
                """, all));
    }

    private static Evaluation evaluate(Task task, Graph model) {
        try (Network network = new Network(model, task.objective(), Device.CPU)) {
            return task.evaluate(new TrainedModel(network), Task.Part.TEST);
        }
    }

    private static double firstLoss(Task task, Graph model) {
        try (Network network = new Network(model, task.objective(), Device.CPU);
                Examples examples = task.examples(3, new BatchPosition(0, 0), 1)) {
            Example example = examples.next();
            return network.addGradients(example.inputs(), example.targets(), 1).loss();
        }
    }

    @Test
    void aModelThatIsItsOriginalHasNothingToLearn() throws IOException {
        Task task = task(file, "task.noise=0");
        Evaluation same = evaluate(task, task.model(Weights.seeded(1)));
        assertEquals(0, same.loss(), 1e-6);
        assertEquals(Map.of(Likeness.AGREEMENT, 1.0), same.scores());
        assertTrue(
                task.notes().getFirst().startsWith("output logits [batch × 10] is compared as logits"),
                task.notes().toString());
    }

    @Test
    void onlyOutputsThatAreWantedCount() throws IOException {
        GraphBuilder builder = new GraphBuilder("two");
        Value image = builder.input("image", DataType.FLOAT32, "batch", 1, 8, 8);
        Value one = builder.add("one", new Unary(Unary.Function.TANH), image);
        Value other = builder.add("other", new Unary(Unary.Function.ABS), image);
        Path two = write(builder.outputs(one, other));
        assertEquals(2, task(two).notes().size());
        List<String> notes = task(two, "task.outputs=[\"one\"]").notes();
        assertEquals(
                "output other [batch × 1 × 8 × 8] is not compared, and becomes whatever it becomes", notes.getFirst());
        assertTrue(
                notes.getLast().startsWith("output one [batch × 1 × 8 × 8] is compared as numbers"), notes::toString);
        String message =
                String.valueOf(assertThrows(IllegalArgumentException.class, () -> task(two, "task.outputs=[\"three\"]"))
                        .getMessage());
        assertTrue(message.endsWith("the model has the outputs [one, other]"), message);
    }

    @Test
    void itStartsALittleOff() throws IOException {
        Task task = task(file, "task.noise=0.1");
        Graph start = task.model(Weights.seeded(1));
        Evaluation off = evaluate(task, start);
        assertTrue(off.loss() > 1e-5, off.toString());
        assertTrue(off.scores().firstEntry().getValue() > 0.7, off.toString());
        assertArrayEquals(
                start.tensors(Kind.PARAMETER).firstEntry().getValue().toFloats(),
                task(file, "task.noise=0.1")
                        .model(Weights.seeded(1))
                        .tensors(Kind.PARAMETER)
                        .firstEntry()
                        .getValue()
                        .toFloats());
    }

    /** Who computes the answers changes nothing but how fast they come. */
    @Test
    void allWaysToTheAnswersAreTheSame() throws IOException {
        Path kept = folder.resolve("kept");
        Task engine = task(file, "task.noise=0.1", "task.answers=engine");
        Graph start = engine.model(Weights.seeded(1));
        double loss = firstLoss(engine, start);
        Evaluation found = evaluate(engine, start);
        for (Task other : List.of(
                task(file, "task.noise=0.1", "task.answers=runtime"),
                task(file, "task.noise=0.1", "task.answers=kept", "task.answers_dir=" + kept))) {
            assertEquals(loss, firstLoss(other, start), 1e-4 * loss);
            Evaluation again = evaluate(other, start);
            assertEquals(found.loss(), again.loss(), 1e-4 * found.loss());
            assertEquals(found.scores(), again.scores());
        }
    }

    /** What is kept is used again, unless it is damaged or of something else. */
    @Test
    void answersAreKeptAndChecked() throws IOException {
        Path kept = folder.resolve("kept");
        String[] settings = {"task.answers=kept", "task.answers_dir=" + kept};
        Task first = task(file, settings);
        double loss = firstLoss(first, first.model(Weights.seeded(1)));
        Path train = kept.resolve("train.bin");
        byte[] whole = Files.readAllBytes(train);
        byte[] damaged = whole.clone();
        damaged[whole.length / 2] ^= 4;
        for (byte[] found : List.of(damaged, Arrays.copyOf(whole, whole.length - 100), new byte[7])) {
            Files.write(train, found);
            Task again = task(file, settings);
            assertEquals(loss, firstLoss(again, again.model(Weights.seeded(1))));
            assertArrayEquals(whole, Files.readAllBytes(train));
        }
        task(write(Mlp.ofImages(DIGITS, List.of(7), Weights.seeded(6))), settings);
        assertFalse(Arrays.equals(whole, Files.readAllBytes(train)), "of another model");
        String message =
                String.valueOf(assertThrows(IllegalArgumentException.class, () -> task(file, "task.answers=kept"))
                        .getMessage());
        assertTrue(message.contains("task.answers_dir"), message);
    }

    /** Neither statistics of batches nor dropout: in training it says what it says afterwards. */
    @Test
    void batchNormalisationsGoByTheirStatistics() throws IOException {
        Path cnn = write(SmallCnn.build(DIGITS, List.of(4, 4), true, Weights.seeded(5)));
        Task task = task(cnn, "task.noise=0");
        assertEquals(0, firstLoss(task, task.model(Weights.seeded(1))), 1e-6);
    }

    @Test
    void outputsAreComparedByWhatTheyAre() throws IOException {
        Task probabilities = task(write(behind(new Softmax(-1, false))), "task.noise=0.2");
        assertTrue(probabilities.notes().getFirst().contains("probabilities of classes"));
        Evaluation found = evaluate(probabilities, probabilities.model(Weights.seeded(1)));
        assertTrue(found.loss() > 0 && found.scores().containsKey(Likeness.AGREEMENT), found.toString());
        for (Map.Entry<String, Metric> loss : Map.of(
                        "mse", Likeness.R2, "cosine", Likeness.COSINE, "kl", Likeness.AGREEMENT)
                .entrySet()) {
            Task task = task(file, "task.noise=0.05", "task.loss=" + loss.getKey());
            Evaluation near = evaluate(task, task.model(Weights.seeded(1)));
            assertEquals(List.of(loss.getValue()), List.copyOf(near.scores().keySet()));
            double score = near.scores().firstEntry().getValue();
            assertTrue(score > 0.8 && score <= 1, loss + ": " + near);
        }
    }

    @Test
    void tensorsWithinAreComparedToo() throws IOException {
        Task alone = task(file, "task.noise=0.1");
        String inner = alone.model(Weights.seeded(1)).nodes().get(1).output();
        Task both = task(file, "task.noise=0.1", "task.match=['" + inner + "']", "task.match_weight=1");
        Graph start = alone.model(Weights.seeded(1));
        assertTrue(firstLoss(both, start) > firstLoss(alone, start));
        assertEquals(alone.metrics(), both.metrics());
        String message =
                String.valueOf(assertThrows(IllegalArgumentException.class, () -> task(file, "task.match=['nothing']"))
                        .getMessage());
        assertTrue(message.contains("task.match names nothing"), message);
    }

    /** The model with one more node behind its output. */
    private static Graph behind(Operator operator) {
        Graph model = Mlp.ofImages(DIGITS, List.of(12), Weights.seeded(5));
        GraphBuilder builder = GraphBuilder.from(model);
        return builder.outputs(
                builder.add("last", operator, builder.value(model.outputs().getFirst())));
    }

    @Test
    void whatCannotBeImitatedIsRefused() throws IOException {
        Graph model = Mlp.ofImages(DIGITS, List.of(12), Weights.seeded(5));
        GraphBuilder builder = GraphBuilder.from(model);
        Value zero = builder.constant("zero", Tensor.scalar(DataType.FLOAT32, 0));
        Value same = builder.add(
                "same",
                new Binary(Binary.Function.MULTIPLY),
                builder.value(model.outputs().getFirst()),
                zero);
        Path idle = write(builder.outputs(same));
        String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> task(idle)).getMessage());
        assertTrue(message.contains("does not depend on its inputs"), message);

        Path undefined = write(behind(new Unary(Unary.Function.LOG)));
        message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> task(undefined))
                .getMessage());
        assertTrue(message.startsWith("the original says ") && message.contains("of row 1"), message);

        Path whole = write(behind(new Reduce(Reduce.Function.SUM, List.of(), false)));
        message = String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> task(whole)).getMessage());
        assertTrue(message.contains("nothing to imitate"), message);
    }
}
