package dev.espalier.cli;

import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.study.Experiment;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code espalier train}: from a recipe to a smaller model, with a report. */
@Command(
        name = "train",
        description = {
            "Train a model from a recipe, prune it, and write a report.",
            "Writes a run folder with model.onnx, pruned.onnx, report.html, metrics and checkpoints. A stopped run continues with --resume.",
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  espalier train recipes/digits.toml --keep 30%%",
            "  espalier train recipe.toml --set training.epochs=5 --run-dir runs/short",
        })
final class TrainCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Mixin
    private RecipeOptions options = new RecipeOptions();

    @Option(
            names = "--keep",
            paramLabel = "SHARE",
            description =
                    "Share to keep in the end: 30%% of the parameters, or flops=30%%, latency=30%%, groups=30%%. The strength λ of"
                            + " the penalty follows from that; where it starts is estimated, unless the recipe has a penalty.lambda.")
    private @Nullable String keep;

    @Option(
            names = "--baseline",
            description = "Also train the same without a penalty, into the folder baseline of the run, and show both.")
    private boolean baseline;

    @Override
    public Integer call() throws IOException {
        Recipe recipe = options.recipe(target());
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        try (Interruption interruption = new Interruption()) {
            RunFolder run = options.folder("", err);
            RunOptions how = options.runOptions(run, err, interruption);
            Experiment sparse = Experiment.of(recipe, run, how);
            Optional<DenseTwin> twin =
                    baseline ? Optional.of(new DenseTwin(recipe, sparse.task(), run)) : Optional.empty();
            Optional<List<RunResult>> results = sparse.resume();
            if (results.isEmpty()
                    || (twin.isPresent()
                            && twin.get()
                                    .train(options.denseOptions(run, err, interruption))
                                    .isEmpty())) {
                return RecipeOptions.stopped(run, err);
            }
            ResultTable table = twin.isPresent() ? twin.get().compare().table() : ResultTable.of(results.get());
            table.print(run, out);
            out.println(run.report());
            out.flush();
            return 0;
        }
    }

    /** The section {@code [target]} in short. */
    private List<String> target() {
        if (keep == null) {
            return List.of();
        }
        Share left = Share.parse("--keep", keep);
        return List.of("target.kind=" + left.kind().label(), "target.share=" + left.share());
    }
}
