package dev.espalier.cli;

import dev.espalier.data.BatchPosition;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.task.Examples;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/**
 * How fast the batches of a recipe are made where nobody learns from them: read, augmented, cut into tokens, put together.
 *
 * @param loaders how many threads made them
 * @param samples what they are made of, a plural
 * @param perSecond the most samples in a second of all epochs but the first, in which the JVM still gets warm
 * @param first the samples in a second of the first epoch
 */
record LoadingBench(int loaders, String samples, double perSecond, double first) {
    /** A small data set goes by too fast to be timed once. */
    private static final double LEAST_SECONDS = 2;

    /**
     * Measures it.
     *
     * @param recipe the file of a recipe
     * @param loaders how many threads load
     * @param rounds epochs, besides the first
     * @param progress told what is going on
     * @throws IOException if the recipe or its data cannot be read
     */
    static LoadingBench of(Path recipe, int loaders, int rounds, Consumer<String> progress) throws IOException {
        progress.accept("reading the data");
        Task task = Tasks.of(Recipe.read(recipe, List.of("data.loaders=" + loaders)));
        double first = perSecond(task, 0, 0);
        double best = 0;
        for (int round = 1; round <= rounds; round++) {
            progress.accept("epoch %d of %d".formatted(round, rounds));
            best = Math.max(best, perSecond(task, round, LEAST_SECONDS));
        }
        return new LoadingBench(loaders, task.samples(), best, first);
    }

    /** Of one epoch, and of more if that took less than some time. */
    private static double perSecond(Task task, long epoch, double seconds) {
        long samples = 0;
        long start = System.nanoTime();
        double took = 0;
        try (Examples examples = task.examples(1, new BatchPosition(epoch, 0), Integer.MAX_VALUE)) {
            while (samples == 0 || took < seconds || examples.position().batch() != 0) {
                samples += examples.next().size();
                took = 1e-9 * (System.nanoTime() - start);
            }
        }
        return samples / took;
    }
}
