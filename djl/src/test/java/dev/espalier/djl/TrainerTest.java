package dev.espalier.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.loss.Loss;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.torch.Torch;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The optimizer in DJL's own training loop. */
final class TrainerTest {
    private static final int INPUTS = 6;
    private static final int USEFUL = 2;
    private static final int SAMPLES = 256;

    @Test
    void aTrainerDropsTheInputsThatSayNothing() throws Exception {
        try (Model model = Model.newInstance("regression", Device.cpu(), "PyTorch")) {
            model.setBlock(new SequentialBlock()
                    .add(Linear.builder().setUnits(8).build())
                    .add(Activation.tanhBlock())
                    .add(Linear.builder().setUnits(1).build()));
            try (ProximalOptimizer optimizer = ProximalAdam.builder()
                            .forBlock(model.getBlock())
                            .optPenalty(new GroupLasso(0.01))
                            .optGroups(BlockGroups.NONE.rows().named(TestModel.FIRST))
                            .optLearningRate(LearningRate.constant(0.01))
                            .build();
                    Trainer trainer = model.newTrainer(new DefaultTrainingConfig(Loss.l2Loss())
                            .optOptimizer(optimizer)
                            .optDevices(new Device[] {Device.cpu()}))) {
                trainer.initialize(new Shape(1, INPUTS));
                EasyTrain.fit(trainer, 80, dataset(model.getNDManager()), null);

                assertEquals(new GroupsLeft(INPUTS, USEFUL), optimizer.groupsLeft());
                assertEquals(
                        80 * SAMPLES / 32,
                        optimizer.reports().firstEntry().getValue().step());
                NDArray weights =
                        model.getBlock().getParameters().get(TestModel.FIRST).getArray();
                TensorView view = Torch.view(weights);
                for (int i = 0; i < view.size(); i++) {
                    boolean useful = i % INPUTS < USEFUL;
                    assertTrue(useful || view.get(i) == 0, "weight " + i + " of a useless input is " + view.get(i));
                }
            }
        }
    }

    private static ArrayDataset dataset(NDManager manager) {
        Random random = new Random(3);
        float[] data = new float[SAMPLES * INPUTS];
        float[] labels = new float[SAMPLES];
        for (int sample = 0; sample < SAMPLES; sample++) {
            for (int input = 0; input < INPUTS; input++) {
                data[sample * INPUTS + input] = (float) random.nextGaussian();
            }
            labels[sample] = data[sample * INPUTS] - data[sample * INPUTS + 1] / 2;
        }
        return new ArrayDataset.Builder()
                .setData(manager.create(data, new Shape(SAMPLES, INPUTS)))
                .optLabels(manager.create(labels, new Shape(SAMPLES, 1)))
                .setSampling(32, true)
                .build();
    }
}
