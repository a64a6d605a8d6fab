package dev.espalier.train.study;

import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.DivergedException;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.run.TrainingRun;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.study.Plan.Branch;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The smallest study: one recipe, and a training for each of its seeds, on a task that is loaded already. They are carried out here, one after
 * the other, and what goes wrong is thrown.
 *
 * @param recipe how to train
 * @param task what is learned
 * @param folder where everything is written; with several seeds, each has a folder in it
 * @param options what does not change the outcome
 */
public record Experiment(Recipe recipe, Task task, RunFolder folder, RunOptions options) {

    /**
     * Loads what a recipe asks for.
     *
     * @param recipe how to train
     * @param folder where everything is written
     * @param options what does not change the outcome
     * @return the experiment, not begun yet
     * @throws IOException if the data or the model cannot be read
     */
    public static Experiment of(Recipe recipe, RunFolder folder, RunOptions options) throws IOException {
        return new Experiment(recipe, Tasks.of(recipe, options.listener()), folder, options);
    }

    /**
     * Trains from the beginning. The folder must be empty or not there yet.
     *
     * @return what came out, seed by seed; empty if it was stopped, and can be resumed
     * @throws IOException if something cannot be written; what was written before stays
     */
    public Optional<List<RunResult>> begin() throws IOException {
        folder.requireFree();
        return run();
    }

    /**
     * Goes on where it was stopped, or starts if it was not begun.
     *
     * @return what came out, seed by seed; empty if it was stopped again
     * @throws IOException if something cannot be read or written; what was written before stays
     */
    public Optional<List<RunResult>> resume() throws IOException {
        TrainingRun.finished(recipe, folder);
        return run();
    }

    private Optional<List<RunResult>> run() throws IOException {
        Branch branch = branch();
        Plan plan = new Plan(folder.path().toString(), List.of(branch), Optional.empty());
        TrialRunner runner = new TrialRunner((_, _) -> task, UnaryOperator.identity(), options.limit());
        StudyResult result = new StudyRun(
                        plan,
                        new DirectLauncher(runner, _ -> options.listener(), options.stop()),
                        new BranchFolders(plan, options.listener()),
                        options.stop())
                .run();
        for (Trial lost : result.ended(End.GIVEN_UP)) {
            throw new DivergedException(result.of(lost).orElseThrow().text());
        }
        return result.isStopped() ? Optional.empty() : Optional.of(result.results(branch));
    }

    private Branch branch() {
        return Branch.of(folder.path().toString(), "", recipe, new LinkedHashMap<>(), false)
                .with(trial -> trial.on(options.device()));
    }

    /**
     * Where the run of a seed is.
     *
     * @param seed one of the recipe's seeds
     * @return the folder itself if there is only one
     */
    public RunFolder place(long seed) {
        return recipe.training().seeds().size() == 1 ? folder : folder.seed(seed);
    }
}
