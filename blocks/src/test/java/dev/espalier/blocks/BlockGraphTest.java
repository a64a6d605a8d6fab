package dev.espalier.blocks;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.basicmodelzoo.basic.Mlp;
import ai.djl.basicmodelzoo.cv.classification.GoogLeNet;
import ai.djl.basicmodelzoo.cv.classification.LeNet;
import ai.djl.basicmodelzoo.cv.classification.MobileNetV1;
import ai.djl.basicmodelzoo.cv.classification.ResNetV1;
import ai.djl.basicmodelzoo.cv.classification.SqueezeNet;
import ai.djl.basicmodelzoo.cv.classification.VGG;
import ai.djl.engine.Engine;
import ai.djl.modality.nlp.DefaultVocabulary;
import ai.djl.modality.nlp.embedding.TrainableWordEmbedding;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.internal.NDArrayEx;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import ai.djl.nn.LambdaBlock;
import ai.djl.nn.ParallelBlock;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv1d;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.convolutional.Conv3d;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.nn.norm.Dropout;
import ai.djl.nn.norm.LayerNorm;
import ai.djl.nn.pooling.Pool;
import ai.djl.nn.recurrent.GRU;
import ai.djl.nn.recurrent.LSTM;
import ai.djl.training.ParameterStore;
import ai.djl.util.Pair;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.OnnxRuntimeModel;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;

/** A block and its graph in ONNX Runtime compute the same, before pruning and after it. */
final class BlockGraphTest {
    private static final double TOLERANCE = 1e-5;
    private static final int BATCH = 2;

    @TestFactory
    Stream<DynamicTest> architecturesOfTheModelZooGoAllTheWay() {
        return Stream.of(
                architecture("Mlp", () -> new Mlp(64, 10, new int[] {32, 16}), 64),
                architecture("ResNetV1", () -> resNet(18, 32), 3, 32, 32),
                architecture("SqueezeNet", () -> SqueezeNet.squeezenet(10), 3, 64, 64),
                architecture("VGG", () -> VGG.builder().build(), 3, 32, 32),
                architecture("LeNet", () -> LeNet.builder().build(), 1, 28, 28),
                architecture("GoogLeNet", () -> GoogLeNet.builder().build(), 1, 96, 96),
                architecture("MobileNetV1", () -> MobileNetV1.builder().build(), 3, 64, 64));
    }

    private static DynamicTest architecture(String name, Supplier<Block> block, long... lengths) {
        return DynamicTest.dynamicTest(name, () -> allTheWay(block.get(), lengths));
    }

    private static Block resNet(int layers, long side) {
        return ResNetV1.builder()
                .setNumLayers(layers)
                .setOutSize(10)
                .setImageShape(new Shape(3, side, side))
                .build();
    }

    @TestFactory
    Stream<DynamicTest> activationsComputeTheSame() {
        return Stream.of(
                        Activation.reluBlock(),
                        Activation.relu6Block(),
                        Activation.sigmoidBlock(),
                        Activation.tanhBlock(),
                        Activation.softPlusBlock(),
                        Activation.softSignBlock(),
                        Activation.leakyReluBlock(0.2f),
                        Activation.eluBlock(0.7f),
                        Activation.seluBlock(),
                        Activation.geluBlock(),
                        Activation.swishBlock(1.5f),
                        Activation.mishBlock())
                .map(block -> DynamicTest.dynamicTest(
                        ((LambdaBlock) block).getName(),
                        () -> same(new SequentialBlock().add(linear(6)).add(block), 5)));
    }

    @Test
    void layersKeepTheirNumbers() {
        same(
                new SequentialBlock()
                        .add(Conv2d.builder()
                                .setKernelShape(new Shape(3, 2))
                                .setFilters(8)
                                .optGroups(2)
                                .optStride(new Shape(2, 1))
                                .optPadding(new Shape(1, 2))
                                .optDilation(new Shape(1, 2))
                                .build())
                        .add(BatchNorm.builder().optEpsilon(0.01f).build())
                        .add(Pool.maxPool2dBlock(new Shape(2, 2), new Shape(2, 2), new Shape(1, 1), true))
                        .add(Pool.avgPool2dBlock(new Shape(2, 2), new Shape(1, 1), new Shape(1, 1)))
                        .add(Dropout.builder().optRate(0.3f).build())
                        .add(Pool.globalMaxPool2dBlock())
                        .add(LayerNorm.builder().build())
                        .add(Linear.builder().setUnits(3).optBias(false).build()),
                4,
                11,
                9);
        same(
                new SequentialBlock()
                        .add(Conv1d.builder()
                                .setKernelShape(new Shape(3))
                                .setFilters(5)
                                .build())
                        .add(Pool.maxPool1dBlock(new Shape(2)))
                        .add(linear(4))
                        .add(Blocks.batchFlattenBlock()),
                3,
                12);
        same(
                new SequentialBlock()
                        .add(Conv3d.builder()
                                .setKernelShape(new Shape(2, 3, 2))
                                .setFilters(3)
                                .build())
                        .add(Pool.avgPool3dBlock(new Shape(2, 2, 2), new Shape(1, 1, 1), new Shape(1, 1, 1), true))
                        .add(Pool.globalAvgPool3dBlock()),
                2,
                5,
                5,
                5);
    }

    @Test
    void whatLambdasDoIsFollowed() {
        same(
                new SequentialBlock()
                        .addSingleton(array ->
                                array.mul(2).add(1).div(3).sub(array.abs().pow(1.5)))
                        .addSingleton(
                                array -> NDArrays.sub(1, array.clip(-0.5, 2).exp()))
                        .addSingleton(
                                array -> array.square().add(1).sqrt().log().neg())
                        .addSingleton(array -> array.maximum(-2).minimum(-0.01f))
                        .addSingleton(
                                array -> array.transpose(0, 2, 1).expandDims(1).swapAxes(1, 3))
                        .addSingleton(array -> array.softmax(1).mul(array.logSoftmax(1)))
                        .addSingleton(array -> array.sum(new int[] {3}, true).squeeze(3))
                        .addSingleton(
                                array -> array.reshape(array.size(0), -1, 2).concat(array.reshape(-1, 12, 2), 2))
                        .addSingleton(array -> array.max(new int[] {2}).add(array.min(new int[] {2}))),
                4,
                6);
    }

    @Test
    void whatJoinsParallelBlocksIsFollowed() {
        Function<List<NDList>, NDList> join = lists -> {
            NDArray left = lists.get(0).singletonOrThrow();
            NDArray right = lists.get(1).singletonOrThrow();
            return new NDList(NDArrays.concat(new NDList(left.mul(2).sub(right), right), 1));
        };
        same(new ParallelBlock(join).add(linear(4)).add(linear(4)), 3);
    }

    @Test
    void wordsAreLookedUp() {
        Block block = new SequentialBlock()
                .add(embedding())
                .addSingleton(array -> array.mean(new int[] {1}))
                .add(linear(3));
        try (NDManager manager = NDManager.newBaseManager()) {
            Shape shape = new Shape(BATCH, 5);
            block.initialize(manager, DataType.FLOAT32, shape);
            long[] words = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
            NDArray output = forward(block, manager, manager.create(words, shape));
            Graph graph = BlockGraph.of(block, DataType.INT64, shape);
            close(tensor(output), run(graph, Map.of("input", Tensor.of(words, BATCH, 5))));
            String message = refusal(() -> BlockGraph.of(block));
            assertTrue(message.contains("at /01") && message.contains("DataType.INT64"), message);
        }
    }

    private static Block embedding() {
        return TrainableWordEmbedding.builder()
                .setEmbeddingSize(4)
                .setVocabulary(DefaultVocabulary.builder()
                        .add(List.of("a", "b", "c", "d", "e", "f", "g", "h", "i"))
                        .optUnknownToken("?")
                        .build())
                .optNumEmbeddings(10)
                .build();
    }

    @Test
    void thereMayBeSeveralInputsAndOutputs() {
        Block block = new LambdaBlock(arrays ->
                new NDList(arrays.get(0).add(arrays.get(1)), arrays.get(0).mul(arrays.get(1))));
        try (NDManager manager = NDManager.newBaseManager()) {
            block.initialize(manager, DataType.FLOAT32, new Shape(1, 2), new Shape(1, 2));
        }
        Graph graph = BlockGraph.of(block);
        Tensor two = Tensor.of(new float[] {2, 3}, 1, 2);
        try (OnnxRuntimeModel model = OnnxRuntimeModel.of(graph, 1)) {
            List<Tensor> outputs =
                    List.copyOf(model.run(Map.of("input", two, "input_2", two)).values());
            assertArrayEquals(new float[] {4, 6}, outputs.getFirst().toFloats());
            assertArrayEquals(new float[] {4, 9}, outputs.getLast().toFloats());
        }
    }

    @Test
    void aSharedBlockBringsItsWeightsOnce() {
        Block shared = linear(4);
        Graph graph = same(
                new SequentialBlock().add(shared).add(Activation.tanhBlock()).add(shared), 4);
        assertEquals(2, graph.tensors(Initializer.Kind.PARAMETER).size());
    }

    @Test
    void whatNoOperatorStandsForIsRefusedWithItsPlace() {
        Block inside = new SequentialBlock().add(linear(4)).addSingleton(array -> array.erfinv(), "inverse");
        Block block = new SequentialBlock()
                .add(linear(4))
                .add(new ParallelBlock(lists -> lists.getFirst())
                        .add(Blocks.identityBlock())
                        .add(inside));
        String message = refusal(block, 3);
        assertTrue(
                message.startsWith("LambdaBlock inverse at /02ParallelBlock/02SequentialBlock/02LambdaBlock cannot"),
                message);
        assertTrue(message.contains("it calls erfinv()"), message);
    }

    @TestFactory
    Stream<DynamicTest> whatCannotBeWrittenDownIsRefused() {
        return Map.<Block, String>of(
                        LSTM.builder().setStateSize(4).setNumLayers(1).build(),
                        "LSTM at the top cannot be a part of a graph: a graph has no operator for recurrent layers",
                        GRU.builder().setStateSize(4).setNumLayers(1).build(),
                        "GRU at the top",
                        lambda(array -> array.getManager().create(1f).add(array)),
                        "it calls getManager()",
                        lambda(array -> array.mul(array.toFloatArray()[0])),
                        "it calls toByteBuffer(boolean)",
                        lambda(array -> array.addi(1)),
                        "it calls addi(Number)",
                        lambda(array -> array.div(array.size(0))),
                        "computes with the number of samples",
                        lambda(array -> array.reshape(array.size(0) * 5, 3)),
                        "computes with the number of samples",
                        lambda(array -> Dropout.dropout(array).singletonOrThrow()),
                        "it drops numbers also when",
                        Pool.avgPool1dBlock(new Shape(2), new Shape(1), new Shape(1), false, false),
                        "DJL's PyTorch engine counts",
                        BatchNorm.builder().optAxis(2).build(),
                        "its axis is 2")
                .entrySet()
                .stream()
                .map(entry -> DynamicTest.dynamicTest(entry.getValue(), () -> {
                    String message = refusal(entry.getKey(), 5, 3);
                    assertTrue(message.contains(entry.getValue()), message);
                }));
    }

    private static Block lambda(Function<NDArray, NDArray> function) {
        return LambdaBlock.singleton(function);
    }

    @Test
    void anArrayFromElsewhereIsRefused() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray elsewhere = manager.create(new float[] {1, 2, 3});
            String message = refusal(lambda(array -> array.add(elsewhere)), 3);
            assertTrue(message.contains("addParameter"), message);
        }
    }

    @Test
    void aBlockWithoutWeightsIsRefused() {
        IllegalStateException refused = assertThrows(IllegalStateException.class, () -> BlockGraph.of(linear(3)));
        assertTrue(refused.toString().contains("initialise it first"), refused::toString);
    }

    @Test
    void anOpenLengthIsRefused() {
        String message = refusal(() -> BlockGraph.of(Activation.reluBlock(), DataType.FLOAT32, new Shape(1, -1)));
        assertTrue(message.contains("a length for every other"), message);
    }

    /** They are found by their names: one that DJL does not have would never be called. */
    @Test
    void everyOperationIsOneOfDjls() {
        Set<String> theirs = Stream.of(NDArray.class, NDArrayEx.class)
                .flatMap(type -> Stream.of(type.getMethods()))
                .map(Trace::signature)
                .collect(Collectors.toSet());
        for (Method method : TracedArray.class.getDeclaredMethods()) {
            if (Modifier.isPublic(method.getModifiers()) && !method.getName().equals("toString")) {
                assertTrue(theirs.contains(Trace.signature(method)), method::toString);
            }
        }
    }

    private static Linear linear(long units) {
        return Linear.builder().setUnits(units).build();
    }

    private static String refusal(Block block, long... lengths) {
        try (NDManager manager = NDManager.newBaseManager()) {
            block.initialize(manager, DataType.FLOAT32, batch(lengths));
            return refusal(() -> BlockGraph.of(block));
        }
    }

    private static String refusal(Executable conversion) {
        return String.valueOf(
                assertThrows(IllegalArgumentException.class, conversion).getMessage());
    }

    private static Shape batch(long... lengths) {
        return new Shape(BATCH).addAll(new Shape(lengths));
    }

    private static void allTheWay(Block block, long... lengths) {
        Graph zeroed = zeroed(same(block, lengths));
        Graph pruned = Pruner.plan(zeroed, PruneOptions.DEFAULT).apply();
        assertTrue(size(pruned) < size(zeroed), "nothing was pruned");
        float[] data = new float[BATCH * (int) Tensor.size(lengths)];
        for (int i = 0; i < data.length; i++) {
            data[i] = (float) Math.sin(i);
        }
        close(run(zeroed, data, lengths), run(pruned, data, lengths));
    }

    /** A quarter of the inputs of every layer that has some have no weight. */
    private static Graph zeroed(Graph graph) {
        Map<String, Tensor> changed = new HashMap<>();
        graph.tensors(Initializer.Kind.PARAMETER).forEach((name, tensor) -> {
            long[] shape = tensor.shape();
            if (shape.length > 1 && shape[1] >= 8) {
                long inner = tensor.size() / shape[0] / shape[1];
                float[] values = tensor.toFloats();
                for (int i = 0; i < values.length; i++) {
                    values[i] = i / inner % shape[1] < shape[1] / 4 ? 0 : values[i];
                }
                changed.put(name, Tensor.of(values, shape));
            }
        });
        return graph.withTensors(changed);
    }

    private static long size(Graph graph) {
        return graph.tensors(Initializer.Kind.PARAMETER).values().stream()
                .mapToLong(Tensor::size)
                .sum();
    }

    private static Graph same(Block block, long... lengths) {
        Engine.getEngine("PyTorch").setRandomSeed(1);
        try (NDManager manager = NDManager.newBaseManager()) {
            block.initialize(manager, DataType.FLOAT32, batch(lengths));
            for (Pair<String, Parameter> parameter : block.getParameters()) { // norms and biases begin as nothing
                NDArray array = parameter.getValue().getArray();
                if (array.getShape().dimension() == 1) {
                    array.addi(manager.randomUniform(0.1f, 0.5f, array.getShape()));
                }
            }
            NDArray input = manager.randomNormal(batch(lengths));
            NDArray output = forward(block, manager, input);
            Graph graph = BlockGraph.of(block);
            Tensor found = run(graph, input.toFloatArray(), lengths);
            assertArrayEquals(output.getShape().getShape(), found.shape());
            close(tensor(output), found);
            return graph;
        }
    }

    private static NDArray forward(Block block, NDManager manager, NDArray input) {
        return block.forward(new ParameterStore(manager, false), new NDList(input), false)
                .singletonOrThrow();
    }

    private static Tensor tensor(NDArray array) {
        return Tensor.of(array.toFloatArray(), array.getShape().getShape());
    }

    private static Tensor run(Graph graph, float[] data, long... lengths) {
        return run(graph, Map.of("input", Tensor.of(data, batch(lengths).getShape())));
    }

    private static Tensor run(Graph graph, Map<String, Tensor> inputs) {
        try (OnnxRuntimeModel model = OnnxRuntimeModel.of(graph, 1)) {
            return model.run(inputs).firstEntry().getValue();
        }
    }

    private static void close(Tensor expected, Tensor found) {
        float[] numbers = expected.toFloats();
        double largest = 1;
        for (float number : numbers) {
            largest = Math.max(largest, Math.abs(number));
        }
        assertEquals(numbers.length, found.size(), Arrays.toString(found.shape()));
        assertArrayEquals(numbers, found.toFloats(), (float) (TOLERANCE * largest));
    }
}
