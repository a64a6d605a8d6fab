package dev.espalier.cli;

import dev.espalier.report.Report;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.SideBySide;
import dev.espalier.train.run.TrainingRun;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a sparse model is compared with: the same recipe without a penalty, trained into the folder {@code baseline} of the run.
 *
 * @param recipe how the sparse one is trained
 * @param task what both learn
 * @param run the folder of the sparse one, or of a sweep
 */
record DenseTwin(Recipe recipe, Task task, RunFolder run) {

    /** Refuses a recipe that has no penalty. */
    DenseTwin {
        if (recipe.penaltyInForce().isEmpty()) {
            throw new IllegalArgumentException(
                    "the recipe is trained without a penalty, and so is its baseline: leave --baseline out, or set penalty.kind and method.kind = \"proximal\"");
        }
    }

    /** Trains it with the first seed, or goes on with it; empty if it was stopped. */
    Optional<RunResult> train(RunOptions options) throws IOException {
        long seed = recipe.training().seeds().getFirst();
        return new TrainingRun(recipe.asBaseline(), task, seed, run.baseline(), options).resume();
    }

    /**
     * Both, finished and timed by turns.
     *
     * @param dense what came out of the baseline
     * @param sparse what came out of the run, seed by seed
     */
    record Both(RunResult dense, List<RunResult> sparse) {
        ResultTable table() {
            return ResultTable.of(sparse).withBaseline(dense);
        }
    }

    /** Once both are finished: times them by turns, and draws the run's report with both. */
    Both compare() throws IOException {
        List<RunFolder> all = new ArrayList<>(List.of(run.baseline()));
        all.addAll(run.runs());
        List<RunResult> measured = SideBySide.measure(task, all);
        Report.of(run).write(run.report());
        return new Both(measured.getFirst(), measured.subList(1, measured.size()));
    }
}
