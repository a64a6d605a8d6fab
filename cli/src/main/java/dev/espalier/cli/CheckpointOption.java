package dev.espalier.cli;

import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.run.SavedModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which model of a run is meant, for commands that read models. */
final class CheckpointOption {
    private static final String LATEST = "latest";

    @Option(
            names = "--checkpoint",
            paramLabel = "STEP",
            description = "Take the model as it was after a step of the training run whose folder is given, finished or"
                    + " not: latest, or the number of a step that the run has a checkpoint of. How many there are is"
                    + " checkpoint.keep of the recipe.")
    private @Nullable String step;

    boolean isGiven() {
        return step != null;
    }

    /** Refuses a path with no model, before anything is read; of checkpoints, reading tells soon enough. */
    void requireSome(Path model) throws IOException {
        if (step == null) {
            ModelFile.requireSome(model);
        }
    }

    ModelFile read(Path model) throws IOException {
        if (step == null) {
            return ModelFile.read(model);
        }
        RunFolder run = new RunFolder(model);
        List<Long> steps = SavedModel.steps(run);
        if (steps.isEmpty()) {
            throw new IllegalArgumentException("--checkpoint " + step + ": there are no checkpoints in "
                    + run.checkpoints() + "; give the folder of a training run");
        }
        long number = step.equals(LATEST) ? steps.getLast() : number(step);
        return new ModelFile(
                SavedModel.read(run, number),
                0,
                "espalier",
                Optional.empty(),
                Optional.empty(),
                List.of("the model of %s after step %d".formatted(run.path(), number)));
    }

    private static long number(String step) {
        try {
            return Long.parseLong(step);
        } catch (NumberFormatException _) {
            throw new IllegalArgumentException(
                    "--checkpoint " + step + " is not possible: it must be latest, or the number of a step");
        }
    }
}
