package dev.espalier.engine;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Blocks;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.nn.pooling.Pool;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.training.GradientCollector;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.XavierInitializer;
import com.sun.management.OperatingSystemMXBean;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Vgg16;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torch.Torch;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How long forward and backward passes of VGG-16 take as a {@link Network}, and as DJL's own blocks, in turns:
 *
 * <pre>{@code
 * mvn -B -q -DskipTests -pl engine -am package dependency:copy-dependencies
 * java -Dai.djl.offline=true --enable-native-access=ALL-UNNAMED \
 *     -cp 'engine/target/test-classes:engine/target/classes:engine/target/dependency/*' \
 *     dev.espalier.engine.NetworkMeasurement [batch] [rounds]
 * }</pre>
 */
final class NetworkMeasurement {
    private NetworkMeasurement() {}

    /**
     * Prints the median times.
     *
     * @param arguments the size of a batch, 32 if left out, and the number of rounds, 7 if left out
     */
    public static void main(String[] arguments) {
        int batch = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 32;
        int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 7;
        System.out.println("oneDNN: " + Torch.tune());
        try (NDManager manager = NDManager.newBaseManager(ai.djl.Device.cpu(), "PyTorch");
                Network network =
                        new Network(Vgg16.build(ImageOptions.CIFAR10, Weights.seeded(1)), Models.CLASSES, Device.CPU)) {
            SequentialBlock blocks = blocks();
            blocks.setInitializer(new XavierInitializer(), Parameter.Type.WEIGHT);
            blocks.initialize(manager, DataType.FLOAT32, new Shape(batch, 3, 32, 32));
            NDArray images = manager.randomNormal(new Shape(batch, 3, 32, 32));
            NDArray labels = manager.zeros(new Shape(batch), DataType.INT64);
            double[] ours = new double[rounds];
            double[] theirs = new double[rounds];
            for (int i = -1; i < rounds; i++) {
                Time own = Time.of(() -> network(network, Tensors.tensor(images), Tensors.tensor(labels)));
                Time other = Time.of(() -> blocks(blocks, manager, images, labels));
                if (i >= 0) {
                    ours[i] = own.processor();
                    theirs[i] = other.processor();
                    System.out.printf("round %d: network %s, DJL's blocks %s%n", i, own, other);
                }
            }
            System.out.printf(
                    "VGG-16, batch %d, forward and backward, median processor time of %d: network %.3f s, DJL's blocks %.3f s,"
                            + " DJL / network %.2f%n",
                    batch, rounds, median(ours), median(theirs), median(theirs) / median(ours));
        }
    }

    /**
     * How long something took.
     *
     * @param clock seconds that went by
     * @param processor seconds that processors worked for it: what a busy machine can still tell
     */
    private record Time(double clock, double processor) {

        static Time of(Runnable work) {
            OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
            long clock = System.nanoTime();
            long processor = system.getProcessCpuTime();
            work.run();
            return new Time((System.nanoTime() - clock) * 1e-9, (system.getProcessCpuTime() - processor) * 1e-9);
        }

        @Override
        public String toString() {
            return "%.3f s (processors %.3f s)".formatted(clock, processor);
        }
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private static void network(Network network, Tensor images, Tensor labels) {
        network.addGradients(Map.of("image", images), Map.of("class", labels), 1);
        network.zeroGradients();
    }

    private static void blocks(SequentialBlock blocks, NDManager manager, NDArray images, NDArray labels) {
        try (NDManager step = manager.newSubManager();
                GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            NDArray input = images.toType(DataType.FLOAT32, true);
            input.attach(step);
            ParameterStore store = new ParameterStore(step, false);
            NDArray logits = blocks.forward(store, new NDList(input), true).singletonOrThrow();
            collector.backward(TrainingStepTest.crossEntropy(logits, labels));
        }
        blocks.getParameters().values().forEach(parameter -> JniUtils.zeroGrad((PtNDArray) parameter.getArray()));
    }

    private static SequentialBlock blocks() {
        List<Integer> filters = List.of(64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512);
        Set<Integer> pooled = Set.of(1, 3, 6, 9, 12);
        SequentialBlock blocks = new SequentialBlock();
        for (int i = 0; i < filters.size(); i++) {
            blocks.add(Conv2d.builder()
                            .setKernelShape(new Shape(3, 3))
                            .optPadding(new Shape(1, 1))
                            .optBias(false)
                            .setFilters(filters.get(i))
                            .build())
                    .add(BatchNorm.builder().build())
                    .add(Activation.reluBlock());
            if (pooled.contains(i)) {
                blocks.add(Pool.maxPool2dBlock(new Shape(2, 2), new Shape(2, 2)));
            }
        }
        return blocks.add(Blocks.batchFlattenBlock())
                .add(Linear.builder().setUnits(10).build());
    }
}
