package dev.espalier.cli;

import dev.espalier.journal.RunFolder;
import dev.espalier.journal.RunResult;
import dev.espalier.journal.Spread;
import dev.espalier.recipe.Recipe;
import dev.espalier.recipe.RecipeReader;
import dev.espalier.training.RunOptions;
import dev.espalier.training.Sweep;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier sweep}: how much accuracy goes for how much size. */
@Command(
        name = "sweep",
        description = {
            "Trains with one λ after the other, and draws accuracy against size.",
            "Each λ has a run's folder of its own. A sweep that was stopped goes on with --resume: what is finished is not"
                    + " done again.",
        })
final class SweepCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(paramLabel = "RECIPE", description = "A recipe: a TOML file, see docs/recipes.md.")
    @SuppressWarnings("NullAway.Init")
    private Path recipeFile;

    @Option(
            names = "--lambda",
            required = true,
            paramLabel = "A:B:N",
            description = "N values of λ from A to B, each the same multiple of the one before: 1e-4:1e-2:5.")
    @SuppressWarnings("NullAway.Init")
    private String range;

    @Option(
            names = "--warm-start",
            description = "Start each run from where the one before ended, instead of from fresh weights.")
    private boolean warm;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Another value for a key of the recipe; may be given several times.")
    private List<String> overrides = new ArrayList<>();

    @Option(
            names = "--run-dir",
            paramLabel = "DIR",
            description = "Where to write; a new folder under runs if left out, or with --resume the last one there.")
    private @Nullable Path folder;

    @Option(names = "--resume", description = "Go on with a sweep that was stopped.")
    private boolean resume;

    @Mixin
    private DeviceOption device = new DeviceOption();

    @Override
    public Integer call() throws IOException {
        List<Double> lambdas = lambdas(range);
        Recipe recipe = RecipeReader.read(recipeFile, overrides);
        RunFolder place =
                new RunFolder(folder != null ? folder : RunFolders.of("sweep-" + RunFolders.name(recipeFile), resume));
        try (Interruption interruption = new Interruption()) {
            RunOptions options = new RunOptions(
                    device.device(),
                    new ProgressPrinter(spec.commandLine().getErr(), ProgressPrinter.isTerminal(), ""),
                    interruption);
            Sweep sweep = Sweep.of(recipe, lambdas, warm ? Sweep.Start.WARM : Sweep.Start.INDEPENDENT, place, options);
            if (!resume) {
                RunFolders.requireFree(place);
            }
            Optional<List<Sweep.Point>> points = sweep.run();
            if (points.isEmpty()) {
                spec.commandLine().getErr().printf("stopped; go on with --resume --run-dir %s%n", place.path());
                return ExitStatus.INTERRUPTED;
            }
            print(points.get(), spec.commandLine().getOut());
            spec.commandLine().getOut().println(sweep.report());
            spec.commandLine().getOut().flush();
            return 0;
        }
    }

    private static List<Double> lambdas(String range) {
        String[] parts = range.split(":", -1);
        try {
            if (parts.length == 3) {
                return Sweep.geometric(
                        Double.parseDouble(parts[0]), Double.parseDouble(parts[1]), Integer.parseInt(parts[2]));
            }
        } catch (IllegalArgumentException _) {
            // The message below says all there is to say.
        }
        throw new IllegalArgumentException("--lambda " + range
                + " is not possible: it must be A:B:N, two numbers above 0 and a whole number of at least 1, such as"
                + " 1e-4:1e-2:5");
    }

    private static void print(List<Sweep.Point> points, PrintWriter out) {
        String score = points.getFirst()
                .results()
                .getFirst()
                .prunedScores()
                .firstEntry()
                .getKey();
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("λ", score.replace('_', ' '), "groups left", "parameters left", "FLOPs left", "speed-up"));
        for (Sweep.Point point : points) {
            rows.add(List.of(
                    Double.toString(point.lambda()),
                    percent(point, result -> result.prunedScores().firstEntry().getValue()),
                    percent(point, RunResult::groupSparsity),
                    percent(point, RunResult::effectiveSparsity),
                    percent(point, result -> (double) result.flopsAfter() / result.flopsBefore()),
                    String.format(
                            Locale.ROOT,
                            "%.2f",
                            spread(point, RunResult::speedUp).mean())));
        }
        Columns.print(rows, out);
    }

    private static String percent(Sweep.Point point, ToDoubleFunction<RunResult> share) {
        return spread(point, share).percent();
    }

    private static Spread spread(Sweep.Point point, ToDoubleFunction<RunResult> figure) {
        return Spread.of(point.results().stream().map(figure::applyAsDouble).toList());
    }
}
