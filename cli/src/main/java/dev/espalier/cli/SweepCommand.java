package dev.espalier.cli;

import dev.espalier.engine.Device;
import dev.espalier.report.ReportAtEnd;
import dev.espalier.report.SweepPage;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.journal.Spread;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.study.Axis;
import dev.espalier.train.study.BranchFolders;
import dev.espalier.train.study.Launcher;
import dev.espalier.train.study.Outcome;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.study.Plan;
import dev.espalier.train.study.StudyListener;
import dev.espalier.train.study.StudyResult;
import dev.espalier.train.study.StudyRun;
import dev.espalier.train.study.Sweep;
import dev.espalier.train.study.Trial;
import java.io.IOException;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code espalier sweep}: what a smaller model costs. */
@Command(
        name = "sweep",
        description = {
            "Train with several penalty strengths: accuracy against size.",
            "Each λ has a run folder of its own. --resume continues a stopped sweep and skips finished runs.",
        })
final class SweepCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Mixin
    private RecipeOptions options = new RecipeOptions();

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
            names = "--baseline",
            description = "Also train without a penalty, into the folder baseline of the sweep, and show that beside.")
    private boolean baseline;

    @Mixin
    private LaunchOptions launch = new LaunchOptions();

    @Override
    public Integer call() throws IOException {
        List<Double> lambdas = lambdas(range);
        Recipe recipe = options.recipe();
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        try (Interruption interruption = new Interruption()) {
            RunFolder place = options.folder("sweep-", err);
            Sweep sweep =
                    new Sweep(recipe, lambdas, warm ? Sweep.Start.WARM : Sweep.Start.INDEPENDENT, baseline, place);
            Optional<StudyResult> result = carryOut(sweep, place, new StatusLine(err), interruption);
            if (result.isEmpty()) {
                return RecipeOptions.stopped(place, err);
            }
            List<Sweep.Point> points = sweep.points(result.get());
            print(points, place.baseline().result(), out);
            out.println(draw(place, points));
            out.flush();
            return 0;
        }
    }

    private Optional<StudyResult> carryOut(Sweep sweep, RunFolder place, StatusLine status, BooleanSupplier stop)
            throws IOException {
        int threads = launch.threads();
        List<Device> devices = launch.devices(options.device(), place.path(), status);
        Plan plan = sweep.plan().with(trial -> trial.on(devices.getFirst()).onThreads(threads));
        BranchFolders folders = new BranchFolders(plan, new ReportAtEnd());
        try (Launcher launcher = launch.launching("sweep", threads, devices, status)
                .open(trial -> new ProgressPrinter(status, trial.name()).and(new ReportAtEnd()), stop)) {
            StudyResult result = new StudyRun(
                            plan,
                            launcher,
                            new StudyListener() {
                                @Override
                                public void onEnd(Trial trial, Outcome outcome, Supplier<StudyResult> soFar)
                                        throws IOException {
                                    folders.onEnd(trial, outcome, soFar);
                                    if (outcome.end() == End.GIVEN_UP || outcome.end() == End.FAILED) {
                                        status.say(described(trial) + " is omitted: " + outcome.text());
                                    }
                                }
                            },
                            stop)
                    .run();
            return result.isStopped() ? Optional.empty() : Optional.of(result);
        }
    }

    private static String described(Trial trial) {
        return trial.name().replaceFirst("^lambda-", "λ = ").replace("/seed-", ", seed ");
    }

    private static Path draw(RunFolder sweep, List<Sweep.Point> points) throws IOException {
        Metric metric = points.getFirst().results().getFirst().mainMetric();
        List<SweepPage.Point> drawn = new ArrayList<>();
        for (Sweep.Point point : points) {
            SweepPage.Point.of(point.lambda(), metric, point.folder()).ifPresent(drawn::add);
        }
        new SweepPage(String.valueOf(sweep.path().getFileName()), metric, drawn, SweepPage.baseline(sweep, metric))
                .write(sweep.sweepReport());
        return sweep.sweepReport();
    }

    private static List<Double> lambdas(String range) {
        String[] parts = range.split(":", -1);
        try {
            if (parts.length == 3) {
                return Axis.range(
                                "penalty.lambda",
                                new BigDecimal(parts[0]),
                                new BigDecimal(parts[1]),
                                Integer.parseInt(parts[2]),
                                "log")
                        .numbers();
            }
        } catch (IllegalArgumentException _) {
            // The message below says all there is to say.
        }
        throw new IllegalArgumentException("--lambda " + range
                + " is not possible: it must be A:B:N, two numbers above 0 and a whole number of at least 1, such as"
                + " 1e-4:1e-2:5");
    }

    private static void print(List<Sweep.Point> points, Optional<RunResult> dense, PrintWriter out) {
        Metric metric = points.getFirst().results().getFirst().mainMetric();
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("λ", metric.words(), "groups kept", "parameters kept", "FLOPs kept", "speed-up"));
        dense.ifPresent(result -> rows.add(List.of(
                "original",
                metric.write(result.scores().firstEntry().getValue()),
                "100.0 %",
                "100.0 %",
                "100.0 %",
                "1.00")));
        for (Sweep.Point point : points) {
            List<RunResult> runs = point.results();
            rows.add(List.of(
                    Axis.number(point.lambda()),
                    metric.write(Spread.of(
                            runs, run -> run.prunedScores().firstEntry().getValue())),
                    Spread.of(runs, RunResult::groupsLeft).percent(),
                    Spread.of(runs, RunResult::parametersLeft).percent(),
                    Spread.of(runs, RunResult::flopsLeft).percent(),
                    String.format(
                            Locale.ROOT,
                            "%.2f",
                            Spread.of(runs, RunResult::speedUp).mean())));
        }
        Columns.print(rows, out);
    }
}
