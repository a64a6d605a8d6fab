package dev.espalier.train.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.Layers;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.study.Experiment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A recurrent layer is trained with a penalty and loses inputs and hidden units. */
final class RecurrentRecipeTest {
    private static final int ROWS = 200;
    private static final int TIMES = 4;
    private static final int HIDDEN = 10;

    @TempDir
    Path folder;

    /** Of three numbers at each time, only the first matters: whether its mean is above zero. */
    private void writeSequences() throws IOException {
        Random random = new Random(6);
        float[] sequences = new float[ROWS * TIMES * 3];
        float[] kind = new float[ROWS];
        for (int row = 0; row < ROWS; row++) {
            float sum = 0;
            for (int time = 0; time < TIMES; time++) {
                for (int i = 0; i < 3; i++) {
                    sequences[(row * TIMES + time) * 3 + i] = (float) random.nextGaussian();
                }
                sum += sequences[(row * TIMES + time) * 3];
            }
            kind[row] = sum > 0 ? 1 : 0;
        }
        Npy.write(folder.resolve("sequence.npy"), sequences, ROWS, TIMES, 3);
        Npy.write(folder.resolve("kind.npy"), kind, ROWS);
    }

    private Path model() throws IOException {
        GraphBuilder builder = new GraphBuilder("recurrent");
        Random random = new Random(8);
        Value x = builder.input("sequence", DataType.FLOAT32, "batch", TIMES, 3);
        Value turned = builder.add("turned", new Transpose(List.of(1L, 0L, 2L)), x);
        String fed = builder.parameter("fed", normal(random, 2, 4 * HIDDEN, 3)).name();
        String back =
                builder.parameter("back", normal(random, 2, 4 * HIDDEN, HIDDEN)).name();
        List<Value> made = builder.addAll(new Node(
                "lstm",
                new Recurrent(Recurrent.Cell.LSTM, Recurrent.Direction.BIDIRECTIONAL, HIDDEN),
                List.of(turned.name(), fed, back),
                List.of("all", "last", "cells")));
        Value sequences = builder.add("sequences", new Transpose(List.of(1L, 0L, 2L)), made.get(1));
        Value flat = builder.add(
                "flat", Reshape.DEFAULT, sequences, builder.constant("flat.shape", Tensor.of(new long[] {0, 2L * HIDDEN
                })));
        Value scores = new Layers(builder, Weights.seeded(1)).linear("head", flat, 2);
        Path file = folder.resolve("recurrent.onnx");
        OnnxWriter.write(builder.outputs(scores), file);
        return file;
    }

    private static Tensor normal(Random random, long... shape) {
        return Tensor.compute(DataType.FLOAT32, shape, i -> 0.3 * random.nextGaussian());
    }

    @Test
    void aRecipeMakesRecurrentLayersSmaller() throws IOException {
        writeSequences();
        Recipe recipe = Recipe.parse("recurrent.toml", """
                [data]
                kind = "npy"
                inputs = ["sequence"]
                targets = "kind"
                label_type = "category"
                [model]
                kind = "onnx"
                file = "?"
                [penalty]
                kind = "group-lasso"
                lambda = 2e-3
                [optimizer]
                rate = 2e-2
                [training]
                prune_for = "size"
                epochs = 15
                batch_size = 32
                """, List.of("data.path=" + folder, "model.file=" + model()));
        RunFolder run = new RunFolder(folder.resolve("run"));
        RunResult result = Experiment.of(recipe, run, RunOptions.DEFAULT)
                .begin()
                .orElseThrow()
                .getFirst();
        assertEquals(result.scores(), result.prunedScores());
        double accuracy = result.scores().entrySet().stream()
                .filter(score -> score.getKey().name().equals("accuracy"))
                .findFirst()
                .orElseThrow()
                .getValue();
        assertTrue(accuracy > 0.85, result.toString());
        Graph pruned = OnnxReader.read(run.pruned()).graph();
        Recurrent left = pruned.nodes().stream()
                .map(Node::operator)
                .filter(Recurrent.class::isInstance)
                .map(Recurrent.class::cast)
                .findFirst()
                .orElseThrow();
        assertTrue(left.hidden() < HIDDEN, left.toString());
    }
}
