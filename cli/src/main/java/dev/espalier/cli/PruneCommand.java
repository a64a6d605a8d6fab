package dev.espalier.cli;

import dev.espalier.core.check.Writing;
import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PrunePicture;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.PruneReport;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.prune.SmallestGroups;
import dev.espalier.graph.prune.Widths;
import dev.espalier.runtime.FlushedModel;
import dev.espalier.runtime.Judge;
import dev.espalier.runtime.PruneTrial;
import dev.espalier.runtime.Timing;
import dev.espalier.runtime.Timing.Goal;
import dev.espalier.train.task.RawInputs;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier prune}: a smaller dense model that computes the same function. */
@Command(
        name = "prune",
        description = {
            "Remove channels that are zero or unused; outputs stay the same.",
            "Removes channels that every reader ignores because their weights are zero, channels that are constant, and the weights that compute them, as far upstream as possible.",
            "Before anything is written, ONNX Runtime runs the small model and the original file; the command fails if their outputs differ.",
            "The smallest model is not always the fastest: several channel counts are timed, and the fastest is written (see --for).",
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  espalier prune model.onnx -o small.onnx",
            "  espalier prune runs/digits --plan",
        })
final class PruneCommand implements Callable<Integer> {
    /** The length of free axes other than the batch, such as words of a text. */
    private static final long LENGTH = 32;

    private static final long SEED = 1;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            paramLabel = "MODEL",
            description = "An ONNX file, the folder of a training run, or that of a BERT checkpoint from Hugging Face.")
    @SuppressWarnings("NullAway.Init")
    private Path model;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "SMALL",
            description = "Where to write the small model. For the folder of a training run, pruned.onnx in it by"
                    + " default. Not needed with --plan.")
    private @Nullable Path output;

    @Option(names = "--force", description = "Overwrite the model itself, if -o names it.")
    private boolean force;

    @Option(names = "--plan", description = "Only print the plan: each layer before and after, with the reason.")
    private boolean planOnly;

    @Option(
            names = "--keep",
            paramLabel = "NAME",
            description = "A layer that keeps all its channels; may be given several times.")
    private Set<String> keep = new LinkedHashSet<>();

    @Option(
            names = "--round-to",
            paramLabel = "N",
            description = "Round channel counts up to a multiple of N, as some hardware prefers, and try no others.")
    private @Nullable Integer roundTo;

    @Option(
            names = "--for",
            paramLabel = "latency|size",
            description =
                    "The goal. latency (the default) times several channel counts in ONNX Runtime and writes the fastest model, the"
                            + " original if nothing is faster; size removes everything it can. With --round-to, --target or --no-latency it is size.")
    private @Nullable Goal goal;

    @Option(
            names = "--latency-seconds",
            paramLabel = "S",
            description = "Seconds in all for timing channel counts and latency (default: ${DEFAULT-VALUE}).")
    private double latencySeconds = Timing.SECONDS;

    @Option(names = "--no-latency", description = "Measure no latency.")
    private boolean noLatency;

    @Option(
            names = "--threshold",
            paramLabel = "T",
            description = "Also drop groups whose norm is at most T times the root of their size. NOT exact: outputs"
                    + " change.")
    private double threshold = PruneOptions.DEFAULT.threshold();

    @Option(
            names = "--target",
            paramLabel = "SHARE",
            description =
                    "Without training, also drop the groups with the smallest weights until this share is kept: parameters=70%%,"
                            + " flops=70%%, groups=70%%. NOT exact, and usually costs accuracy.")
    private @Nullable String target;

    @Option(names = "--report", paramLabel = "FILE", description = "Write a report to a file, as JSON.")
    private @Nullable Path report;

    @Option(
            names = "--picture",
            paramLabel = "FILE",
            description = "Draw the layers before (light) and after (dark) to a file, as SVG.")
    private @Nullable Path picture;

    @Option(
            names = "--batch",
            paramLabel = "N",
            description = "Samples in a batch, to compare and to time (default: ${DEFAULT-VALUE}).")
    private int batch = 1;

    @Option(names = "--threads", paramLabel = "N", description = "Threads of ONNX Runtime (default: ${DEFAULT-VALUE}).")
    private int threads = 1;

    @Mixin
    private DimensionOption dimension = new DimensionOption();

    @Mixin
    private Int8Options int8 = new Int8Options();

    @Mixin
    private CheckpointOption checkpoint = new CheckpointOption();

    @Override
    public Integer call() throws IOException {
        checkOptions();
        ModelFile file = checkpoint.read(model);
        PrintWriter out = spec.commandLine().getOut();
        file.notes().forEach(out::println);
        Map<String, Long> wanted =
                dimension.lengths(SampleInputs.DEFAULT.dimensions(file.graph()).keySet());
        file = flushed(file, wanted, out);
        Graph trained = RawInputs.without(file.graph());
        PruneOptions options = new PruneOptions(keep, Widths.multiplesOf(roundTo == null ? 1 : roundTo), threshold);
        PrunePlan plan = target == null
                ? Pruner.plan(trained, options)
                : smallest(trained, options, Share.parse("--target", target), wanted, out);
        if (planOnly) {
            out.print(plan);
            if (goal() == Goal.LATENCY && plan.changes()) {
                out.println(
                        "That is all that can go. Without --plan, widths are chosen by what is fastest: some may be larger.");
            }
        } else {
            prune(file, plan, wanted, out);
        }
        out.flush();
        return 0;
    }

    /** Weights that are all but zero slow every run down, and groups of them cannot be cut out. */
    private ModelFile flushed(ModelFile file, Map<String, Long> wanted, PrintWriter out) {
        if (FlushedModel.count(file.graph()) == 0) {
            return file;
        }
        try (Judge judge = judge(file, wanted, out)) {
            FlushedModel flushed = FlushedModel.of(file.graph(), judge);
            flushed.words().ifPresent(words -> out.println(words + "."));
            return file.with(flushed.graph());
        }
    }

    /** Whoever says how wide layers shall be, or how much shall be left, has decided. */
    private Goal goal() {
        boolean decided = roundTo != null || target != null || noLatency;
        return goal == null ? decided ? Goal.SIZE : Goal.LATENCY : goal;
    }

    /** Drops the smallest groups, and says what that is. */
    private static PrunePlan smallest(
            Graph graph, PruneOptions options, Share left, Map<String, Long> wanted, PrintWriter out) {
        SmallestGroups groups = SmallestGroups.of(graph, options);
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("layer", "groups", "zero", "smallest norm", "median", "largest"));
        for (SmallestGroups.Norms norms : groups.layers()) {
            rows.add(List.of(
                    norms.name(),
                    Integer.toString(norms.groups()),
                    Integer.toString(norms.zero()),
                    norm(norms.smallest()),
                    norm(norms.median()),
                    norm(norms.largest())));
        }
        Columns.print(rows, out);
        out.println();
        Map<String, Long> dimensions = SampleInputs.DEFAULT.accepted(graph, wanted);
        PrunePlan plan = groups.plan(one -> left.kind().left(PruneReport.of(one, dimensions)), left.share());
        out.printf(
                Locale.ROOT,
                "NOT exact: groups that go and are not zero: %d, those with the smallest norms for their layer. Without training that"
                        + " usually costs accuracy, and soon much of it: measure it, train on from the smaller model"
                        + " (model.kind = \"onnx\"), or better train with a penalty: train --keep %.0f%%.%n%n",
                plan.zeroedGroups(),
                100 * left.share());
        return plan;
    }

    /** The root mean square of a group's weights. */
    private static String norm(double value) {
        return String.format(Locale.ROOT, "%.3g", value);
    }

    private void checkOptions() throws IOException {
        if (target != null && threshold > 0) {
            throw new IllegalArgumentException(
                    "--target and --threshold both choose groups by their norms: leave one out");
        }
        int8.check();
        checkpoint.requireSome(model);
        if (output == null && ModelFile.isRun(model) && !checkpoint.isGiven()) {
            output = model.resolve("pruned.onnx");
        }
        if (output == null && !planOnly) {
            throw new IllegalArgumentException("nowhere to write: give -o SMALL.onnx, or --plan to see the plan only");
        }
        requireOther("-o", output);
        requireOther("--report", report);
        requireOther("--picture", picture);
        requirePositive("--batch", batch);
        requirePositive("--threads", threads);
        if (roundTo != null) {
            requirePositive("--round-to", roundTo);
        }
        if (!(latencySeconds > 0)) {
            throw new IllegalArgumentException("--latency-seconds = " + latencySeconds
                    + " is out of range: it must be above 0; --no-latency measures nothing");
        }
        if (goal == Goal.LATENCY && (noLatency || roundTo != null)) {
            throw new IllegalArgumentException("--for latency chooses widths by measuring: leave out "
                    + (noLatency ? "--no-latency" : "--round-to"));
        }
    }

    /** What was trained for hours is not overwritten by what can be made again in a moment. */
    private void requireOther(String option, @Nullable Path file) throws IOException {
        Path input = ModelFile.isRun(model) ? model.resolve(ModelFile.IN_RUN) : model;
        if (!force && file != null && Files.exists(file) && Files.exists(input) && Files.isSameFile(file, input)) {
            throw new IllegalArgumentException(
                    "%s %s is the model itself, which would be lost: give another file, or --force to overwrite it"
                            .formatted(option, file));
        }
    }

    private static void requirePositive(String option, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(option + " = " + value + " is out of range: it must be at least 1");
        }
    }

    /** Nothing is written before the models were compared. */
    private void prune(ModelFile file, PrunePlan plan, Map<String, Long> wanted, PrintWriter out) throws IOException {
        PruneTrial trial;
        Graph written;
        StatusLine status = new StatusLine(spec.commandLine().getErr());
        try (Judge judge = judge(file, wanted, out)) {
            Timing timing = new Timing(goal(), noLatency ? 0 : latencySeconds, status::show);
            trial = PruneTrial.of(
                    judge,
                    file.graph(),
                    plan,
                    smaller -> RawInputs.like(file.graph(), smaller),
                    judge.lengths(),
                    timing);
            status.clear();
            out.print(trial.plan());
            out.println();
            if (trial.tried().size() > 1) {
                printTried(trial, out);
            }
            if (plan.isExact()) {
                out.println("The smaller model is " + judge.verdict(trial.proof()));
            }
            if (!judge.lengths().isEmpty()) {
                out.println(DimensionOption.sentence(noLatency ? "FLOPs" : "FLOPs and latency", judge.lengths()));
            }
            written = int8.isGiven() ? quantized(trial.smaller(), judge, status, out) : trial.smaller();
        } finally {
            status.clear();
        }
        write(written, trial.plan(), trial.report());
        summarize(plan, trial, out);
    }

    private Graph quantized(Graph smaller, Judge judge, StatusLine status, PrintWriter out) throws IOException {
        double seconds = noLatency ? 0 : latencySeconds;
        return int8.make(smaller, judge.inputs(), threads, seconds, OnnxWriter.Options.DEFAULT, status::show, out);
    }

    private static void printTried(PruneTrial trial, PrintWriter out) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("widths", "parameters", "latency"));
        for (PruneTrial.Tried tried : trial.tried()) {
            rows.add(List.of(
                    tried.plan().changes() ? tried.plan().widths().toString() : "uncut",
                    String.format(
                            Locale.ROOT, "%,d", Cost.parameters(tried.plan().apply())),
                    milliseconds(tried.milliseconds()) + (tried.plan() == trial.plan() ? " <" : "  ")));
        }
        Columns.print(rows, out);
        out.println();
    }

    private static String milliseconds(double value) {
        return String.format(Locale.ROOT, "%.3g ms", value);
    }

    /** By the file itself, which has not gone through our reader; if nobody else can run it, by what was read of it. */
    private Judge judge(ModelFile file, Map<String, Long> wanted, PrintWriter out) {
        SampleInputs samples = new SampleInputs(batch, LENGTH, SEED);
        if (file.original().isPresent()) {
            try {
                Judge judge = Judge.of(file.original().get(), file.graph(), samples, wanted, threads);
                return RawInputs.judge(judge, file.graph(), batch);
            } catch (IllegalStateException refused) {
                out.println("Compared only with what was read of the original: " + refused.getMessage());
            }
        }
        if (file.rounded().isPresent()) {
            out.println("Compared, and timed, with the float32 model that was read of "
                    + file.rounded().get());
        }
        return RawInputs.judge(Judge.of(file.graph(), samples, wanted, threads), file.graph(), batch);
    }

    private void write(Graph smaller, PrunePlan plan, PruneReport result) throws IOException {
        if (output != null) {
            OnnxWriter.write(smaller, output);
        }
        if (report != null) {
            writeText(report, result.toJson() + "\n");
        }
        if (picture != null) {
            writeText(picture, PrunePicture.svg(plan.layers()));
        }
    }

    private static void writeText(Path file, String text) throws IOException {
        Writing.to(file, () -> Files.writeString(file, text));
    }

    private String inexact() {
        return target == null ? "--threshold" : "--target";
    }

    private void summarize(PrunePlan plan, PruneTrial trial, PrintWriter out) {
        PruneReport result = trial.report();
        if (!plan.changes() && plan.isExact()) {
            out.printf("%s: nothing to remove, written unchanged: no group of weights is zero that could go%n", output);
        } else if (!plan.changes()) {
            out.printf(
                    "%s: as large as before: %s made %d more %s zero, but nothing could be cut out for that%n",
                    output, inexact(), plan.zeroedGroups(), plan.zeroedGroups() == 1 ? "group" : "groups");
        } else if (!trial.plan().changes()) {
            sayNothingIsFaster(plan, trial, out);
        }
        out.printf(
                Locale.ROOT,
                "%s: %,d of %,d parameters kept (%.1f %%), %.1f %% of the FLOPs, %.1f %% of the groups; %soutputs differ by at most"
                        + " %.2g%s%n",
                output,
                result.parametersAfter(),
                result.parametersBefore(),
                100 * result.parametersLeft(),
                100.0 * result.flopsAfter() / Math.max(result.flopsBefore(), 1),
                100 * result.groupsLeft(),
                latency(result),
                result.maxAbsDifference().orElseThrow(),
                plan.isExact() ? "" : ": NOT exact, because of " + inexact());
    }

    private static String latency(PruneReport result) {
        return result.latencyMillisecondsAfter().isEmpty()
                ? ""
                : "%s of %s; "
                        .formatted(
                                milliseconds(result.latencyMillisecondsAfter().getAsDouble()),
                                milliseconds(result.latencyMillisecondsBefore().orElseThrow()));
    }

    private void sayNothingIsFaster(PrunePlan plan, PruneTrial trial, PrintWriter out) {
        long before = Cost.parameters(plan.reference());
        long after = Cost.parameters(plan.apply());
        double milliseconds = trial.tried().stream()
                .filter(tried -> tried.plan() == plan)
                .findFirst()
                .orElseThrow()
                .milliseconds();
        out.printf(
                Locale.ROOT,
                "%s: nothing that can be cut out makes it faster here, so it is written uncut. --for size cuts all the same: %,d of %,d"
                        + " parameters kept (%.1f %%), %s%n",
                output,
                after,
                before,
                100.0 * after / Math.max(before, 1),
                milliseconds(milliseconds));
    }
}
