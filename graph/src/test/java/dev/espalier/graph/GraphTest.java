package dev.espalier.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph.Input;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;

class GraphTest {
    private static final Operator RELU = new Unary(Unary.Function.RELU);
    private static final Operator ADD = new Binary(Binary.Function.ADD);
    private static final Input X = new Input("x", new TensorType(DataType.FLOAT32, Shape.of("n", 3)));

    private static Node node(String name, Operator operator, List<String> inputs, String... outputs) {
        return new Node(name, operator, inputs, List.of(outputs));
    }

    private static Graph graph(List<String> outputs, Node... nodes) {
        return new Graph("test", List.of(X), new LinkedHashMap<>(), List.of(nodes), outputs);
    }

    private static String problem(List<String> outputs, Node... nodes) {
        return Objects.requireNonNull(
                assertThrows(GraphException.class, () -> graph(outputs, nodes)).getMessage());
    }

    @Test
    void nodesAreSortedAndOtherwiseKeepTheirOrder() {
        Graph graph = graph(
                List.of("d"),
                node("last", ADD, List.of("b", "c"), "d"),
                node("third", RELU, List.of("b"), "c"),
                node("first", RELU, List.of("x"), "a"),
                node("second", RELU, List.of("a"), "b"));
        assertEquals(
                List.of("first", "second", "third", "last"),
                graph.nodes().stream().map(Node::name).toList());
        assertEquals("second", assertNotNullNode(graph, "b").name());
        assertNull(graph.producer("x"));
        assertEquals(2, graph.uses("b").size());
        assertTrue(graph.isOutput("d"));
    }

    private static Node assertNotNullNode(Graph graph, String tensor) {
        Node producer = graph.producer(tensor);
        assertNotNull(producer);
        return Objects.requireNonNull(producer);
    }

    @Test
    void aCycleIsNamed() {
        assertEquals(
                "node one (Add) is on a cycle, or behind one",
                problem(List.of("b"), node("one", ADD, List.of("x", "b"), "a"), node("two", RELU, List.of("a"), "b")));
        assertEquals(
                "node self (Relu) is on a cycle, or behind one",
                problem(List.of("a"), node("self", RELU, List.of("a"), "a")));
    }

    @Test
    void doubledNamesAreRefused() {
        assertEquals(
                "node one (Relu) has a name that another node has already",
                problem(List.of("a"), node("one", RELU, List.of("x"), "a"), node("one", RELU, List.of("x"), "b")));
        assertEquals(
                "node two (Relu) makes the tensor a, which exists already",
                problem(List.of("a"), node("one", RELU, List.of("x"), "a"), node("two", RELU, List.of("x"), "a")));
        assertEquals(
                "node one (Relu) makes the tensor x, which exists already",
                problem(List.of("x"), node("one", RELU, List.of("x"), "x")));
        SequencedMap<String, Initializer> initializers = new LinkedHashMap<>();
        initializers.put("x", new Initializer(Tensor.of(new float[1]), Kind.CONSTANT));
        assertEquals(
                "the initializer x has a name that another tensor has already",
                assertThrows(
                                GraphException.class,
                                () -> new Graph("test", List.of(X), initializers, List.of(), List.of()))
                        .getMessage());
    }

    @Test
    void unknownTensorsAreNamedBesideThoseThatExist() {
        assertEquals(
                "node one (Relu) reads y, which nothing makes; there are [x] and [a]",
                problem(List.of("a"), node("one", RELU, List.of("y"), "a")));
        assertEquals("output b is made by no node; there are [x] and []", problem(List.of("b")));
        assertEquals(
                "there is no tensor q; there are [x] and []",
                assertThrows(GraphException.class, () -> graph(List.of("x")).fact("q"))
                        .getMessage());
    }

    @Test
    void theNumbersOfInputsAndOutputsAreChecked() {
        assertEquals(
                "node one (Add): 1 inputs, but it takes 2", problem(List.of("a"), node("one", ADD, List.of("x"), "a")));
        assertEquals(
                "node one (Gemm): 1 inputs, but it takes 2 to 3",
                problem(List.of("a"), node("one", Gemm.LINEAR, List.of("x"), "a")));
        assertEquals(
                "node one (Add): input 1 is missing", problem(List.of("a"), node("one", ADD, List.of("x", ""), "a")));
        assertEquals(
                "node one (Split): 1 outputs, but it makes 2",
                problem(List.of("a"), node("one", new Split(1, List.of(1L, 2L)), List.of("x"), "a")));
    }

    @Test
    void aNodeThatDoesNotFitIsNamedWithItsProblem() {
        assertEquals(
                "node one (Split): the length and the sum of the pieces [1, 1] do not fit: 3 and 2",
                problem(List.of("a"), node("one", new Split(1, List.of(1L, 1L)), List.of("x"), "a", "b")));
        assertEquals(
                "node one (Conv): input 1 has shape [n × 3] but needs 4 axes",
                problem(List.of("a"), node("one", new Conv(Windows.square(1, 1), 1), List.of("x", "x"), "a")));
    }

    @Test
    void theBuilderFailsWhereTheMistakeIs() {
        GraphBuilder builder = new GraphBuilder("test");
        Value x = builder.input("x", DataType.FLOAT32, "n", 3);
        assertEquals(
                "node bad (Add): 1 inputs, but it takes 2",
                assertThrows(GraphException.class, () -> builder.add("bad", ADD, x))
                        .getMessage());
        Node split = node("split", new Split(1, List.of(1L, 2L)), List.of("x"), "a");
        assertEquals(
                "node split (Split): 1 outputs, but it makes 2",
                assertThrows(GraphException.class, () -> builder.addAll(split)).getMessage());
        Node typo = node("linear", Gemm.LINEAR, List.of("x", "x", "bais"), "y");
        assertEquals(
                "node linear (Gemm) reads bais, which nothing makes yet",
                assertThrows(GraphException.class, () -> builder.addAll(typo)).getMessage());
        assertEquals(
                "there is a tensor x already",
                assertThrows(GraphException.class, () -> builder.input("x", DataType.FLOAT32, 1))
                        .getMessage());
        Value relu = builder.add("relu", RELU, x);
        assertEquals(List.of("relu"), builder.outputs(relu).outputs());
    }

    @Test
    void numbersTakeThePlaceOfSymbolsEverywhere() {
        Graph graph = graph(List.of("a"), node("one", RELU, List.of("x"), "a"));
        assertEquals(Shape.of("n", 3), graph.shape("a"));
        assertEquals(Shape.of(8, 3), graph.withDimensions(Map.of("n", 8L)).shape("a"));
    }

    @Test
    void costsOfALinearLayerAndAConvolution() {
        GraphBuilder builder = new GraphBuilder("costs");
        Value image = builder.input("image", DataType.FLOAT32, "n", 4, 8, 8);
        Value weight = builder.parameter("weight", Tensor.of(new float[6 * 2 * 9], 6, 2, 3, 3));
        Value bias = builder.parameter("bias", Tensor.of(new float[6]));
        Value conv = builder.add("conv", new Conv(Windows.square(1, 1), 2), image, weight, bias);
        Value again = builder.add("again", new Conv(Windows.square(1, 1), 2), image, weight, bias);
        Value x = builder.input("x", DataType.FLOAT32, "n", 5);
        Value matrix = builder.parameter("matrix", Tensor.of(new float[15], 3, 5));
        Value linear = builder.add("linear", Gemm.LINEAR, x, matrix);
        Graph graph = builder.outputs(conv, again, linear);
        List<Cost> costs = Cost.of(graph);
        Dimension n = Dimension.symbol("n");
        assertEquals(n.times(6 * 64 * (2 * 2 * 9 + 1)), costs.get(0).flops());
        assertEquals(6 * 2 * 9 + 6, costs.get(0).parameters());
        assertEquals(0, costs.get(1).parameters(), "shared weights count once");
        assertEquals(n.times(3 * 2 * 5), costs.get(2).flops());
        assertEquals(6 * 2 * 9 + 6 + 15, Cost.parameters(graph));
        assertEquals(Cost.flops(graph.withDimensions(Map.of("n", 7L))), Dimension.of(7L * (2 * 6 * 64 * 37 + 30)));
    }
}
