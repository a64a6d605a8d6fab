package dev.espalier.train.task;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.BatchPosition;
import dev.espalier.data.Field;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.Layers;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.OnnxRuntimeModel;
import dev.espalier.train.journal.ModelCard;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.study.Experiment;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.SequencedMap;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of trained models, fed with rows as they stand in a table, and images as they stand in files. */
final class RawInputsTest {
    private static final List<String> COLORS = List.of("blue", "green", "red");
    private static final List<String> CLASSES = List.of("cheap", "dear", "odd");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path folder;

    /** Salaries in ten thousands, shares in thousandths, a colour that decides; now and then a value is missing. */
    @BeforeEach
    void writeTables() throws IOException {
        Random random = new Random(3);
        for (String part : List.of("train", "test")) {
            StringBuilder table = new StringBuilder("salary,color,share,label\n");
            for (int row = 0; row < 300; row++) {
                double salary = 50_000 + 9_000 * random.nextGaussian();
                double share = 0.002 + 0.0005 * random.nextGaussian();
                String color = COLORS.get(random.nextInt(3));
                String label = color.equals("red") ? "odd" : salary * share > 100 ? "dear" : "cheap";
                table.append(random.nextInt(20) == 0 ? "" : String.format(Locale.ROOT, "%.2f", salary))
                        .append(',')
                        .append(random.nextInt(30) == 0 ? "" : color)
                        .append(String.format(Locale.ROOT, ",%.6f,%s%n", share, label));
            }
            Files.writeString(folder.resolve(part + ".csv"), table);
        }
    }

    private Recipe recipe(String... more) {
        List<String> all = new ArrayList<>(List.of("data.path=" + folder));
        all.addAll(List.of(more));
        return Recipe.parse("raw.toml", """
                [data]
                kind = "csv"
                label = "label"
                missing = "mean"
                [model]
                kind = "mlp"
                hidden = [16]
                [penalty]
                kind = "group-lasso"
                lambda = 2e-3
                [optimizer]
                rate = 1e-2
                [training]
                prune_for = "size"
                epochs = 30
                batch_size = 32
                """, all);
    }

    private RunResult train(Recipe recipe, RunFolder run) throws IOException {
        return Experiment.of(recipe, run, RunOptions.DEFAULT)
                .begin()
                .orElseThrow()
                .getFirst();
    }

    private static float[] raw(String line) {
        String[] cells = line.split(",", -1);
        return new float[] {
            cells[0].isEmpty() ? Float.NaN : Float.parseFloat(cells[0]),
            cells[1].isEmpty() ? Float.NaN : COLORS.indexOf(cells[1]),
            Float.parseFloat(cells[2])
        };
    }

    private double accuracy(Path file) throws IOException {
        List<String> rows = Files.readAllLines(folder.resolve("test.csv")).subList(1, 301);
        int right = 0;
        try (OnnxRuntimeModel model = new OnnxRuntimeModel(file, 1)) {
            String input = OnnxReader.read(file).graph().inputs().getFirst().name();
            for (String row : rows) {
                Tensor logits = model.run(Map.of(input, Tensor.of(raw(row), 1, 3)))
                        .firstEntry()
                        .getValue();
                int best = 0;
                for (int i = 1; i < 3; i++) {
                    best = logits.getDouble(i) > logits.getDouble(best) ? i : best;
                }
                right += row.endsWith("," + CLASSES.get(best)) ? 1 : 0;
            }
        }
        return (double) right / rows.size();
    }

    @Test
    void bothFilesSayOfRawRowsWhatTheRunSaysOfThem() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("run"));
        RunResult result = train(recipe(), run);
        double own = result.scores().firstEntry().getValue();
        assertTrue(own > 0.85, result.toString());
        assertEquals(own, accuracy(run.model()), 1e-9);
        assertEquals(own, accuracy(run.pruned()), 1e-9);
        assertTrue(result.parametersLeft() < 1, "pruned as well: " + result);
        ModelCard card = CardNote.of(OnnxReader.read(run.pruned()).graph()).orElseThrow();
        assertEquals(
                List.of(
                        new ModelCard.Column("salary", List.of()),
                        new ModelCard.Column("color", COLORS),
                        new ModelCard.Column("share", List.of())),
                card.inputs().getFirst().columns());
        assertEquals(List.of("batch", "3"), card.inputs().getFirst().shape());
        assertEquals("label", card.outputs().getFirst().target());
        assertEquals(CLASSES, card.outputs().getFirst().names());
        assertEquals(card, ModelCard.parse(Files.readString(run.card())));
        Map<String, String> metadata = OnnxReader.read(run.model()).graph().metadata();
        assertEquals("cheap\ndear\nodd", metadata.get("espalier.classes"));
        assertEquals("salary\ncolor\nshare", metadata.get("espalier.columns"));
        assertEquals("blue\ngreen\nred", metadata.get("espalier.categories.color"));
    }

    /** The encoding inside computes what the encoding of training does. */
    @Test
    void rawRowsAndEncodedRowsAreTheSameToTheModel() throws IOException {
        Task task = Tasks.of(recipe());
        assertSame(task);
        assertSame(Tasks.of(recipe("data.normalize=false")));
        assertSame(Tasks.of(recipe("data.missing=indicate")));
        assertSame(Tasks.of(recipe("data.missing=indicate", "data.inputs=[\"features=share,color,salary\"]")));
        assertSame(Tasks.of(images()));
        assertSame(Tasks.of(images("data.mean=[0.5]", "data.std=[0.25]")));
    }

    /** Dates at any place of a table, before 1970 too, with and without times, and now and then missing. */
    @Test
    void datesAreTheSameToTheModelToo() throws IOException {
        Random random = new Random(7);
        for (String part : List.of("train", "test")) {
            StringBuilder table = new StringBuilder("day,size,time,color,label\n");
            for (int row = 0; row < 200; row++) {
                LocalDate day = LocalDate.ofEpochDay(random.nextInt(40_000) - 20_000);
                table.append(random.nextInt(9) == 0 ? "" : day)
                        .append(String.format(Locale.ROOT, ",%.3f,", random.nextGaussian()))
                        .append(random.nextInt(9) == 0 ? "" : day.atTime(random.nextInt(24), random.nextInt(60)))
                        .append(random.nextInt(9) == 0 ? "," : "," + COLORS.get(random.nextInt(3)))
                        .append(day.getDayOfWeek().getValue() > 5 ? ",rest\n" : ",work\n");
            }
            Files.writeString(folder.resolve(part + ".csv"), table);
        }
        Task task = Tasks.of(recipe("data.missing=indicate"));
        assertEquals(
                List.of(new Field.Numbers("features", List.of(6 + 1 + 8 + 4))),
                task.encoding().orElseThrow().inputFields());
        assertSame(task);
        assertSame(Tasks.of(recipe("data.missing=indicate", "data.inputs=[\"features=size,color,day\"]")));
        assertSame(Tasks.of(recipe("data.missing=mean", "data.normalize=false")));
        Map<String, String> notes =
                RawInputs.of(task, task.model(Weights.seeded(1))).metadata();
        assertEquals("day\nsize\ntime\ncolor", notes.get("espalier.columns"));
        assertEquals("local", notes.get("espalier.dates.day"));
        assertEquals("local", notes.get("espalier.dates.time"));
        assertEquals("\nblue\ngreen\nred", notes.get("espalier.categories.color"));
    }

    /** The channels of a file are where the model has them. */
    @Test
    void channelsMayBeLast() throws IOException {
        GraphBuilder builder = new GraphBuilder("last");
        Layers layers = new Layers(builder, Weights.seeded(1));
        Value image = builder.input("picture", DataType.FLOAT32, "batch", 2, 2, 3);
        Graph model = builder.outputs(layers.linear("said", builder.add("flat", new Flatten(1), image), 2));
        Path file = folder.resolve("last.onnx");
        OnnxWriter.write(model, file);
        Random random = new Random(5);
        for (int i = 0; i < 24; i++) {
            BufferedImage picture = new BufferedImage(2, 2, BufferedImage.TYPE_INT_RGB);
            for (int at = 0; at < 4; at++) {
                picture.setRGB(at % 2, at / 2, random.nextInt());
            }
            Path place = Files.createDirectories(folder.resolve("images").resolve(i % 2 == 0 ? "even" : "odd"));
            ImageIO.write(picture, "png", place.resolve(i + ".png").toFile());
        }
        Recipe recipe = images(
                "data.kind=images",
                "data.dir=" + folder.resolve("images"),
                "data.size=2",
                "data.mean=[0.1,0.2,0.3]",
                "data.std=[0.4,0.5,0.6]",
                "data.channels_last=true",
                "data.blue_first=true",
                "model.kind=onnx",
                "model.file=" + file);
        assertSame(Tasks.of(recipe));
        Task task = Tasks.of(recipe);
        Graph outside = RawInputs.before(
                task.model(Weights.seeded(1)),
                task.encoding().orElseThrow().outside(),
                task.fitted().inputs());
        assertEquals(model.nodes().size(), outside.nodes().size(), "nothing is put in front");
        assertEquals(
                task.encoding().orElseThrow().outside(),
                EncodingNote.of(outside).orElseThrow());
        assertEquals(model.nodes().size(), RawInputs.without(outside).nodes().size());
    }

    /** Rows without labels are nothing for tasks that need them. */
    @Test
    void tasksThatNeedLabelsSaySo() throws IOException {
        for (String kind : List.of("auto", "classification", "regression")) {
            IllegalArgumentException refused = assertThrows(
                    IllegalArgumentException.class,
                    () -> Tasks.of(recipe("task.kind=" + kind, "data.labelled=false", "data.label=[\"-1\"]")));
            assertTrue(
                    String.valueOf(refused.getMessage()).contains("task.kind = " + kind + " needs labels"),
                    refused::getMessage);
        }
    }

    private static Recipe images(String... overrides) {
        return Recipe.parse("images.toml", """
                [data]
                kind = "digits"
                [model]
                kind = "small-cnn"
                channels = [4]
                [method]
                kind = "baseline"
                [optimizer]
                rate = 1e-2
                [training]
                prune_for = "size"
                epochs = 1
                batch_size = 32
                """, List.of(overrides));
    }

    private static void assertSame(Task task) {
        Graph trained = task.model(Weights.seeded(1));
        Graph raw = RawInputs.of(task, trained);
        assertTrue(RawInputs.areIn(raw));
        List<Double> expected = new ArrayList<>();
        List<Double> actual = new ArrayList<>();
        try (OnnxRuntimeModel encodedModel = OnnxRuntimeModel.of(trained, 1);
                OnnxRuntimeModel rawModel = OnnxRuntimeModel.of(raw, 1)) {
            task.evaluate(
                    new Task.Model() {
                        @Override
                        public Terms terms(Example example) {
                            add(expected, encodedModel.run(example.inputs()));
                            add(actual, rawModel.run(example.raw()));
                            return new Terms(new LinkedHashMap<>(Map.of(Objective.LOSS, 0.0, "right", 0.0)));
                        }

                        @Override
                        public SequencedMap<String, Tensor> predict(Map<String, Tensor> inputs) {
                            return rawModel.run(inputs);
                        }

                        @Override
                        public boolean takesRaw() {
                            return true;
                        }
                    },
                    Task.Part.TEST);
        }
        assertFalse(expected.isEmpty());
        assertArrayEquals(
                expected.stream().mapToDouble(Double::doubleValue).toArray(),
                actual.stream().mapToDouble(Double::doubleValue).toArray(),
                1e-4);
    }

    private static void add(List<Double> values, Map<String, Tensor> outputs) {
        outputs.values().forEach(output -> {
            for (long i = 0; i < output.size(); i++) {
                values.add(output.getDouble(i));
            }
        });
    }

    /** What is trained on again is encoded once: by the data, not by the file as well. */
    @Test
    void aFileIsTrainedOnWithoutItsEncoding() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("run"));
        train(recipe(), run);
        for (Path file : List.of(run.model(), run.pruned())) {
            Graph raw = OnnxReader.read(file).graph();
            Graph again = RawInputs.without(raw);
            assertFalse(RawInputs.areIn(again));
            assertEquals(5, again.inputs().getFirst().type().shape().get(1).value(), "two numbers and three colours");
            assertEquals(3, raw.inputs().getFirst().type().shape().get(1).value(), "as many as columns");
            Graph back = RawInputs.like(raw, again);
            assertEquals(raw.inputs(), back.inputs());
            assertEquals(raw.initializers().keySet(), back.initializers().keySet());
            assertEquals(raw.metadata(), back.metadata());
        }
        RunResult second = train(
                recipe("model.kind=onnx", "model.file=" + run.pruned(), "training.epochs=1", "optimizer.rate=1e-6"),
                new RunFolder(folder.resolve("again")));
        assertEquals(
                new RunFolder(run.path())
                        .result()
                        .orElseThrow()
                        .scores()
                        .firstEntry()
                        .getValue(),
                second.scores().firstEntry().getValue(),
                0.02);
    }

    /** Batches of training are encoded, and never raw. */
    @Test
    void trainingSeesEncodedRows() throws IOException {
        Task task = Tasks.of(recipe());
        try (Examples examples = task.examples(1, BatchPosition.START, 1)) {
            Example first = examples.next();
            assertEquals(5, first.inputs().values().iterator().next().shape()[1]);
            assertEquals(first.inputs(), first.raw());
        }
        assertEquals(3, task.sample().values().iterator().next().shape()[1]);
    }
}
