package dev.espalier.cli;

import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.run.Progress;
import dev.espalier.train.run.TrainingListener;
import java.util.Locale;
import java.util.Map;

/** Tells how a training goes: a bar on a terminal, and a line for each evaluation anywhere. */
final class ProgressPrinter implements TrainingListener {
    private static final int WIDTH = 24;
    private static final long BAR_NANOSECONDS = 100_000_000L;

    /** Where there is no bar, a line now and then shows that an epoch goes on. */
    private static final long LINE_NANOSECONDS = 30_000_000_000L;

    private final StatusLine status;
    private final String name;
    private long last = System.nanoTime();

    /**
     * A printer.
     *
     * @param status where to
     * @param name what is trained, at the beginning of each line; may be empty
     */
    ProgressPrinter(StatusLine status, String name) {
        this.status = status;
        this.name = name.isEmpty() ? "" : name + ": ";
    }

    @Override
    public void onReading(String what, long done, long total) {
        count("reading", what, done, total);
    }

    /**
     * How far something is.
     *
     * @param doing what is done
     * @param what what is counted, plural
     * @param done how many in all
     * @param total how many there are; 0 if nobody knows
     */
    void count(String doing, String what, long done, long total) {
        if (isDue()) {
            String text = total == 0
                    ? String.format(Locale.ROOT, "%s%s: %,d %s", name, doing, done, what)
                    : String.format(Locale.ROOT, "%s%s: %,d of %,d %s", name, doing, done, total, what);
            if (status.isTerminal()) {
                status.show(text);
            } else {
                status.say(text);
            }
        }
    }

    private boolean isDue() {
        long now = System.nanoTime();
        boolean due = now - last >= (status.isTerminal() ? BAR_NANOSECONDS : LINE_NANOSECONDS);
        last = due ? now : last;
        return due;
    }

    @Override
    public void onStep(Progress progress) {
        if (!isDue()) {
            return;
        }
        if (status.isTerminal()) {
            status.show(bar(progress));
        } else {
            status.say(String.format(
                    Locale.ROOT, "%s, step %,d of %,d", describe(progress), progress.step(), progress.steps()));
        }
    }

    @Override
    public void onEvaluation(Progress progress, Metrics metrics) {
        last = System.nanoTime();
        Map.Entry<Metric, Double> score = metrics.scores().firstEntry();
        if (progress.epoch() == 0) {
            status.say(String.format(
                    Locale.ROOT,
                    "%sepoch 0 of %d, before training: %s %s, loss %.4f in the evaluation",
                    name,
                    progress.epochs(),
                    score.getKey().words(),
                    score.getKey().write(score.getValue(), 2),
                    metrics.loss()));
            return;
        }
        status.say(String.format(
                Locale.ROOT,
                "%sepoch %d of %d, %s: loss %.4f, %s %s, %.1f %% of groups kept%s, %s, %s left",
                name,
                progress.epoch(),
                progress.epochs(),
                progress.phase(),
                metrics.trainLoss(),
                score.getKey().words(),
                score.getKey().write(score.getValue(), 2),
                100 * metrics.groupsLeft(),
                metrics.lambda() == 0 ? "" : String.format(Locale.ROOT, " (λ = %.3g)", metrics.lambda()),
                rate(metrics.samplesPerSecond(), progress),
                duration(progress.secondsLeft())));
    }

    @Override
    public void onNote(String text) {
        status.say(name + text);
    }

    String bar(Progress progress) {
        int done = (int) (WIDTH * progress.step() / progress.steps());
        return "[" + "#".repeat(done) + "-".repeat(WIDTH - done) + "] " + describe(progress);
    }

    private String describe(Progress progress) {
        return String.format(
                Locale.ROOT,
                "%sepoch %d of %d, %s: loss %.4f, %s %s, %.1f %% of groups kept, %s, %s left",
                name,
                progress.epoch(),
                progress.epochs(),
                progress.phase(),
                progress.loss(),
                progress.metric().words(),
                progress.metric().write(progress.score()),
                100 * progress.groupsLeft(),
                rate(progress.samplesPerSecond(), progress),
                duration(progress.secondsLeft()));
    }

    private static String rate(double perSecond, Progress progress) {
        return String.format(Locale.ROOT, perSecond < 100 ? "%.1f %s/s" : "%,.0f %s/s", perSecond, progress.samples());
    }

    static String duration(double seconds) {
        long whole = Math.round(seconds);
        return whole < 3600
                ? String.format(Locale.ROOT, "%d:%02d", whole / 60, whole % 60)
                : String.format(Locale.ROOT, "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
    }
}
