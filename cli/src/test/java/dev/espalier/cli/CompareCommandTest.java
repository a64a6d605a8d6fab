package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code espalier compare}, on images, on random numbers and on questions. */
final class CompareCommandTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    /** A linear classifier of digits; with noise, nearly the same. */
    private Path digits(String name, double noise) throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        SplittableRandom chance = new SplittableRandom(2);
        GraphBuilder graph = new GraphBuilder("digits");
        Value image = graph.input("image", DataType.FLOAT32, "batch", 1, 8, 8);
        Value flat = graph.add("flat", new Flatten(1), image);
        Tensor weights = Tensor.compute(
                DataType.FLOAT32, new long[] {64, 10}, i -> random.nextGaussian() + noise * chance.nextGaussian());
        Path file = folder.resolve(name);
        OnnxWriter.write(graph.outputs(graph.add("logits", new MatMul(), flat, graph.parameter("w", weights))), file);
        return file;
    }

    @Test
    void aSmallerModelIsComparedOnImages() throws IOException {
        Path original = digits("a.onnx", 0);
        Path smaller = digits("b.onnx", 0.05);
        Path page = folder.resolve("page.html");
        Answer answer = Answer.to(
                "compare", original, smaller, "--inputs", "digits", "--rows", "50", "--threads", "2", "--html", page);
        assertEquals(0, answer.exitStatus(), answer.err());
        String out = answer.out();
        assertTrue(out.contains("logits, read as logits, in 50 samples"), out);
        assertTrue(out.matches("(?s).*parameters +640 +640 +100\\.0 % kept.*"), out);
        assertTrue(out.matches("(?s).*latency, 2 threads +\\S+ ms +\\S+ ms.*"), out);
        assertTrue(out.matches("(?s).*agreement +[89]\\d\\.\\d+ % +[123]\\d\\.\\d+ % +0\\.[789]\\d.*"), out);
        assertTrue(out.matches("(?s).*worst rows +\\d+ \\(0\\.\\d+\\), .*"), out);
        String html = Files.readString(page);
        assertTrue(html.contains("Where it differs most") && html.contains("<img src=\"data:image/png"), html);
        Answer told = Answer.to(
                "compare",
                original,
                smaller,
                "--inputs",
                "digits",
                "--rows",
                "50",
                "--threads",
                "1",
                "--json",
                "--output",
                "logits=numbers");
        JsonNode json = JsonMapper.builder().build().readTree(told.out());
        JsonNode likeness = json.at("/findings/outcome/outputs/0");
        assertEquals("numbers", likeness.get("meaning").asText());
        assertEquals(50, likeness.get("samples").asInt());
        assertTrue(likeness.get("agreement").isNull(), told.out());
        assertEquals(10, likeness.get("worst").size());
    }

    @Test
    void randomNumbersAreToldToBeThat() throws IOException {
        Path model = digits("a.onnx", 0);
        Answer answer = Answer.to("compare", model, model, "--inputs", "random", "--rows", "5", "--threads", "1");
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.err().contains("nothing of what people will ask"), answer.err());
        assertTrue(answer.out().contains("none: both models give the same output for every row"), answer.out());
    }

    @Test
    void whatIsMissingIsSaid() throws IOException {
        Path model = digits("a.onnx", 0);
        assertRefused("--inputs INPUTS", "compare", model, model);
        assertRefused("--inputs INPUTS", "compare", model, "--inputs", "random");
        assertRefused("--questions FILE", "compare", model, "--task", "retrieval");
        assertRefused("no such output", "compare", model, model, "--inputs", "random", "--output", "z=numbers");
        assertRefused("logits, probabilities", "compare", model, model, "--inputs", "random", "--output", "logits=z");
        assertRefused("no such file", "compare", model, folder.resolve("b.onnx"), "--inputs", "random");
        Answer nothing = Answer.to("compare", model, model, "--inputs", "nothing");
        assertEquals(1, nothing.exitStatus());
        assertTrue(nothing.err().contains("no such file or folder: give "), nothing.err());
    }

    private static void assertRefused(String part, Object... arguments) {
        Answer answer = Answer.to(arguments);
        assertEquals(2, answer.exitStatus(), answer.err());
        assertTrue(answer.err().contains(part), answer.err());
    }

    /** A vector for each token, and nothing that knows of others. */
    private static Graph texts(int vocabulary) {
        GraphBuilder graph = new GraphBuilder("texts");
        Value ids = graph.input("input_ids", DataType.INT64, "batch", "tokens");
        graph.input("attention_mask", DataType.INT64, "batch", "tokens");
        SplittableRandom random = new SplittableRandom(1);
        Tensor table = Tensor.compute(
                DataType.FLOAT32, new long[] {vocabulary, 16}, i -> i / 16 < 4 ? 0 : random.nextGaussian());
        Value vectors = graph.add("vectors", new Gather(0), graph.parameter("table", table), ids);
        Value one = graph.parameter("one", Tensor.of(new float[] {1}, 1));
        return graph.outputs(graph.add("last_hidden_state", new Binary(Binary.Function.MULTIPLY), vectors, one));
    }

    @Test
    void questionsFindTheirTexts() throws IOException {
        Files.writeString(
                folder.resolve("vocab.txt"), "[PAD]\n[UNK]\n[CLS]\n[SEP]\nsun\nmoon\nbread\nwine\nis\nbright\n");
        Path questions = Files.writeString(folder.resolve("squad.json"), """
                {"version": "1.1", "data": [{"title": "t", "paragraphs": [
                  {"context": "sun is bright", "qas": [
                    {"id": "1", "question": "sun", "answers": [{"text": "sun", "answer_start": 0}]}]},
                  {"context": "moon is bright", "qas": [
                    {"id": "2", "question": "moon", "answers": [{"text": "moon", "answer_start": 0}]}]},
                  {"context": "bread wine", "qas": [
                    {"id": "3", "question": "wine", "answers": [{"text": "wine", "answer_start": 6}]},
                    {"id": "4", "question": "bread", "answers": [{"text": "bread", "answer_start": 0}]}]}]}]}
                """);
        Path model = folder.resolve("texts.onnx");
        OnnxWriter.write(texts(10), model);
        Answer answer = Answer.to("compare", model, model, "--task", "retrieval", "--questions", questions);
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(
                answer.out().matches("(?s).*texts.onnx +1\\.0000 +1\\.0000 +1\\.0000 +\\S+ +1\\.00 ×.*"), answer.out());
        assertTrue(answer.out().contains("4 questions, each of which must find its text among 3."), answer.out());
        Answer one =
                Answer.to("compare", model, "--task", "retrieval", "--questions", questions, "--sample", "2", "--json");
        assertEquals(0, one.exitStatus(), one.err());
        JsonNode json = JsonMapper.builder().build().readTree(one.out());
        assertEquals(2, json.get("questions").asInt());
        assertEquals(1, json.get("models").size());
        assertEquals(1, json.at("/models/0/mrr_at_10").asDouble());
    }
}
