package dev.espalier.examples;

import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.engine.TrainingStep;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.group.TrainingPlan;
import dev.espalier.graph.model.Layers;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Losses;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.StepOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * Reads a model from an ONNX file, trains it with a penalty on the inputs of every layer, cuts out what became zero, and
 * writes what is left as ONNX: a smaller model that computes the same. Bring a model of your own as the first argument if it
 * takes 20 numbers and tells two classes apart; else a small one is made.
 */
public final class TrainOnnxModel {
    private static final int INPUTS = 20;
    private static final int USEFUL = 10;
    private static final int BATCH = 256;
    private static final int STEPS = 400;

    private TrainOnnxModel() {}

    /**
     * Runs the example.
     *
     * @param arguments the model's file, or nothing
     * @throws IOException if a file cannot be read or written
     */
    public static void main(String[] arguments) throws IOException {
        Path folder = Files.createTempDirectory("espalier");
        Path file = arguments.length > 0 ? Path.of(arguments[0]) : export(folder.resolve("model.onnx"));
        Path pruned = folder.resolve("pruned.onnx");
        // docs: train
        Graph model = OnnxReader.read(file).graph();
        ModelGroups groups = GroupRules.everything().derive(model); // one group for each input channel of each layer
        TrainingPlan training = TrainingPlan.of(new GroupLasso(0.012), LearningRate.constant(0.01));
        Objective objective = formula -> {
            Value logits = formula.model(model.outputs().getFirst());
            Value classes =
                    formula.target("class", DataType.INT64, logits.shape().get(0));
            return Objective.terms(Losses.crossEntropy(formula, logits, classes));
        };
        try (Network network = new Network(model, objective, Device.CPU);
                Optimizer optimizer = new Optimizer(
                        new UpdateRule.Adam(), training.parameterSets(model, groups), StepOptions.DEFAULT)) {
            train(model, new TrainingStep(network, optimizer::step));
            Graph trained = network.graph();
            report(groups, trained);
            PrunePlan plan = Pruner.plan(trained, PruneOptions.DEFAULT);
            System.out.print(plan);
            OnnxWriter.write(plan.apply(), pruned);
        }
        // docs: end
        System.out.println("written to " + pruned);
    }

    private static void report(ModelGroups groups, Graph trained) {
        for (LayerGroups layer : groups.layers()) {
            System.out.printf(
                    Locale.ROOT,
                    "%s: %d of %d groups are exactly zero%n",
                    layer.name(),
                    layer.zeroGroups(trained),
                    layer.groups().count());
        }
    }

    private static void train(Graph model, TrainingStep step) {
        Random random = new Random(1);
        String input = model.inputs().getFirst().name();
        for (int i = 1; i <= STEPS; i++) {
            float[] data = new float[BATCH * INPUTS];
            long[] labels = new long[BATCH];
            draw(random, data, labels);
            // docs: step
            Map<String, Tensor> inputs = Map.of(input, Tensor.of(data, BATCH, INPUTS));
            Terms terms = step.run(inputs, Map.of("class", Tensor.of(labels)));
            // docs: end
            if (i % 100 == 0) {
                System.out.printf(Locale.ROOT, "step %d: loss %.3f%n", i, terms.loss());
            }
        }
    }

    /** Two classes, told apart by the first ten inputs; the other ten are noise. */
    private static void draw(Random random, float[] data, long[] labels) {
        for (int sample = 0; sample < labels.length; sample++) {
            double score = 0;
            for (int input = 0; input < INPUTS; input++) {
                float value = (float) random.nextGaussian();
                data[sample * INPUTS + input] = value;
                score += input >= USEFUL ? 0 : input % 2 == 0 ? value : -value;
            }
            labels[sample] = score > 0 ? 1 : 0;
        }
    }

    /** Stands in for a model that was exported elsewhere. */
    private static Path export(Path file) throws IOException {
        GraphBuilder graph = new GraphBuilder("two-classes");
        Layers layers = new Layers(graph, Weights.seeded(1));
        Value x = graph.input("features", DataType.FLOAT32, "batch", INPUTS);
        Value hidden = layers.relu("relu", layers.linear("hidden", x, 16));
        OnnxWriter.write(graph.outputs(layers.linear("classes", hidden, 2)), file);
        return file;
    }
}
