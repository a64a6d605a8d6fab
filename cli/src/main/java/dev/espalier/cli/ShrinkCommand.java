package dev.espalier.cli;

import dev.espalier.core.check.Writing;
import dev.espalier.graph.Graph;
import dev.espalier.report.ReportAtEnd;
import dev.espalier.train.Shrink;
import dev.espalier.train.inputs.DeclaredInputs;
import dev.espalier.train.inputs.InputsGuess;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.run.RunOptions;
import dev.espalier.train.run.TimeLimit;
import dev.espalier.train.run.Verdict;
import dev.espalier.train.task.ImitationKind;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier shrink}: any model smaller, with nothing but inputs for it. */
@Command(
        name = "shrink",
        description = {
            "Shrink a trained ONNX model, using unlabeled inputs.",
            "Sets the groups of weights with the lowest importance per cost to zero, step by step, while the rest is fine-tuned to reproduce the original's outputs (distillation); then removes the zeros.",
            "Writes a run folder with pruned.onnx, report.html, recipe.toml and checkpoints. A stopped run continues with --resume.",
            "Exits with 1 after writing the files if the skill of the small model is below 0.5: it is then hardly closer to the original than a model that always gives the same output.",
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  espalier shrink model.onnx --inputs photos --keep 50%% -o small.onnx",
            "  espalier shrink encoder.onnx --inputs texts.txt --tokenizer tokenizer.json --int8 --minutes 60",
        })
final class ShrinkCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(paramLabel = "MODEL.onnx", description = "The model.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private Path model;

    @Option(
            names = "--inputs",
            paramLabel = "INPUTS",
            description = "Inputs of the model: " + InputsGuess.TAKES + ". 'espalier inputs' shows a batch of them.")
    private @Nullable String inputs;

    @Option(
            names = "--keep",
            paramLabel = "SHARE",
            defaultValue = "50%",
            description = "Share to keep of the cost that --of names (default: ${DEFAULT-VALUE}).")
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private String keep;

    @Option(
            names = "--of",
            paramLabel = "COST",
            defaultValue = "flops",
            description = "The cost to reduce: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private Shrink.Cost cost;

    @Option(
            names = "--loss",
            paramLabel = "LOSS",
            description =
                    "Loss between the outputs of both models: ${COMPLETION-CANDIDATES} (default: chosen for each output).")
    private ImitationKind.@Nullable Loss loss;

    @Option(
            names = "--match",
            paramLabel = "TENSOR",
            arity = "1..*",
            description = "Also compare these tensors within the model, such as hidden states.")
    private List<String> match = new ArrayList<>();

    @Option(
            names = "--epochs",
            paramLabel = "N",
            description =
                    "Passes over the inputs, including the recovery phase (default: chosen from the number of inputs).")
    private @Nullable Integer epochs;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            description =
                    "Time limit for everything: preparation, training, pruning, latency measurements and report. With too little time, only some of the inputs are used; on a machine that slows down, steps are skipped.")
    private @Nullable Double minutes;

    @Option(
            names = "--int8",
            description =
                    "Also write an int8 model, int8.onnx, calibrated on the inputs; -o then writes that one." + "")
    private boolean int8;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Also write the small model (pruned.onnx of the run folder) to this file.")
    private @Nullable Path output;

    @Option(
            names = "--run-dir",
            paramLabel = "DIR",
            description =
                    "The run folder. By default a new one under runs, or with --resume the newest one of this model.")
    private @Nullable Path folder;

    @Option(
            names = "--tokenizer",
            paramLabel = "PATH",
            description =
                    "For texts: a tokenizer.json, a vocab.txt or a folder with one of them (default: next to the model).")
    private @Nullable Path tokenizer;

    @Option(names = "--resume", description = "Continue a stopped run, with its own recipe.")
    private boolean resume;

    @Option(names = "--recipe", description = "Only print the recipe.")
    private boolean recipeOnly;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            completionCandidates = RecipeKeys.class,
            description =
                    "Another value for a key of the recipe, such as optimizer.rate=3e-4; may be given several times.")
    private List<String> overrides = new ArrayList<>();

    @Mixin
    private DeviceOption device = new DeviceOption();

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        TimeLimit limit = minutes != null && minutes > 0 ? TimeLimit.of(60 * minutes) : TimeLimit.NONE;
        Shrink shrink = shrink(err);
        try (Interruption interruption = new Interruption()) {
            RunFolder run = folder(err);
            StatusLine status = new StatusLine(err);
            RunOptions options = new RunOptions(
                    device.device(run.path(), status::say),
                    new ProgressPrinter(status, "").and(new ReportAtEnd()),
                    interruption,
                    limit);
            if (recipeOnly) {
                out.print(shrink.recipe(run.path(), options).toToml());
                out.flush();
                return 0;
            }
            Optional<RunResult> result = shrink.run(run.path(), options);
            if (result.isEmpty()) {
                return RecipeOptions.stopped(run, err);
            }
            // The warning is the first line of output.
            result.get().unfit().forEach(unfit -> out.println(unfit.warning()));
            Verdict.of(run, result.get()).forEach(out::println);
            ShrinkTable.print(result.get().models(), out);
            ResultTable.printSize(run, List.of(result.get()), out);
            if (output != null) {
                Path file = output;
                Path written = int8 ? run.path().resolve(Shrink.INT8) : run.pruned();
                Writing.to(file, () -> Files.copy(written, file, StandardCopyOption.REPLACE_EXISTING));
                out.println(file);
                writeFaster(run, file, out);
            }
            out.println(run.report());
            out.flush();
            return result.get().unfit().isEmpty() ? ExitCode.OK : ExitCode.SOFTWARE;
        }
    }

    /** Writes the wider, faster model next to the requested one. */
    private static void writeFaster(RunFolder run, Path file, PrintWriter out) throws IOException {
        if (Files.exists(run.fasterModel())) {
            String name = file.getFileName().toString().replaceFirst("(\\.onnx)?$", "-faster.onnx");
            Path beside = file.resolveSibling(name);
            Writing.to(beside, () -> Files.copy(run.fasterModel(), beside, StandardCopyOption.REPLACE_EXISTING));
            out.println(beside);
        }
    }

    private Shrink shrink(PrintWriter err) throws IOException {
        Share left = Share.parse("--keep", keep);
        if (epochs != null && minutes != null) {
            throw new IllegalArgumentException("--epochs and --minutes both say how long: leave one out");
        }
        Shrink shrink = Shrink.of(model).keep(left.share(), cost).with(keys());
        Shrink timed = epochs != null ? shrink.epochs(epochs) : minutes != null ? shrink.minutes(minutes) : shrink;
        Shrink fed = timed.inputs(inputs(err));
        return int8 ? fed.int8() : fed;
    }

    private List<String> keys() {
        List<String> keys = new ArrayList<>();
        if (loss != null) {
            keys.add("task.loss=" + loss.name().toLowerCase(Locale.ROOT));
        }
        if (!match.isEmpty()) {
            keys.add("task.match="
                    + match.stream().map(name -> "\"" + name + "\"").collect(Collectors.joining(", ", "[", "]")));
        }
        if (tokenizer != null) {
            keys.add("model.tokenizer=" + tokenizer);
        }
        keys.addAll(overrides);
        return keys;
    }

    /** What data is; if nobody says, --set must. */
    private List<String> inputs(PrintWriter err) throws IOException {
        List<String> said =
                overrides.stream().filter(key -> key.startsWith("data.")).toList();
        if (inputs == null) {
            if (!resume && said.stream().noneMatch(key -> key.startsWith("data.kind"))) {
                throw new IllegalArgumentException(
                        "there is nothing to feed the model with: give --inputs (" + InputsGuess.TAKES + ")");
            }
            return List.of();
        }
        Graph graph = DeclaredInputs.inTraining(ModelFile.read(model).graph());
        InputsGuess guess = InputsGuess.of(inputs, model, graph, said);
        guess.notes().forEach(err::println);
        return guess.settings();
    }

    private RunFolder folder(PrintWriter err) throws IOException {
        String name = "shrink-" + RunFolders.name(model);
        if (folder != null) {
            RunFolder given = new RunFolder(folder);
            if (!resume && !recipeOnly) {
                RunFolders.requireFree(given);
            }
            return given;
        }
        return resume ? RunFolders.toResume(name, err::println) : RunFolders.fresh(name);
    }
}
