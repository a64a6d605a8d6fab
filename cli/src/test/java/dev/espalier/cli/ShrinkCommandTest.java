package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.train.journal.ModelRow;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code espalier shrink}, from a model and inputs to a smaller file. */
final class ShrinkCommandTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init") // see below
    private Path model;

    @BeforeEach
    void writeModel() throws IOException {
        model = folder.resolve("model.onnx");
        OnnxWriter.write(Mlp.ofImages(new ImageOptions(10, 1, 8), List.of(48), Weights.seeded(5)), model);
    }

    @Test
    void aModelAndInputsBecomeASmallerModelAndAReport() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("run"));
        Path small = folder.resolve("small.onnx");
        Answer answer = Answer.to(
                "shrink",
                model,
                "--inputs",
                "digits",
                "--set",
                "data.train_limit=400",
                "--set",
                "training.prune_for=size",
                "--keep",
                "60%",
                "--of",
                "parameters",
                "--epochs",
                30,
                "--run-dir",
                run.path(),
                "-o",
                small);
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.err().contains("output logits [batch × 10] is compared as logits"), answer.err());
        assertTrue(answer.out().contains("agreement of the output logits"), answer.out());
        assertTrue(answer.out().matches("(?s).*\noriginal +100\\.00 % +\\S+ % +1\\.00 +3,610 .*"), answer.out());
        assertTrue(
                answer.out().matches("(?s).*\nsmall +\\S+ % +\\S+ % +0\\.[5-9]\\d +[\\d,]+ .* bytes .* ms\n.*"),
                answer.out());
        assertArrayEquals(Files.readAllBytes(run.pruned()), Files.readAllBytes(small));
        assertEquals(
                OnnxReader.read(model).graph().inputs(),
                OnnxReader.read(small).graph().inputs());
        String report = Files.readString(run.report());
        assertTrue(report.contains("cosine"), "how faithful it is");
        Answer again = Answer.to("shrink", model, "--resume", "--run-dir", run.path(), "--int8", "-o", small);
        assertEquals(0, again.exitStatus(), again.err());
        assertTrue(again.err().contains("int8: "), again.err());
        assertTrue(again.out().matches("(?s).*\nint8 +\\S+ % +\\S+ % +0\\.[5-9]\\d +.*"), again.out());
        assertEquals(
                List.of("original", "small", "int8"),
                run.result().orElseThrow().models().stream()
                        .map(ModelRow::model)
                        .toList());
        assertTrue(Files.readString(run.report()).contains("<code>int8.onnx</code>"), "the report has the int8 model");
        assertFalse(Arrays.equals(Files.readAllBytes(run.pruned()), Files.readAllBytes(small)));
    }

    @Test
    void theRecipeCanBeSeenFirst() throws IOException {
        Answer answer = Answer.to(
                "shrink", model, "--inputs", "random", "--recipe", "--loss", "mse", "--run-dir", folder.resolve("run"));
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.out().contains("kind = \"imitation\"\nloss = \"mse\""), answer.out());
        assertTrue(answer.out().contains("kind = \"random\""), answer.out());
        assertTrue(Files.notExists(folder.resolve("run")), "nothing was done");
    }

    private static void assertRefused(String part, Object... arguments) {
        Answer answer = Answer.to(arguments);
        assertTrue(answer.exitStatus() == 1 || answer.exitStatus() == 2, answer.err());
        assertTrue(answer.err().contains(part), answer.err());
    }

    @Test
    void whatDoesNotFitIsSaid() throws IOException {
        assertRefused("nothing to feed the model with", "shrink", model);
        assertRefused("no such file or folder", "shrink", model, "--inputs", "nowhere");
        assertRefused("--keep 120%", "shrink", model, "--inputs", "digits", "--keep", "120%");
        assertRefused("leave one out", "shrink", model, "--inputs", "digits", "--epochs", 3, "--minutes", 2);
        assertRefused("cannot be reached", "shrink", model, "--inputs", "digits", "--keep", "1%");
        Path rows = folder.resolve("rows.csv");
        Files.writeString(rows, "a,b\n1,2\n3,4\n5,6\n7,8\n");
        assertRefused("image", "shrink", model, "--inputs", rows);
    }
}
