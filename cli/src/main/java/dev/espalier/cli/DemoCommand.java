package dev.espalier.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.espalier.core.check.Writing;
import dev.espalier.engine.Device;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.study.Experiment;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code espalier demo}: the whole job on data that Espalier brings along. */
@Command(
        name = "demo",
        description = {
            "Train, prune and compare a small network, in about a minute.",
            "Trains a small convolutional network on handwritten digits with group MCP and prunes it; the original to compare with is the same network trained without a penalty.",
            "The recipe is recipes/digits.toml; 'espalier train' runs others.",
        })
final class DemoCommand implements Callable<Integer> {
    private static final String RECIPE = "digits.toml";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Option(names = "--run-dir", paramLabel = "DIR", description = "Where to write (default: a new folder under runs).")
    private @Nullable Path folder;

    @Option(names = "--json", paramLabel = "FILE", description = "Also write the results to a file, as JSON.")
    private @Nullable Path json;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            completionCandidates = RecipeKeys.class,
            description = "Another value for a key of the recipe; may be given several times.")
    private List<String> overrides = new ArrayList<>();

    @Override
    public Integer call() throws IOException {
        // The network is so small that a second thread would only wait for the first.
        Device.useThreads(1);
        long started = System.nanoTime();
        Recipe recipe = Recipe.parse(RECIPE, recipe(), overrides);
        RunFolder run = folder != null ? new RunFolder(folder) : RunFolders.fresh("demo");
        try (Interruption interruption = new Interruption()) {
            Experiment sparse = Experiment.of(recipe, run, options("sparse", interruption));
            RunFolders.requireFree(run);
            Optional<List<RunResult>> results = sparse.begin();
            if (results.isEmpty()) {
                return stopped(run);
            }
            DenseTwin twin = new DenseTwin(recipe, sparse.task(), run);
            if (twin.train(options("dense", interruption)).isEmpty()) {
                return stopped(run);
            }
            DenseTwin.Both both = twin.compare();
            tell(run, both, (System.nanoTime() - started) / 1e9);
            return 0;
        }
    }

    private static String recipe() throws IOException {
        try (InputStream resource = DemoCommand.class.getResourceAsStream(RECIPE)) {
            return new String(
                    Objects.requireNonNull(resource, "the program was built without " + RECIPE)
                            .readAllBytes(),
                    StandardCharsets.UTF_8);
        }
    }

    private RunOptions options(String name, BooleanSupplier stop) {
        PrintWriter err = spec.commandLine().getErr();
        return RunOptions.DEFAULT
                .withListener(new ProgressPrinter(new StatusLine(err), name))
                .withStop(stop);
    }

    private int stopped(RunFolder run) {
        spec.commandLine().getErr().printf("stopped; what was done so far is in %s%n", run.path());
        return ExitStatus.INTERRUPTED;
    }

    private void tell(RunFolder run, DenseTwin.Both both, double seconds) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        out.println();
        both.table().print(run, out);
        out.printf(Locale.ROOT, "%nIn %.0f seconds. Look at %s%n", seconds, run.report());
        out.flush();
        if (json != null) {
            Path file = json;
            Writing.to(file, () -> Files.writeString(file, json(run, both, seconds) + "\n"));
        }
    }

    private static String json(RunFolder run, DenseTwin.Both both, double seconds) {
        RunResult sparse = both.sparse().getFirst();
        Metric metric = sparse.mainMetric();
        return JsonNodeFactory.instance
                .objectNode()
                .put("baseline_" + metric.name(), both.dense().scores().get(metric))
                .put("sparse_" + metric.name(), sparse.scores().get(metric))
                .put("pruned_" + metric.name(), sparse.prunedScores().get(metric))
                .put("groups_left", sparse.groupsLeft())
                .put("parameters_left", sparse.parametersLeft())
                .put("speed_up", both.table().speedUp())
                .put("max_abs_difference", sparse.maxAbsDifference())
                .put("seconds", seconds)
                .put("run_dir", run.path().toString())
                .toPrettyString();
    }
}
