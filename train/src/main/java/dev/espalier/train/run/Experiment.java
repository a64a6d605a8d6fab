package dev.espalier.train.run;

import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A recipe carried out: one run for each of its seeds.
 *
 * @param recipe how to train
 * @param task what is learned
 * @param start what each seed starts from
 * @param folder where everything is written; with several seeds, each has a folder in it
 * @param options what does not change the outcome
 */
public record Experiment(Recipe recipe, Task task, Start start, RunFolder folder, RunOptions options) {

    /** What training starts from. */
    @FunctionalInterface
    public interface Start {
        /**
         * The model for a seed.
         *
         * @param seed the seed
         * @return the model with its first weights
         * @throws IOException if it cannot be read
         */
        Graph model(long seed) throws IOException;
    }

    /**
     * An experiment from fresh weights.
     *
     * @param recipe how to train
     * @param task what is learned
     * @param folder where everything is written; with several seeds, each has a folder in it
     * @param options what does not change the outcome
     */
    public Experiment(Recipe recipe, Task task, RunFolder folder, RunOptions options) {
        this(recipe, task, seed -> task.model(Weights.seeded(seed)), folder, options);
    }

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
     * What came out of the run in a folder, if it is finished. Neither data nor model is loaded.
     *
     * @param recipe how it was trained, with one seed
     * @param folder the run's folder; it may not be there
     * @return what came out; empty if there is something left to do
     * @throws IOException if the folder cannot be read
     * @throws IllegalArgumentException if the run was begun with another recipe
     */
    public static Optional<RunResult> finished(Recipe recipe, RunFolder folder) throws IOException {
        RecipeChanges.requireSame(folder, recipe);
        return folder.result();
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
        RecipeChanges.requireSame(folder, recipe);
        return run();
    }

    private Optional<List<RunResult>> run() throws IOException {
        List<Long> seeds = recipe.training().seeds();
        task.notes().forEach(options.listener()::onNote);
        List<RunResult> results = new ArrayList<>();
        for (long seed : seeds) {
            RunFolder place = place(seed);
            try {
                Optional<RunResult> result =
                        new TrainingRun(recipe, task, start.model(seed), seed, folder, place, options).resume();
                if (result.isEmpty()) {
                    return Optional.empty();
                }
                results.add(result.get());
            } catch (DivergedException nowhere) {
                ended(place);
                throw nowhere;
            }
            ended(place);
        }
        return Optional.of(results);
    }

    private void ended(RunFolder place) throws IOException {
        options.listener().onEnd(place);
        if (!place.equals(folder)) {
            options.listener().onEnd(folder);
        }
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
