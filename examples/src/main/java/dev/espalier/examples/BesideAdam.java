package dev.espalier.examples;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.translate.TranslateException;
import com.sun.management.OperatingSystemMXBean;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.djl.ProximalAdam;
import dev.espalier.djl.ProximalOptimizer;
import dev.espalier.torch.Torch;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.Random;

/**
 * What the proximal optimizer costs beside DJL's Adam, in DJL's own training loop on a small network. Counted is the time
 * of the processor, which does not depend much on what else runs on the machine, as long as libtorch has one thread: several
 * would take time while they wait for each other. The first round also
 * pays for what the virtual machine compiles.
 */
public final class BesideAdam {
    private static final int INPUTS = 784;
    private static final int CLASSES = 10;
    private static final int BATCH = 32;
    private static final int STEPS_AN_EPOCH = 32;
    private static final int EPOCHS = 16;
    private static final int ROUNDS = 3;
    private static final double NANOSECONDS = 1e9;

    private BesideAdam() {}

    /**
     * Runs the example.
     *
     * @param arguments none
     * @throws IOException if DJL cannot read the data, which is in memory
     * @throws TranslateException if DJL cannot make batches of it
     */
    public static void main(String[] arguments) throws IOException, TranslateException {
        System.setProperty("ai.djl.pytorch.num_threads", "1");
        Torch.tune();
        for (int round = 0; round < ROUNDS; round++) {
            double adam = seconds(false);
            double proximal = seconds(true);
            System.out.printf(
                    Locale.ROOT,
                    "%d steps: DJL's Adam %.2f s, ProximalAdam %.2f s of the processor, %.2f times%n",
                    EPOCHS * STEPS_AN_EPOCH,
                    adam,
                    proximal,
                    proximal / adam);
        }
    }

    private static double seconds(boolean proximal) throws IOException, TranslateException {
        try (Model model = Model.newInstance("beside-adam", Device.cpu(), "PyTorch")) {
            model.setBlock(new SequentialBlock()
                    .add(Linear.builder().setUnits(128).build())
                    .add(Activation.reluBlock())
                    .add(Linear.builder().setUnits(64).build())
                    .add(Activation.reluBlock())
                    .add(Linear.builder().setUnits(CLASSES).build()));
            if (!proximal) {
                return seconds(model, Optimizer.adam().build());
            }
            try (ProximalOptimizer optimizer = proximal(model.getBlock())) {
                return seconds(model, optimizer);
            }
        }
    }

    private static ProximalOptimizer proximal(Block block) {
        return ProximalAdam.builder()
                .forBlock(block)
                .optPenalty(new GroupLasso(1e-3))
                .build();
    }

    private static double seconds(Model model, Optimizer optimizer) throws IOException, TranslateException {
        DefaultTrainingConfig config = new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
                .optOptimizer(optimizer)
                .optDevices(new Device[] {Device.cpu()});
        try (Trainer trainer = model.newTrainer(config)) {
            trainer.initialize(new Shape(BATCH, INPUTS));
            ArrayDataset data = noise(model.getNDManager());
            long start = processorTime();
            EasyTrain.fit(trainer, EPOCHS, data, null);
            return (processorTime() - start) / NANOSECONDS;
        }
    }

    private static long processorTime() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }

    private static ArrayDataset noise(NDManager manager) {
        Random random = new Random(1);
        int samples = BATCH * STEPS_AN_EPOCH;
        float[] data = new float[samples * INPUTS];
        for (int i = 0; i < data.length; i++) {
            data[i] = (float) random.nextGaussian();
        }
        long[] labels = random.longs(samples, 0, CLASSES).toArray();
        return new ArrayDataset.Builder()
                .setData(manager.create(data, new Shape(samples, INPUTS)))
                .optLabels(manager.create(labels))
                .setSampling(BATCH, false)
                .build();
    }
}
