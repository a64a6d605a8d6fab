package dev.espalier.train.study;

import dev.espalier.train.study.Outcome.End;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What directing a study costs, apart from the trainings: thousands of trials that end as soon as they begin.
 *
 * <pre>{@code
 * mvn -B -q -DskipTests -pl train -am package dependency:copy-dependencies
 * java -cp 'train/target/test-classes:train/target/classes:train/target/dependency/*' \
 *     dev.espalier.train.study.StudyMeasurement [trials]
 * }</pre>
 */
final class StudyMeasurement {
    private static final String RECIPE = """
            data.kind = "digits"
            model = { kind = "small-cnn", channels = [32, 32, 64, 64] }
            penalty = { kind = "group-mcp", lambda = 1e-2, beta = 10 }
            optimizer.rate = 1e-2
            training = { epochs = 9, batch_size = 40 }
            """;

    /** As long as a real one. */
    private static final String RESULT = "x".repeat(1500);

    private StudyMeasurement() {}

    /**
     * Prints times and sizes.
     *
     * @param arguments the number of trials, 10,000 if left out
     */
    public static void main(String[] arguments) throws IOException {
        int trials = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10_000;
        String lambdas = IntStream.rangeClosed(1, trials)
                .mapToObj(number -> Double.toString(number * 1e-6))
                .collect(Collectors.joining(", ", "axes.penalty.lambda = [", "]\n"));
        measure("apart from each other", lambdas);
        measure("in one chain", lambdas + "chain.along = \"penalty.lambda\"\n");
    }

    private static void measure(String how, String study) throws IOException {
        long before = heap();
        long start = System.nanoTime();
        Plan plan =
                Study.parse("study.recipe = \"digits.toml\"\n" + study, RECIPE).plan("runs/many");
        double planned = seconds(start);
        start = System.nanoTime();
        StudyResult result;
        try (AtOnce launcher = new AtOnce()) {
            result = new StudyRun(plan, launcher, StudyListener.NOBODY, () -> false).run();
        }
        double directed = seconds(start);
        int count = plan.trials().size();
        long held = heap() - before;
        System.out.printf(
                Locale.ROOT,
                "%,d trials %s: planned in %.2f s, directed in %.2f s (%.3f ms each); %.1f MB held; a trial is %,d bytes, %,d ended%n",
                count,
                how,
                planned,
                directed,
                1e3 * directed / count,
                held / 1e6,
                plan.trials().getFirst().toJson().length(),
                result.outcomes().size());
    }

    private static double seconds(long start) {
        return (System.nanoTime() - start) / 1e9;
    }

    private static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** Ends every trial on another thread, at once. */
    private static final class AtOnce implements Launcher {
        private final ExecutorService threads = Executors.newFixedThreadPool(2);

        @Override
        public void launch(List<Trial> trials, Consumer<Outcome> told) {
            trials.forEach(trial ->
                    threads.execute(() -> told.accept(new Outcome(trial.name(), End.FINISHED, RESULT + trial.name()))));
        }

        @Override
        public void stop() {
            throw new AssertionError("nobody asked");
        }

        @Override
        public void close() {
            threads.close();
        }
    }
}
