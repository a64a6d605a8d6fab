package dev.espalier.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Layers;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.SmallCnn;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.recipe.DataRecipe;
import dev.espalier.recipe.ModelRecipe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ModelsTest {
    private static final Weights WEIGHTS = Weights.seeded(1);
    private static LabelledData digits = load(new DataRecipe.Digits(new DataRecipe.Preparation(true, 0, false)));

    @TempDir
    static Path folder;

    private static LabelledData table = digits;

    @BeforeAll
    static void writeTable() throws IOException {
        StringBuilder text = new StringBuilder("x,y,z,label\n");
        for (int i = 0; i < 20; i++) {
            text.append(i).append(",1,").append(-i).append(',').append(i % 4).append('\n');
        }
        Path file = Files.writeString(folder.resolve("table.csv"), text);
        table = load(new DataRecipe.Csv(file.toString(), true, "label", ",", 0.2, true));
    }

    private static LabelledData load(DataRecipe.Source source) {
        try {
            return LabelledData.load(new DataRecipe(source, 0, 0, 0, 1, 1));
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }

    private static Graph build(ModelRecipe recipe, LabelledData data) throws IOException {
        return Models.build(recipe, data, WEIGHTS);
    }

    private static ModelRecipe write(Graph graph) throws IOException {
        Path file = Files.createTempFile(folder, "model", ".onnx");
        OnnxWriter.write(graph, file);
        return new ModelRecipe.Onnx(file.toString());
    }

    private static void assertRefused(ModelRecipe recipe, LabelledData data, String... parts) {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> build(recipe, data))
                .getMessage());
        for (String part : parts) {
            assertTrue(message.contains(part), () -> "expected '" + part + "' in: " + message);
        }
    }

    @Test
    void buildersFitShapeAndClasses() throws IOException {
        Graph cnn = build(new ModelRecipe.SmallCnn(List.of(4, 6), false), digits);
        assertEquals(Shape.of("batch", 1, 8, 8), cnn.shape("image"));
        assertEquals(Shape.of("batch", 10), cnn.shape("logits"));
        assertEquals(Shape.of(6, 4, 3, 3), cnn.shape("features.1.conv.weight"));
        assertTrue(cnn.initializers().containsKey("features.0.conv.bias"));
        Graph resNet = build(new ModelRecipe.ResNet34(2), digits);
        assertEquals(Shape.of("batch", 10), resNet.shape("logits"));
        assertEquals(Shape.of(2, 1, 3, 3), resNet.shape("stem.conv.weight"));
        assertEquals(Shape.of(16, 8, 3, 3), resNet.shape("stages.3.0.conv1.weight"));
        Graph mlp = build(new ModelRecipe.Mlp(List.of(5)), digits);
        assertEquals(Shape.of(5, 64), mlp.shape("hidden.0.weight"));
        Graph small = build(new ModelRecipe.Mlp(List.of(5)), table);
        assertEquals(Shape.of("batch", 3), small.shape("features"));
        assertEquals(Shape.of("batch", 4), small.shape("logits"));
    }

    @Test
    void weightsAreThoseOfTheSeed() throws IOException {
        ModelRecipe recipe = new ModelRecipe.Mlp(List.of(5));
        Tensor one = Objects.requireNonNull(build(recipe, table).tensor("hidden.0.weight"));
        Tensor other = Objects.requireNonNull(
                Models.build(recipe, table, Weights.seeded(2)).tensor("hidden.0.weight"));
        assertTrue(one.sameAs(
                Objects.requireNonNull(Mlp.ofVectors(4, 3, List.of(5), WEIGHTS).tensor("hidden.0.weight"))));
        assertTrue(!one.sameAs(other));
    }

    @Test
    void modelsThatDoNotFitTheDataAreRefused() {
        assertRefused(new ModelRecipe.SmallCnn(List.of(4), true), table, "small-cnn", "vectors of 3 numbers", "mlp");
        assertRefused(new ModelRecipe.ResNet34(64), table, "resnet34");
        assertRefused(new ModelRecipe.Vgg16(), digits, "VGG-16", "32");
        assertRefused(new ModelRecipe.Bert("nowhere"), digits, "model.kind = bert");
    }

    @Test
    void aFileKeepsItsWeights() throws IOException {
        Graph written = SmallCnn.build(new ImageOptions(10, 1, 8), List.of(3, 4), true, Weights.seeded(9));
        Graph read = build(write(written), digits);
        assertEquals(Shape.of("batch", 10), read.shape(read.outputs().getFirst()));
        assertTrue(Objects.requireNonNull(read.tensor("features.0.conv.weight"))
                .sameAs(Objects.requireNonNull(written.tensor("features.0.conv.weight"))));
    }

    @Test
    void aFixedBatchAndFreeLengthsAreMadeToFit() throws IOException {
        Graph free = SmallCnn.build(new ImageOptions(10, 1, 8), List.of(3, 4), true, WEIGHTS);
        Graph read = build(write(free.withDimensions(Map.of("batch", 1L))), digits);
        Tensor images = Tensor.compute(DataType.FLOAT32, new long[] {3, 1, 8, 8}, i -> i % 7);
        Map<String, Tensor> expected = Evaluator.run(free, Map.of("image", images));
        Map<String, Tensor> actual = Evaluator.run(read, Map.of("image", images));
        assertTrue(Objects.requireNonNull(expected.get("logits")).sameAs(Objects.requireNonNull(actual.get("logits"))));

        GraphBuilder builder = new GraphBuilder("any size");
        Layers layers = new Layers(builder, WEIGHTS);
        Value image = builder.input("image", DataType.FLOAT32, "n", 1, "h", "w");
        Value mean = layers.flatten("flat", layers.globalAverage("mean", layers.convolution("conv", image, 2, 3, 1)));
        Graph sized = build(write(builder.outputs(layers.linear("out", mean, 10))), digits);
        assertEquals(Shape.of("batch", 1, 8, 8), sized.shape("image"));
        assertEquals(Shape.of("batch", 10), sized.shape("out"));
    }

    /** A graph of one input {@code [1, 64]} whose batch is written into it. */
    private static Graph fixedInside() {
        GraphBuilder builder = new GraphBuilder("fixed");
        Layers layers = new Layers(builder, WEIGHTS);
        Value image = builder.input("image", DataType.FLOAT32, 1, 1, 8, 8);
        Value shape = builder.constant("shape", Tensor.of(new long[] {1, 64}, 2));
        Value flat = builder.add("reshape", new Reshape(false), image, shape);
        return builder.outputs(layers.linear("out", flat, 10));
    }

    @Test
    void aBatchThatIsFixedInsideIsRefused() throws IOException {
        assertRefused(write(fixedInside()), digits, "model.file = ", "free batch axis");
    }

    @Test
    void filesThatDoNotFitAreRefused() throws IOException {
        ModelRecipe vectors = write(Mlp.ofVectors(4, 3, List.of(5), WEIGHTS));
        assertEquals(Shape.of("batch", 4), build(vectors, table).shape("logits"));
        assertRefused(vectors, digits, "features", "[batch × 3]", "[batch × 1 × 8 × 8]", "digits");
        assertRefused(
                write(SmallCnn.build(new ImageOptions(7, 1, 8), List.of(3), true, WEIGHTS)),
                digits,
                "[batch × 7]",
                "[batch, 10]");
        assertRefused(
                write(SmallCnn.build(new ImageOptions(10, 3, 8), List.of(3), true, WEIGHTS)), digits, "3 × 8 × 8");
        assertThrows(NoSuchFileException.class, () -> build(new ModelRecipe.Onnx("nowhere.onnx"), digits));
    }

    @Test
    void filesWithOtherInputsOrOutputsAreRefused() throws IOException {
        GraphBuilder two = new GraphBuilder("two");
        Layers twoLayers = new Layers(two, WEIGHTS);
        Value a = two.input("a", DataType.FLOAT32, "batch", 4);
        Value b = two.input("b", DataType.FLOAT32, "batch", 4);
        assertRefused(write(two.outputs(twoLayers.add("sum", a, b))), table, "inputs [a, b]");

        GraphBuilder doubles = new GraphBuilder("doubles");
        Value x = doubles.input("x", DataType.FLOAT64, "batch", 4);
        Graph tanh = doubles.outputs(doubles.add("tanh", new Unary(Unary.Function.TANH), x));
        assertRefused(write(tanh), table, "float64", "float32");

        Graph mlp = Mlp.ofVectors(4, 3, List.of(5), WEIGHTS);
        Graph more =
                new Graph("more", mlp.inputs(), mlp.initializers(), mlp.nodes(), List.of("logits", "hidden.0.relu"));
        assertRefused(write(more), table, "outputs [logits, hidden.0.relu]");
    }

    @Test
    void aSoftmaxAtTheEndIsRefusedButItsLogarithmIsNot() throws IOException {
        assertRefused(write(ending(false)), table, "softmax");
        assertEquals(Shape.of("batch", 4), build(write(ending(true)), table).shape("end"));
    }

    private static Graph ending(boolean logarithm) {
        Graph mlp = Mlp.ofVectors(4, 3, List.of(5), WEIGHTS);
        List<Node> nodes = new ArrayList<>(mlp.nodes());
        nodes.add(new Node("end", new Softmax(-1, logarithm), List.of("logits"), List.of("end")));
        return new Graph("ending", mlp.inputs(), mlp.initializers(), nodes, List.of("end"));
    }
}
