package dev.espalier.graph.onnx;

import static dev.espalier.graph.onnx.OnnxBuilder.longs;
import static dev.espalier.graph.onnx.OnnxBuilder.nodeProto;
import static dev.espalier.graph.onnx.OnnxBuilder.number;
import static dev.espalier.graph.onnx.OnnxBuilder.whole;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.AttributeProto.AttributeType;
import ai.onnx.proto.OnnxMl.FunctionProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.StringStringEntryProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What a file becomes. */
class OnnxReaderTest {

    private static Graph read(OnnxBuilder builder) throws IOException {
        return OnnxReader.read(builder.bytes()).graph();
    }

    private static List<String> operators(Graph graph) {
        return graph.nodes().stream().map(Node::operator).map(Operator::label).toList();
    }

    @Test
    void aModelKeepsItsNotes() throws IOException {
        OnnxBuilder builder =
                new OnnxBuilder(15).input("x", 2).node("Relu", "x", "y").output("y");
        builder.model
                .setProducerName("somebody")
                .addMetadataProps(
                        StringStringEntryProto.newBuilder().setKey("b").setValue("1"))
                .addMetadataProps(
                        StringStringEntryProto.newBuilder().setKey("a").setValue("2"));
        OnnxModel model = OnnxReader.read(builder.bytes());
        assertEquals(15, model.opset());
        assertEquals("somebody", model.producer());
        assertEquals("{b=1, a=2}", model.graph().metadata().toString());
    }

    @Test
    void theKindOfATensorIsToldFromItsUse() throws IOException {
        Graph graph = read(new OnnxBuilder(17)
                .input("x", "N", 3, 4)
                .weight("scale", 3)
                .weight("shift", 3)
                .weight("mean", 3)
                .weight("variance", 3)
                .node("BatchNormalization", "x scale shift mean variance", "n")
                .scalar("two", 2)
                .node("Mul", "n two", "m")
                .weight("offset", 4)
                .node("Add", "m offset", "a")
                .node("Constant", "", "stored", OnnxBuilder.tensor("value", Tensor.of(new float[] {1, 2, 3, 4})))
                .node("Add", "a stored", "b0")
                .node("Constant", "", "one", OnnxBuilder.tensor("value", Tensor.of(new float[] {1})))
                .node("Add", "b0 one", "b")
                .list("shape", 0, -1)
                .node("Reshape", "b shape", "y")
                .output("y"));
        assertEquals(
                Set.of("scale", "shift", "offset", "stored"),
                graph.tensors(Kind.PARAMETER).keySet());
        assertEquals(Set.of("mean", "variance"), graph.tensors(Kind.BUFFER).keySet());
        assertEquals(Set.of("two", "one", "shape"), graph.tensors(Kind.CONSTANT).keySet());
    }

    @Test
    void statesThatSequencesBeginWithAreNotTrained() throws IOException {
        Graph graph = read(new OnnxBuilder(17)
                .input("x", "S", 2, 4)
                .weight("w", 1, 12, 4)
                .weight("r", 1, 12, 3)
                .weight("h", 1, 2, 3)
                .weight("c", 1, 2, 3)
                .node("LSTM", "x w r - - h c", "y", OnnxBuilder.whole("hidden_size", 3))
                .output("y"));
        assertEquals(Set.of("w", "r"), graph.tensors(Kind.PARAMETER).keySet());
        assertEquals(Set.of("h", "c"), graph.tensors(Kind.BUFFER).keySet());
    }

    @Test
    void aWeightThatIsOnlyLaidOutOtherwiseKeepsItsName() throws IOException {
        Graph graph = read(new OnnxBuilder(17)
                .input("x", "N", 4)
                .weight("w", 3, 4)
                .list("shape", 3, 2, 2)
                .list("back", 3, 4)
                .node("Reshape", "w shape", "w1")
                .node("Reshape", "w1 back", "w2")
                .node("Transpose", "w2", "w3")
                .node("MatMul", "x w3", "y")
                .output("y"));
        assertEquals(List.of("MatMul"), operators(graph));
        assertEquals(Set.of("w"), graph.initializers().keySet());
        assertEquals(Shape.of(4, 3), graph.shape("w"));
        assertEquals(1, graph.tensors(Kind.PARAMETER).size());
    }

    @Test
    void aWeightThatOthersReadTooStays() throws IOException {
        Graph graph = read(new OnnxBuilder(17)
                .input("x", "N", 3)
                .weight("w", 3, 3)
                .node("Transpose", "w", "t")
                .node("MatMul", "x t", "h")
                .node("MatMul", "h w", "y")
                .output("y"));
        assertEquals(Set.of("Transpose", "MatMul"), Set.copyOf(operators(graph)));
        assertEquals(Set.of("w"), graph.tensors(Kind.PARAMETER).keySet());
    }

    @Test
    void anIdentityOfAnInitializerIsATensorOfItsOwn() throws IOException {
        Graph graph = read(new OnnxBuilder(17)
                .input("x", 3)
                .weight("a.bias", 3)
                .node("Identity", "a.bias", "b.bias")
                .node("Add", "x a.bias", "h")
                .node("Identity", "h", "same")
                .node("Add", "same b.bias", "y")
                .output("y"));
        assertEquals(Set.of("a.bias", "b.bias"), graph.tensors(Kind.PARAMETER).keySet());
        assertEquals(List.of("Add", "Add"), operators(graph));
    }

    @Test
    void shapesThatAreKnownAreFolded() throws IOException {
        Graph graph = read(new OnnxBuilder(17)
                .input("x", 2, 3, 4)
                .list("zero", 0)
                .list("minus", -1)
                .node("Shape", "x", "s")
                .node("Gather", "s zero", "n")
                .node("Concat", "n minus", "target", whole("axis", 0))
                .node("Reshape", "x target", "y")
                .output("y"));
        assertEquals(List.of("Reshape"), operators(graph));
        assertArrayEquals(new long[] {2, -1}, Checks.contents(graph, "target").toLongs());
    }

    @Test
    void anInputWithContentsIsNoInput() throws IOException {
        OnnxBuilder builder = new OnnxBuilder(17)
                .input("x", 3)
                .weight("w", 3)
                .node("Add", "x w", "y")
                .output("y");
        builder.graph.addInput(OnnxBuilder.value("w", DataType.FLOAT32, 3));
        Graph graph = read(builder);
        assertEquals(
                List.of("x"), graph.inputs().stream().map(Graph.Input::name).toList());
    }

    @Test
    void namesThatAreMissingOrDoubledAreMadeUp() throws IOException {
        OnnxBuilder builder = new OnnxBuilder(17).input("x", 3);
        builder.graph
                .addNode(nodeProto("Relu", "x", "a"))
                .addNode(nodeProto("Relu", "a", "b").setName("twice"))
                .addNode(nodeProto("Relu", "b", "c").setName("twice"));
        Graph graph = read(builder.output("c"));
        assertEquals(
                List.of("Relu_1", "twice", "twice_1"),
                graph.nodes().stream().map(Node::name).toList());
    }

    @Test
    void aDoubledSymbolOfOneInputBecomesTwo() throws IOException {
        Graph graph = read(new OnnxBuilder(17)
                .input("x", "N", "N", 3)
                .input("z", "N", "N")
                .node("Relu", "x", "y")
                .output("y"));
        assertEquals(Shape.of("N", "N_1", 3), graph.shape("x"));
        assertEquals(Shape.of("N", "N_1"), graph.shape("z"));
    }

    @Test
    void trainingModeIsDropped() throws IOException {
        Graph graph = read(new OnnxBuilder(17)
                .input("x", "N", 3, 4)
                .weight("s", 3)
                .weight("b", 3)
                .weight("m", 3)
                .weight("v", 3)
                .scalar("ratio", 0.25)
                .initializer("on", Tensor.scalar(DataType.BOOL, 1))
                .node(
                        "BatchNormalization",
                        "x s b m v",
                        "n nm nv",
                        whole("training_mode", 1),
                        number("momentum", 0.75f))
                .node("Dropout", "n ratio on", "y")
                .output("y"));
        assertEquals(new Dropout(0.25), graph.nodes().getLast().operator());
        assertEquals(0.75, ((BatchNorm) graph.nodes().getFirst().operator()).momentum());
    }

    @Test
    void functionsAreInlined() throws Exception {
        OnnxBuilder builder = new OnnxBuilder(17).input("x", "N", 4).weight("w", 4);
        builder.model.addOpsetImport(
                OperatorSetIdProto.newBuilder().setDomain("own").setVersion(1));
        FunctionProto.Builder scaled = function("Scaled", "a b", "c");
        scaled.addNode(nodeProto("Mul", "a b", "product"));
        scaled.addNode(nodeProto(
                "LeakyRelu",
                "product",
                "c",
                AttributeProto.newBuilder()
                        .setName("alpha")
                        .setType(AttributeType.FLOAT)
                        .setRefAttrName("slope")
                        .build()));
        scaled.addAttributeProto(number("slope", 0.5f));
        FunctionProto.Builder twice = function("Twice", "a b", "c");
        twice.addNode(nodeProto("Scaled", "a b", "h", number("slope", 0.125f)).setDomain("own"));
        twice.addNode(nodeProto("Scaled", "h b", "c").setDomain("own"));
        builder.model.addFunctions(scaled).addFunctions(twice);
        builder.graph.addNode(nodeProto("Twice", "x w", "y").setDomain("own").setName("first"));
        builder.graph.addNode(nodeProto("Twice", "y w", "z").setDomain("own").setName("second"));
        builder.output("z");
        Graph graph = read(builder);
        assertEquals(8, graph.nodes().size());
        byte[] written = OnnxWriter.toBytes(graph, OnnxWriter.Options.DEFAULT);
        OnnxRuntime.assertClose(
                OnnxRuntime.run(builder.bytes(), builder.feeds), OnnxRuntime.run(written, builder.feeds), 1e-5);
    }

    private static FunctionProto.Builder function(String name, String inputs, String outputs) {
        return FunctionProto.newBuilder()
                .setName(name)
                .setDomain("own")
                .addAllInput(List.of(inputs.split(" ", -1)))
                .addAllOutput(List.of(outputs.split(" ", -1)))
                .addOpsetImport(OperatorSetIdProto.newBuilder().setVersion(17))
                .addOpsetImport(OperatorSetIdProto.newBuilder().setDomain("own").setVersion(1));
    }

    @Test
    void aFunctionThatCallsItselfIsRefused() {
        OnnxBuilder builder = new OnnxBuilder(17).input("x", 4);
        builder.model.addFunctions(
                function("Loop", "a", "c").addNode(nodeProto("Loop", "a", "c").setDomain("own")));
        builder.graph.addNode(nodeProto("Loop", "x", "y").setDomain("own").setName("start"));
        GraphException problem = assertThrows(GraphException.class, () -> read(builder.output("y")));
        Checks.assertExplains(problem, "calls itself");
    }

    @Test
    void functionsThatMultiplyAreRefused() {
        OnnxBuilder builder = new OnnxBuilder(17).input("x", 4);
        builder.model.addFunctions(function("F0", "a", "c").addNode(nodeProto("Relu", "a", "c")));
        for (int i = 1; i < 40; i++) {
            FunctionProto.Builder function = function("F" + i, "a", "c");
            function.addNode(nodeProto("F" + (i - 1), "a", "b").setDomain("own"));
            function.addNode(nodeProto("F" + (i - 1), "b", "c").setDomain("own"));
            builder.model.addFunctions(function);
        }
        builder.graph.addNode(nodeProto("F39", "x", "y").setDomain("own").setName("start"));
        GraphException problem = assertThrows(GraphException.class, () -> read(builder.output("y")));
        Checks.assertExplains(problem, "nodes once its functions are inlined");
    }

    @Test
    void everyFormOfStorageIsRead() throws IOException {
        for (DataType type : DataType.values()) {
            TensorProto.Builder proto = TensorProto.newBuilder()
                    .setName("t")
                    .addDims(3)
                    .setDataType(OnnxBuilder.proto(Tensor.scalar(type, 0)).getDataType());
            switch (type) {
                case FLOAT32 -> proto.addAllFloatData(List.of(1f, 0f, 1f));
                case FLOAT64 -> proto.addAllDoubleData(List.of(1d, 0d, 1d));
                case INT64 -> proto.addAllInt64Data(List.of(1L, 0L, 1L));
                case UINT32, UINT64 -> proto.addAllUint64Data(List.of(1L, 0L, 1L));
                case INT8, UINT8, INT16, UINT16, INT32, BOOL -> proto.addAllInt32Data(List.of(1, 0, 1));
                case FLOAT16 -> proto.addAllInt32Data(List.of(0x3c00, 0, 0x3c00));
                case BFLOAT16 -> proto.addAllInt32Data(List.of(0x3f80, 0, 0x3f80));
            }
            OnnxBuilder builder = new OnnxBuilder(17).output("t");
            builder.graph.addInitializer(proto);
            Tensor listed = Checks.contents(read(builder), "t");
            Graph stored = read(new OnnxBuilder(17)
                    .initializer("t", Tensor.compute(type, new long[] {3}, i -> i == 1 ? 0 : 1))
                    .output("t"));
            Tensor raw = Checks.contents(stored, "t");
            assertTrue(raw.sameAs(listed), type.toString());
        }
    }

    @Test
    void negativeNumbersSurviveNarrowLists() throws IOException {
        OnnxBuilder builder = new OnnxBuilder(17).output("t", "h");
        builder.graph.addInitializer(
                TensorProto.newBuilder().setName("t").addDims(2).setDataType(3).addAllInt32Data(List.of(-5, 7)));
        builder.graph.addInitializer(
                TensorProto.newBuilder().setName("h").addDims(1).setDataType(10).addAllInt32Data(List.of(0xc500)));
        Graph graph = read(builder);
        assertArrayEquals(new long[] {-5, 7}, Checks.contents(graph, "t").toLongs());
        assertEquals(-5, Checks.contents(graph, "h").getDouble(0));
    }

    @Test
    void anUnknownOperatorOfWhichNobodyTellsTheTypesIsNamed() {
        OnnxBuilder builder = new OnnxBuilder(17).input("x", 3);
        builder.graph.addNode(nodeProto("Unheard", "x", "y").setName("stage/odd"));
        GraphException problem = assertThrows(GraphException.class, () -> read(builder.output("y")));
        Checks.assertExplains(problem, "stage/odd (Unheard)");
        Checks.assertExplains(problem, "the type of its output y");
        Checks.assertExplains(problem, "TypeProbe");
    }

    @Test
    void anImportOfAnotherDomainIsOfNoConcern() throws IOException {
        OnnxBuilder builder =
                new OnnxBuilder(17).input("x", 3).node("Relu", "x", "y").output("y");
        builder.model.addOpsetImport(
                OperatorSetIdProto.newBuilder().setDomain("com.microsoft").setVersion(1));
        assertEquals(1, read(builder).nodes().size());
    }

    @Test
    void otherOpsetsAreRefused() {
        for (int opset : new int[] {1, 6, 25, 99}) {
            OnnxBuilder builder =
                    new OnnxBuilder(opset).input("x", 3).node("Relu", "x", "y").output("y");
            OnnxException problem = assertThrows(OnnxException.class, () -> read(builder));
            Checks.assertExplains(problem, "opset " + opset);
            Checks.assertExplains(problem, "7 to 24");
        }
    }

    @Test
    void usedExtraOutputsAreRefused() {
        OnnxBuilder indices = new OnnxBuilder(17)
                .input("x", 1, 1, 4)
                .node("MaxPool", "x", "y where", longs("kernel_shape", 2L))
                .output("y", "where");
        GraphException problem = assertThrows(GraphException.class, () -> read(indices));
        Checks.assertExplains(problem, "output 1, where, is used");
    }

    @Test
    void aComponentThatIsNoConstantIsRefused() {
        OnnxBuilder builder = new OnnxBuilder(17)
                .input("x", 2, 3)
                .typed("axes", DataType.INT64, 1, 1)
                .node("Unsqueeze", "x axes", "y")
                .output("y");
        GraphException problem = assertThrows(GraphException.class, () -> read(builder));
        Checks.assertExplains(problem, "axes (input 1, axes) must be a constant");
    }

    /** What an operator has and cannot be expressed is named, with what can. */
    @Test
    void whatCannotBeExpressedOfAnOperatorIsNamed() {
        refused("antialias 1", b -> b.scalar("s", 1).node("Resize", "x - s", "y", OnnxBuilder.whole("antialias", 1)));
        refused(
                "coordinate_transformation_mode tf_crop_and_resize must be one of half_pixel,",
                b -> b.scalar("s", 1)
                        .node(
                                "Resize",
                                "x - s",
                                "y",
                                OnnxBuilder.text("coordinate_transformation_mode", "tf_crop_and_resize")));
        refused("scales (input 2, x) must be a constant", b -> b.node("Resize", "x - x", "y"));
        refused("bij,bjk->bik", b -> b.node("Einsum", "x x", "y", OnnxBuilder.text("equation", "...ij,...jk->...ik")));
        refused("axis 9", b -> b.weight("w", 4).node("RMSNormalization", "x w", "y", OnnxBuilder.whole("axis", 9)));
        refused(
                "[Sigmoid, Tanh, Tanh] are",
                b -> b.weight("w", 1, 12, 4)
                        .weight("r", 1, 12, 3)
                        .node("LSTM", "x w r", "y", OnnxBuilder.texts("activations", "Relu", "Tanh", "Tanh")));
        refused(
                "reduction sum must be none, add, mul, max or min",
                b -> b.node("ScatterElements", "x x x", "y", OnnxBuilder.text("reduction", "sum")));
        refused(
                "of 2²",
                b -> b.input("i", 1, 3, 4, 4).node("DepthToSpace", "i", "y", OnnxBuilder.whole("blocksize", 2)));
    }

    private static void refused(String why, Consumer<OnnxBuilder> body) {
        OnnxBuilder builder = new OnnxBuilder(23).input("x", 2, 3, 4);
        body.accept(builder);
        Checks.assertExplains(assertThrows(GraphException.class, () -> read(builder.output("y"))), why);
    }

    @Test
    void unsortedNodesAreSorted() throws IOException {
        Graph graph = read(new OnnxBuilder(17)
                .input("x", 3)
                .node("Relu", "b", "y")
                .node("Exp", "a", "b")
                .node("Neg", "x", "a")
                .output("y"));
        assertEquals(List.of("Neg", "Exp", "Relu"), operators(graph));
    }
}
