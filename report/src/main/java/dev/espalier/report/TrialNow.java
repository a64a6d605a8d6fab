package dev.espalier.report;

import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.study.Outcome;
import dev.espalier.train.study.Storage;
import dev.espalier.train.study.StudyResult;
import dev.espalier.train.study.Trial;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How a trial of a study stands.
 *
 * @param trial the trial
 * @param state what it does
 * @param message why it came to nothing; empty if it did not
 * @param result what came out of one that is finished
 * @param last its last evaluation, of one that is not
 */
record TrialNow(Trial trial, State state, String message, Optional<RunResult> result, Optional<Metrics> last) {
    /** A line of metrics is shorter, even of a model with a thousand layers. */
    private static final int LONGEST_LINE = 1 << 18;

    /** What trials do, in the order in which a table sorts them. */
    enum State {
        FINISHED("finished"),
        RUNNING("running"),
        /** Somewhere: by another machine, or to go on when its turn comes. */
        UNDER_WAY("under way"),
        /** It has come as far as it may until others have too. */
        PAUSED("paused"),
        WAITING("waiting"),
        STOPPED("stopped"),
        LEFT_BEHIND("left behind"),
        GIVEN_UP("given up"),
        FAILED("failed");

        private final String words;

        State(String words) {
            this.words = words;
        }

        String words() {
            return words;
        }

        /** Whether there is nothing left to do. */
        boolean isDone() {
            return switch (this) {
                case FINISHED, LEFT_BEHIND, GIVEN_UP, FAILED -> true;
                case RUNNING, UNDER_WAY, PAUSED, WAITING, STOPPED -> false;
            };
        }
    }

    /** From what is known of its end, and what its folder says of one that has not ended. What cannot be read is as good as failed. */
    static TrialNow of(StudyResult study, Trial trial) {
        try {
            Optional<Outcome> outcome = study.of(trial);
            return outcome.filter(Outcome::isOver).isPresent()
                    ? over(trial, outcome.get())
                    : open(trial, outcome, folder(study, trial));
        } catch (IOException unreadable) {
            return cameToNothing(trial, State.FAILED, String.valueOf(unreadable.getMessage()));
        }
    }

    /** The trial's folder, if it is on this machine. */
    static Optional<RunFolder> folder(StudyResult study, Trial trial) {
        return Storage.local(study.plan().root()).map(root -> new RunFolder(root.resolve(trial.name())));
    }

    private static TrialNow over(Trial trial, Outcome outcome) throws IOException {
        return switch (outcome.end()) {
            case FINISHED -> new TrialNow(trial, State.FINISHED, "", Optional.of(outcome.result()), Optional.empty());
            case LEFT_BEHIND ->
                new TrialNow(trial, State.LEFT_BEHIND, "", Optional.empty(), Optional.of(outcome.metrics()));
            case GIVEN_UP -> cameToNothing(trial, State.GIVEN_UP, outcome.text());
            case FAILED -> cameToNothing(trial, State.FAILED, outcome.text());
            case PAUSED, STOPPED -> throw new IllegalArgumentException(outcome + " is not over");
        };
    }

    private static TrialNow cameToNothing(Trial trial, State state, String why) {
        return new TrialNow(trial, state, why, Optional.empty(), Optional.empty());
    }

    private static TrialNow open(Trial trial, Optional<Outcome> outcome, Optional<RunFolder> folder)
            throws IOException {
        Optional<Metrics> paused =
                outcome.filter(one -> one.end() == Outcome.End.PAUSED).isPresent()
                        ? Optional.of(outcome.get().metrics())
                        : Optional.empty();
        Optional<Metrics> written = folder.isPresent() ? last(folder.get().metricsFile()) : Optional.empty();
        boolean trained = folder.isPresent() && folder.get().trainer().isPresent();
        Optional<Metrics> last = written.or(() -> paused);
        boolean beyond =
                paused.isPresent() && last.orElseThrow().epoch() > paused.get().epoch();
        State state = trained
                ? State.RUNNING
                : outcome.isEmpty()
                        ? last.isPresent() ? State.UNDER_WAY : State.WAITING
                        : paused.isEmpty() ? State.STOPPED : beyond ? State.UNDER_WAY : State.PAUSED;
        return new TrialNow(trial, state, "", Optional.empty(), last);
    }

    /** The last whole line, whatever comes before it: a page is made often, and files grow. */
    private static Optional<Metrics> last(Path file) throws IOException {
        if (Files.notExists(file)) {
            return Optional.empty();
        }
        try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
            byte[] tail = new byte[(int) Math.min(in.length(), LONGEST_LINE)];
            in.seek(in.length() - tail.length);
            in.readFully(tail);
            String text = new String(tail, StandardCharsets.UTF_8);
            int end = text.lastIndexOf('\n');
            return end < 0
                    ? Optional.empty()
                    : Optional.of(JsonFile.parse(
                            file.toString(), text.substring(text.lastIndexOf('\n', end - 1) + 1, end), Metrics.class));
        }
    }

    /** Epochs done; 0 if nothing was evaluated yet. */
    double epoch() {
        return last.map(Metrics::epoch).orElse(0.0);
    }
}
