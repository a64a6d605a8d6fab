package dev.espalier.spark;

import dev.espalier.engine.Device;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.study.Launcher;
import dev.espalier.train.study.LauncherProvider;
import dev.espalier.train.study.Outcome;
import dev.espalier.train.study.Trial;
import dev.espalier.train.study.TrialRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Measures what Spark adds to a trial: many are launched that are finished already. To be started by hand: number of trials, a master. */
final class Overhead {
    private Overhead() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        int count = Integer.parseInt(arguments[0]);
        String on = arguments[1];
        SparkHome.make();
        Path root = Files.createTempDirectory("overhead");
        List<Trial> trials = finished(root, count);
        long start = System.nanoTime();
        try (Launcher spark = LauncherProvider.of(on)
                .orElseThrow()
                .open(on, new LauncherProvider.Settings("overhead", 1, Device.CPU, text -> System.out.println(text)))) {
            System.out.printf("connected: %.1f s%n", seconds(start));
            launch(spark, trials.subList(0, 1));
            System.out.printf("first trial told: %.1f s%n", seconds(start));
            long all = System.nanoTime();
            launch(spark, trials);
            System.out.printf("%d trials: %.1f s, %.2f ms each%n", count, seconds(all), 1000 * seconds(all) / count);
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            System.out.printf(
                    "heap: %d MB used after a collection, %d MB taken, %d MB allowed%n",
                    (runtime.totalMemory() - runtime.freeMemory()) >> 20,
                    runtime.totalMemory() >> 20,
                    runtime.maxMemory() >> 20);
        } finally {
            DataCache.delete(root);
        }
    }

    private static double seconds(long start) {
        return (System.nanoTime() - start) / 1e9;
    }

    private static void launch(Launcher spark, List<Trial> trials) throws IOException, InterruptedException {
        CountDownLatch left = new CountDownLatch(trials.size());
        AtomicInteger bad = new AtomicInteger();
        spark.launch(trials, outcome -> {
            if (outcome.end() != Outcome.End.FINISHED) {
                bad.incrementAndGet();
            }
            left.countDown();
        });
        left.await();
        if (bad.get() > 0) {
            throw new IllegalStateException(bad.get() + " did not finish");
        }
    }

    /** One is trained, and the others are copies. */
    private static List<Trial> finished(Path root, int count) throws IOException {
        Recipe recipe = Recipe.parse("a recipe", SparkLauncherTest.RECIPE, List.of("training.epochs=1"));
        Trial first = new Trial(root.toString(), "trial-0", recipe).onThreads(1);
        Outcome outcome = new TrialRunner().run(first, root, TrainingListener.NOBODY, () -> false);
        if (outcome.end() != Outcome.End.FINISHED) {
            throw new IllegalStateException(outcome.toString());
        }
        RunFolder model = new RunFolder(root.resolve("trial-0"));
        List<Trial> trials = new ArrayList<>(List.of(first));
        for (int i = 1; i < count; i++) {
            RunFolder copy = new RunFolder(Files.createDirectories(root.resolve("trial-" + i)));
            for (Path file : List.of(model.recipe(), model.resultFile(), model.provenanceFile())) {
                Files.copy(file, copy.path().resolve(file.getFileName()));
            }
            trials.add(new Trial(root.toString(), "trial-" + i, recipe).onThreads(1));
        }
        return trials;
    }
}
