package dev.espalier.graph.onnx;

import static dev.espalier.graph.onnx.OnnxBuilder.attribute;
import static dev.espalier.graph.onnx.OnnxBuilder.longs;
import static dev.espalier.graph.onnx.OnnxBuilder.nodeProto;
import static dev.espalier.graph.onnx.OnnxBuilder.number;
import static dev.espalier.graph.onnx.OnnxBuilder.tensor;
import static dev.espalier.graph.onnx.OnnxBuilder.text;
import static dev.espalier.graph.onnx.OnnxBuilder.value;
import static dev.espalier.graph.onnx.OnnxBuilder.whole;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.AttributeProto.AttributeType;
import ai.onnx.proto.OnnxMl.FunctionProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.StringStringEntryProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Operators that nobody here knows: what is read, pruned and written around them is judged by ONNX Runtime. */
class BlackBoxTest {
    private static final String MICROSOFT = "com.microsoft";

    /** Reads, writes and runs: what comes out must be what comes out of the original. */
    private static Graph sameAfterWriting(OnnxBuilder builder) throws Exception {
        Graph graph = OnnxReader.read(builder.bytes()).graph();
        assertSame(builder, graph);
        assertSame(builder, OnnxReader.read(written(graph)).graph());
        return graph;
    }

    private static void assertSame(OnnxBuilder builder, Graph graph) throws Exception {
        OnnxRuntime.assertClose(
                OnnxRuntime.run(builder.bytes(), builder.feeds), OnnxRuntime.run(written(graph), builder.feeds), 1e-5);
    }

    private static byte[] written(Graph graph) {
        return OnnxWriter.toBytes(graph, OnnxWriter.Options.DEFAULT);
    }

    private static AttributeProto graph(String name, GraphProto.Builder graph) {
        return attribute(name, AttributeType.GRAPH).setG(graph.setName(name)).build();
    }

    private static GraphProto.Builder branch(String output, Object... dims) {
        return GraphProto.newBuilder().addOutput(value(output, DataType.FLOAT32, dims));
    }

    private static Tensor matrix(int rows, int columns, IntPredicate zeroRow, IntPredicate zeroColumn) {
        return Tensor.compute(DataType.FLOAT32, new long[] {rows, columns}, i -> {
            int row = (int) i / columns;
            int column = (int) i % columns;
            return zeroRow.test(row) || zeroColumn.test(column) ? 0 : Math.sin(1 + 3.0 * i);
        });
    }

    /** Two layers, a box, two layers. */
    private static OnnxBuilder between(NodeProto.Builder box, DataType type, Object... dims) {
        OnnxBuilder builder = new OnnxBuilder(15)
                .input("x", "N", 4)
                .initializer("w1", matrix(4, 6, row -> false, column -> column == 1))
                .initializer("w2", matrix(6, 5, row -> row >= 4, column -> false))
                .initializer("w3", matrix(5, 6, row -> row == 0, column -> false))
                .initializer("w4", matrix(6, 2, row -> row == 3, column -> false))
                .node("MatMul", "x w1", "a")
                .node("Relu", "a", "b")
                .node("MatMul", "b w2", "c");
        builder.graph.addNode(box).addValueInfo(value("d", type, dims));
        return builder.node("MatMul", "d w3", "e")
                .node("Relu", "e", "f")
                .node("MatMul", "f w4", "y")
                .output("y");
    }

    @Test
    void whatLiesAroundAnUnknownOperatorIsPruned() throws Exception {
        OnnxBuilder builder = between(
                nodeProto("Shrink", "c", "d", number("lambd", 0.4f), number("bias", 0.1f)), DataType.FLOAT32, "N", 5);
        Graph graph = sameAfterWriting(builder);
        assertEquals(Map.of("Shrink", 1), graph.foreign());
        Graph pruned = Pruner.plan(graph, PruneOptions.DEFAULT).apply();
        assertSame(builder, pruned);
        assertEquals(Shape.of(4, 3), pruned.shape("w1"), "before the box");
        assertEquals(Shape.of(3, 5), pruned.shape("w2"), "what the box reads is needed whole");
        assertEquals(2, pruned.shape("d").rank(), "what it makes too, whoever reads less of it");
        assertEquals(Dimension.of(5), pruned.shape("d").get(1));
        assertEquals(Shape.of(5, 2), pruned.shape("w4"), "behind the box");
    }

    /** One that is known, but not with this activation. */
    @Test
    void anOperatorOfAnotherDomainKeepsItsVersionAndWhatIsLeftOut() throws Exception {
        OnnxBuilder builder = between(
                nodeProto("FusedGemm", "c scale -", "d", text("activation", "Elu"), number("activation_alpha", 1))
                        .setDomain(MICROSOFT),
                DataType.FLOAT32,
                "N",
                5);
        builder.weight("scale", 5, 5);
        builder.model
                .addOpsetImport(
                        OperatorSetIdProto.newBuilder().setDomain(MICROSOFT).setVersion(1))
                .addMetadataProps(
                        StringStringEntryProto.newBuilder().setKey("words").setValue("a b"));
        Graph graph = sameAfterWriting(builder);
        assertEquals(Map.of(MICROSOFT + "::FusedGemm", 1), graph.foreign());
        ModelProto written = ModelProto.parseFrom(written(graph));
        assertEquals("a b", written.getMetadataProps(0).getValue());
        assertTrue(written.getOpsetImportList().stream()
                .anyMatch(entry -> entry.getDomain().equals(MICROSOFT) && entry.getVersion() == 1));
    }

    @Test
    void anOutputThatIsLeftOutStaysOut() throws Exception {
        OnnxBuilder builder = new OnnxBuilder(15)
                .typed("x", DataType.INT64, 3, 7)
                .node("Unique", "x", "y - where", whole("sorted", 1))
                .output("y", "where");
        builder.graph
                .addValueInfo(value("y", DataType.INT64, "how many"))
                .addValueInfo(value("where", DataType.INT64, 7));
        Graph graph = sameAfterWriting(builder);
        assertEquals(List.of("y", "where"), graph.nodes().getFirst().outputs());
        assertEquals(Shape.of("y.length0"), graph.shape("y"));
    }

    /** A graph whose branches read what is outside: a weight, a tensor that is pruned around, and a second name of it. */
    private static OnnxBuilder choice(String condition) {
        GraphProto.Builder then = branch("t", "N", 5)
                .addNode(nodeProto("MatMul", "second wi", "inner"))
                .addNode(nodeProto("Shrink", "inner", "t", number("lambd", 0.2f)));
        GraphProto.Builder otherwise = branch("o", "N", 5)
                .addInitializer(
                        OnnxBuilder.proto(Tensor.scalar(DataType.FLOAT32, 3)).setName("three"))
                .addNode(nodeProto("Mul", "c three", "o"));
        OnnxBuilder builder = between(
                nodeProto("If", condition, "d", graph("then_branch", then), graph("else_branch", otherwise)),
                DataType.FLOAT32,
                "N",
                5);
        return builder.initializer("wi", matrix(5, 5, row -> row == 2, column -> column == 2))
                .node("Identity", "c", "second");
    }

    @Test
    void aChoiceThatIsMadeWhenTheModelRunsIsKeptWithWhatItReadsFromOutside() throws Exception {
        for (double sign : new double[] {1, -1}) {
            OnnxBuilder builder = choice("positive")
                    .node("ReduceSum", "x", "sum", whole("keepdims", 0))
                    .scalar("zero", 0)
                    .node("Greater", "sum zero", "positive");
            builder.feeds.compute(
                    "x",
                    (_, x) -> Tensor.compute(
                            DataType.FLOAT32, new long[] {2, 4}, i -> sign * (1 + Math.abs(Math.sin(1.0 * i)))));
            Graph graph = sameAfterWriting(builder);
            assertEquals(Map.of("If", 1), graph.foreign());
            assertEquals(
                    List.of("positive", "c", "wi", "c"),
                    graph.nodes().stream()
                            .filter(node -> node.operator().label().equals("If"))
                            .findFirst()
                            .orElseThrow()
                            .inputs());
            Graph pruned = Pruner.plan(graph, PruneOptions.DEFAULT).apply();
            assertSame(builder, pruned);
            assertEquals(Shape.of(4, 3), pruned.shape("w1"));
            assertEquals(Shape.of(5, 5), pruned.shape("wi"), "within the branches nothing is cut");
        }
    }

    @Test
    void aChoiceThatIsKnownIsTheBranchThatIsTaken() throws Exception {
        for (long columns : new long[] {4, 5}) {
            OnnxBuilder builder = choice("four")
                    .node("Shape", "x", "lengths")
                    .list("one", 1)
                    .node("Gather", "lengths one", "columns")
                    .list("wanted", columns)
                    .node("Equal", "columns wanted", "four");
            Graph graph = sameAfterWriting(builder);
            assertEquals(columns == 4 ? Map.of("Shrink", 1) : Map.of(), graph.foreign());
            assertFalse(graph.nodes().stream()
                    .anyMatch(node -> node.operator().label().equals("Identity")));
        }
    }

    /** Choices within choices, and branches that only hand on what is outside. */
    @Test
    void branchesWithinBranchesAreTakenToo() throws Exception {
        GraphProto.Builder inner = branch("h", 2, 3)
                .addInitializer(
                        OnnxBuilder.proto(Tensor.scalar(DataType.FLOAT32, 2)).setName("factor"))
                .addNode(nodeProto("Mul", "x factor", "h"));
        GraphProto.Builder handOn = branch("same", 2, 3).addNode(nodeProto("Identity", "x", "same"));
        GraphProto.Builder outer = GraphProto.newBuilder()
                .addNode(nodeProto("If", "yes", "h", graph("then_branch", inner), graph("else_branch", handOn)))
                .addNode(nodeProto("Neg", "h", "k"))
                .addNode(nodeProto("Identity", "x", "again"))
                .addOutput(value("h", DataType.FLOAT32, 2, 3))
                .addOutput(value("k", DataType.FLOAT32, 2, 3))
                .addOutput(value("again", DataType.FLOAT32, 2, 3));
        GraphProto.Builder never = GraphProto.newBuilder()
                .addNode(nodeProto("Abs", "x", "m"))
                .addNode(nodeProto("Exp", "x", "n"))
                .addOutput(value("m", DataType.FLOAT32, 2, 3))
                .addNode(nodeProto("Neg", "x", "o"))
                .addOutput(value("n", DataType.FLOAT32, 2, 3))
                .addOutput(value("o", DataType.FLOAT32, 2, 3));
        OnnxBuilder builder = new OnnxBuilder(16)
                .input("x", 2, 3)
                .node("Constant", "", "yes", tensor("value", Tensor.computeLongs(DataType.BOOL, new long[0], _ -> 1)))
                .node("If", "yes", "p q r", graph("then_branch", outer), graph("else_branch", never))
                .node("Add", "p r", "s")
                .output("q", "s");
        assertTrue(sameAfterWriting(builder).foreign().isEmpty());
    }

    @Test
    void aLoopIsKept() throws Exception {
        GraphProto.Builder body = GraphProto.newBuilder()
                .addInput(value("step", DataType.INT64))
                .addInput(value("before", DataType.BOOL))
                .addInput(value("held", DataType.FLOAT32, "N", 5))
                .addNode(nodeProto("Identity", "before", "after"))
                .addNode(nodeProto("Add", "held c", "now"))
                .addOutput(value("after", DataType.BOOL))
                .addOutput(value("now", DataType.FLOAT32, "N", 5));
        OnnxBuilder builder = between(
                        nodeProto("Loop", "times - c", "d", graph("body", body)), DataType.FLOAT32, "N", 5)
                .initializer("times", Tensor.computeLongs(DataType.INT64, new long[0], _ -> 3));
        assertEquals(Map.of("Loop", 1), sameAfterWriting(builder).foreign());
    }

    /** A function's body has names of its own, within the graphs of its nodes too. */
    @Test
    void functionsAreInlinedAroundAndWithinBranches() throws Exception {
        OperatorSetIdProto.Builder own = OperatorSetIdProto.newBuilder().setVersion(15);
        OperatorSetIdProto.Builder local =
                OperatorSetIdProto.newBuilder().setDomain("local").setVersion(1);
        GraphProto.Builder then =
                branch("t", 2, 3).addNode(nodeProto("Scaled", "v", "t").setDomain("local"));
        GraphProto.Builder otherwise = branch("o", 2, 3).addNode(nodeProto("Neg", "v", "o"));
        OnnxBuilder builder = new OnnxBuilder(15).input("x", 2, 3).typed("choose", DataType.BOOL, 2);
        builder.model
                .addOpsetImport(local)
                .addFunctions(FunctionProto.newBuilder()
                        .setName("Scaled")
                        .setDomain("local")
                        .addInput("in")
                        .addOutput("out")
                        .addOpsetImport(own)
                        .addNode(nodeProto("Shrink", "in", "out", number("lambd", 0.3f))));
        builder.model.addFunctions(FunctionProto.newBuilder()
                .setName("Choice")
                .setDomain("local")
                .addInput("which")
                .addInput("in")
                .addOutput("out")
                .addOpsetImport(own)
                .addOpsetImport(local)
                .addNode(nodeProto("Abs", "in", "v"))
                .addNode(nodeProto("If", "which", "out", graph("then_branch", then), graph("else_branch", otherwise))));
        builder.graph
                .addNode(nodeProto("Choice", "choose x", "v").setDomain("local").setName("one"))
                .addValueInfo(value("v", DataType.FLOAT32, 2, 3));
        assertEquals(
                Map.of("If", 1),
                sameAfterWriting(builder.node("Exp", "v", "y").output("y")).foreign());
    }

    @Test
    void tensorsOfABranchThatLieInAnotherFileComeAlong(@TempDir Path folder) throws Exception {
        ByteBuffer numbers = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
        numbers.putFloat(1).putFloat(20).putFloat(300);
        Files.write(folder.resolve("data"), numbers.array());
        TensorProto.Builder shift = TensorProto.newBuilder()
                .setName("shift")
                .setDataType(1)
                .addDims(3)
                .setDataLocation(TensorProto.DataLocation.EXTERNAL)
                .addExternalData(
                        StringStringEntryProto.newBuilder().setKey("location").setValue("data"));
        GraphProto.Builder then = branch("t", 2, 3).addInitializer(shift).addNode(nodeProto("Add", "x shift", "t"));
        GraphProto.Builder otherwise = branch("o", 2, 3).addNode(nodeProto("Neg", "x", "o"));
        OnnxBuilder builder = new OnnxBuilder(15).input("x", 2, 3).typed("choose", DataType.BOOL, 2);
        builder.node("If", "choose", "y", graph("then_branch", then), graph("else_branch", otherwise));
        builder.graph.addOutput(value("y", DataType.FLOAT32, 2, 3));
        Path file = Files.write(folder.resolve("model.onnx"), builder.bytes());
        Graph graph = OnnxReader.read(file).graph();
        Files.delete(folder.resolve("data"));
        builder.feeds.put("choose", Tensor.computeLongs(DataType.BOOL, new long[0], _ -> 1));
        Tensor x = Objects.requireNonNull(builder.feeds.get("x"));
        Tensor expected = Tensor.compute(
                DataType.FLOAT32, new long[] {2, 3}, i -> x.getDouble(i) + numbers.getFloat((int) (i % 3) * 4));
        OnnxRuntime.assertClose(List.of(expected), OnnxRuntime.run(written(graph), builder.feeds), 1e-6);
    }

    @Test
    void lengthsFollowThoseOfTheInputs() throws IOException {
        Graph graph = OnnxReader.read(between(nodeProto("Shrink", "c", "d"), DataType.FLOAT32, "N", 5)
                        .bytes())
                .graph();
        assertEquals(Shape.of("N", 5), graph.shape("d"));
        assertEquals(Shape.of(7, 2), graph.withDimensions(Map.of("N", 7L)).shape("y"));
        Graph other = OnnxReader.read(between(nodeProto("Shrink", "c", "d"), DataType.FLOAT32, "M", 5)
                        .bytes())
                .graph();
        assertEquals(Shape.of("d.length0", 5), other.shape("d"), "a name that no input has may be any length's");
        Graph fixed = other.withDimensions(Map.of("N", 7L));
        assertFalse(Cost.flops(fixed).isKnown());
        assertEquals(Cost.flops(graph.withDimensions(Map.of("N", 7L))), Cost.flops(fixed, 7));
    }

    @Test
    void whatABoxReadsMayNotChange() throws IOException {
        Graph graph = OnnxReader.read(between(nodeProto("Shrink", "c", "d"), DataType.FLOAT32, "N", 5)
                        .bytes())
                .graph();
        SequencedMap<String, Initializer> others = new LinkedHashMap<>(graph.initializers());
        others.put("w2", new Initializer(matrix(6, 4, _ -> false, _ -> false), Initializer.Kind.PARAMETER));
        GraphException problem = assertThrows(GraphException.class, () -> graph.with(others, graph.nodes()));
        Checks.assertExplains(problem, "kept as it was");
    }

    @Test
    void itIsWrittenInAVersionInWhichItMeansTheSame() throws Exception {
        GraphProto.Builder then = branch("t", "N", 1).addNode(nodeProto("ReduceMean", "c", "t", longs("axes", 1L)));
        GraphProto.Builder otherwise = branch("o", "N", 1).addNode(nodeProto("ReduceMax", "c", "o", longs("axes", 1L)));
        OnnxBuilder builder = new OnnxBuilder(14)
                .input("x", "N", 4)
                .typed("choose", DataType.BOOL, 2)
                .node("Relu", "x", "c")
                .node("If", "choose", "y", graph("then_branch", then), graph("else_branch", otherwise));
        builder.graph.addOutput(value("y", DataType.FLOAT32, "N", 1));
        Graph graph = sameAfterWriting(builder);
        assertEquals(14, ModelProto.parseFrom(written(graph)).getOpsetImport(0).getVersion());
        OnnxRuntime.assertClose(
                OnnxRuntime.run(builder.bytes(), builder.feeds),
                OnnxRuntime.run(OnnxWriter.toBytes(graph, OnnxWriter.Options.DEFAULT.withOpset(17)), builder.feeds),
                1e-5);
        GraphException later = assertThrows(
                GraphException.class, () -> OnnxWriter.toBytes(graph, OnnxWriter.Options.DEFAULT.withOpset(18)));
        Checks.assertExplains(later, "ReduceMax, ReduceMean");
        GraphException earlier = assertThrows(
                GraphException.class, () -> OnnxWriter.toBytes(graph, OnnxWriter.Options.DEFAULT.withOpset(13)));
        Checks.assertExplains(earlier, "kept as opset 14 has it");
    }

    @Test
    void itIsNeitherComputedNorTrainedHere() throws IOException {
        OnnxBuilder builder = between(nodeProto("Shrink", "c", "d"), DataType.FLOAT32, "N", 5);
        builder.graph.addNode(nodeProto("Shrink", "y", "z")).addOutput(value("z", DataType.FLOAT32, "N", 2));
        Graph graph = OnnxReader.read(builder.bytes()).graph();
        Checks.assertExplains(assertThrows(GraphException.class, graph::requireKnown), "2 × Shrink");
        Checks.assertExplains(assertThrows(GraphException.class, () -> Evaluator.run(graph, builder.feeds)), "Shrink");
    }

    @Test
    void boundsThatAreComputedAreNoReasonToKeepAClip() throws Exception {
        OnnxBuilder builder = new OnnxBuilder(13)
                .input("x", 2, 6)
                .node("ReduceMin", "x", "least", whole("keepdims", 0))
                .node("ReduceMean", "x", "most", whole("keepdims", 0))
                .node("Clip", "x most", "above")
                .node("Clip", "x - most", "below")
                .node("Clip", "x least most", "between")
                .output("above", "below", "between");
        assertTrue(sameAfterWriting(builder).foreign().isEmpty());
    }

    @Test
    void treesAndSupportVectorsAreTold() {
        OnnxBuilder builder = new OnnxBuilder(15).input("x", 2, 3).output("y");
        builder.graph.addNode(nodeProto("TreeEnsembleRegressor", "x", "y").setDomain("ai.onnx.ml"));
        OnnxException told = assertThrows(OnnxException.class, () -> OnnxReader.read(builder.bytes()));
        Checks.assertExplains(told, "an ensemble of decision trees (TreeEnsembleRegressor), not a neural network");
    }
}
