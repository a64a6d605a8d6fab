package dev.espalier.examples;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.training.evaluator.Accuracy;
import ai.djl.training.loss.Loss;
import ai.djl.translate.TranslateException;
import dev.espalier.blocks.BlockGraph;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.djl.GroupsLeft;
import dev.espalier.djl.ProximalAdam;
import dev.espalier.djl.ProximalOptimizer;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.torch.Torch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Trains a small network of DJL on a problem where half of the inputs are noise. The proximal optimizer finds out which,
 * and sets all weights that leave them to zero: exactly zero, so that nothing has to be rounded afterwards. What is left
 * is cut out and written as ONNX.
 *
 * <p>Until then two lines differ from any other DJL program: the optimizer, and {@link Torch#tune}.
 */
public final class DropNoiseInputs {
    private static final int INPUTS = 20;
    private static final int USEFUL = 10;
    private static final int HIDDEN = 16;
    private static final int SAMPLES = 2048;
    private static final int BATCH = 256;
    private static final int EPOCHS = 30;
    private static final int SEED = 1;

    private DropNoiseInputs() {}

    /**
     * Runs the example.
     *
     * @param arguments none
     * @throws IOException if DJL cannot read the data, which is in memory
     * @throws TranslateException if DJL cannot make batches of it
     */
    public static void main(String[] arguments) throws IOException, TranslateException {
        Torch.tune();
        Engine.getEngine("PyTorch").setRandomSeed(SEED);
        try (Model model = Model.newInstance("drop-noise-inputs", Device.cpu(), "PyTorch")) {
            model.setBlock(new SequentialBlock()
                    .add(Linear.builder().setUnits(HIDDEN).build())
                    .add(Activation.tanhBlock())
                    .add(Linear.builder().setUnits(2).build()));
            // docs: optimizer
            ProximalOptimizer optimizer = ProximalAdam.builder() // instead of Optimizer.adam()
                    .forBlock(model.getBlock())
                    .optPenalty(new GroupLasso(0.012))
                    .optLearningRate(LearningRate.constant(0.01))
                    .build();
            TrainingConfig config = new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
                    .optOptimizer(optimizer)
                    .optDevices(new Device[] {Device.cpu()});
            // docs: end
            try (optimizer;
                    Trainer trainer = model.newTrainer(config)) {
                trainer.initialize(new Shape(BATCH, INPUTS));
                EasyTrain.fit(trainer, EPOCHS, problem(model.getNDManager(), 0), null);
                report(model, trainer, optimizer);
            }
            prune(model.getBlock());
        }
    }

    private static void report(Model model, Trainer trainer, ProximalOptimizer optimizer)
            throws IOException, TranslateException {
        for (var layer : optimizer.groupsLeftBySet().entrySet()) {
            GroupsLeft left = layer.getValue();
            System.out.printf(
                    Locale.ROOT, "%s: %d of %d groups are exactly zero%n", layer.getKey(), left.zero(), left.groups());
        }
        System.out.println("inputs left: " + inputsLeft(model));
        System.out.printf(Locale.ROOT, "accuracy on new samples: %.3f%n", accuracy(model, trainer));
    }

    private static void prune(Block block) throws IOException {
        Path file = Files.createTempDirectory("espalier").resolve("pruned.onnx");
        // docs: prune
        PrunePlan plan = Pruner.plan(BlockGraph.of(block), PruneOptions.DEFAULT);
        OnnxWriter.write(plan.apply(), file);
        // docs: end
        System.out.print(plan);
        System.out.println("written to " + file);
    }

    /** The inputs of the first layer that any weight leaves. Its weights are (hidden, inputs). */
    private static List<Integer> inputsLeft(Model model) {
        Parameter first = model.getBlock().getParameters().valueAt(0);
        TensorView weights = Torch.view(first.getArray());
        return IntStream.range(0, INPUTS)
                .filter(input ->
                        IntStream.range(0, HIDDEN).anyMatch(unit -> weights.get((long) unit * INPUTS + input) != 0))
                .boxed()
                .toList();
    }

    private static double accuracy(Model model, Trainer trainer) throws IOException, TranslateException {
        Accuracy accuracy = new Accuracy();
        accuracy.addAccumulator("test");
        for (Batch batch : trainer.iterateDataset(problem(model.getNDManager(), 1))) {
            try (batch) {
                accuracy.updateAccumulator("test", batch.getLabels(), trainer.evaluate(batch.getData()));
            }
        }
        return accuracy.getAccumulator("test");
    }

    /** Two classes, told apart by the first ten inputs; the other ten are noise. */
    private static ArrayDataset problem(NDManager manager, int part) {
        Random random = new Random(SEED + part);
        float[] data = new float[SAMPLES * INPUTS];
        long[] labels = new long[SAMPLES];
        for (int sample = 0; sample < SAMPLES; sample++) {
            int first = sample * INPUTS;
            for (int input = 0; input < INPUTS; input++) {
                data[first + input] = (float) random.nextGaussian();
            }
            double score = 0;
            for (int input = 0; input < USEFUL; input++) {
                score += input % 2 == 0 ? data[first + input] : -data[first + input];
            }
            labels[sample] = score > 0 ? 1 : 0;
        }
        return new ArrayDataset.Builder()
                .setData(manager.create(data, new Shape(SAMPLES, INPUTS)))
                .optLabels(manager.create(labels))
                .setSampling(BATCH, true)
                .build();
    }
}
