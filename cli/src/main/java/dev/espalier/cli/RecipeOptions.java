package dev.espalier.cli;

import dev.espalier.report.ReportAtEnd;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.Standing;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
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
            completionCandidates = RecipeKeys.class,
            description =
                    "Another value for a key of the recipe, such as training.epochs=5; may be given several times.")
    private List<String> overrides = new ArrayList<>();

    @Option(
            names = "--run-dir",
            paramLabel = "DIR",
            description = "Where to write. By default a new folder under runs, or with --resume the newest one of this"
                    + " recipe there that can be continued.")
    private @Nullable Path folder;

    @Option(names = "--resume", description = "Continue a stopped run.")
    private boolean resume;

    @Mixin
    private DeviceOption device = new DeviceOption();

    /** Where models are, as the user says. */
    DeviceOption device() {
        return device;
    }

    Recipe recipe() throws IOException {
        return recipe(List.of());
    }

    /** The recipe, with values that other options stand for. */
    Recipe recipe(List<String> others) throws IOException {
        requireFile();
        return Recipe.read(
                file, Stream.concat(overrides.stream(), others.stream()).toList());
    }

    private void requireFile() throws IOException {
        if (!Files.isDirectory(file)) {
            return;
        }
        if (Files.exists(new RunFolder(file).recipe())) {
            throw new IllegalArgumentException(
                    "%s is the folder of a run, not a recipe: to go on with it, give %s --run-dir %s --resume"
                            .formatted(file, new RunFolder(file).recipe(), file));
        }
        try (Stream<Path> entries = Files.list(file)) {
            throw new IllegalArgumentException("%s is a folder, and a recipe is a TOML file: %s"
                    .formatted(
                            file,
                            entries.filter(entry -> entry.toString().endsWith(".toml"))
                                    .sorted()
                                    .map(entry -> "there is " + entry)
                                    .findFirst()
                                    .orElse("there is none in it")));
        }
    }

    /**
     * Where to write: free, unless what is in it goes on.
     *
     * <p>Nothing is made: that is up to the training, once it begins.
     *
     * @param prefix what folders under runs are called before the recipe's name
     * @param err where to say what goes on
     */
    RunFolder folder(String prefix, PrintWriter err) throws IOException {
        if (!resume) {
            RunFolder place = given().orElseGet(() -> RunFolders.fresh(prefix + RunFolders.name(file)));
            RunFolders.requireFree(place);
            return place;
        }
        if (given().isEmpty()) {
            return RunFolders.toResume(prefix + RunFolders.name(file), err::println);
        }
        RunFolder place = given().get();
        place.requireWritable();
        if (Standing.of(place) == Standing.NOTHING) {
            err.println("there is nothing to go on with in " + place.path() + ": it begins with epoch 1");
        }
        return place;
    }

    private Optional<RunFolder> given() {
        return Optional.ofNullable(folder).map(RunFolder::new);
    }

    RunOptions runOptions(RunFolder place, PrintWriter err, BooleanSupplier stop) throws IOException {
        StatusLine status = new StatusLine(err);
        return new RunOptions(
                device.device(place.path(), status::say), new ProgressPrinter(status, "").and(new ReportAtEnd()), stop);
    }

    /** The same for the dense baseline, whose report is that of the run which it is the baseline of. */
    RunOptions denseOptions(RunFolder place, PrintWriter err, BooleanSupplier stop) throws IOException {
        StatusLine status = new StatusLine(err);
        return new RunOptions(device.device(place.path(), status::say), new ProgressPrinter(status, "dense"), stop);
    }

    static int stopped(RunFolder place, PrintWriter err) {
        err.printf("stopped; go on with --resume --run-dir %s%n", place.path());
        return ExitStatus.INTERRUPTED;
    }
}
