package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code espalier prune}, from a file to the exit status. */
final class PruneCommandTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    /** Two inputs, three neurons and two answers; the weights of the answers are given. */
    private Path model(float... weights) throws IOException {
        GraphBuilder graph = new GraphBuilder("small");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 2);
        Value hidden = graph.add(
                "hidden",
                Gemm.LINEAR,
                x,
                graph.parameter("hidden.weight", Tensor.of(new float[] {1, -2, 3, 4, -5, 6}, 3, 2)),
                graph.parameter("hidden.bias", Tensor.of(new float[] {1, 2, 3})));
        Value active = graph.add("relu", new Unary(Unary.Function.RELU), hidden);
        Graph small = graph.outputs(graph.add(
                "answer",
                Gemm.LINEAR,
                active,
                graph.parameter("answer.weight", Tensor.of(weights, 2, 3)),
                graph.parameter("answer.bias", Tensor.of(new float[] {1, 2}))));
        Path path = folder.resolve("model.onnx");
        OnnxWriter.write(small, path);
        return path;
    }

    /** A group of subnormal weights is no group of zeros, and makes every run many times slower. */
    @Test
    void subnormalWeightsAreFlushedAndTold() throws IOException {
        Path small = folder.resolve("small.onnx");
        Answer answer = Answer.to("prune", model(1, 1e-40f, 5, 2, -1e-41f, 6), "-o", small);
        assertEquals(0, answer.exitStatus(), answer.err());
        assertEquals(
                1, answer.out().split("2 weights below 7.9e-31 were set to zero, 2 of them subnormal", -1).length - 1);
        assertArrayEquals(new long[] {2, 2}, shape(small, "answer.weight"));
    }

    @Test
    void withoutTrainingTheSmallestGroupsGo() throws IOException {
        Path model = model(1, 0.1f, 5, 2, 0.2f, 6);
        Path small = folder.resolve("small.onnx");
        Answer answer = Answer.to("prune", model, "-o", small, "--target", "parameters=75%");
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.out().contains("smallest norm"), answer.out());
        assertTrue(answer.out().contains("NOT exact: groups that go and are not zero: 1"), answer.out());
        assertTrue(answer.out().contains("because of --target"), answer.out());
        assertArrayEquals(new long[] {2, 2}, shape(small, "answer.weight"));
        Answer tooSmall = Answer.to("prune", model, "-o", small, "--target", "1%");
        assertTrue(tooSmall.exitStatus() != 0);
        assertTrue(tooSmall.err().contains("1.0 % cannot be reached"), tooSmall.err());
        Answer both = Answer.to("prune", model, "-o", small, "--target", "50%", "--threshold", "0.1");
        assertEquals(2, both.exitStatus());
        assertTrue(both.err().contains("leave one out"), both.err());
        Answer unknown = Answer.to("prune", model, "-o", small, "--target", "latency=50%");
        assertEquals(2, unknown.exitStatus());
        assertTrue(unknown.err().contains("name parameters, flops or groups"), unknown.err());
    }

    private static long[] shape(Path model, String parameter) throws IOException {
        return Objects.requireNonNull(OnnxReader.read(model).graph().tensor(parameter))
                .shape();
    }

    @Test
    void smallerModelComputesTheSameAndTheReportSaysWhatWasDone() throws IOException {
        Path model = model(1, 0, 3, 4, 0, 6);
        Path small = folder.resolve("small.onnx");
        Path report = folder.resolve("report.json");
        Path picture = folder.resolve("picture.svg");
        Answer answer =
                Answer.to("prune", model, "-o", small, "--report", report, "--picture", picture, "--for", "size");
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.out().contains("12 of 17 parameters"), answer.out());
        assertTrue(answer.out().contains("The smaller model is equal to " + model), answer.out());
        assertArrayEquals(new long[] {2, 2}, shape(small, "hidden.weight"));
        assertArrayEquals(new long[] {2, 2}, shape(small, "answer.weight"));
        Graph before = OnnxReader.read(model).graph();
        Graph after = OnnxReader.read(small).graph();
        Equivalence.measure(before, after, SampleInputs.DEFAULT.draw(before), Evaluator::run)
                .requireEqual(1e-6);
        JsonNode json = new ObjectMapper().readTree(report.toFile());
        assertEquals(17, json.get("parameters_before").asLong());
        assertEquals(12, json.get("parameters_after").asLong());
        assertTrue(json.get("flops_after").asLong() < json.get("flops_before").asLong());
        assertEquals(0.8, json.get("groups_left").asDouble());
        assertEquals(12.0 / 17, json.get("parameters_left").asDouble());
        assertEquals(0, json.get("max_abs_difference").asDouble(), 1e-5);
        assertTrue(json.get("latency_ms_before").asDouble() > 0);
        assertTrue(json.get("latency_ms_after").asDouble() > 0);
        assertEquals("hidden", json.get("layers").get(0).get("name").asText());
        assertEquals(2, json.get("layers").get(0).get("outputs_after").asInt());
        assertTrue(Files.readString(picture).startsWith("<svg"));
    }

    @Test
    void theFolderOfARunIsPrunedInPlace() throws IOException {
        model(1, 0, 3, 4, 0, 6);
        Answer answer = Answer.to("prune", folder, "--for", "size");
        assertEquals(0, answer.exitStatus(), answer.err());
        assertArrayEquals(new long[] {2, 2}, shape(folder.resolve("pruned.onnx"), "hidden.weight"));
    }

    @Test
    void planIsOnlyPrinted() throws IOException {
        Answer answer = Answer.to("prune", model(1, 0, 3, 4, 0, 6), "--plan");
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.out().contains("1 output is not read"), answer.out());
        try (var files = Files.list(folder)) {
            assertEquals(1, files.count());
        }
    }

    @Test
    void modelWithoutZerosIsWrittenUnchanged() throws IOException {
        Path model = model(1, 2, 3, 4, 5, 6);
        Path small = folder.resolve("small.onnx");
        Answer answer = Answer.to("prune", model, "-o", small, "--for", "size");
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.out().contains("nothing to remove, written unchanged"), answer.out());
        Graph before = OnnxReader.read(model).graph();
        Graph after = OnnxReader.read(small).graph();
        assertEquals(before.nodes(), after.nodes());
        before.initializers()
                .forEach((name, initializer) ->
                        assertTrue(initializer.tensor().sameAs(Objects.requireNonNull(after.tensor(name))), name));
    }

    @Test
    void modelWhoseOutputWouldBeConstantIsRefused() throws IOException {
        Path small = folder.resolve("small.onnx");
        Answer answer = Answer.to("prune", model(0, 0, 0, 0, 0, 0), "-o", small, "--for", "size");
        assertEquals(2, answer.exitStatus());
        assertTrue(answer.err().contains("layer answer (Gemm)"), answer.err());
        assertFalse(Files.exists(small));
    }

    @Test
    void thresholdDropsSmallGroupsAndSaysSo() throws IOException {
        Path model = model(1, 0.001f, 3, 4, 0.001f, 6);
        Path small = folder.resolve("small.onnx");
        Answer answer = Answer.to("prune", model, "-o", small, "--threshold", 0.01, "--for", "size");
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.out().contains("NOT exact"), answer.out());
        assertArrayEquals(new long[] {2, 2}, shape(small, "answer.weight"));
    }

    @Test
    void aThresholdThatLeavesTheSizeAsItIsDoesNotClaimToChangeNothing() throws IOException {
        Path model = model(1, 0.001f, 3, 4, 0.001f, 6);
        Answer answer =
                Answer.to("prune", model, "-o", folder.resolve("small.onnx"), "--threshold", 0.01, "--round-to", 8);
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.out().contains("as large as before: --threshold made 1 more group zero"), answer.out());
        assertTrue(answer.out().contains("NOT exact"), answer.out());
        assertFalse(answer.out().contains("unchanged"), answer.out());
    }

    @Test
    void aThresholdThatLeavesNothingIsToBeLowered() throws IOException {
        Answer answer = Answer.to(
                "prune",
                model(1, 2, 3, 4, 5, 6),
                "-o",
                folder.resolve("small.onnx"),
                "--threshold",
                100,
                "--for",
                "size");
        assertEquals(2, answer.exitStatus());
        assertTrue(answer.err().contains("lower the threshold, which is 100.0"), answer.err());
        assertFalse(answer.err().contains("penalty"), answer.err());
    }

    @Test
    void theModelItselfIsOverwrittenOnlyByForce() throws IOException {
        Path model = model(1, 0, 3, 4, 0, 6);
        byte[] before = Files.readAllBytes(model);
        for (String option : List.of("-o", "--report", "--picture")) {
            Answer refused =
                    Answer.to("prune", folder, option, folder.resolve(".").resolve("model.onnx"));
            assertEquals(2, refused.exitStatus(), option);
            assertTrue(
                    refused.err().contains("is the model itself")
                            && refused.err().contains("--force"),
                    refused.err());
            assertArrayEquals(before, Files.readAllBytes(model));
        }
        assertEquals(0, Answer.to("prune", model, "-o", model, "--force").exitStatus());
        assertArrayEquals(new long[] {2, 2}, shape(model, "hidden.weight"));
    }

    @Test
    void whatCannotBeWrittenIsNamedAsTheUserNamesIt() throws IOException {
        Path nowhere = folder.resolve("no/small.onnx");
        Answer answer = Answer.to("prune", model(1, 0, 3, 4, 0, 6), "-o", nowhere, "--for", "size");
        assertEquals(1, answer.exitStatus());
        assertEquals("espalier: cannot write " + nowhere + ": there is no such folder\n", answer.err());
        Path full = Path.of("/dev/full");
        assumeTrue(Files.exists(full), "there is no /dev/full here");
        Answer noSpace = Answer.to(
                "prune",
                folder.resolve("model.onnx"),
                "-o",
                folder.resolve("small.onnx"),
                "--report",
                full,
                "--for",
                "size");
        assertEquals("espalier: cannot write /dev/full: No space left on device\n", noSpace.err());
    }

    @Test
    void keptAndRoundedLayersStayLarge() throws IOException {
        Path model = model(1, 0, 3, 4, 0, 6);
        Path small = folder.resolve("small.onnx");
        assertEquals(
                0,
                Answer.to("prune", model, "-o", small, "--keep", "answer", "--for", "size")
                        .exitStatus());
        assertArrayEquals(new long[] {3, 2}, shape(small, "hidden.weight"));
        assertEquals(0, Answer.to("prune", model, "-o", small, "--round-to", 8).exitStatus());
        assertArrayEquals(new long[] {2, 3}, shape(small, "answer.weight"));
    }

    @Test
    void lengthsOfFreeDimensionsAreTold() throws IOException {
        Path model = model(1, 0, 3, 4, 0, 6);
        Path report = folder.resolve("report.json");
        Answer usual =
                Answer.to("prune", model, "-o", folder.resolve("small.onnx"), "--report", report, "--for", "size");
        assertEquals(0, usual.exitStatus(), usual.err());
        assertTrue(
                usual.out().contains("FLOPs and latency for batch = 1; --dimension NAME=N sets others."), usual.out());
        long flops =
                new ObjectMapper().readTree(report.toFile()).get("flops_after").asLong();
        Answer other = Answer.to(
                "prune", model, "-o", folder.resolve("small.onnx"), "--report", report, "--dimension", "batch=7");
        assertEquals(0, other.exitStatus(), other.err());
        assertTrue(other.out().contains("FLOPs and latency for batch = 7"), other.out());
        assertEquals(
                7 * flops,
                new ObjectMapper().readTree(report.toFile()).get("flops_after").asLong());
        Answer unknown = Answer.to("prune", model, "--plan", "--dimension", "words=7");
        assertEquals(2, unknown.exitStatus());
        assertTrue(unknown.err().contains("no free dimension words; it has [batch]"), unknown.err());
        Answer none = Answer.to("prune", model, "--plan", "--dimension", "batch=0");
        assertTrue(none.err().contains("--dimension batch=0 is out of range"), none.err());
    }

    @Test
    void latencyIsMeasuredOnlyIfWanted() throws IOException {
        Path model = model(1, 0, 3, 4, 0, 6);
        Path report = folder.resolve("report.json");
        Answer answer =
                Answer.to("prune", model, "-o", folder.resolve("small.onnx"), "--report", report, "--no-latency");
        assertEquals(0, answer.exitStatus(), answer.err());
        assertFalse(answer.out().contains(" ms"), answer.out());
        assertTrue(new ObjectMapper()
                .readTree(report.toFile())
                .get("latency_ms_after")
                .isNull());
        Answer timed = Answer.to("prune", model, "-o", folder.resolve("small.onnx"), "--latency-seconds", 0.5);
        assertTrue(timed.out().contains("uncut") && timed.out().contains("as narrow as can be"), timed.out());
        for (List<String> wrong : List.of(
                List.of("--for", "latency", "--no-latency"),
                List.of("--for", "latency", "--round-to", "8"),
                List.of("--latency-seconds", "0"),
                List.of("--round-to", "0"))) {
            Answer refused = Answer.to(Stream.concat(Stream.of("prune", model, "--plan"), wrong.stream())
                    .toArray());
            assertEquals(2, refused.exitStatus(), wrong.toString());
            assertTrue(refused.err().contains(wrong.getFirst()), refused.err());
        }
    }

    @Test
    void wrongOptionsAreExplained() throws IOException {
        Path model = model(1, 0, 3, 4, 0, 6);
        Answer nowhere = Answer.to("prune", model, "--for", "size");
        assertEquals(2, nowhere.exitStatus());
        assertTrue(nowhere.err().contains("-o SMALL.onnx"), nowhere.err());
        Answer unknown = Answer.to("prune", model, "--plan", "--keep", "hiden");
        assertEquals(2, unknown.exitStatus());
        assertTrue(unknown.err().contains("hiden"), unknown.err());
        Answer batch = Answer.to("prune", model, "--plan", "--batch", 0);
        assertEquals(2, batch.exitStatus());
        assertTrue(batch.err().contains("--batch = 0"), batch.err());
    }
}
