package dev.espalier.train.inputs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Batch;
import dev.espalier.data.Batches;
import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.OnnxRuntimeModel;
import dev.espalier.train.task.EncodingNote;
import dev.espalier.train.task.Fitted;
import dev.espalier.train.task.Signature;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** From files and folders to settings, for models that others made. */
final class InputsGuessTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path folder;

    /** Data often lies in a folder that is called as its kind is: the name is the kind's, and the folder is ./digits. */
    @Test
    void aKindGoesBeforeAFolderOfItsName() throws IOException {
        assertTrue(Files.isDirectory(Path.of("src"))); // where tests run
        Graph model = of("image", "batch", 1, 8, 8);
        Path here = Files.createDirectory(Path.of("digits"));
        try {
            assertEquals(
                    "data.kind=digits",
                    InputsGuess.of("digits", folder.resolve("model.onnx"), model, List.of())
                            .settings()
                            .getFirst());
        } finally {
            Files.delete(here);
        }
    }

    /** A model that says its inputs, all of them of fractions. */
    private static Graph of(String name, Object... shape) {
        GraphBuilder graph = new GraphBuilder("of");
        return graph.outputs(
                graph.add("y", new Unary(Unary.Function.RELU), graph.input(name, DataType.FLOAT32, shape)));
    }

    /** A model that looks 7 tokens up, and hides some. */
    private static Graph reader(Object length, String ids, String mask) {
        GraphBuilder graph = new GraphBuilder("reader");
        Value tokens = graph.input(ids, DataType.INT64, "batch", length);
        Value there = graph.input(mask, DataType.INT64, "batch", length);
        Value table = graph.parameter("position.weight", Tensor.of(new float[14], 7, 2));
        Value found = graph.add("found", new Gather(0), table, tokens);
        Value weight =
                graph.add("weight", new Unsqueeze(List.of(2L)), graph.add("cast", new Cast(DataType.FLOAT32), there));
        return graph.outputs(graph.add("y", new Binary(Binary.Function.MULTIPLY), found, weight));
    }

    private InputsGuess guess(Graph graph, Path what, String... given) throws IOException {
        return InputsGuess.of(what.toString(), folder.resolve("model.onnx"), graph, List.of(given));
    }

    private static void assertRefused(Executable guess, String... parts) {
        String message = String.valueOf(assertThrows(Exception.class, guess).getMessage());
        for (String part : parts) {
            assertTrue(message.contains(part), () -> "expected '" + part + "' in: " + message);
        }
    }

    private Path images() throws IOException {
        Path images = Files.createDirectories(folder.resolve("images/some"));
        for (int i = 0; i < 5; i++) {
            ImageIO.write(
                    new BufferedImage(3, 5, BufferedImage.TYPE_INT_RGB),
                    "png",
                    images.resolve(i + ".png").toFile());
        }
        return folder.resolve("images");
    }

    private LoadedData load(InputsGuess guess, Graph graph) throws IOException {
        return DataSection.load(
                guess.values(),
                new Context(Context.QUIET.progress(), Optional.empty(), () -> DeclaredInputs.of(graph)));
    }

    /** What is made of the data is what the model takes. */
    private void assertFits(InputsGuess guess, Graph graph) throws IOException {
        LoadedData data = load(guess, graph);
        Signature wanted = new Signature(data.train().name(), Signature.inputsOf(data.inputs()), List.of());
        Fitted fitted = wanted.fit(graph, "the model");
        try (Batches batches = data.evaluation(data.train(), 2)) {
            Batch batch = batches.next();
            assertEquals(graph.inputs().size(), fitted.feed(batch.inputs()).size());
        }
    }

    @Test
    void imagesHaveTheShapeOfTheModel() throws IOException {
        Path images = images();
        InputsGuess planes = guess(of("x", "batch", 3, 8, 4), images);
        assertEquals(
                List.of(
                        "data.kind=images",
                        "data.dir=" + images,
                        "data.labelled=false",
                        "data.channels=3",
                        "data.size=8",
                        "data.width=4",
                        "data.normalize=false"),
                planes.settings());
        assertTrue(planes.notes().getFirst().contains("preprocessor_config.json"), planes.notes()::toString);
        assertFits(planes, of("x", "batch", 3, 8, 4));
        Graph last = of("x", 1, 6, 6, 1);
        InputsGuess grey = guess(last, images, "data.white=255");
        assertTrue(grey.settings().containsAll(List.of("data.channels_last=true", "data.channels=1", "data.size=6")));
        assertEquals(List.of(), grey.notes());
        assertFits(grey, last);
        Graph free = of("x", "batch", 3, "height", "width");
        assertRefused(() -> guess(free, images), "any height", "set data.size");
        assertFits(guess(free, images, "data.size=5", "data.mean=[0.5]", "data.std=[0.5]"), free);
        assertRefused(() -> guess(of("x", "batch", 3, 48, "width"), images), "any width", "data.width=192");
        assertRefused(() -> guess(of("x", "batch", 5), images), "x float32[batch × 5]", "four axes");
        assertRefused(
                () -> guess(of("x", "batch", 3, 4, 4), Files.createDirectory(folder.resolve("nothing"))),
                "nothing in it",
                "x float32[batch × 3 × 4 × 4]");
    }

    @Test
    void whatTheMakersSayOfPixelsHolds() throws IOException {
        Path images = images();
        Path said = folder.resolve("preprocessor_config.json");
        Graph free = of("x", "batch", 3, "height", "width");
        Files.writeString(said, """
                {"do_normalize": true, "image_mean": [0.5, 0.4, 0.3], "image_std": [0.1, 0.2, 0.3], "do_rescale": true,
                 "rescale_factor": 0.00392156862745098, "size": {"height": 6, "width": 7}, "resample": 3}
                """);
        InputsGuess guess = guess(free, images);
        assertTrue(
                guess.settings()
                        .containsAll(List.of(
                                "data.size=6", "data.width=7", "data.mean=[0.5,0.4,0.3]", "data.std=[0.1,0.2,0.3]")),
                guess::toString);
        assertTrue(guess.notes().getFirst().contains("bilinear"), guess.notes()::toString);
        assertFits(guess, free);
        Files.writeString(said, """
                {"do_normalize": false, "do_rescale": false, "do_center_crop": true, "crop_size": 5, "size": {"shortest_edge": 9}}
                """);
        guess = guess(free, images);
        assertTrue(
                guess.settings().containsAll(List.of("data.size=5", "data.white=255.0", "data.normalize=false")),
                guess::toString);
        assertTrue(guess.notes().getFirst().contains("middle"), guess.notes()::toString);
        assertFits(guess, free);
        InputsGuess own = guess(free, images, "data.mean=[127]", "data.std=[127]");
        assertTrue(own.settings().stream().noneMatch(setting -> setting.startsWith("data.normalize")), own::toString);
        assertFits(own, free);
        Files.writeString(said, "{");
        assertRefused(() -> guess(free, images), "preprocessor_config.json", "no sound JSON");
    }

    @Test
    void tablesHaveTheColumnsOfTheModel() throws IOException {
        Path file = Files.writeString(folder.resolve("t.csv"), "a,b\n1,2\n3,4\n5,6\n");
        assertFits(guess(of("x", "batch", 2), file), of("x", "batch", 2));
        assertRefused(
                () -> guess(of("x", "batch", 3), file), "2 columns, [a, b]", "x float32[batch × 3]", "data.columns");
        assertFits(guess(of("x", "batch", 1), file, "data.ignore=[\"a\"]"), of("x", "batch", 1));
        GraphBuilder graph = new GraphBuilder("two");
        Graph two = graph.outputs(graph.add(
                "y",
                new Binary(Binary.Function.ADD),
                graph.input("b", DataType.FLOAT32, "batch", 1),
                graph.input("a", DataType.FLOAT32, "batch", 1)));
        InputsGuess named = guess(two, file);
        assertTrue(named.settings().contains("data.inputs=[\"b = b\", \"a = a\"]"), named::toString);
        assertFits(named, two);
        Path other = Files.writeString(folder.resolve("other.csv"), "a,c\n1,2\n");
        assertRefused(() -> guess(two, other), "[a, c]", "b float32[batch × 1]", "data.inputs");
    }

    @Test
    void textsGoToModelsOfTokens() throws IOException {
        Path lines = Files.writeString(folder.resolve("lines.txt"), "a\nb\n");
        InputsGuess guess = guess(reader("tokens", "input_ids", "attention_mask"), lines);
        assertEquals(
                List.of(
                        "data.kind=text",
                        "data.path=" + lines,
                        "data.labelled=false",
                        "data.length=7",
                        "data.buckets=true"),
                guess.settings(),
                "as many positions as have embeddings");
        Path table = Files.writeString(folder.resolve("t.csv"), "id,text,more\n1,a,b\n");
        assertTrue(guess(reader("tokens", "input_ids", "attention_mask"), table)
                .settings()
                .contains("data.columns=[\"text\"]"));
        Path other = Files.writeString(folder.resolve("o.csv"), "id,title,more\n1,a,b\n");
        assertRefused(() -> guess(reader("tokens", "input_ids", "mask"), other), "[id, title, more]", "data.columns");
        assertRefused(() -> guess(of("x", "batch", 3), lines), "x float32[batch × 3]", "a folder of images");
        assertRefused(() -> guess(of("x", "batch", 3), folder.resolve("missing.csv")), "no such file or folder");
    }

    /** Noise has whatever shape a model takes. */
    @Test
    void noiseFits() throws IOException {
        for (Graph graph : List.of(
                of("x", "batch", 3),
                of("x", 1, 3, "height", "width"),
                reader("tokens", "input_ids", "attention_mask"))) {
            assertFits(InputsGuess.of("random", folder.resolve("m.onnx"), graph, List.of("data.rows=10")), graph);
        }
    }

    @Test
    void aSectionOfARecipeIsTakenAsItIs() throws IOException {
        Path toml = Files.writeString(folder.resolve("data.toml"), "[data]\nkind = \"random\"\nrows = 12\n");
        assertEquals("12", guess(of("x", "batch", 3), toml).values().texts().get("data.rows"));
    }

    /** A model that was trained here is given what it was trained on, whatever the settings say. */
    @Test
    void whatIsNotedInAModelHolds() throws IOException {
        Graph plain = of("x", "batch", 1, 8, 8);
        LoadedData trained = DataSection.load(DataSection.read("data.kind=digits"), Context.QUIET);
        Graph noted = EncodingNote.note(plain, trained.encoding());
        InputsGuess guess = InputsGuess.of("digits", folder.resolve("m.onnx"), noted, List.of());
        assertEquals(List.of("data.kind=digits", "data.normalize=false"), guess.settings());
        assertEquals(List.of(), guess.notes());
        LoadedData data = load(guess, noted);
        assertEquals(trained.encoding(), TrainedEncoding.of(data, noted).encoding());
        assertEquals(data.encoding(), TrainedEncoding.of(data, plain).encoding());
    }

    /** Others call it input_mask. */
    @Test
    void tokensFindTheirInputs() {
        List<Field> fields = List.of(
                new Field.Tokens("input_ids", 4),
                new Field.Tokens("attention_mask", 4),
                new Field.Tokens("token_type_ids", 4));
        Fitted fitted = new Signature("texts", Signature.inputsOf(fields), List.of())
                .fit(reader("tokens", "input_word_ids", "input_mask"), "the model");
        assertEquals("input_word_ids", fitted.input("input_ids"));
        assertEquals("input_mask", fitted.input("attention_mask"));
        List<Field> own = List.of(
                new Field.Tokens("basket", 4, 0, List.of(), true), new Field.Tokens("mask", 4, 0, List.of(), true));
        Fitted same = new Signature("baskets", Signature.inputsOf(own), List.of())
                .fit(reader(4, "basket", "mask"), "the model");
        assertEquals("basket", same.input("basket"));
        assertEquals("mask", same.input("mask"));
    }

    /** Ids of 32 bits are what some exporters write. */
    @Test
    void idsMayHave32Bits() {
        GraphBuilder graph = new GraphBuilder("short");
        Value table = graph.parameter("table", Tensor.of(new float[] {0, 1, 2, 3, 4, 5, 6}, 7));
        Graph model =
                graph.outputs(graph.add("y", new Gather(0), table, graph.input("ids", DataType.INT32, "batch", "n")));
        Fitted fitted = new Signature("ids", Signature.inputsOf(List.of(new Field.Tokens("input_ids", 4))), List.of())
                .fit(model, "the model");
        Map<String, Tensor> fed = fitted.feed(Map.of("input_ids", Tensor.of(new long[] {3, 6}, 1, 2)));
        try (OnnxRuntimeModel runtime = OnnxRuntimeModel.of(fitted.model(), 1)) {
            Tensor found = runtime.run(fed).firstEntry().getValue();
            assertEquals(List.of(3.0, 6.0), List.of(found.getDouble(0), found.getDouble(1)));
        }
    }

    /** A model that takes so many tokens keeps that length, and another number is refused. */
    @Test
    void fixedLengthsStay() {
        List<Field> four = List.of(new Field.Tokens("input_ids", 4, 0, List.of(), true));
        Signature wanted = new Signature("ids", Signature.inputsOf(four), List.of());
        GraphBuilder graph = new GraphBuilder("fixed");
        Value table = graph.parameter("table", Tensor.of(new float[14], 7, 2));
        Graph fixed = graph.outputs(graph.add("y", new Gather(0), table, graph.input("ids", DataType.INT64, 1, 4)));
        assertEquals(
                "[batch × 4]",
                wanted.fit(fixed, "the model")
                        .model()
                        .inputs()
                        .getFirst()
                        .type()
                        .shape()
                        .toString());
        Signature other = new Signature(
                "ids", Signature.inputsOf(List.of(new Field.Tokens("ids", 5, 0, List.of(), true))), List.of());
        assertRefused(() -> other.fit(fixed, "the model"), "[1 × 4]", "[batch × 5]");
    }
}
