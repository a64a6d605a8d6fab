package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.study.Experiment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models in checkpoints, and latencies of runs side by side. */
final class SavedModelTest {
    private static final Recipe RECIPE = Recipe.parse("test.toml", """
            [data]
            kind = "digits"
            train_limit = 300
            [model]
            kind = "small-cnn"
            channels = [8]
            [penalty]
            kind = "group-lasso"
            lambda = 1e-3
            [optimizer]
            rate = 1e-2
            [training]
            prune_for = "size"
            epochs = 2
            batch_size = 50
            [checkpoint]
            every = 4
            keep = 2
            """, List.of());

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path temporary;

    private RunFolder train(String name) throws IOException {
        RunFolder folder = new RunFolder(temporary.resolve(name));
        assertTrue(Experiment.of(RECIPE, folder, RunOptions.DEFAULT).begin().isPresent());
        return folder;
    }

    private static boolean sameWeights(Graph left, Graph right) {
        return left.initializers().entrySet().stream().allMatch(named -> {
            Tensor other = Objects.requireNonNull(right.tensor(named.getKey()), named.getKey());
            return named.getValue().tensor().sameAs(other);
        });
    }

    @Test
    void theLastIsWhatWasDeliveredAndEarlierOnesAreOthers() throws IOException {
        RunFolder run = train("run");
        assertEquals(List.of(8L, 12L), SavedModel.steps(run));
        Graph delivered = OnnxReader.read(run.model()).graph();
        assertTrue(sameWeights(delivered, SavedModel.read(run, 12)));
        assertFalse(sameWeights(delivered, SavedModel.read(run, 8)));
        assertEquals(
                "%s has no checkpoint of step 4: there are those of steps [8, 12]; how many stay is checkpoint.keep of the recipe"
                        .formatted(run.path()),
                assertThrows(IllegalArgumentException.class, () -> SavedModel.read(run, 4))
                        .getMessage());
    }

    /** The same graph, trained twice: whatever the machine does meanwhile, their latencies are the same. */
    @Test
    void modelsThatTakeTurnsHaveTheSameLatencyIfTheyAreTheSame() throws IOException {
        RunFolder one = train("one");
        RunFolder two = train("two");
        List<RunResult> results = SideBySide.measure(Tasks.of(RECIPE), List.of(one, two));
        double ratio =
                results.get(0).latencyMillisecondsBefore() / results.get(1).latencyMillisecondsBefore();
        assertTrue(ratio > 0.67 && ratio < 1.5, () -> results.toString());
        assertEquals(results.get(1), two.result().orElseThrow());
    }
}
