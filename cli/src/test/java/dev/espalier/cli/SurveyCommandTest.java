package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code espalier survey} over a folder of models. */
final class SurveyCommandTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @BeforeEach
    void writeModels() throws IOException {
        Random random = new Random(1);
        GraphBuilder two = new GraphBuilder("two");
        Value x = two.input("x", DataType.FLOAT32, "batch", 20);
        Value hidden = two.add("hidden", new MatMul(), x, two.parameter("a", normal(random, 20, 30)));
        Value active = two.add("relu", new Unary(Unary.Function.RELU), hidden);
        Value said = two.add("answer", new MatMul(), active, two.parameter("b", normal(random, 30, 10)));
        Path within = Files.createDirectory(folder.resolve("within"));
        OnnxWriter.write(two.outputs(said), within.resolve("two.onnx"));

        GraphBuilder none = new GraphBuilder("none");
        Value only = none.input("x", DataType.FLOAT32, "batch", 20);
        OnnxWriter.write(
                none.outputs(none.add("relu", new Unary(Unary.Function.RELU), only)), folder.resolve("none.onnx"));
        Files.writeString(folder.resolve("broken.onnx"), "no model");
        Files.writeString(folder.resolve("notes.txt"), "not looked at");
    }

    private static Tensor normal(Random random, int... shape) {
        float[] values = new float[shape[0] * shape[1]];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return Tensor.of(values, shape[0], shape[1]);
    }

    @Test
    void everyModelHasARowAndTheSumIsTold() {
        Answer answer = Answer.to("survey", folder, "--latency-seconds", "0.5");
        assertEquals(0, answer.exitStatus(), answer.err());
        List<String> lines = answer.out().lines().toList();
        assertEquals(
                List.of("broken.onnx", "none.onnx", "two.onnx"),
                lines.subList(1, 4).stream()
                        .map(line -> line.substring(0, line.indexOf(' ')))
                        .toList());
        assertTrue(lines.get(1).contains("refused"), answer.out());
        assertTrue(lines.get(2).matches("none.onnx +\\d+ +read +0"), answer.out());
        assertTrue(
                lines.get(3).matches("two.onnx +\\d+ +pruned +900 +\\S+ % +\\S+ % +\\S+ ms +\\S+ ms +\\S+"),
                answer.out());
        assertTrue(answer.out().contains("none.onnx: no groups that could be zero"), answer.out());
        assertTrue(
                answer.out()
                        .contains(
                                "3 models: 2 read, 2 of them equal to the file, 1 pruned and equal. Slower than before: "),
                answer.out());
    }

    @Test
    void asMarkdownItIsATableOfAPage() {
        Answer answer = Answer.to(
                "survey", folder.resolve("within/two.onnx"), "--format", "markdown", "--zero", "0.5", "--no-latency");
        assertEquals(0, answer.exitStatus(), answer.err());
        List<String> lines = answer.out().lines().toList();
        assertTrue(lines.get(0).startsWith("| model | opset | outcome |"), answer.out());
        assertTrue(lines.get(1).matches("\\|---(\\|---:)+\\|"), answer.out());
        assertTrue(lines.get(2).matches("\\| two.onnx \\| \\d+ \\| pruned \\| 900 \\| .*%.*%.*"), answer.out());
        assertFalse(answer.out().contains(" ms"), answer.out());
    }

    @Test
    void whatCannotBeSurveyedIsRefused() throws IOException {
        Path empty = Files.createDirectory(folder.resolve("empty"));
        Answer nothing = Answer.to("survey", empty);
        assertEquals(2, nothing.exitStatus());
        assertTrue(nothing.err().contains("no file in " + empty + " ends in .onnx"), nothing.err());
        assertTrue(Answer.to("survey", folder, "--zero", "1").err().contains("--zero 1.0 is no share"));
        assertTrue(Answer.to("survey", folder, "--latency-seconds", "0").err().contains("--no-latency"));
        assertTrue(Answer.to("survey", folder.resolve("nowhere")).exitStatus() != 0);
    }
}
