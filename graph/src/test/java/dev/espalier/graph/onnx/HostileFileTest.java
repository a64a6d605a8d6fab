package dev.espalier.graph.onnx;

import static dev.espalier.graph.onnx.OnnxBuilder.longs;
import static dev.espalier.graph.onnx.OnnxBuilder.nodeProto;
import static dev.espalier.graph.onnx.OnnxBuilder.tensor;
import static dev.espalier.graph.onnx.OnnxBuilder.whole;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.SparseTensorProto;
import ai.onnx.proto.OnnxMl.StringStringEntryProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import com.google.protobuf.ByteString;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are broken, or made to do harm: always an explanation, and soon. */
class HostileFileTest {
    private static final Duration SOON = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    /** Reads what may be anything; true if it was a model after all. */
    private static boolean survives(byte[] bytes, String replay) {
        try {
            OnnxReader.read(bytes);
            return true;
        } catch (IOException | GraphException explained) {
            String message = explained.getMessage();
            assertTrue(message != null && !message.isBlank(), replay);
            return false;
        } catch (RuntimeException | Error escaped) {
            return fail(replay, escaped);
        }
    }

    private static String refusal(OnnxBuilder builder) {
        Exception problem = assertTimeoutPreemptively(
                SOON, () -> assertThrows(Exception.class, () -> OnnxReader.read(builder.bytes())));
        assertTrue(problem instanceof OnnxException || problem instanceof GraphException, problem.toString());
        return String.valueOf(problem.getMessage());
    }

    private static void assertRefused(String part, OnnxBuilder builder) {
        String message = refusal(builder);
        assertTrue(message.contains(part), message);
    }

    /** A bit of everything: attributes, constants, folding, symbols, a function's worth of nodes. */
    static byte[] model() {
        return new OnnxBuilder(18)
                .input("x", "N", 2, 8, 8)
                .weight("w", 4, 2, 3, 3)
                .weight("b", 4)
                .list("shape", 0, -1)
                .list("axes", 1)
                .scalar("two", 2)
                .node("Constant", "", "c", tensor("value", Tensor.of(new float[] {1, 2, 3, 4}, 4, 1, 1)))
                .node("Conv", "x w b", "h", longs("pads", 1L, 1L, 1L, 1L), longs("strides", 2L, 2L))
                .node("Mul", "h c", "m")
                .node("Pow", "m two", "p")
                .node("MaxPool", "p", "q", longs("kernel_shape", 2L, 2L))
                .node("Shape", "q", "s")
                .node("ConstantOfShape", "s", "k", tensor("value", Tensor.of(new float[] {3})))
                .node("Add", "q k", "a")
                .node("ReduceMean", "a axes", "r")
                .node("Reshape", "r shape", "y")
                .output("y")
                .bytes();
    }

    @Test
    void aModelCutOffAnywhereIsExplained() {
        byte[] model = model();
        assertTrue(survives(model, "the whole model"));
        assertTimeoutPreemptively(SOON, () -> {
            for (int length = 0; length < model.length; length++) {
                survives(Arrays.copyOf(model, length), "the first " + length + " bytes");
            }
        });
    }

    @Test
    void aModelWithWrongBytesIsExplainedOrRead() {
        byte[] model = model();
        assertTimeoutPreemptively(SOON, () -> {
            int refused = 0;
            for (int seed = 0; seed < 4000; seed++) {
                Random random = new Random(seed);
                byte[] broken = model.clone();
                for (int i = random.nextInt(4); i >= 0; i--) {
                    int at = random.nextInt(broken.length);
                    broken[at] = random.nextBoolean()
                            ? (byte) random.nextInt()
                            : (byte) (broken[at] ^ (1 << random.nextInt(8)));
                }
                refused += survives(broken, "seed " + seed) ? 0 : 1;
            }
            assertTrue(refused > 1000, "only " + refused + " were refused");
        });
    }

    @Test
    void randomBytesAreNoModel() {
        assertTimeoutPreemptively(SOON, () -> {
            for (int seed = 0; seed < 2000; seed++) {
                Random random = new Random(seed);
                byte[] bytes = new byte[random.nextInt(300)];
                random.nextBytes(bytes);
                survives(bytes, "seed " + seed);
            }
        });
        assertThrows(OnnxException.class, () -> OnnxReader.read(new byte[0]));
    }

    @Test
    void impossibleDimensionsAreRefusedBeforeAnythingIsAllocated() {
        for (long[] shape : new long[][] {{1L << 40}, {1L << 62, 4}, {1L << 32, 1L << 32, 1L << 32}, {-1}, {-2, -3}}) {
            OnnxBuilder builder = new OnnxBuilder(17).output("t");
            TensorProto.Builder proto = TensorProto.newBuilder().setName("t").setDataType(1);
            Arrays.stream(shape).forEach(proto::addDims);
            builder.graph.addInitializer(proto);
            assertTrue(refusal(builder).contains("initializer t"));
            builder.graph.setInitializer(0, proto.setRawData(ByteString.copyFrom(new byte[8])));
            assertTrue(refusal(builder).contains("initializer t"));
        }
        OnnxBuilder many = new OnnxBuilder(17).output("t");
        TensorProto.Builder proto = TensorProto.newBuilder().setName("t").setDataType(1);
        for (int i = 0; i < 1000; i++) {
            proto.addDims(1);
        }
        many.graph.addInitializer(proto.addFloatData(1));
        assertRefused("1000 axes", many);
        assertRefused(
                "length of -3", new OnnxBuilder(17).input("x", 0).output("x").negative("z"));
    }

    @Test
    void contentsThatDoNotFitTheDimensionsAreRefused() {
        OnnxBuilder builder = new OnnxBuilder(17).output("t");
        builder.graph.addInitializer(
                TensorProto.newBuilder().setName("t").setDataType(1).addDims(3).addFloatData(1));
        assertRefused("needs 3 numbers in float_data but has 1", builder);
        OnnxBuilder raw = new OnnxBuilder(17).output("t");
        raw.graph.addInitializer(TensorProto.newBuilder()
                .setName("t")
                .setDataType(1)
                .addDims(3)
                .setRawData(ByteString.copyFrom(new byte[11])));
        assertRefused("needs 12 bytes in raw_data but has 11", raw);
    }

    @Test
    void whatIsNotSupportedIsNamed() {
        OnnxBuilder text = new OnnxBuilder(17).output("t");
        text.graph.addInitializer(
                TensorProto.newBuilder().setName("t").setDataType(8).addStringData(ByteString.copyFromUtf8("a")));
        assertRefused("STRING", text);
        OnnxBuilder sparse = new OnnxBuilder(17).input("x", 1).output("x");
        sparse.graph.addSparseInitializer(SparseTensorProto.getDefaultInstance());
        assertRefused("sparse", sparse);
        OnnxBuilder sequence = new OnnxBuilder(17).output("x");
        sequence.graph.addInput(ValueInfoProto.newBuilder()
                .setName("x")
                .setType(TypeProto.newBuilder().setSequenceType(TypeProto.Sequence.getDefaultInstance())));
        assertRefused("only tensors are supported", sequence);
        OnnxBuilder rankless = new OnnxBuilder(17).output("x");
        rankless.graph.addInput(ValueInfoProto.newBuilder()
                .setName("x")
                .setType(TypeProto.newBuilder()
                        .setTensorType(TypeProto.Tensor.newBuilder().setElemType(1))));
        assertRefused("how many axes", rankless);
        assertRefused(
                "has no value", new OnnxBuilder(17).node("Constant", "", "y").output("y"));
    }

    @Test
    void cyclesAndDoubledNamesAreRefused() {
        assertRefused(
                "cycle",
                new OnnxBuilder(17)
                        .input("x", 2)
                        .node("Add", "x b", "a")
                        .node("Relu", "a", "b")
                        .output("b"));
        assertRefused("cycle", new OnnxBuilder(17).node("Relu", "a", "a").output("a"));
        assertRefused(
                "exists already",
                new OnnxBuilder(17)
                        .input("x", 2)
                        .node("Relu", "x", "y")
                        .node("Abs", "x", "y")
                        .output("y"));
        assertRefused(
                "exists already",
                new OnnxBuilder(17).input("x", 2).node("Relu", "x", "x").output("x"));
        assertRefused(
                "already", new OnnxBuilder(17).weight("w", 1).weight("w", 1).output("w"));
        assertRefused("already", new OnnxBuilder(17).input("x", 1).input("x", 1).output("x"));
        assertRefused(
                "nothing makes", new OnnxBuilder(17).node("Relu", "ghost", "y").output("y"));
        assertRefused("ghost", new OnnxBuilder(17).input("x", 1).output("ghost"));
        assertRefused(
                "no output",
                new OnnxBuilder(17).input("x", 1).node("Relu", "x", "").output("x"));
        assertRefused(
                "inputs",
                new OnnxBuilder(17).input("x", 1).node("Add", "x", "y").output("y"));
        assertRefused(
                "input 0",
                new OnnxBuilder(17).input("x", 1).node("Relu", "-", "y").output("y"));
    }

    @Test
    void hugeConstantsAreNeitherMadeNorWaitedFor() throws IOException {
        OnnxBuilder builder = new OnnxBuilder(17)
                .list("n", 1_000_000, 1_000_000)
                .node("ConstantOfShape", "n", "y")
                .output("y");
        assertEquals(
                1,
                assertTimeoutPreemptively(SOON, () -> OnnxReader.read(builder.bytes()))
                        .graph()
                        .nodes()
                        .size());
        OnnxBuilder many = new OnnxBuilder(17).list("n", 1000, 4000);
        StringBuilder names = new StringBuilder();
        for (int i = 0; i < 2000; i++) {
            many.node("ConstantOfShape", "n", "c" + i).node("Exp", "c" + i, "e" + i);
            names.append(i == 0 ? "" : " ").append("e").append(i);
        }
        many.node("Sum", names.toString(), "y").output("y");
        assertTimeoutPreemptively(SOON, () -> OnnxReader.read(many.bytes()));
        OnnxBuilder range = new OnnxBuilder(17)
                .initializer("a", Tensor.scalar(DataType.FLOAT32, 0))
                .initializer("b", Tensor.scalar(DataType.FLOAT32, 1e18))
                .initializer("c", Tensor.scalar(DataType.FLOAT32, 1e-3))
                .node("Range", "a b c", "y")
                .output("y");
        assertTimeoutPreemptively(SOON, () -> survives(range.bytes(), "a long range"));
        assertRefused(
                "ConstantOfShape",
                new OnnxBuilder(17)
                        .list("n", -5)
                        .node("ConstantOfShape", "n", "y")
                        .output("y"));
        assertRefused(
                "overflow",
                new OnnxBuilder(17)
                        .list("n", 1L << 40, 1L << 40)
                        .node("ConstantOfShape", "n", "y")
                        .node("Size", "y", "z")
                        .output("z"));
    }

    @Test
    void productsOfLargeConstantsAreNotComputed() {
        OnnxBuilder builder = new OnnxBuilder(17).list("n", 2000, 2000).node("ConstantOfShape", "n", "c0");
        for (int i = 0; i < 50; i++) {
            builder.node("MatMul", "c" + i + " c" + i, "c" + (i + 1));
        }
        byte[] bytes = builder.output("c50").bytes();
        assertTimeoutPreemptively(SOON, () -> OnnxReader.read(bytes));
    }

    @Test
    void symbolsDoNotGrowWithoutBound() {
        OnnxBuilder sums = new OnnxBuilder(17).input("a0", "N").input("a1", "S");
        for (int i = 2; i < 200; i++) {
            sums.node("Add", "a" + (i - 1) + " a" + (i - 2), "a" + i);
        }
        assertTimeoutPreemptively(SOON, () -> survives(sums.output("a199").bytes(), "sums"));
        OnnxBuilder squares = new OnnxBuilder(17).input("a0", "N", 1).list("flat", -1, 1);
        for (int i = 0; i < 60; i++) {
            squares.node("Transpose", "a" + i, "t" + i)
                    .node("Add", "a" + i + " t" + i, "s" + i)
                    .node("Reshape", "s" + i + " flat", "a" + (i + 1));
        }
        assertTimeoutPreemptively(SOON, () -> survives(squares.output("a60").bytes(), "squares"));
    }

    @Test
    void axesDoNotGrowWithoutBound() {
        OnnxBuilder builder = new OnnxBuilder(17).input("a0", 1);
        builder.list("axes", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        for (int i = 0; i < 20; i++) {
            builder.node("Unsqueeze", "a" + i + " axes", "a" + (i + 1));
        }
        assertRefused("axes", builder.output("a20"));
    }

    @Test
    void nonsenseOfAttributesIsRefused() {
        assertRefused(
                "alpha",
                new OnnxBuilder(17)
                        .input("x", 1)
                        .node("Elu", "x", "y", whole("alpha", 1))
                        .output("y"));
        assertRefused(
                "perm",
                new OnnxBuilder(17)
                        .input("x", 1)
                        .node("Transpose", "x", "y", whole("perm", 1))
                        .output("y"));
        assertRefused(
                "permutation",
                new OnnxBuilder(17)
                        .input("x", 1, 2)
                        .node("Transpose", "x", "y", longs("perm", 5L, 5L))
                        .output("y"));
        assertRefused(
                "strides",
                new OnnxBuilder(17)
                        .input("x", 1, 1, 4)
                        .node("MaxPool", "x", "y", longs("kernel_shape", 2L), longs("strides", 0L))
                        .output("y"));
        assertRefused(
                "MaxPool",
                new OnnxBuilder(17)
                        .input("x", 1, 1, 4)
                        .node(
                                "MaxPool",
                                "x",
                                "y",
                                longs("kernel_shape", Long.MAX_VALUE),
                                longs("pads", Long.MAX_VALUE, Long.MAX_VALUE))
                        .output("y"));
        assertRefused(
                "Split",
                new OnnxBuilder(18)
                        .input("x", 4)
                        .node("Split", "x", "y", whole("num_outputs", Integer.MAX_VALUE))
                        .output("y"));
        assertRefused(
                "axis",
                new OnnxBuilder(17).input("x", 4).node("Concat", "x x", "y").output("y"));
        assertRefused(
                "type",
                new OnnxBuilder(17)
                        .input("x", 4)
                        .node("Cast", "x", "y", whole("to", 8))
                        .output("y"));
    }

    @Test
    void deeplyNestedMessagesAreRefused() {
        GraphProto.Builder inner = GraphProto.newBuilder().setName("end");
        for (int i = 0; i < 300; i++) {
            inner = GraphProto.newBuilder()
                    .addNode(NodeProto.newBuilder()
                            .setOpType("If")
                            .addAttribute(
                                    AttributeProto.newBuilder().setName("g").setG(inner)));
        }
        OnnxBuilder builder = new OnnxBuilder(17).input("x", 1).output("x");
        builder.graph.addNode(nodeProto(
                "Relu",
                "x",
                "y",
                AttributeProto.newBuilder().setName("g").setG(inner).build()));
        assertRefused("no ONNX model", builder);
    }

    private Path external(Path home, Map<String, String> entries) throws IOException {
        OnnxBuilder builder =
                new OnnxBuilder(17).input("x", 4).node("Add", "x w", "y").output("y");
        TensorProto.Builder proto = TensorProto.newBuilder()
                .setName("w")
                .setDataType(1)
                .addDims(4)
                .setDataLocation(TensorProto.DataLocation.EXTERNAL);
        entries.forEach((key, value) -> proto.addExternalData(
                StringStringEntryProto.newBuilder().setKey(key).setValue(value)));
        builder.graph.addInitializer(proto);
        Files.createDirectories(home);
        Path model = home.resolve("model.onnx");
        Files.write(model, builder.bytes());
        return model;
    }

    private void assertExternalRefused(String part, Map<String, String> entries) throws IOException {
        Path model = external(folder.resolve("home"), entries);
        OnnxException problem = assertThrows(OnnxException.class, () -> OnnxReader.read(model));
        Checks.assertExplains(problem, part);
    }

    @Test
    void externalDataIsReadWhereItBelongs() throws IOException {
        Path home = folder.resolve("home");
        Files.createDirectories(home.resolve("sub"));
        Tensor data = Tensor.of(new float[] {9, 1, 2, 3, 4});
        Files.write(home.resolve("sub/w.bin"), data.data().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
        Path model = external(home, Map.of("location", "sub/w.bin", "offset", "4", "length", "16"));
        Tensor read = Checks.contents(OnnxReader.read(model).graph(), "w");
        assertTrue(read.sameAs(Tensor.of(new float[] {1, 2, 3, 4})));
        byte[] bytes = Files.readAllBytes(model);
        OnnxException problem = assertThrows(OnnxException.class, () -> OnnxReader.read(bytes));
        Checks.assertExplains(problem, "from its path");
    }

    @Test
    void externalDataOutsideOfTheFolderIsRefused() throws IOException {
        Path secret = folder.resolve("secret.bin");
        Files.write(secret, new byte[16]);
        Path home = Files.createDirectories(folder.resolve("home/sub"));
        Files.write(home.resolve("w.bin"), new byte[16]);
        assertExternalRefused("must not leave", Map.of("location", "../secret.bin"));
        assertExternalRefused("must not leave", Map.of("location", "sub/../../secret.bin"));
        assertExternalRefused("must not leave", Map.of("location", "sub/../sub/w.bin"));
        assertExternalRefused("relative", Map.of("location", secret.toString()));
        assertExternalRefused("no path", Map.of("location", "a\0b"));
        assertExternalRefused("no location", Map.of());
        assertExternalRefused("no file", Map.of("location", "sub"));
        assertExternalRefused("not in the model's folder", Map.of("location", "missing.bin"));
        Files.createSymbolicLink(folder.resolve("home/link.bin"), secret);
        assertExternalRefused("leads out", Map.of("location", "link.bin"));
        Files.createSymbolicLink(folder.resolve("home/up"), folder);
        assertExternalRefused("leads out", Map.of("location", "up/secret.bin"));
    }

    /** Models are run by it as they are: it must be as careful. */
    @Test
    void onnxRuntimeRefusesItToo() throws IOException {
        Path secret = folder.resolve("secret.bin");
        Files.write(secret, new byte[16]);
        Path home = Files.createDirectories(folder.resolve("home"));
        Files.write(home.resolve("w.bin"), new byte[16]);
        Files.createSymbolicLink(home.resolve("link.bin"), secret);
        Path sound = external(home, Map.of("location", "w.bin"));
        assertEquals(Optional.empty(), refusal(sound));
        for (String location : List.of("../secret.bin", "sub/../../secret.bin", secret.toString(), "link.bin")) {
            Path model = external(home, Map.of("location", location));
            assertTrue(refusal(model).isPresent(), location);
        }
    }

    private static Optional<String> refusal(Path model) {
        try (OrtSession _ = OrtEnvironment.getEnvironment().createSession(model.toString())) {
            return Optional.empty();
        } catch (OrtException refused) {
            return Optional.of(refused.toString());
        }
    }

    @Test
    void whatPythonPickledIsRefused() {
        for (byte[] bytes : List.of(
                new byte[] {(byte) 0x80, 2, '}', 'q', 0, '.'},
                new byte[] {(byte) 0x80, 5, '.'},
                "PK\3\4archive/data.pkl".getBytes(StandardCharsets.US_ASCII))) {
            OnnxException problem = assertThrows(OnnxException.class, () -> OnnxReader.read(bytes));
            Checks.assertExplains(problem, "can hold code, and is not read");
        }
    }

    @Test
    void externalDataThatIsTooShortIsRefused() throws IOException {
        Path home = Files.createDirectories(folder.resolve("home"));
        Files.write(home.resolve("w.bin"), new byte[20]);
        assertExternalRefused("which has only 20", Map.of("location", "w.bin", "offset", "8"));
        assertExternalRefused("which has only 20", Map.of("location", "w.bin", "offset", "9000000000000000000"));
        assertExternalRefused("length of 12", Map.of("location", "w.bin", "length", "12"));
        assertExternalRefused("at least 0", Map.of("location", "w.bin", "offset", "-4"));
        assertExternalRefused("no number", Map.of("location", "w.bin", "offset", "many"));
    }

    @Test
    void foldersAndMissingFilesAreExplained() {
        Checks.assertExplains(assertThrows(OnnxException.class, () -> OnnxReader.read(folder)), "no file");
        assertThrows(IOException.class, () -> OnnxReader.read(folder.resolve("missing.onnx")));
    }
}
