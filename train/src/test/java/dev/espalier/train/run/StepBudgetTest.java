package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** By a clock that goes as fast as a test says. */
final class StepBudgetTest {
    private static final String RECIPE = """
            [data]
            kind = "digits"
            train_limit = 300
            test_limit = 100
            [model]
            kind = "mlp"
            hidden = [24]
            [penalty]
            kind = "group-lasso"
            [target]
            kind = "groups"
            share = 0.5
            by = "choice"
            [optimizer]
            rate = 1e-2
            [schedule]
            kind = "cosine"
            [training]
            prune_for = "size"
            epochs = 6
            batch_size = 10
            [phases]
            heal_epochs = 4
            """;

    /** Ten epochs of thirty steps. */
    private static final int STEPS = 300;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path temporary;

    /** A machine on which every step takes as long as it is told. */
    private static final class Machine implements TrainingListener {
        private final LongToDoubleFunction secondsOfStep;
        private final double secondsOfEvaluation;
        private double now = 1000;
        private final List<Integer> evaluated = new ArrayList<>();
        private long done;

        Machine(LongToDoubleFunction secondsOfStep, double secondsOfEvaluation) {
            this.secondsOfStep = secondsOfStep;
            this.secondsOfEvaluation = secondsOfEvaluation;
        }

        TimeLimit limit(double seconds) {
            return TimeLimit.of(seconds, () -> (long) (now * 1e9));
        }

        double spent() {
            return now - 1000;
        }

        @Override
        public void onStep(Progress progress) {
            now += secondsOfStep.applyAsDouble(done++);
        }

        @Override
        public void onEvaluation(Progress progress, Metrics metrics) {
            now += secondsOfEvaluation;
            evaluated.add(progress.epoch());
        }
    }

    private RunResult train(Machine machine, double seconds, String name) throws IOException {
        Recipe recipe = Recipe.parse("test.toml", RECIPE, List.of());
        RunOptions options = RunOptions.DEFAULT.withListener(machine).withLimit(machine.limit(seconds));
        return new TrainingRun(recipe, Tasks.of(recipe), 1, new RunFolder(temporary.resolve(name)), options)
                .begin()
                .orElseThrow();
    }

    @Test
    void aTrainingThatEndsInTimeLeavesNothingOut() throws IOException {
        Machine machine = new Machine(_ -> 1, 1);
        train(machine, 600, "run");
        assertEquals(STEPS, machine.done);
        assertEquals(List.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), machine.evaluated);
    }

    /** All schedules end where they would have ended: the size is met, and the rate has fallen. */
    @Test
    void aMachineThatSlowsDownToHalfEndsInTime() throws IOException {
        Machine machine = new Machine(step -> step < 100 ? 1 : 2, 3);
        RunResult result = train(machine, 400, "run");
        assertTrue(machine.spent() <= 400, machine.spent() + " s");
        assertTrue(machine.spent() >= 300, machine.spent() + " s");
        assertTrue(machine.done < STEPS && machine.done > 150, machine.done + " steps");
        assertEquals(STEPS, result.steps(), "counted as if they had been done");
        assertEquals(0.5, result.groupsLeft(), 0.01);
        assertTrue(machine.evaluated.containsAll(List.of(6, 10)), "the end of a phase is looked at");
        List<Metrics> metrics = new RunFolder(temporary.resolve("run")).metrics();
        assertTrue(metrics.getLast().learningRate() < 1e-4, metrics.getLast().toString());
    }

    @Test
    void aLimitThatIsMuchTooShortLeavesTheEndsOfBothPhases() throws IOException {
        Machine machine = new Machine(_ -> 1, 0);
        RunResult result = train(machine, 10, "run");
        assertTrue(machine.done <= 20, machine.done + " steps");
        assertEquals(0.5, result.groupsLeft(), 0.01);
    }

    /** Evaluations that take longer than training are left out, but for those at the end of a phase. */
    @Test
    void evaluationsAreLeftOutTooIfTheyTakeLong() throws IOException {
        Machine machine = new Machine(_ -> 1, 40);
        train(machine, 450, "run");
        assertTrue(machine.spent() <= 450, machine.spent() + " s");
        assertTrue(machine.evaluated.size() <= 4, machine.evaluated.toString());
    }

    @Test
    void withoutALimitThereIsNoHurry() {
        StepBudget budget = new StepBudget(TimeLimit.NONE);
        budget.stepped();
        assertFalse(budget.isLate(1_000_000));
        assertEquals(0, budget.leaveOut(1_000_000, 1_000));
        assertEquals(20, TimeLimit.NONE.atMost(20, 0.4));
    }
}
