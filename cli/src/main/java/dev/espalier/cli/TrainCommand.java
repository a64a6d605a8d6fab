package dev.espalier.cli;

import dev.espalier.journal.RunFolder;
import dev.espalier.journal.RunResult;
import dev.espalier.recipe.Recipe;
import dev.espalier.recipe.RecipeReader;
import dev.espalier.training.Experiment;
import dev.espalier.training.RunOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier train}: from a recipe to a smaller model, with a report. */
@Command(
        name = "train",
        description = {
            "Trains as a recipe says, prunes the model, and writes a report.",
            "All goes to the run's folder: model.onnx, pruned.onnx, report.html, metrics, checkpoints. A run that was"
                    + " stopped, by Ctrl-C or otherwise, goes on with --resume.",
        })
final class TrainCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(paramLabel = "RECIPE", description = "A recipe: a TOML file, see docs/recipes.md.")
    @SuppressWarnings("NullAway.Init")
    private Path recipeFile;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description =
                    "Another value for a key of the recipe, such as training.epochs=5; may be given several times.")
    private List<String> overrides = new ArrayList<>();

    @Option(
            names = "--run-dir",
            paramLabel = "DIR",
            description = "Where to write; a new folder under runs if left out, or with --resume the last one of this"
                    + " recipe there.")
    private @Nullable Path folder;

    @Option(names = "--resume", description = "Go on with a run that was stopped.")
    private boolean resume;

    @Mixin
    private DeviceOption device = new DeviceOption();

    @Override
    public Integer call() throws IOException {
        Recipe recipe = RecipeReader.read(recipeFile, overrides);
        RunFolder run = new RunFolder(folder != null ? folder : RunFolders.of(RunFolders.name(recipeFile), resume));
        try (Interruption interruption = new Interruption()) {
            RunOptions options = new RunOptions(
                    device.device(),
                    new ProgressPrinter(spec.commandLine().getErr(), ProgressPrinter.isTerminal(), ""),
                    interruption);
            Experiment experiment = Experiment.of(recipe, run, options);
            if (!resume) {
                RunFolders.requireFree(run);
            }
            Optional<List<RunResult>> results = resume ? experiment.resume() : experiment.begin();
            if (results.isEmpty()) {
                spec.commandLine().getErr().printf("stopped; go on with --resume --run-dir %s%n", run.path());
                return ExitStatus.INTERRUPTED;
            }
            ResultTable.of(results.get()).print(spec.commandLine().getOut());
            spec.commandLine().getOut().println(run.report());
            spec.commandLine().getOut().flush();
            return 0;
        }
    }
}
