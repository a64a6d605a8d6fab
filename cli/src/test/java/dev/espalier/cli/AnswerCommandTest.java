package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code espalier answer}, from a file to the exit status. */
final class AnswerCommandTest {
    private static final List<String> VOCABULARY = List.of(
            "[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "old", "stone", "tower", "stands", "near", "river", "what", "?",
            "𝔸");

    private static final BertConfig TINY =
            new BertConfig(VOCABULARY.size(), 16, 1, 2, 32, 48, 2, 1e-12, 0, 0, BertConfig.Activation.GELU);

    private static final String TEXT = "The old stone tower stands near the river";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @BeforeEach
    void writeVocabulary() throws IOException {
        Files.write(folder.resolve("vocab.txt"), VOCABULARY);
    }

    /** Logits that depend on the word alone: "old" starts answers, "tower" and, less so, "stone" end them. */
    private static Graph dictionary(float none) {
        float[] logits = new float[2 * VOCABULARY.size()];
        logits[2 * VOCABULARY.indexOf("old")] = 4;
        logits[2 * VOCABULARY.indexOf("tower") + 1] = 3;
        logits[2 * VOCABULARY.indexOf("stone") + 1] = 2;
        logits[2 * VOCABULARY.indexOf("[CLS]")] = none;
        GraphBuilder graph = new GraphBuilder("dictionary");
        Value ids = graph.input("input_ids", DataType.INT64, "batch", "tokens");
        Value table = graph.parameter("table", Tensor.of(logits, VOCABULARY.size(), 2));
        Value both = graph.add("both", new Gather(0), table, ids);
        List<Value> ends = graph.addAll(
                new Node("split", new Split(-1, List.of(1L, 1L)), List.of(both.name()), List.of("starts", "ends")));
        Squeeze squeeze = new Squeeze(List.of(-1L));
        return graph.outputs(
                graph.add("start_logits", squeeze, ends.get(0)), graph.add("end_logits", squeeze, ends.get(1)));
    }

    private Path write(Graph graph, String name) throws IOException {
        Path file = folder.resolve(name);
        OnnxWriter.write(graph, file);
        return file;
    }

    private static Answer ask(Object model, Object... more) {
        Object[] all = Arrays.copyOf(new Object[] {"answer", model, "--question", "What ?"}, 4 + more.length);
        System.arraycopy(more, 0, all, 4, more.length);
        return Answer.to(all);
    }

    private static JsonNode json(Answer answer) throws IOException {
        assertEquals(0, answer.exitStatus(), answer.err());
        return new ObjectMapper().readTree(answer.out());
    }

    private static void assertRefused(Answer answer, String... words) {
        assertEquals(2, answer.exitStatus(), answer.err());
        assertEquals("", answer.out());
        for (String word : words) {
            assertTrue(answer.err().contains(word), answer.err());
        }
    }

    @Test
    void theLikeliestPieceOfTheTextIsPrintedWithScoreAndPlace() throws IOException {
        Answer answer = ask(write(dictionary(0), "a.onnx"), "--context", TEXT);
        assertEquals(0, answer.exitStatus(), answer.err());
        List<String> lines = answer.out().lines().toList();
        assertEquals("old stone tower", lines.getFirst());
        assertTrue(lines.get(1).startsWith("score 7.000, probability "), answer.out());
        assertTrue(lines.get(1).endsWith(", characters 4 to 19"), answer.out());
        assertEquals(2, lines.size());
        assertEquals("", answer.err());
    }

    @Test
    void aTokenizerThatHardlyKnowsTheTextIsTold() throws IOException {
        Answer answer = ask(write(dictionary(0), "a.onnx"), "--context", "Old castles and the old tower");
        assertEquals(0, answer.exitStatus(), answer.err());
        assertEquals(
                "espalier: 25.00 % of all tokens are unknown to the tokenizer: such as \"and\", \"castles\": the vocabulary is"
                        + " probably for another language or belongs to another model\n",
                answer.err());
    }

    @Test
    void aFolderIsNoText() throws IOException {
        Answer answer = ask(write(dictionary(0), "a.onnx"), "--context-file", folder);
        assertEquals(2, answer.exitStatus());
        assertTrue(answer.err().contains("--context-file = " + folder + " is a folder"), answer.err());
    }

    @Test
    void severalAnswersMakeATable() throws IOException {
        Answer answer = ask(write(dictionary(0), "a.onnx"), "--context", TEXT, "--best", 3);
        List<String> lines = answer.out().lines().toList();
        assertEquals(4, lines.size(), answer.out());
        assertTrue(lines.get(1).matches("old stone tower +7\\.000 .* 4 to 19"), answer.out());
        assertTrue(lines.get(2).matches("old stone +6\\.000 .* 4 to 13"), answer.out());
    }

    @Test
    void preferenceForNoAnswerIsTold() throws IOException {
        Answer sure = ask(write(dictionary(6.5f), "sure.onnx"), "--context", TEXT);
        assertFalse(sure.out().contains("rather"), sure.out());
        Answer unsure = ask(write(dictionary(7.5f), "unsure.onnx"), "--context", TEXT);
        assertTrue(unsure.out().startsWith("old stone tower"), unsure.out());
        assertTrue(
                unsure.out().contains("would rather say that the answer is not in this text: score 7.500"),
                unsure.out());
    }

    @Test
    void jsonCountsCharactersAsSquadDoes() throws IOException {
        Path model = write(dictionary(7.5f), "a.onnx");
        JsonNode root = json(ask(model, "--context", "𝔸 old\n tower", "--json", "--best", 2));
        assertEquals(model.toString(), root.get("model").textValue());
        assertEquals("What ?", root.get("question").textValue());
        assertEquals(2, root.get("answers").size());
        JsonNode first = root.get("answers").get(0);
        assertEquals("old\n tower", first.get("text").textValue());
        assertEquals(2, first.get("start").intValue());
        assertEquals(12, first.get("end").intValue());
        assertEquals(7, first.get("score").doubleValue());
        assertTrue(first.get("probability").doubleValue() > 0.5, root::toString);
        assertEquals(7.5, root.get("no_answer_score").doubleValue());
        assertTrue(root.get("prefers_no_answer").booleanValue());
    }

    @Test
    void aTransformerIsAskedAsTheEvaluatorRunsIt() throws IOException {
        List<String> words = List.of(("[CLS] what ? [SEP] " + TEXT.toLowerCase(Locale.ROOT) + " [SEP]").split(" ", -1));
        for (int seed = 1; seed <= 3; seed++) {
            Graph bert = Bert.questionAnswering(TINY, Weights.seeded(seed));
            Path model = write(bert, "bert.onnx");
            JsonNode root = json(
                    ask(model, "--context", TEXT, "--json", "--length", 40, "--stride", 4, "--question-length", 8));
            Logits logits = Logits.of(bert, words);
            Span best = logits.best(4, words.size() - 1);
            JsonNode first = root.get("answers").get(0);
            assertEquals(
                    String.join(" ", words.subList(best.start(), best.end() + 1)),
                    first.get("text").textValue().toLowerCase(Locale.ROOT));
            assertEquals(best.score(), first.get("score").doubleValue(), 1e-4);
            double none = logits.score(0, 0);
            assertEquals(none, root.get("no_answer_score").doubleValue(), 1e-4);
            assertEquals(none > best.score(), root.get("prefers_no_answer").booleanValue());
        }
    }

    private record Span(int start, int end, double score) {}

    /** What the naive evaluator makes of a single window that is not filled up. */
    private record Logits(Tensor starts, Tensor ends) {
        private static Logits of(Graph bert, List<String> words) {
            int length = words.size();
            int text = words.indexOf("[SEP]") + 1;
            long[] ids = words.stream().mapToLong(VOCABULARY::indexOf).toArray();
            Map<String, Tensor> outputs = Evaluator.run(
                    bert,
                    Map.of(
                            "input_ids", Tensor.of(ids, 1, length),
                            "attention_mask", Tensor.compute(DataType.INT64, new long[] {1, length}, _ -> 1),
                            "token_type_ids",
                                    Tensor.compute(DataType.INT64, new long[] {1, length}, i -> i < text ? 0 : 1)));
            return new Logits(
                    Objects.requireNonNull(outputs.get("start_logits")),
                    Objects.requireNonNull(outputs.get("end_logits")));
        }

        private double score(int start, int end) {
            return starts.getDouble(start) + ends.getDouble(end);
        }

        private Span best(int from, int to) {
            return IntStream.range(from, to)
                    .boxed()
                    .flatMap(start ->
                            IntStream.range(start, to).mapToObj(end -> new Span(start, end, score(start, end))))
                    .max(Comparator.comparingDouble(Span::score))
                    .orElseThrow();
        }
    }

    @Test
    void theTextMayComeFromAFileOrStandardInput() throws IOException {
        Path model = write(dictionary(0), "a.onnx");
        Path file = Files.writeString(folder.resolve("text.txt"), TEXT);
        assertEquals(ask(model, "--context", TEXT), ask(model, "--context-file", file));
        InputStream before = System.in;
        System.setIn(new ByteArrayInputStream(TEXT.getBytes(StandardCharsets.UTF_8)));
        try {
            assertEquals(ask(model, "--context", TEXT), ask(model, "--context-file", "-"));
        } finally {
            System.setIn(before);
        }
        Files.write(file, new byte[] {'a', (byte) 0xff});
        Answer broken = ask(model, "--context-file", file);
        assertEquals(1, broken.exitStatus());
        assertTrue(broken.err().contains(file + " is no text in UTF-8"), broken.err());
        assertRefused(ask(model, "--context-file", folder.resolve("none.txt")), "no such file", "none.txt");
    }

    @Test
    void theFolderOfARunIsAskedForItsPrunedModel() throws IOException {
        Answer empty = ask(folder, "--context", TEXT);
        assertRefused(empty, "neither a pruned.onnx nor a model.onnx");
        Path whole = write(dictionary(0), "model.onnx");
        Answer unpruned = ask(folder, "--context", TEXT, "--json");
        assertEquals(whole.toString(), json(unpruned).get("model").textValue());
        assertTrue(unpruned.err().contains("there is no " + folder.resolve("pruned.onnx")), unpruned.err());
        Path pruned = write(dictionary(0), "pruned.onnx");
        Answer both = ask(folder, "--context", TEXT, "--json");
        assertEquals(pruned.toString(), json(both).get("model").textValue());
        assertEquals("", both.err());
    }

    @Test
    void longTextsAreReadInWindowsAsTheRecipeBesideTheModelSays() throws IOException {
        Path model = write(Bert.questionAnswering(TINY, Weights.seeded(1)), "bert.onnx");
        String text = "the river ".repeat(40) + "old tower";
        assertRefused(ask(model, "--context", text), "--length = 384", "at most 48 tokens");
        Files.writeString(folder.resolve("recipe.toml"), """
                [data]
                kind = "squad"
                dir = "nowhere"
                length = 20
                stride = 4
                question_length = 8
                [model]
                kind = "bert"
                checkpoint = "nowhere"
                [method]
                kind = "baseline"
                [optimizer]
                kind = "adam"
                rate = 1e-3
                [training]
                prune_for = "size"
                epochs = 1
                batch_size = 1
                """);
        assertEquals(0, ask(model, "--context", text).exitStatus());
        Answer answer = ask(write(dictionary(0), "dictionary.onnx"), "--context", text);
        assertTrue(answer.out().startsWith("old tower\n"), answer.out());
        assertTrue(answer.out().contains("characters 400 to 409"), answer.out());
    }

    @Test
    void aTokenizerIsNeededThatFits() throws IOException {
        Path model = write(dictionary(0), "a.onnx");
        Path elsewhere = Files.createDirectory(folder.resolve("checkpoint"));
        Files.move(folder.resolve("vocab.txt"), elsewhere.resolve("vocab.txt"));
        assertRefused(
                ask(model, "--context", TEXT), "no tokenizer.json and no vocab.txt in " + folder, "--tokenizer DIR");
        Answer given = ask(model, "--context", TEXT, "--tokenizer", elsewhere);
        assertTrue(given.out().startsWith("old stone tower"), given.err());
        Files.writeString(elsewhere.resolve("vocab.txt"), String.join("\n", VOCABULARY) + "\nsnow\n");
        assertRefused(
                ask(model, "--context", TEXT, "--tokenizer", elsewhere),
                "has " + (VOCABULARY.size() + 1) + " tokens",
                "knows " + VOCABULARY.size());
        Files.writeString(elsewhere.resolve("vocab.txt"), "the\nold\n");
        Answer foreign = ask(model, "--context", TEXT, "--tokenizer", elsewhere);
        assertEquals(1, foreign.exitStatus());
        assertTrue(foreign.err().contains("has no token [CLS]"), foreign.err());
    }

    @Test
    void otherModelsAreRefused() throws IOException {
        Path encoder = write(Bert.encoder(TINY, Weights.seeded(1)), "encoder.onnx");
        assertRefused(
                ask(encoder, "--context", TEXT), encoder + " is no model that answers questions", "last_hidden_state");
        GraphBuilder image = new GraphBuilder("image");
        Value pixels = image.input("pixels", DataType.FLOAT32, "batch", 4, 1);
        Path flat = write(image.outputs(image.add("flat", new Squeeze(List.of(-1L)), pixels)), "image.onnx");
        assertRefused(ask(flat, "--context", TEXT), "it has an input pixels", "input_ids");
        Path fixed = write(dictionary(0).withDimensions(Map.of("tokens", 384L)), "fixed.onnx");
        assertRefused(ask(fixed, "--context", TEXT), "its input input_ids is int64[batch × 384]", "lengths free");
        assertRefused(ask(folder.resolve("none.onnx"), "--context", TEXT), "no such file");
    }

    @Test
    void wrongOptionsAreExplained() throws IOException {
        Path model = write(dictionary(0), "a.onnx");
        assertRefused(ask(model), "--context");
        assertRefused(ask(model, "--context", TEXT, "--context-file", "x"), "mutually exclusive");
        assertRefused(ask(model, "--context", TEXT, "--best", 0), "--best = 0");
        assertRefused(ask(model, "--context", " "), "context", "has no words");
        assertRefused(ask(model, "--context", TEXT, "--length", 20), "length = 20");
    }
}
