package dev.espalier.graph.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class ModelTest {
    private static final Weights ZERO = (name, start, shape) -> Tensor.compute(DataType.FLOAT32, shape, i -> 0);

    private static long count(Graph graph, Class<? extends Operator> kind) {
        return graph.nodes().stream()
                .filter(node -> kind.isInstance(node.operator()))
                .count();
    }

    @Test
    void vgg16HasThirteenConvolutionsAndOneLinearLayer() {
        Graph graph = Vgg16.build(ImageOptions.CIFAR10, ZERO);
        assertEquals(14_724_042, Cost.parameters(graph));
        assertEquals(13, count(graph, Conv.class));
        assertEquals(5, count(graph, Pool.class));
        assertEquals(13 * 3 + 2, graph.tensors(Kind.PARAMETER).size());
        assertEquals(List.of("logits"), graph.outputs());
        assertEquals(Shape.of("batch", 10), graph.shape("logits"));
        assertEquals(Shape.of(64, 3, 3, 3), graph.shape("features.0.conv.weight"));
        assertEquals(Shape.of(512, 512, 3, 3), graph.shape("features.12.conv.weight"));
        assertEquals(Shape.of(10, 512), graph.shape("classifier.weight"));
        assertEquals(List.of(16L, 8L, 4L, 2L, 1L), pooledWidths(graph));
    }

    @Test
    void vgg16FitsOtherImagesAndClasses() {
        Graph graph = Vgg16.build(new ImageOptions(100, 1, 64), ZERO);
        assertEquals(Shape.of("batch", 100), graph.shape("logits"));
        assertEquals(Shape.of(100, 2048), graph.shape("classifier.weight"));
        assertEquals(Shape.of(64, 1, 3, 3), graph.shape("features.0.conv.weight"));
        assertThrows(IllegalArgumentException.class, () -> Vgg16.build(new ImageOptions(10, 3, 31), ZERO));
    }

    /** The number: torchvision's resnet34, less its larger stem (7,680 weights) and 990 of its 1,000 classes. */
    @Test
    void resNet34HasThirtyFourLayersAndItsShortcuts() {
        Graph graph = ResNet34.build(ImageOptions.CIFAR10, ZERO);
        assertEquals(21_797_672 - 7_680 - 990 * 513, Cost.parameters(graph));
        assertEquals(33 + 3, count(graph, Conv.class));
        assertEquals(0, count(graph, Pool.class));
        assertEquals(Shape.of("batch", 10), graph.shape("logits"));
        assertEquals(Shape.of("batch", 64, 32, 32), graph.shape("stages.0.2.relu2"));
        assertEquals(Shape.of("batch", 128, 16, 16), graph.shape("stages.1.3.relu2"));
        assertEquals(Shape.of("batch", 512, 4, 4), graph.shape("stages.3.2.relu2"));
        assertEquals(Shape.of(128, 64, 1, 1), graph.shape("stages.1.0.shortcut.conv.weight"));
        assertFalse(graph.initializers().containsKey("stages.0.0.shortcut.conv.weight"));
    }

    @Test
    void smallCnnHalvesTheImageBehindEverySecondConvolution() {
        Graph graph = SmallCnn.build(new ImageOptions(10, 1, 8), List.of(32, 32, 64, 64), true, ZERO);
        assertEquals(4, count(graph, Conv.class));
        assertEquals(9 * (32 + 32 * 32 + 32 * 64 + 64 * 64) + 2 * (32 + 32 + 64 + 64) + 650, Cost.parameters(graph));
        assertEquals(List.of(4L, 2L), pooledWidths(graph));
        assertEquals(
                List.of("image"), graph.inputs().stream().map(Graph.Input::name).toList());
        assertEquals(List.of("logits"), graph.outputs());
        assertEquals(Shape.of("batch", 10), graph.shape("logits"));
        assertEquals(Shape.of(64, 32, 3, 3), graph.shape("features.2.conv.weight"));
        assertEquals(Shape.of(10, 64), graph.shape("classifier.weight"));
        assertEquals(GroupRules.everything().derive(graph).count(), 1 + 32 + 32 + 64 + 64);
    }

    @Test
    void smallCnnStopsHalvingWhereNothingIsLeftToHalve() {
        Graph graph = SmallCnn.build(new ImageOptions(3, 1, 5, 2), List.of(2, 2, 2, 2, 2, 2, 2), true, ZERO);
        assertEquals(List.of(1L), pooledWidths(graph));
        assertEquals(Shape.of("batch", 2, 2, 1), graph.shape("features.6.relu"));
        assertThrows(IllegalArgumentException.class, () -> SmallCnn.build(ImageOptions.CIFAR10, List.of(), true, ZERO));
        assertThrows(
                IllegalArgumentException.class, () -> SmallCnn.build(ImageOptions.CIFAR10, List.of(0), true, ZERO));
    }

    @Test
    void smallCnnWithoutNormsHasBiases() {
        Graph graph = SmallCnn.build(ImageOptions.CIFAR10, List.of(4, 5), false, Weights.seeded(1));
        assertEquals(
                List.of(
                        "features.0.conv.weight",
                        "features.0.conv.bias",
                        "features.1.conv.weight",
                        "features.1.conv.bias",
                        "classifier.weight",
                        "classifier.bias"),
                List.copyOf(graph.initializers().keySet()));
        assertEquals(0, tensor(graph, "features.1.conv.bias").getDouble(2));
        // By the inputs: with 27 of them, 108 numbers have the variance 2/27.
        assertEquals(2.0 / 27, moment(tensor(graph, "features.0.conv.weight").toFloats(), 2), 0.02);
    }

    @Test
    void byPyTorchsSchemeConvolutionsAreUniformByTheirInputs() {
        Graph vgg = Vgg16.build(ImageOptions.CIFAR10, Initialization.Scheme.TORCH, Weights.seeded(1));
        for (int layer : List.of(0, 1, 5, 12)) {
            assertUniformByInputs(tensor(vgg, "features.%d.conv.weight".formatted(layer)));
        }
        Graph resNet = ResNet34.build(ImageOptions.CIFAR10, 8, Initialization.Scheme.TORCH, Weights.seeded(1));
        assertUniformByInputs(tensor(resNet, "stages.3.1.conv2.weight"));
        assertUniformByInputs(tensor(resNet, "stages.2.0.shortcut.conv.weight"));
        assertUniformByInputs(tensor(resNet, "classifier.weight"));
        for (float one : tensor(resNet, "stages.3.1.norm2.weight").toFloats()) {
            assertEquals(1, one);
        }
        for (float zero : tensor(resNet, "stages.3.1.norm2.bias").toFloats()) {
            assertEquals(0, zero);
        }
    }

    @Test
    void byPyTorchsSchemeBiasesOfConvolutionsAreUniformByTheirInputs() {
        Graph graph = SmallCnn.build(
                new ImageOptions(10, 3, 8), List.of(4, 900), false, Initialization.Scheme.TORCH, Weights.seeded(1));
        assertUniformByInputs(tensor(graph, "features.1.conv.weight"));
        assertUniform(1 / Math.sqrt(4 * 9), tensor(graph, "features.1.conv.bias"));
    }

    /** Weights {@code [outputs, inputs, …]}: all in ±1/√fan_in, nearly up to there, with the variance of a uniform number. */
    private static void assertUniformByInputs(Tensor weights) {
        assertUniform(1 / Math.sqrt((double) weights.size() / weights.shape()[0]), weights);
    }

    private static void assertUniform(double bound, Tensor tensor) {
        float[] numbers = tensor.toFloats();
        double largest = 0;
        for (float number : numbers) {
            largest = Math.max(largest, Math.abs(number));
        }
        assertTrue(largest <= bound && largest > 0.99 * bound, largest + " of " + bound);
        double noise = 4 / Math.sqrt(numbers.length);
        assertEquals(0, moment(numbers, 1) / bound, noise);
        assertEquals(1.0 / 3, moment(numbers, 2) / (bound * bound), noise);
    }

    private static List<Long> pooledWidths(Graph graph) {
        return graph.nodes().stream()
                .filter(node -> node.operator() instanceof Pool)
                .map(node -> graph.shape(node.output()).get(-1).value())
                .toList();
    }

    @Test
    void mlpReadsVectorsOrImages() {
        Graph vectors = Mlp.ofVectors(3, 20, List.of(16, 8), ZERO);
        assertEquals("features", vectors.inputs().getFirst().name());
        assertEquals(Shape.of("batch", 20), vectors.shape("features"));
        assertEquals(20 * 16 + 16 + 16 * 8 + 8 + 8 * 3 + 3, Cost.parameters(vectors));
        assertEquals(Shape.of("batch", 3), vectors.shape("logits"));
        assertEquals(2, labels(vectors, "Relu"));
        assertEquals(20 + 16 + 8, GroupRules.everything().derive(vectors).count());

        Graph images = Mlp.ofImages(new ImageOptions(10, 3, 4, 5), List.of(7), ZERO);
        assertEquals(Shape.of("batch", 3, 4, 5), images.shape("image"));
        assertEquals(Shape.of(7, 60), images.shape("hidden.0.weight"));
        assertEquals(Shape.of("batch", 10), images.shape("logits"));
        assertEquals(60 + 7, GroupRules.everything().derive(images).count());
        assertThrows(IllegalArgumentException.class, () -> Mlp.ofVectors(3, 20, List.of(16, 0), ZERO));
    }

    @Test
    void imagesNeedNotBeSquare() {
        Graph graph = Vgg16.build(new ImageOptions(10, 3, 32, 64), ZERO);
        assertEquals(Shape.of("batch", 3, 32, 64), graph.shape("image"));
        assertEquals(Shape.of(10, 1024), graph.shape("classifier.weight"));
        assertThrows(IllegalArgumentException.class, () -> Vgg16.build(new ImageOptions(10, 3, 64, 31), ZERO));
        assertEquals(
                Shape.of("batch", 10),
                ResNet34.build(new ImageOptions(10, 3, 8, 6), ZERO).shape("logits"));
    }

    @Test
    void batchNormsFollowTheirStatistics() {
        Graph graph = ResNet34.build(ImageOptions.CIFAR10, Weights.seeded(1));
        assertEquals(36 * 2, graph.tensors(Kind.BUFFER).size());
        assertEquals(1, tensor(graph, "stem.norm.weight").getDouble(3));
        assertEquals(0, tensor(graph, "stem.norm.bias").getDouble(3));
        assertEquals(0, tensor(graph, "stem.norm.running_mean").getDouble(3));
        assertEquals(1, tensor(graph, "stem.norm.running_var").getDouble(3));
    }

    private static Tensor tensor(Graph graph, String name) {
        return Objects.requireNonNull(graph.tensor(name), name);
    }

    @Test
    void bertHasTheSizeThatItsConfigurationSays() {
        BertConfig config = new BertConfig(40, 16, 3, 2, 24, 12, 2, 1e-12, 0.1, 0, BertConfig.Activation.GELU);
        Graph graph = Bert.questionAnswering(config, ZERO);
        assertEquals(config.encoderParameters() + 2 * 16 + 2, Cost.parameters(graph));
        assertEquals(config.encoderParameters(), Cost.parameters(Bert.encoder(config, ZERO)));
        // What transformers counts for bert-base-uncased.
        assertEquals(108_893_186, BertConfig.BASE.encoderParameters() + 2 * 768 + 2);
        assertEquals(List.of("start_logits", "end_logits"), graph.outputs());
        assertEquals(Shape.of("batch", "tokens"), graph.shape("start_logits"));
        assertEquals(Shape.of("batch", "tokens"), graph.shape("end_logits"));
        assertEquals(Shape.of(16, 24), graph.shape("bert.encoder.layer.2.intermediate.dense.weight"));
        assertEquals(
                Shape.of("batch", 2, "tokens", "tokens"), graph.shape("bert.encoder.layer.0.attention.self.shares"));
        Graph fixed = graph.withDimensions(Map.of("batch", 4L, "tokens", 12L));
        assertEquals(Shape.ofLengths(4, 12), fixed.shape("end_logits"));
        assertTrue(Cost.flops(fixed).isKnown());
        assertEquals(Shape.of("batch", "tokens", 16), Bert.encoder(config, ZERO).shape("last_hidden_state"));
    }

    @Test
    void dropoutOfZeroIsNoNode() {
        BertConfig some = new BertConfig(40, 16, 1, 2, 24, 12, 2, 1e-12, 0.1, 0.2, BertConfig.Activation.RELU);
        BertConfig none = new BertConfig(40, 16, 1, 2, 24, 12, 2, 1e-12, 0, 0, BertConfig.Activation.GELU_TANH);
        assertEquals(4, labels(Bert.questionAnswering(some, ZERO), "Dropout"));
        assertEquals(0, labels(Bert.questionAnswering(none, ZERO), "Dropout"));
    }

    private static long labels(Graph graph, String label) {
        return graph.nodes().stream()
                .map(Node::operator)
                .filter(operator -> operator.label().equals(label))
                .count();
    }

    @Test
    void everyLayerOfTheVocabularyFitsTheNext() {
        GraphBuilder builder = new GraphBuilder("all");
        Layers layers = new Layers(builder, Weights.seeded(3));
        Value image = builder.input("image", DataType.FLOAT32, "batch", 3, 8, 8);
        Value signal = layers.maxPool("pool", layers.convolution("conv", image, 4, 3, 2), 2);
        signal = layers.linear("linear", layers.flatten("flatten", layers.tanh("tanh", signal)), 6);
        signal = layers.dense("dense", layers.gelu("gelu", signal), 5);
        signal = layers.layerNorm("norm", layers.dropout("dropout", signal, 0.5), 1e-5);
        Value picked = layers.embedding("table", builder.input("rows", DataType.INT64, "batch"), 9, 5);
        Graph graph = builder.outputs(layers.add("sum", signal, picked));
        assertEquals(Shape.of("batch", 5), graph.shape("sum"));
        assertEquals(Shape.of("batch", 4, 4, 4), graph.shape("conv"));
        assertEquals(Shape.of(6, 16), graph.shape("linear.weight"));
        assertEquals(Shape.of(6, 5), graph.shape("dense.weight"));
        assertThrows(IllegalArgumentException.class, () -> layers.convolution("even", image, 4, 2, 1));
    }

    @Test
    void aTensorStartsTheSameWhateverElseIsInTheModel() {
        Initialization normal = new Initialization.Normal(0.5);
        Tensor first = Weights.seeded(5).tensor("a", normal, 100);
        assertTrue(first.sameAs(Weights.seeded(5).tensor("a", normal, 10, 10).reshape(100)));
        assertFalse(first.sameAs(Weights.seeded(5).tensor("b", normal, 100)));
        assertFalse(first.sameAs(Weights.seeded(6).tensor("a", normal, 100)));
    }

    /** Stored numbers, for once: that they are the same on every machine is the property. */
    @Test
    void randomNumbersAreTheSameOnEveryMachine() {
        float[] normal =
                Weights.seeded(1).tensor("x", new Initialization.Normal(1), 3).toFloats();
        float[] uniform =
                Weights.seeded(1).tensor("x", new Initialization.Uniform(1), 3).toFloats();
        assertArrayEquals(new float[] {-0.06474313f, 0.3280782f, 0.94848996f}, normal);
        assertArrayEquals(new float[] {-0.18826905f, 0.9540313f, 0.37596256f}, uniform);
    }

    @Test
    void randomNumbersAreDistributedAsTheySay() {
        float[] normal = Weights.seeded(2)
                .tensor("x", Initialization.kaiming(8), 100_000)
                .toFloats();
        float[] uniform = Weights.seeded(2)
                .tensor("x", new Initialization.Uniform(3), 100_000)
                .toFloats();
        assertEquals(0, moment(normal, 1), 0.01);
        assertEquals(0.25, moment(normal, 2), 0.005);
        assertEquals(3 * 0.25 * 0.25, moment(normal, 4), 0.01);
        assertEquals(0, moment(uniform, 1), 0.03);
        assertEquals(3, moment(uniform, 2), 0.05);
        for (float number : uniform) {
            assertTrue(number >= -3 && number < 3);
        }
    }

    private static double moment(float[] numbers, int order) {
        double sum = 0;
        for (float number : numbers) {
            sum += Math.pow(number, order);
        }
        return sum / numbers.length;
    }
}
