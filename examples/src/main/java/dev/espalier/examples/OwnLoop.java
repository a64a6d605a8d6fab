package dev.espalier.examples;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import ai.djl.training.GradientCollector;
import ai.djl.training.ParameterStore;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.djl.BlockGroups;
import dev.espalier.djl.BlockStepper;
import dev.espalier.djl.ProximalOptions;
import dev.espalier.torch.Torch;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;

/** Steps a whole model of DJL at once in a training loop of one's own, with the penalty on one choice of groups after another. */
public final class OwnLoop {
    private static final int INPUTS = 8;
    private static final int BATCH = 64;
    private static final int STEPS = 300;

    private OwnLoop() {}

    /** Three choices of what is penalised. */
    private static List<BlockGroups> choices() {
        // docs: groups
        BlockGroups allButTheLast = BlockGroups.DEFAULT.exclude().named("03Linear_weight");
        BlockGroups byKind =
                BlockGroups.NONE.channels().of(Conv2d.class).neurons().of(Linear.class);
        BlockGroups byName = BlockGroups.NONE.rows().matching(Pattern.compile("01Linear"));
        // docs: end
        return List.of(allButTheLast, byKind, byName);
    }

    /**
     * Runs the example.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        Torch.tune();
        for (BlockGroups groups : choices()) {
            Engine.getEngine("PyTorch").setRandomSeed(1);
            try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
                Block block = new SequentialBlock()
                        .add(Linear.builder().setUnits(16).build())
                        .add(Activation.tanhBlock())
                        .add(Linear.builder().setUnits(1).build());
                block.initialize(manager, DataType.FLOAT32, new Shape(BATCH, INPUTS));
                train(block, manager, groups);
            }
        }
    }

    private static void train(Block block, NDManager manager, BlockGroups groups) {
        ParameterStore weights = new ParameterStore(manager, false);
        Random random = new Random(1);
        // docs: loop
        ProximalOptions options = ProximalOptions.adam(new GroupLasso(0.03))
                .withGroups(groups)
                .withLearningRate(LearningRate.constant(0.01));
        try (BlockStepper stepper = new BlockStepper(block, options)) {
            for (int step = 0; step < STEPS; step++) {
                try (NDManager batch = manager.newSubManager();
                        GradientCollector collector =
                                Engine.getEngine("PyTorch").newGradientCollector()) {
                    NDArray data = batch.create(draw(random), new Shape(BATCH, INPUTS));
                    NDArray output =
                            block.forward(weights, new NDList(data), true).singletonOrThrow();
                    collector.backward(output.sub(wanted(data)).square().mean());
                }
                stepper.step(); // after the backward pass, before the next forward pass
            }
            System.out.println(stepper.groupsLeftBySet());
        }
        // docs: end
    }

    private static float[] draw(Random random) {
        float[] values = new float[BATCH * INPUTS];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    /** The sum of the first two inputs; the others are noise. */
    private static NDArray wanted(NDArray data) {
        return data.get(":, 0:2").sum(new int[] {1}, true);
    }
}
