package dev.espalier.cli;

import dev.espalier.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.training.RunOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What commands that follow a recipe, and can be stopped and resumed, have in common. */
final class RecipeOptions {
    @Parameters(paramLabel = "RECIPE", description = "A recipe: a TOML file, see docs/recipes.md.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private Path file;

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

    @Option(names = "--resume", description = "Go on with what was stopped.")
    private boolean resume;

    @Mixin
    private DeviceOption device = new DeviceOption();

    Recipe recipe() throws IOException {
        return Recipe.read(file, overrides);
    }

    /**
     * Where to write: free, unless what is in it goes on.
     *
     * @param prefix what folders under runs are called before the recipe's name
     */
    RunFolder folder(String prefix) throws IOException {
        RunFolder place =
                new RunFolder(folder != null ? folder : RunFolders.of(prefix + RunFolders.name(file), resume));
        if (!resume) {
            RunFolders.requireFree(place);
        }
        return place;
    }

    RunOptions runOptions(PrintWriter err, BooleanSupplier stop) {
        return new RunOptions(device.device(), new ProgressPrinter(err, ProgressPrinter.isTerminal(), ""), stop);
    }

    static int stopped(RunFolder place, PrintWriter err) {
        err.printf("stopped; go on with --resume --run-dir %s%n", place.path());
        return ExitStatus.INTERRUPTED;
    }
}
