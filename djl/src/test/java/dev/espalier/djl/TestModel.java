package dev.espalier.djl;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.training.GradientCollector;
import ai.djl.training.ParameterStore;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.torch.Torch;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/** Small models with weights from a seed, and gradients of a loss on data from a seed. */
final class TestModel implements AutoCloseable {
    static final String FIRST = "01Linear_weight";
    static final String SECOND = "03Linear_weight";

    private final NDManager manager = NDManager.newBaseManager("PyTorch");
    private final NDManager parameters = manager.newSubManager();
    private final ParameterStore store = new ParameterStore(manager.newSubManager(), false);
    private final Block block;
    private final Shape input;

    TestModel(Block block, Shape input) {
        this.block = block;
        this.input = input;
        block.initialize(parameters, DataType.FLOAT32, input);
        Random random = new Random(7);
        weights().forEach((name, view) -> {
            for (long i = 0; i < view.size(); i++) {
                view.set(i, random.nextGaussian() / 4);
            }
        });
    }

    /** Two linear layers: 01Linear_weight (5, 6), 01Linear_bias, 03Linear_weight (3, 5), 03Linear_bias. */
    static SequentialBlock perceptron() {
        return new SequentialBlock()
                .add(Linear.builder().setUnits(5).build())
                .add(Activation.tanhBlock())
                .add(Linear.builder().setUnits(3).build());
    }

    static TestModel ofPerceptron() {
        return new TestModel(perceptron(), new Shape(8, 6));
    }

    /** Convolutions, one of them depthwise, a norm and a linear layer. */
    static TestModel ofConvolutions() {
        return new TestModel(
                new SequentialBlock()
                        .add(Conv2d.builder()
                                .setKernelShape(new Shape(3, 3))
                                .setFilters(4)
                                .build())
                        .add(BatchNorm.builder().build())
                        .add(Activation.reluBlock())
                        .add(Conv2d.builder()
                                .setKernelShape(new Shape(2, 2))
                                .setFilters(4)
                                .optGroups(4)
                                .build())
                        .add(Blocks.batchFlattenBlock())
                        .add(Linear.builder().setUnits(2).build()),
                new Shape(2, 3, 6, 6));
    }

    Block block() {
        return block;
    }

    /** The manager that owns the parameters. */
    NDManager parameterManager() {
        return parameters;
    }

    Parameter parameter(String name) {
        return block.getParameters().get(name);
    }

    /** The live weights of everything that requires a gradient. */
    Map<String, TensorView> weights() {
        Map<String, TensorView> weights = new LinkedHashMap<>();
        block.getParameters().forEach(pair -> {
            if (pair.getValue().requiresGradient()) {
                weights.put(pair.getKey(), Torch.view(pair.getValue().getArray()));
            }
        });
        return weights;
    }

    TensorView weight(String name) {
        return Torch.view(parameter(name).getArray());
    }

    /** Writes a copy of the weights back. */
    void restore(Map<String, float[]> snapshot) {
        snapshot.forEach((name, values) -> {
            TensorView view = weight(name);
            for (int i = 0; i < values.length; i++) {
                view.set(i, values[i]);
            }
        });
    }

    /** A copy of the weights. */
    Map<String, float[]> snapshot() {
        Map<String, float[]> copy = new LinkedHashMap<>();
        block.getParameters()
                .forEach(pair ->
                        copy.put(pair.getKey(), pair.getValue().getArray().toFloatArray()));
        return copy;
    }

    /** Adds the gradient of a loss on the data of a seed to the parameters' gradients. */
    void backward(int seed) {
        try (NDManager step = manager.newSubManager();
                GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            Random random = new Random(seed);
            float[] values = new float[Math.toIntExact(input.size())];
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) random.nextGaussian();
            }
            NDList output = block.forward(store, new NDList(step.create(values, input)), true);
            NDArray difference = output.singletonOrThrow().sub(random.nextGaussian());
            collector.backward(difference.square().mean());
        }
    }

    /** Copies of the gradients. */
    Map<String, float[]> gradients() {
        Map<String, float[]> gradients = new LinkedHashMap<>();
        weights().forEach((name, view) -> {
            try (NDArray gradient = parameter(name).getArray().getGradient()) {
                gradients.put(name, gradient.toFloatArray());
            }
        });
        return gradients;
    }

    @Override
    public void close() {
        manager.close();
    }
}
