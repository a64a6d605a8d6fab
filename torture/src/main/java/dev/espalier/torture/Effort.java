package dev.espalier.torture;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * How much is tried: a number of cases, a time, or whichever of the two is over first. Cases are numbered from 0; a case is a function of
 * the seed and its number, so that these two replay it. Threads may share an effort.
 */
public final class Effort {
    /** How often progress is told, usually. */
    static final Duration NOW_AND_THEN = Duration.ofSeconds(10);

    private final Limits limits;
    private final Path folder;
    private final PrintWriter out;
    private final Duration between;
    private final Consumer<Figures> saved;
    private final Figures figures = new Figures();
    private final long start = System.nanoTime();
    private long cases;
    private long lastLine = start;

    /**
     * What bounds an effort.
     *
     * @param first number of the first case; other than 0 to replay one
     * @param cases how many cases there are at most
     * @param time how long it may take until the last case begins
     * @param seed what all that is random depends on
     * @param jobs how many threads are to work on it
     */
    public record Limits(long first, long cases, Duration time, long seed, int jobs) {
        /** Checks that there is something to do. */
        public Limits {
            if (first < 0 || cases < 1 || time.isNegative() || time.isZero() || jobs < 1) {
                throw new IllegalArgumentException(
                        "first case >= 0, cases >= 1, time > 0 and jobs >= 1 are needed, but these are " + first + ", "
                                + cases + ", " + time + " and " + jobs);
            }
        }

        /**
         * A number of cases, however long they take, on one thread.
         *
         * @param cases how many
         * @param seed what all that is random depends on
         * @return the limits
         */
        public static Limits ofCases(long cases, long seed) {
            return new Limits(0, cases, Duration.ofDays(365), seed, 1);
        }
    }

    /**
     * An effort that begins now.
     *
     * @param limits when it is over
     * @param folder where a campaign may leave files, above all those that replay a failure
     * @param out what progress is told to
     */
    public Effort(Limits limits, Path folder, PrintWriter out) {
        this(limits, folder, out, NOW_AND_THEN, _ -> {});
    }

    /**
     * An effort whose figures are saved while it goes on.
     *
     * @param limits when it is over
     * @param folder where a campaign may leave files, above all those that replay a failure
     * @param out what progress is told to
     * @param between how often
     * @param saved is given the figures whenever progress is told
     */
    Effort(Limits limits, Path folder, PrintWriter out, Duration between, Consumer<Figures> saved) {
        this.limits = limits;
        this.folder = folder;
        this.out = out;
        this.between = between;
        this.saved = saved;
    }

    /**
     * {@return what has been counted so far, for the campaign to add to}
     */
    public Figures figures() {
        return figures;
    }

    /**
     * {@return what all that is random depends on}
     */
    public long seed() {
        return limits.seed();
    }

    /**
     * {@return how many threads are to work on it}
     */
    public int jobs() {
        return limits.jobs();
    }

    /**
     * {@return how many cases were begun}
     */
    public synchronized long cases() {
        return cases;
    }

    /**
     * {@return the share of the effort that is behind, from 0 to 1}
     */
    public synchronized double share() {
        double time = (double) (System.nanoTime() - start) / limits.time().toNanos();
        return Math.min(1, Math.max(time, (double) cases / limits.cases()));
    }

    /**
     * Begins a case, if there is to be one more; tells how far things are, now and then.
     *
     * @return whether there is
     */
    public boolean more() {
        return begin() >= 0;
    }

    /** Begins a case, and returns its number; a negative one if there is none left. */
    private synchronized long begin() {
        if (cases >= limits.cases()
                || System.nanoTime() - start >= limits.time().toNanos()) {
            return -1;
        }
        if (System.nanoTime() - lastLine >= between.toNanos()) {
            lastLine = System.nanoTime();
            say(String.format(
                    Locale.ROOT,
                    "%,d cases in %.1f minutes, %.0f %%, %,d failures",
                    cases,
                    (lastLine - start) / 60e9,
                    100 * share(),
                    figures.failures()));
            saved.accept(figures);
        }
        return limits.first() + cases++;
    }

    /**
     * What is random about a case.
     *
     * @param number that of the case
     * @return numbers that depend on the seed and the case's number alone
     */
    public RandomGenerator random(long number) {
        // Two steps, so that seeds next to each other do not share cases.
        return new SplittableRandom(new SplittableRandom(limits.seed()).nextLong() + number);
    }

    /** One case of many. */
    @FunctionalInterface
    public interface Case {
        /**
         * Tries it.
         *
         * @param number its number
         * @param random what it may depend on besides
         * @throws IOException if a file of the campaign cannot be read or written
         * @throws InterruptedException if it is told to stop
         */
        void run(long number, RandomGenerator random) throws IOException, InterruptedException;
    }

    /**
     * Tries case after case for as long as there are more, on as many threads as there are to be.
     *
     * @param each what is done in a case
     * @throws IOException if a case fails so
     * @throws InterruptedException if it is told to stop
     */
    public void forEach(Case each) throws IOException, InterruptedException {
        try (ExecutorService threads = Executors.newFixedThreadPool(limits.jobs())) {
            List<Future<?>> all = new ArrayList<>();
            for (int job = 0; job < limits.jobs(); job++) {
                all.add(threads.submit(() -> {
                    for (long number = begin(); number >= 0; number = begin()) {
                        each.run(number, random(number));
                    }
                    return null;
                }));
            }
            try {
                for (Future<?> job : all) {
                    job.get();
                }
            } catch (ExecutionException e) {
                threads.shutdownNow();
                switch (e.getCause()) {
                    case IOException failed -> throw failed;
                    case InterruptedException stopped -> throw stopped;
                    case RuntimeException wrong -> throw wrong;
                    case Error wrong -> throw wrong;
                    case null, default -> throw new IllegalStateException(e);
                }
            }
        }
    }

    /**
     * Says something about how it goes.
     *
     * @param line what
     */
    public void say(String line) {
        out.println("torture: " + line);
        out.flush();
    }

    /**
     * The folder where a campaign may leave files, above all those that replay a failure.
     *
     * @return the folder, which is there
     * @throws IOException if it cannot be made
     */
    public Path folder() throws IOException {
        return Files.createDirectories(folder);
    }
}
