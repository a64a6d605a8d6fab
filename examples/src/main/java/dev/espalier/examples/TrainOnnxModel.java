package dev.espalier.examples;

import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.model.Layers;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Losses;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.Espalier;
import dev.espalier.train.task.Example;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
        List<Double> losses = new ArrayList<>();
        // docs: train
        Espalier model = Espalier.open(file)
                .withGroups(GroupRules.everything()) // one group for each input channel of each layer
                .withPenalty(new GroupLasso(0.012))
                .withRate(LearningRate.constant(0.01));
        Objective objective = formula -> {
            Value logits = formula.model(formula.outputs().getFirst());
            Value classes =
                    formula.target("class", DataType.INT64, logits.shape().get(0));
            return Objective.terms(Losses.crossEntropy(formula, logits, classes));
        };
        Espalier sparse = model.train(objective, batches(model.model()), terms -> losses.add(terms.loss()));
        Espalier smaller = sparse.prune(); // ONNX Runtime has compared it with the sparse one
        smaller.write(pruned);
        // docs: end
        System.out.printf(Locale.ROOT, "loss %.3f, then %.3f%n", losses.getFirst(), losses.getLast());
        report(sparse);
        System.out.print(smaller.report());
        System.out.println("written to " + pruned);
    }

    private static void report(Espalier trained) {
        for (LayerGroups layer : trained.groups().layers()) {
            System.out.printf(
                    Locale.ROOT,
                    "%s: %d of %d groups are exactly zero%n",
                    layer.name(),
                    layer.zeroGroups(trained.model()),
                    layer.groups().count());
        }
    }

    private static List<Example> batches(Graph model) {
        Random random = new Random(1);
        String input = model.inputs().getFirst().name();
        List<Example> batches = new ArrayList<>();
        for (int i = 0; i < STEPS; i++) {
            float[] data = new float[BATCH * INPUTS];
            long[] labels = new long[BATCH];
            draw(random, data, labels);
            // docs: batch
            Map<String, Tensor> inputs = Map.of(input, Tensor.of(data, BATCH, INPUTS));
            batches.add(new Example(inputs, Map.of("class", Tensor.of(labels)), BATCH));
            // docs: end
        }
        return batches;
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
