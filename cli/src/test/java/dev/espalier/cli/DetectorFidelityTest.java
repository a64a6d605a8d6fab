package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.espalier.graph.Graph;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.runtime.RuntimeTypes;
import dev.espalier.train.journal.FidelityFigure;
import dev.espalier.train.journal.ModelRow;
import dev.espalier.train.journal.OutputFidelity;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A detector that finds nothing agrees with its original on nearly all anchors, and must not be called faithful for that. */
final class DetectorFidelityTest {
    private static final String MODELS = "ESPALIER_MODELS";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    /** Compares an original with itself without the weights of its heads, and returns what is said of the scores. */
    private JsonNode blinded(Path original, Graph graph, List<String> inputs) throws IOException {
        Path blind = folder.resolve("blind.onnx");
        OnnxWriter.write(Detector.blinded(graph, name -> name.contains("head")), blind);
        Path page = folder.resolve("page.html");
        Answer told = compare(original, blind, inputs, "--html", page.toString());
        assertEquals(0, told.exitStatus(), told.err());
        String first = told.out().lines().findFirst().orElseThrow();
        assertTrue(first.startsWith("The small model cannot stand in for the original: the skill of"), told.out());
        assertTrue(
                Files.readString(page).contains("<p class=\"lead\">" + first.substring(0, 30)), "the report's first");
        Answer json = compare(original, blind, inputs, "--json");
        JsonNode read = JsonMapper.builder().build().readTree(json.out());
        assertEquals(first, read.get("warning").asText());
        for (JsonNode output : read.at("/findings/outcome/outputs")) {
            assertTrue(output.at("/figures/0/skill").asDouble() < 0.5, output.toString());
        }
        return read.at("/findings/outcome/outputs/0");
    }

    private static Answer compare(Path original, Path smaller, List<String> inputs, String... more) {
        return Answer.to(
                Stream.of(Stream.of("compare", original, smaller, "--threads", 1), inputs.stream(), Stream.of(more))
                        .flatMap(part -> part)
                        .toArray());
    }

    @Test
    void aDetectorThatFindsNothingHasNoSkill() throws IOException {
        Path original = folder.resolve("detector.onnx");
        OnnxWriter.write(Detector.graph(), original);
        List<String> inputs = List.of(
                "--inputs", Detector.images(folder.resolve("images.npy"), 30).toString());
        JsonNode scores = blinded(original, Detector.graph(), inputs);
        assertEquals("scores", scores.get("output").asText());
        assertTrue(scores.get("agreement").asDouble() > 0.97, "which looks perfect: " + scores);
        assertEquals("balanced_agreement", scores.at("/figures/0/measure").asText());
        assertEquals(0.5, scores.at("/figures/0/fidelity").asDouble(), 1e-9);
        assertEquals(0.5, scores.at("/figures/0/trivial").asDouble(), 1e-9);
        Answer same = compare(original, original, inputs);
        assertFalse(same.out().contains("cannot stand in"), same.out());
        assertTrue(same.out().matches("(?s).*balanced agreement +100\\.00 % +50\\.00 % +1\\.00.*"), same.out());
    }

    /** It starts from other weights and does not learn, so that it goes blind. */
    @Test
    void shrinkEndsWithAFailureIfTheSmallModelFindsNothing() throws IOException {
        Path original = folder.resolve("detector.onnx");
        OnnxWriter.write(Detector.graph(), original);
        RunFolder run = new RunFolder(folder.resolve("run"));
        Path small = folder.resolve("small.onnx");
        Answer answer = Answer.to(
                "shrink",
                original,
                "--inputs",
                Detector.images(folder.resolve("images.npy"), 30),
                "--keep",
                "30%",
                "--epochs",
                4,
                "--set",
                "training.batch_size=4",
                "--set",
                "task.noise=0.5",
                "--set",
                "optimizer.rate=1e-9",
                "--set",
                "training.prune_for=size",
                "--run-dir",
                run.path(),
                "-o",
                small);
        assertEquals(1, answer.exitStatus(), answer.err());
        String first = answer.out().lines().findFirst().orElseThrow();
        assertTrue(first.startsWith("The small model cannot stand in for the original: the skill of"), answer.out());
        assertTrue(Files.exists(small), "the file is written all the same");
        assertTrue(Files.readString(run.report()).contains("<p class=\"lead\">" + first.substring(0, 30)));
        List<ModelRow> models = run.result().orElseThrow().models();
        assertEquals(
                List.of("original", "small"),
                models.stream().map(ModelRow::model).toList());
        assertEquals(1, models.getFirst().weakest().orElseThrow().figure().skill());
        OutputFidelity weakest = models.getLast().weakest().orElseThrow();
        assertTrue(weakest.figure().skill() < FidelityFigure.MIN_SKILL, weakest.toString());
        assertEquals(first, models.getLast().warning());
        JsonNode row =
                JsonMapper.builder().build().readTree(run.resultFile().toFile()).at("/models/1");
        assertEquals(
                weakest.figure().skill(),
                Stream.of(0, 1)
                        .mapToDouble(i -> row.at("/fidelities/%d/figure/skill".formatted(i))
                                .asDouble())
                        .min()
                        .orElseThrow());
    }

    /** The face detector itself, 4,420 anchors, with photographs: {@code version-RFB-320.onnx}, and JPEG files in {@code faces}. */
    @Test
    void aFaceDetectorThatFindsNoFaceHasNoSkill() throws IOException {
        String models = System.getenv(MODELS);
        assumeTrue(models != null, MODELS + " names no folder with ONNX files");
        Path original = Path.of(models, "version-RFB-320.onnx");
        Path faces = Path.of(models, "faces");
        assumeTrue(Files.exists(original) && Files.isDirectory(faces), "no " + original + ", or no " + faces);
        JsonNode scores = blinded(
                original,
                OnnxReader.read(original, new RuntimeTypes()).graph(),
                List.of("--inputs", faces.toString(), "--set", "data.test_fraction=0.9"));
        assertTrue(scores.get("agreement").asDouble() > 0.9, "which looks good: " + scores);
    }
}
