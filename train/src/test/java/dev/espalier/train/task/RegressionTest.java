package dev.espalier.train.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.DataException;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.OnnxRuntimeModel;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.DivergedException;
import dev.espalier.train.run.JudgedModel;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.study.Experiment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RegressionTest {
    private static final int ROWS = 600;

    /** Standard deviation of the noise on the price. */
    private static final double NOISE = 1000;

    @TempDir
    Path folder;

    private Path table = Path.of("");

    /** Prices of some 250,000 ± 30,000, which depend on two numbers and a text; four more numbers say nothing. */
    @BeforeEach
    void writeTable() throws IOException {
        Random random = new Random(7);
        StringBuilder text = new StringBuilder("size,age,district,a,b,c,d,price,rent\n");
        for (int row = 0; row < ROWS; row++) {
            double size = 20 + 100 * random.nextDouble();
            double age = 50 * random.nextDouble();
            int district = random.nextInt(3);
            double price = 200_000 + 900 * (size - 70) - 500 * age + 15_000 * district + 6 * (size - 70) * (25 - age);
            text.append(String.format(
                    Locale.ROOT,
                    "%.3f,%.3f,%s,%.3f,%.3f,%.3f,%.3f,%.2f,%.3f%n",
                    size,
                    age,
                    "xyz".charAt(district),
                    random.nextGaussian(),
                    random.nextGaussian(),
                    random.nextGaussian(),
                    random.nextGaussian(),
                    price + NOISE * random.nextGaussian(),
                    4 + 0.01 * size));
        }
        table = folder.resolve("prices.csv");
        Files.writeString(table, text);
    }

    /** The recipe that the documentation shows. */
    private static String sample() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "training.md"));
        int title = page.indexOf("## Estimating numbers");
        int from = page.indexOf("```toml\n", title) + "```toml\n".length();
        return page.substring(from, page.indexOf("```", from));
    }

    private Recipe recipe(String... overrides) throws IOException {
        List<String> all = new ArrayList<>(List.of("data.path=" + table, "training.prune_for=size"));
        all.addAll(List.of(overrides));
        return Recipe.parse("prices.toml", sample(), all);
    }

    private Recipe dense(String... overrides) throws IOException {
        return recipe(overrides).asBaseline();
    }

    private RunResult train(Recipe recipe, String name) throws IOException {
        RunFolder run = new RunFolder(folder.resolve(name));
        return Experiment.of(recipe, run, RunOptions.DEFAULT)
                .begin()
                .orElseThrow()
                .getFirst();
    }

    private static double score(Map<Metric, Double> scores, String name) {
        return scores.entrySet().stream()
                .filter(score -> score.getKey().name().equals(name))
                .findFirst()
                .orElseThrow()
                .getValue();
    }

    /** All the way to a file that ONNX Runtime runs: small, right, and in the labels' unit. */
    @Test
    void aTableOfNumbersIsLearnedAndPruned() throws IOException {
        Recipe recipe = recipe();
        RunResult result = train(recipe, "run");
        assertEquals(
                List.of("rmse", "mae", "r2"),
                result.metrics().stream().map(Metric::name).toList());
        assertEquals(Metric.Unit.LABEL, result.mainMetric().unit());
        assertEquals(Metric.Direction.LOWER, result.mainMetric().direction());
        assertTrue(score(result.prunedScores(), "r2") > 0.98, result.toString());
        assertTrue(score(result.prunedScores(), "rmse") < 4 * NOISE, result.toString());
        assertTrue(score(result.prunedScores(), "rmse") > 0.9 * NOISE, "nobody can know the noise: " + result);
        assertEquals(score(result.scores(), "rmse"), score(result.prunedScores(), "rmse"), 1);
        assertTrue(result.parametersLeft() < 0.7, result.toString());

        RunFolder run = new RunFolder(folder.resolve("run"));
        Task task = Tasks.of(recipe);
        assertNoted(task.encoding().orElseThrow(), run);
        try (OnnxRuntimeModel pruned = new OnnxRuntimeModel(run.pruned(), 1)) {
            Tensor estimate = pruned.run(task.sample()).firstEntry().getValue();
            assertTrue(estimate.getDouble(0) > 100_000 && estimate.getDouble(0) < 400_000, estimate.toString());
        }
        List<Metrics> lines = run.metrics();
        assertEquals(lines.getFirst().metrics(), result.metrics());
        assertTrue(score(lines.getLast().trainScores(), "rmse")
                < score(lines.getFirst().trainScores(), "rmse"));
        assertTrue(task.baseline().orElseThrow() > 20_000, task.baseline().toString());
    }

    /** What was learned about the table is in both files: whoever has them and a row can ask. */
    private static void assertNoted(Encoding encoding, RunFolder run) throws IOException {
        for (Path file : List.of(run.model(), run.pruned())) {
            assertEquals(
                    encoding, EncodingNote.of(OnnxReader.read(file).graph()).orElseThrow());
        }
        List<String> columns =
                encoding.inputs().getFirst().from().stream().map(Field::name).toList();
        assertEquals(List.of("size", "age", "district", "a", "b", "c", "d"), columns);
        assertTrue(
                encoding.inputs().getFirst().from().contains(new Field.Category("district", List.of("x", "y", "z"))));
        assertEquals(215_000, encoding.targets().getFirst().statistics().mean().getFirst(), 30_000);
    }

    /** R² and the others as everybody computes them, from outputs. */
    @Test
    void metricsAreWhatTheirNamesSay() throws IOException {
        for (String loss : List.of("mse", "quantile")) {
            Recipe recipe = recipe("task.kind=regression", "task.loss=" + loss, "task.quantile=0.9");
            Task task = Tasks.of(recipe);
            Graph model = task.model(Weights.seeded(3));
            List<double[]> pairs = new ArrayList<>();
            try (OnnxRuntimeModel runtime = OnnxRuntimeModel.of(model, 1);
                    JudgedModel judged = new JudgedModel(task, model, runtime::run)) {
                Evaluation found = task.evaluate(
                        new Watched(judged, (example, said) -> {
                            for (int i = 0; i < example.size(); i++) {
                                pairs.add(new double[] {
                                    said.getDouble(i), Watched.truth(example).getDouble(i)
                                });
                            }
                        }),
                        Task.Part.TEST);
                double n = pairs.size();
                double mean = pairs.stream().mapToDouble(pair -> pair[1]).sum() / n;
                double squares = pairs.stream()
                        .mapToDouble(p -> (p[0] - p[1]) * (p[0] - p[1]))
                        .sum();
                double spread = pairs.stream()
                        .mapToDouble(p -> (p[1] - mean) * (p[1] - mean))
                        .sum();
                double absolutes =
                        pairs.stream().mapToDouble(p -> Math.abs(p[0] - p[1])).sum();
                double pinball = pairs.stream()
                        .mapToDouble(p -> p[0] > p[1] ? 0.1 * (p[0] - p[1]) : 0.9 * (p[1] - p[0]))
                        .sum();
                assertEquals(Math.sqrt(squares / n), score(found.scores(), "rmse"), 1e-5 * Math.sqrt(squares / n));
                assertEquals(absolutes / n, score(found.scores(), "mae"), 1e-5 * absolutes / n);
                assertEquals(1 - squares / spread, score(found.scores(), "r2"), 1e-5);
                if (loss.equals("quantile")) {
                    assertEquals("pinball", found.main().getKey().name());
                    assertEquals(pinball / n, found.main().getValue(), 1e-5 * pinball / n);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"huber", "mae"})
    void otherLossesLearnToo(String loss) throws IOException {
        RunResult result = train(dense("task.kind=regression", "task.loss=" + loss, "training.epochs=15"), loss);
        assertTrue(score(result.scores(), "r2") > 0.95, result.toString());
    }

    /** Nine of ten lie below what is estimated. */
    @Test
    void aQuantileIsWhatItSays() throws IOException {
        Recipe recipe = dense(
                "task.kind=regression",
                "task.loss=quantile",
                "task.quantile=0.9",
                "data.test_fraction=0.4",
                "training.epochs=20");
        train(recipe, "quantile");
        Task task = Tasks.of(recipe);
        int[] below = {0, 0};
        Path file = new RunFolder(folder.resolve("quantile")).model();
        Graph graph = OnnxReader.read(file).graph();
        try (OnnxRuntimeModel model = new OnnxRuntimeModel(file, 1);
                JudgedModel judged = new JudgedModel(task, graph, model::run)) {
            task.evaluate(
                    new Watched(judged, (example, said) -> {
                        for (int i = 0; i < example.size(); i++) {
                            below[Watched.truth(example).getDouble(i) < said.getDouble(i) ? 0 : 1]++;
                        }
                    }),
                    Task.Part.TEST);
        }
        double share = (double) below[0] / (below[0] + below[1]);
        assertTrue(share > 0.75 && share < 0.99, "share below: " + share);
    }

    /** Prices and rents: their errors are in multiples of their deviations. */
    @Test
    void severalColumnsAreEstimatedAtOnce() throws IOException {
        RunResult result =
                train(dense("data.label=[\"price\",\"rent\"]", "data.ignore=[]", "training.epochs=15"), "several");
        assertEquals(Metric.Unit.NUMBER, result.mainMetric().unit());
        assertTrue(score(result.scores(), "r2") > 0.95, result.toString());
        try (OnnxRuntimeModel model = new OnnxRuntimeModel(new RunFolder(folder.resolve("several")).model(), 1)) {
            Tensor said = model.run(Tasks.of(recipe("data.label=[\"price\",\"rent\"]", "data.ignore=[]"))
                            .sample())
                    .firstEntry()
                    .getValue();
            assertTrue(said.getDouble(0) > 100_000, said.toString());
            assertEquals(4.7, said.getDouble(1), 0.8);
        }
    }

    /** A file that has learned goes on in its unit; one that has not gets the unit put behind it. */
    @Test
    void aFileGoesOnWhereItWas() throws IOException {
        train(dense("training.epochs=15"), "first");
        Path trained = new RunFolder(folder.resolve("first")).model();
        assertEquals(
                Set.of("logits/mean", "logits/deviation"),
                RawInputs.without(OnnxReader.read(trained).graph())
                        .tensors(Initializer.Kind.CONSTANT)
                        .keySet(),
                "units are not trained, now or later");
        RunResult more = train(
                dense("model.kind=onnx", "model.file=" + trained, "training.epochs=1", "optimizer.rate=1e-4"), "more");
        assertTrue(score(more.scores(), "r2") > 0.97, more.toString());

        Path fresh = folder.resolve("fresh.onnx");
        Graph mlp = Mlp.ofVectors(1, 9, List.of(24), Weights.seeded(5));
        OnnxWriter.write(mlp, fresh);
        RunResult learned = train(dense("model.kind=onnx", "model.file=" + fresh, "model.fresh=true"), "fresh");
        assertTrue(score(learned.scores(), "r2") > 0.95, learned.toString());
    }

    /** How bright an image is, on the right more than on the left. */
    @Test
    void imagesAreEstimatedToo() throws IOException {
        Random random = new Random(3);
        float[] images = new float[300 * 64];
        float[] brightness = new float[300];
        for (int i = 0; i < images.length; i++) {
            images[i] = random.nextFloat();
            brightness[i / 64] += images[i] * (i % 8);
        }
        for (int i = 0; i < brightness.length; i++) {
            brightness[i] = 5000 + 10 * brightness[i];
        }
        Npy.write(folder.resolve("x.npy"), images, 300, 1, 8, 8);
        Npy.write(folder.resolve("y.npy"), brightness, 300);
        RunResult result = train(Recipe.parse("images.toml", """
                        [data]
                        kind = "npy"
                        inputs = "x"
                        targets = "y"
                        [model]
                        kind = "small-cnn"
                        channels = [8, 8]
                        [method]
                        kind = "baseline"
                        [optimizer]
                        rate = 1e-2
                        [schedule]
                        kind = "cosine"
                        [training]
                        prune_for = "size"
                        epochs = 15
                        batch_size = 32
                        """, List.of("data.path=" + folder)), "images");
        assertTrue(score(result.scores(), "r2") > 0.5, result.toString());
        assertTrue(score(result.scores(), "mae") < 100, result.toString());
    }

    /** As a table that is no better than its mean would. */
    @Test
    void aTrainingThatGoesNowhereIsGivenUp() {
        String message = String.valueOf(
                assertThrows(DivergedException.class, () -> train(dense("optimizer.rate=1e-9"), "nowhere"))
                        .getMessage());
        assertTrue(message.contains("rmse is ") && message.contains("no better than without learning"), message);
    }

    @Test
    void classesAreNoNumbers() {
        String message = String.valueOf(
                assertThrows(DataException.class, () -> Tasks.of(recipe("data.label=district", "task.kind=regression")))
                        .getMessage());
        assertTrue(
                message.contains("which is no number: for classes set task.kind = \"classification\"")
                        && message.contains("district"),
                message);
    }

    /** The task says what labels are, whatever they look like. */
    @Test
    void wholeNumbersAreEstimatedIfThatIsTheTask() throws IOException {
        StringBuilder text = new StringBuilder("size,rooms\n");
        for (int row = 0; row < 100; row++) {
            text.append(row * 37 % 100).append(',').append(row % 4).append('\n');
        }
        Files.writeString(table, text);
        Task task = Tasks.of(recipe("data.label=rooms", "data.ignore=[]", "task.kind=regression"));
        assertEquals("rmse", task.metrics().getFirst().name());
        Task classes = Tasks.of(recipe("data.label=rooms", "data.ignore=[]", "task.kind=classification"));
        assertEquals("accuracy", classes.metrics().getFirst().name());
    }
}
