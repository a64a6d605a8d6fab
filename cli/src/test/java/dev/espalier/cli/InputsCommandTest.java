package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code espalier inputs}, from a file to what is printed of it. */
final class InputsCommandTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static void assertPrints(Answer answer, String... parts) {
        assertEquals(0, answer.exitStatus(), answer::err);
        for (String part : parts) {
            assertTrue(answer.out().contains(part), () -> "expected '" + part + "' in: " + answer.out());
        }
    }

    @Test
    void numbersAreShownAsTheModelGetsThem() throws IOException {
        GraphBuilder graph = new GraphBuilder("small");
        Path model = folder.resolve("model.onnx");
        OnnxWriter.write(
                graph.outputs(
                        graph.add("y", new Unary(Unary.Function.RELU), graph.input("x", DataType.FLOAT32, "batch", 2))),
                model);
        Path table = Files.writeString(folder.resolve("t.csv"), "a,b\n1,200\n1,200\n1,200\n1,200\n1,200\n");
        assertPrints(
                Answer.to("inputs", model, table, "--rows", "2"),
                "x float32[batch × 2]",
                "kind = \"csv\"",
                "normalize = false",
                "4 rows to learn from and 1 for the test",
                "features float32[2, 2] from 1.000 to 200.0, mean 100.5");
        Path recipe = Files.writeString(
                folder.resolve("recipe.toml"),
                "[data]\nkind = \"csv\"\npath = \"%s\"\nlabelled = false\n[model]\nkind = \"mlp\"\n".formatted(table));
        assertPrints(Answer.to("inputs", model, recipe), "4 rows to learn from and 1 for the test");
        Path misspelt = Files.writeString(folder.resolve("misspelt.toml"), "[dta]\nkind = \"csv\"\n");
        Answer corrected = Answer.to("inputs", model, misspelt);
        assertTrue(corrected.err().contains("the nearest is [data]"), corrected::err);
        Answer more = Answer.to("inputs", model, table, "--set", "data.columns=[\"a\"]");
        assertTrue(
                more.err().contains("its input x is [batch × 2], but a batch of t.csv train is [batch × 1]"),
                more::err);
        Answer wrong = Answer.to("inputs", model, folder.resolve("t.wav"));
        assertTrue(wrong.err().contains("no such file or folder: give a folder of images"), wrong::err);
    }

    @Test
    void textsAreReadBack() throws IOException {
        GraphBuilder graph = new GraphBuilder("reader");
        Path model = folder.resolve("model.onnx");
        OnnxWriter.write(
                graph.outputs(graph.add(
                        "y",
                        new Gather(0),
                        graph.parameter("table", Tensor.of(new float[16], 8, 2)),
                        graph.input("input_ids", DataType.INT64, "batch", "tokens"))),
                model);
        Files.writeString(folder.resolve("vocab.txt"), "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\nsea\n");
        Path lines = Files.writeString(folder.resolve("lines.txt"), "The sea\nThe sea\nThe wide sea\nThe sea\n");
        assertPrints(
                Answer.to("inputs", model, lines, "--rows", "3", "--set", "data.largest_unknown=1"),
                "kind = \"text\"",
                "input_ids int64[3, ",
                "[CLS] the sea [SEP]",
                "of the tokens are unknown");
    }
}
