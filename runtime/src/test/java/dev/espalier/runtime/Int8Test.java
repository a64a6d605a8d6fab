package dev.espalier.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Initialization;
import dev.espalier.graph.model.ResNet34;
import dev.espalier.graph.model.SmallCnn;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxModel;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Clip;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.quantize.Quantization;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.Int8.Settings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** int8 models beside the float models that they were made of, judged by ONNX Runtime. */
final class Int8Test {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static Settings settings(boolean calibrated, double leastCosine) {
        return new Settings(Quantization.BITS, calibrated, leastCosine, 1, 0, OnnxWriter.Options.DEFAULT, _ -> {});
    }

    private static List<Map<String, Tensor>> drawn(Graph graph) {
        return LongStream.range(1, 4)
                .<Map<String, Tensor>>mapToObj(seed -> new SampleInputs(3, 16, seed).draw(graph))
                .toList();
    }

    private static Tensor random(long seed, long... shape) {
        Random random = new Random(seed);
        return Tensor.compute(DataType.FLOAT32, shape, i -> random.nextGaussian());
    }

    /** What ONNX Runtime makes of a model before it runs it. */
    private String optimized(Graph graph) throws IOException, OrtException {
        Path file = folder.resolve("int8.onnx");
        Path optimized = folder.resolve("optimized.onnx");
        OnnxWriter.write(graph, file);
        OrtEnvironment environment = OrtEnvironment.getEnvironment();
        try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
            options.setOptimizationLevel(OrtSession.SessionOptions.OptLevel.EXTENDED_OPT);
            options.setOptimizedModelFilePath(optimized.toString());
            environment.createSession(file.toString(), options).close();
        }
        return Files.readString(optimized, StandardCharsets.ISO_8859_1);
    }

    /** Reads an int8 model back: as floats it computes nearly the same. */
    private OnnxModel requireReadable(Graph int8) throws IOException {
        Path file = folder.resolve("written.onnx");
        OnnxWriter.write(int8, file);
        OnnxModel read = OnnxReader.read(file);
        assertEquals(Map.of(), read.graph().foreign(), "operators that are not read as floats");
        try (Judge judge = Judge.of(file, read.graph(), SampleInputs.DEFAULT, 1)) {
            double cosine = judge.cosine(read.graph(), OnnxWriter.Options.DEFAULT);
            assertTrue(cosine > 0.98, "read again, the cosine is " + cosine);
        }
        return read;
    }

    @Test
    void transformerIsQuarteredJoinedAndReadAgain() throws IOException, OrtException {
        BertConfig config = BertConfig.parse("""
                {"vocab_size": 300, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
                 "intermediate_size": 128, "max_position_embeddings": 64, "type_vocab_size": 2}""");
        Graph bert = Bert.encoder(config, Weights.seeded(1));
        List<Map<String, Tensor>> batches = drawn(bert);
        Int8 made = Int8.of(bert, batches, settings(false, 0));
        assertTrue(made.quantization().matrices() >= 12, made.summary());
        assertTrue(made.quantization().tables() >= 2, made.summary());
        assertTrue(made.likeness().cosine() > 0.99, made.summary());
        assertTrue(made.bytesAfter() < 0.3 * made.bytesBefore(), made.summary());
        String optimized = optimized(made.graph());
        assertTrue(optimized.contains("MatMulIntegerToFloat"), "products are not joined");
        assertFalse(optimized.contains("MatMulInteger\""), "some products are not joined");
        OnnxModel read = requireReadable(made.graph());
        assertEquals(
                made.quantization().matrices() + made.quantization().tables(),
                read.dequantization().weights());
    }

    /** Without VNNI, an x86-64 adds two products in sixteen bits, and eight bits of weights lose what these tests count on. */
    private static void assumeWholeSums() throws IOException {
        Path processor = Path.of("/proc/cpuinfo");
        boolean cutOff = "amd64".equals(System.getProperty("os.arch"))
                && Files.exists(processor)
                && !Files.readString(processor).contains("vnni");
        assumeFalse(cutOff, "this processor has no VNNI: ONNX Runtime cuts off sums of int8 products");
    }

    @Test
    void allFormsOfGemmComputeTheSame() throws IOException {
        assumeWholeSums();
        for (boolean transposeA : new boolean[] {false, true}) {
            for (boolean transposeB : new boolean[] {false, true}) {
                GraphBuilder graph = new GraphBuilder("gemm");
                Value x = graph.input("x", DataType.FLOAT32, transposeA ? 40 : 6, transposeA ? 6 : 40);
                Value c = graph.input("c", DataType.FLOAT32, 6, 30);
                Value weight = graph.parameter("weight", transposeB ? random(1, 30, 40) : random(1, 40, 30));
                Value bias = graph.parameter("bias", random(2, 30));
                Value constant = graph.add("constant", new Gemm(-0.5, 3, transposeA, transposeB), x, weight, bias);
                Value computed = graph.add("computed", new Gemm(2, 0.25, transposeA, transposeB), x, weight, c);
                Value none = graph.add("none", new Gemm(1, 1, transposeA, transposeB), x, weight);
                Graph model = graph.outputs(constant, computed, none);
                List<Map<String, Tensor>> batches = drawn(model);
                Int8 made = Int8.of(model, batches, settings(false, 0));
                assertEquals(3, made.quantization().matrices());
                assertTrue(made.likeness().cosine() > 0.9995, made.summary());
                if (transposeA == transposeB) {
                    requireReadable(made.graph());
                }
            }
        }
    }

    @Test
    void convolutionsBetweenCodesAreJoined() throws IOException, OrtException {
        Graph cnn = SmallCnn.build(new ImageOptions(10, 3, 16, 16), List.of(8, 16, 16), true, Weights.seeded(1));
        List<Map<String, Tensor>> batches = drawn(cnn);
        Int8 made = Int8.of(cnn, batches, settings(true, 0));
        assertEquals(3, made.quantization().convolutions());
        assertTrue(made.likeness().cosine() > 0.99, made.summary());
        String optimized = optimized(made.graph());
        assertTrue(optimized.contains("QLinearConv"), "convolutions are not joined");
        assertTrue(optimized.contains("QLinearGlobalAveragePool"), "the mean is not joined");
        assertFalse(optimized.contains("BatchNormalization"), "a normalisation is left behind a convolution");
        requireReadable(made.graph());
    }

    @Test
    void residualSumsStayCodes() throws IOException, OrtException {
        Graph resnet = ResNet34.build(new ImageOptions(10, 3, 16, 16), 8, Initialization.Scheme.HE, Weights.seeded(1));
        List<Map<String, Tensor>> batches = drawn(resnet).subList(0, 1);
        Int8 made = Int8.of(resnet, batches, settings(true, 0));
        assertTrue(made.quantization().convolutions() >= 33, made.summary());
        assertTrue(made.likeness().cosine() > 0.95, made.summary());
        assertTrue(optimized(made.graph()).contains("QLinearAdd"), "sums are not joined");
    }

    /** Grouped filters, a bounded activation, a maximum, a join, what flows on in fractions, and an output within. */
    @Test
    void manyNodesBetweenConvolutions() throws IOException {
        GraphBuilder graph = new GraphBuilder("many");
        Value x = graph.input("x", DataType.FLOAT32, "batch", 4, 12, 12);
        Value first =
                graph.add("first", new Conv(Windows.square(1, 1), 1), x, graph.parameter("w1", random(1, 8, 4, 3, 3)));
        Value scaled = graph.add(
                "scaled", new Binary(Binary.Function.MULTIPLY), graph.constant("s", random(2, 8, 1, 1)), first);
        Value bounded = graph.add("bounded", new Clip(0, 6), scaled);
        Value deep = graph.add(
                "deep",
                new Conv(Windows.square(1, 1), 8),
                bounded,
                graph.parameter("w2", random(3, 8, 1, 3, 3)),
                graph.parameter("b2", random(4, 8)));
        Value swish = graph.add("sigmoid", new Unary(Unary.Function.SIGMOID), deep);
        Value gated = graph.add("gated", new Binary(Binary.Function.MULTIPLY), deep, swish);
        Value joined = graph.addAll(
                        new Node("joined", new Concat(1), List.of(gated.name(), bounded.name()), List.of("joined")))
                .getFirst();
        Value most = graph.add(
                "most", new Pool(Pool.Function.MAX, List.of(2L, 2L), Windows.square(2, 0), false, false), joined);
        Value last = graph.add(
                "last", new Conv(Windows.square(1, 0), 1), most, graph.parameter("w3", random(5, 5, 16, 1, 1)));
        Value hyperbolic = graph.add("tanh", new Unary(Unary.Function.TANH), most);
        Graph model = graph.outputs(last, gated, hyperbolic);
        List<Map<String, Tensor>> batches = drawn(model);
        Int8 made = Int8.of(model, batches, settings(true, 0));
        assertEquals(3, made.quantization().convolutions());
        assertTrue(made.likeness().cosine() > 0.995, made.summary());
        assertEquals(model.outputs(), made.graph().outputs());
        requireReadable(made.graph());
    }

    /** One convolution of five ruins the outputs: its channels have nothing in common, but share a range. */
    @Test
    void convolutionsThatLoseTooMuchAreLeftAsTheyAre() throws IOException {
        assumeWholeSums();
        GraphBuilder graph = new GraphBuilder("uneven");
        Value signal = graph.input("x", DataType.FLOAT32, "batch", 4, 8, 8);
        for (int i = 0; i < 4; i++) {
            Value weight = graph.parameter("w" + i, random(i, 4, 4, 3, 3));
            signal = graph.add("conv" + i, new Conv(Windows.square(1, 1), 1), signal, weight);
            signal = graph.add("tanh" + i, new Unary(Unary.Function.TANH), signal);
        }
        Tensor uneven = Tensor.compute(DataType.FLOAT32, new long[] {4, 4, 1, 1}, i -> i / 4 == 0 ? 10_000 : i);
        Value wide = graph.add("wide", new Conv(Windows.square(1, 0), 1), signal, graph.parameter("uneven", uneven));
        Value balanced = graph.add(
                "balanced",
                new Binary(Binary.Function.DIVIDE),
                wide,
                graph.constant("sizes", Tensor.of(new float[] {40_000, 1, 1, 1}, 4, 1, 1)));
        Graph model = graph.outputs(balanced);
        List<Map<String, Tensor>> batches = drawn(model);
        Int8 all = Int8.of(model, batches, settings(true, 0));
        assertTrue(all.likeness().cosine() < 0.99, all.summary());
        List<String> said = new ArrayList<>();
        Int8 some = Int8.of(model, batches, new Settings(8, true, 0.99, 1, 0, OnnxWriter.Options.DEFAULT, said::add));
        assertTrue(some.likeness().cosine() >= 0.99, some.summary());
        assertEquals(4, some.quantization().convolutions());
        assertEquals(
                List.of("wide: rounding it changes the outputs too much"),
                some.quantization().left());
        assertTrue(said.contains("trying convolution 5 of 5 alone"), said.toString());
        Int8 none = Int8.of(model, batches, settings(true, 0.99999999));
        assertEquals(0, none.quantization().convolutions());
        assertEquals(1, none.likeness().cosine(), 1e-6);
    }

    @Test
    void badInputsAreNamed() {
        Graph cnn = SmallCnn.build(new ImageOptions(10, 3, 8, 8), List.of(4), false, Weights.seeded(1));
        assertThrows(IllegalArgumentException.class, () -> Int8.of(cnn, List.of(), Settings.CALIBRATED));
        assertThrows(IllegalArgumentException.class, () -> Calibration.of(cnn, List.of(), 1));
        String input = cnn.inputs().getFirst().name();
        Tensor nan = Tensor.compute(DataType.FLOAT32, new long[] {1, 3, 8, 8}, i -> Double.NaN);
        GraphException refused =
                assertThrows(GraphException.class, () -> Int8.of(cnn, List.of(Map.of(input, nan)), settings(true, 0)));
        assertTrue(
                String.valueOf(refused.getMessage()).contains("is NaN for some of the inputs"), refused.getMessage());
        GraphException told =
                assertThrows(GraphException.class, () -> Int8.of(cnn, List.of(Map.of(input, nan)), settings(false, 0)));
        assertTrue(String.valueOf(told.getMessage()).contains("no finite numbers"), told.getMessage());
    }
}
