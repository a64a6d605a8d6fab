package dev.espalier.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.engine.Device;
import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Losses;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.task.Example;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class EspalierTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path folder;

    /** The sum of the first two of four pixels. */
    private static List<Example> sums() {
        Random random = new Random(3);
        List<Example> batches = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            Tensor images = Tensor.compute(DataType.FLOAT32, new long[] {32, 1, 2, 2}, _ -> random.nextGaussian());
            Tensor sums = Tensor.compute(
                    DataType.FLOAT32,
                    new long[] {32, 1},
                    row -> images.getDouble(4 * row) + images.getDouble(4 * row + 1));
            batches.add(new Example(Map.of("image", images), Map.of("sum", sums), 32));
        }
        return batches;
    }

    private static final Objective SQUARES = formula -> Objective.terms(Losses.squares(
            formula, formula.minus(formula.model("logits"), formula.target("sum", DataType.FLOAT32, "batch", 1))));

    private static Graph mlp() {
        return Mlp.ofImages(new ImageOptions(1, 1, 2), List.of(8), Weights.seeded(1));
    }

    @Test
    void aModelIsOpenedTrainedPrunedAndWritten() throws IOException {
        Path file = folder.resolve("model.onnx");
        Espalier.of(mlp()).write(file);
        List<Double> losses = new ArrayList<>();
        Espalier model = Espalier.open(file)
                .withGroups(GroupRules.everything())
                .withPenalty(new GroupLasso(0.01))
                .withOptimizer(new UpdateRule.Adam())
                .withRate(LearningRate.constant(0.02))
                .withDevice(Device.CPU);
        assertEquals(0, model.zeroGroups());
        Espalier sparse = model.train(SQUARES, sums(), terms -> losses.add(terms.loss()));
        assertEquals(300, losses.size());
        assertTrue(losses.getLast() < 0.05 && losses.getFirst() > 0.5, losses::toString);
        assertTrue(sparse.zeroGroups() >= 2, () -> sparse.zeroGroups() + " zero groups");
        assertEquals(0, model.zeroGroups());

        Espalier smaller = sparse.prune();
        Path pruned = folder.resolve("pruned.onnx");
        smaller.write(pruned);
        assertTrue(Cost.parameters(smaller.model()) < Cost.parameters(sparse.model()));
        assertEquals(smaller.report().parametersAfter(), Cost.parameters(smaller.model()));
        assertArrayEquals(answer(sparse), answer(Espalier.open(pruned)), 1e-5);
        assertThrows(IllegalStateException.class, sparse::report);
    }

    private static double[] answer(Espalier model) {
        Tensor tensor = Evaluator.run(model.model(), sums().getFirst().inputs())
                .firstEntry()
                .getValue();
        double[] numbers = new double[(int) tensor.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = tensor.getDouble(i);
        }
        return numbers;
    }

    @Test
    void aRecipeTrainsAModelThatAProgramHas() throws IOException {
        Recipe recipe = Recipe.parse("own.toml", """
                data = { kind = "digits", train_limit = 200, test_limit = 50 }
                model.kind = "own"
                method.kind = "baseline"
                optimizer.rate = 1e-2
                training = { epochs = 2, batch_size = 20 }
                """, List.of());
        Path run = folder.resolve("run");
        List<RunResult> results = Espalier.of(Mlp.ofImages(new ImageOptions(10, 1, 8), List.of(16), Weights.seeded(1)))
                .train(recipe, run, RunOptions.DEFAULT);
        assertEquals(1, results.size());
        assertTrue(results.getFirst().scores().firstEntry().getValue() > 0.5, results::toString);
        assertTrue(Files.exists(run.resolve("pruned.onnx")));
        RunOptions stopped = RunOptions.DEFAULT.withStop(() -> true);
        Espalier other = Espalier.of(Mlp.ofImages(new ImageOptions(10, 1, 8), List.of(16), Weights.seeded(1)));
        assertThrows(IOException.class, () -> other.train(recipe, folder.resolve("stopped"), stopped));
    }
}
