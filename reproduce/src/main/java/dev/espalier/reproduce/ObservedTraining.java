package dev.espalier.reproduce;

import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.Progress;
import dev.espalier.train.run.StepView;
import dev.espalier.train.run.Tasks;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.run.TrainingRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * A training that is looked at before its steps. What is seen is written down at once, so that a training that was stopped goes
 * on without losing it.
 *
 * @param <T> what is seen: a record that can be written as JSON
 * @param recipe how to train, with one seed
 * @param every how many steps lie between two looks
 * @param type what is seen
 * @param look looks at a step
 */
record ObservedTraining<T extends ObservedTraining.Sample>(
        Recipe recipe, int every, Class<T> type, Function<StepView, T> look) {

    /** What is seen of a step. */
    interface Sample {
        /** Which step, from 1. */
        long step();
    }

    /**
     * What was seen.
     *
     * @param <T> what is seen
     * @param samples step by step
     * @param metrics how the training went
     * @param kernel what the optimizer's steps ran on
     * @param steps how many there were
     */
    record Seen<T>(List<T> samples, List<Metrics> metrics, String kernel, long steps) {}

    /**
     * Trains, or goes on with a training.
     *
     * @param setting where models are trained, who is told, when to stop
     * @param folder the folder of the run
     * @return what was seen; empty if it was stopped
     */
    Optional<Seen<T>> run(Setting setting, Path folder) throws IOException {
        Path log = folder.resolve("steps.jsonl");
        RunFolder place = new RunFolder(folder.resolve("run"));
        TrainingRun run = new TrainingRun(
                recipe,
                Tasks.of(recipe),
                recipe.training().seeds().getFirst(),
                place,
                setting.run().withListener(new Looking(setting.run().listener(), log)));
        return run.resume().isEmpty()
                ? Optional.empty()
                : Optional.of(new Seen<>(
                        samples(log),
                        place.metrics(),
                        place.provenance().kernel(),
                        place.result().orElseThrow().steps()));
    }

    /** Of steps that were done again after an interruption, the last counts: both are the same. */
    private List<T> samples(Path log) throws IOException {
        SequencedMap<Long, T> byStep = new TreeMap<>();
        JsonFile.lines(log, type).forEach(sample -> byStep.put(sample.step(), sample));
        return List.copyOf(byStep.values());
    }

    private final class Looking implements TrainingListener {
        private final TrainingListener other;
        private final Path log;

        Looking(TrainingListener other, Path log) {
            this.other = other;
            this.log = log;
        }

        @Override
        public void beforeStep(StepView view) {
            other.beforeStep(view);
            if ((view.step() - 1) % every == 0) {
                try {
                    JsonFile.append(log, look.apply(view));
                } catch (IOException problem) {
                    throw new UncheckedIOException(problem.getMessage(), problem);
                }
            }
        }

        @Override
        public void onStep(Progress progress) {
            other.onStep(progress);
        }

        @Override
        public void onEvaluation(Progress progress, Metrics metrics) {
            other.onEvaluation(progress, metrics);
        }

        @Override
        public void onNote(String text) {
            other.onNote(text);
        }
    }
}
