package dev.espalier.train.study;

import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.run.TrainingListener;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A trial that is carried out in a folder of one machine, and whose state all machines see: each checkpoint is copied to the study's
 * {@link Storage}, and so is what comes out. Whoever takes the trial over goes on from the newest checkpoint there.
 *
 * <p>Two machines may carry out the same trial at once: both write checkpoints of the same bytes, each one whole or not at all. What comes
 * out goes to a folder of the attempt's own, and counts once the study has {@link #commit committed} it.
 *
 * @param trial the trial
 * @param storage what all machines see
 * @param scratch a folder of this machine for the study's files, empty or not there
 */
public record MirroredTrial(Trial trial, Storage storage, Path scratch) {
    private static final String CHECKPOINTS = "checkpoints";
    private static final String ATTEMPTS = "attempts";
    private static final String STATE = ".state";
    private static final String METRICS = ".metrics.jsonl";
    private static final String PRICES = "prices.json";
    private static final String RECIPE = "recipe.toml";
    private static final String PROVENANCE = "provenance.json";
    private static final String RESULT = "result.json";

    /**
     * Trains, and tells how it ended.
     *
     * @param runner who trains
     * @param listener told how it goes
     * @param stop asked after each step: true to write a checkpoint and leave
     * @return how it ended; what came out of a finished one is an attempt, to be {@link #commit committed}
     */
    public Outcome run(TrialRunner runner, TrainingListener listener, BooleanSupplier stop) {
        try {
            bring();
            Outcome outcome = runner.run(trial, scratch, listener.and(new Mirror()), stop);
            if (outcome.end() == Outcome.End.FINISHED && !storage.exists(file(RESULT))) {
                attempt(Storage.path(trial.name(), ATTEMPTS, UUID.randomUUID().toString()));
            } else if (outcome.end() == Outcome.End.GIVEN_UP) {
                deliver(trial.name());
            }
            return outcome;
        } catch (IOException failure) {
            return new Outcome(trial.name(), Outcome.End.FAILED, TrialRunner.message(failure));
        }
    }

    private String file(String name) {
        return Storage.path(trial.name(), name);
    }

    private RunFolder folder() {
        return new RunFolder(scratch.resolve(trial.name()));
    }

    /** Brings what the trial goes on from, or is finished with, to this machine. */
    private void bring() throws IOException {
        storage.fetch(file(RECIPE), folder().recipe());
        storage.fetch(file(PROVENANCE), folder().provenanceFile());
        if (storage.fetch(file(RESULT), folder().resultFile())) {
            return;
        }
        for (String other : trial.needs()) {
            RunFolder needed = new RunFolder(scratch.resolve(other));
            storage.fetch(Storage.path(other, "model.onnx"), needed.model());
            storage.fetch(Storage.path(other, PRICES), needed.pricesFile());
        }
        storage.fetch(file(PRICES), folder().pricesFile());
        List<String> states = storage.list(file(CHECKPOINTS)).stream()
                .filter(name -> name.endsWith(STATE))
                .toList();
        if (!states.isEmpty()) {
            String newest = states.getLast();
            storage.fetch(metricsOf(newest), folder().metricsFile());
            storage.fetch(newest, folder().checkpoints().resolve(newest.substring(newest.lastIndexOf('/') + 1)));
        }
    }

    private static String metricsOf(String state) {
        return state.substring(0, state.length() - STATE.length()) + METRICS;
    }

    /** Copies each checkpoint: what belongs to it first, it itself last. */
    private final class Mirror implements TrainingListener {
        @Override
        public void onCheckpoint(RunFolder run, Path state) throws IOException {
            String name = file(CHECKPOINTS + "/" + state.getFileName());
            for (Path beside : List.of(run.recipe(), run.provenanceFile(), run.pricesFile())) {
                if (Files.exists(beside)
                        && !storage.exists(file(beside.getFileName().toString()))) {
                    storage.store(beside, file(beside.getFileName().toString()));
                }
            }
            if (Files.exists(run.metricsFile())) {
                storage.store(run.metricsFile(), metricsOf(name));
                storage.store(
                        run.metricsFile(), file(run.metricsFile().getFileName().toString()));
            }
            storage.store(state, name);
            List<String> old = storage.list(file(CHECKPOINTS)).stream()
                    .filter(other -> other.endsWith(STATE) && other.compareTo(name) < 0)
                    .toList();
            for (String other : old.subList(0, Math.max(0, old.size() - 1))) {
                storage.delete(other);
                storage.delete(metricsOf(other));
            }
        }
    }

    /**
     * Copies all that came out to a folder of the attempt's own. If another was committed meanwhile, or this one is broken off, nothing of it
     * stays: whoever commits writes the result first and deletes all attempts then, so that one of both sees the other.
     */
    private void attempt(String to) throws IOException {
        try {
            deliver(to);
        } catch (IOException | RuntimeException failure) {
            forget(to);
            throw failure;
        }
        if (storage.exists(file(RESULT))) {
            storage.delete(to);
        }
    }

    /** Deletes what a broken-off attempt left. An interrupted thread can write nothing, so that is forgotten for a moment. */
    private void forget(String attempt) {
        boolean interrupted = Thread.interrupted();
        try {
            storage.delete(attempt);
        } catch (IOException _) {
            // It is deleted when the trial is committed.
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Copies all that came out; what says that it is whole comes last. */
    private void deliver(String to) throws IOException {
        Path result = folder().resultFile();
        try (Stream<Path> files = Files.walk(folder().path())) {
            for (Path file : files.filter(Files::isRegularFile)
                    .filter(one -> !one.startsWith(folder().checkpoints()) && !one.equals(result))
                    .toList()) {
                storage.store(file, Storage.path(to, relative(file)));
            }
        }
        if (Files.exists(result)) {
            storage.store(result, Storage.path(to, relative(result)));
        }
    }

    private String relative(Path file) {
        return folder().path().relativize(file).toString().replace('\\', '/');
    }

    /**
     * Makes an attempt that is whole the outcome of its trial: one of them, if there are several. Only whoever directs the study calls
     * this, so that nothing races; it may be called again after a crash in the middle.
     *
     * @param storage what all machines see
     * @param trial the trial's name
     * @return whether the trial is finished now
     * @throws IOException if files cannot be moved
     */
    public static boolean commit(Storage storage, String trial) throws IOException {
        String result = Storage.path(trial, RESULT);
        String attempts = Storage.path(trial, ATTEMPTS);
        if (!storage.exists(result)) {
            String suffix = "/" + RESULT;
            String whole = storage.list(attempts).stream()
                    .filter(name -> name.endsWith(suffix))
                    .map(name -> name.substring(0, name.length() - suffix.length()))
                    .findFirst()
                    .orElse("");
            if (whole.isEmpty()) {
                return false;
            }
            for (String file : storage.list(whole)) {
                if (!file.endsWith(suffix)) {
                    storage.rename(file, Storage.path(trial, file.substring(whole.length() + 1)));
                }
            }
            storage.rename(whole + suffix, result);
        }
        storage.delete(attempts);
        return true;
    }
}
