package dev.espalier.cli;

import dev.espalier.engine.Device;
import dev.espalier.report.ReportAtEnd;
import dev.espalier.report.StudyPage;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.journal.Spread;
import dev.espalier.train.run.RequestedSize;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.study.BranchFolders;
import dev.espalier.train.study.Driver;
import dev.espalier.train.study.Launcher;
import dev.espalier.train.study.Outcome;
import dev.espalier.train.study.Plan;
import dev.espalier.train.study.Storage;
import dev.espalier.train.study.Study;
import dev.espalier.train.study.StudyListener;
import dev.espalier.train.study.StudyResult;
import dev.espalier.train.study.StudyRun;
import dev.espalier.train.study.Trial;
import dev.espalier.ui.StudyServer;
import java.io.Closeable;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier study}: many trainings as one thing. */
@Command(
        name = "study",
        description = {
            "Train grids, seeds and paths of λ, locally or on Spark.",
            "The same command continues a stopped study and skips finished trials.",
        })
final class StudyCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(paramLabel = "STUDY", description = "A study: a TOML file, see docs/studies.md.")
    @SuppressWarnings("NullAway.Init")
    private Path file;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description =
                    "Another value for a key of the study, such as halving.first=4 or \"axes.penalty.lambda=[1e-3, 1e-2]\"; may be given"
                            + " several times.")
    private List<String> overrides = new ArrayList<>();

    @Option(
            names = "--run-dir",
            paramLabel = "DIR",
            description =
                    "Where to write, and which study to continue: a folder, or on Spark a URI such as hdfs://… (default: runs/study-STUDY).")
    private @Nullable String folder;

    @Option(names = "--plan", description = "Print the trials, and train nothing.")
    private boolean planOnly;

    @Option(
            names = "--serve",
            paramLabel = "PORT",
            arity = "0..1",
            fallbackValue = "0",
            description =
                    "Show the study's page in a browser, live while it is carried out, to this machine alone; on any free port if none is"
                            + " given.")
    private @Nullable Integer port;

    @Mixin
    private LaunchOptions launch = new LaunchOptions();

    @Mixin
    private DeviceOption device = new DeviceOption();

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        Study study = Study.read(file, overrides);
        String root = folder != null
                ? folder
                : Path.of("runs", "study-" + RunFolders.name(file)).toString();
        if (planOnly) {
            printPlan(study, study.plan(root), out);
            return 0;
        }
        StatusLine status = new StatusLine(err);
        Optional<Path> here = Storage.local(root);
        List<Device> devices =
                here.isPresent() ? launch.devices(device, here.get(), status) : List.of(device.elsewhere());
        Plan plan = study.plan(root).with(trial -> trial.on(devices.getFirst()));
        if (here.isPresent()) {
            new RunFolder(here.get()).requireWritable();
        }
        try (Interruption interruption = new Interruption();
                Closeable _ = here.isPresent() ? Driver.enter(here.get())::close : () -> {}) {
            BooleanSupplier stop = within(study.minutes(), interruption, status);
            try (Launcher launcher = launch.launching(title(), study.threads(), devices, status)
                    .open(trial -> new ProgressPrinter(status, trial.name()).and(new ReportAtEnd()), stop)) {
                StudyRun run = new StudyRun(plan, launcher, new Keeper(title(), plan, root, status), stop);
                try (StudyServer server = port == null ? null : StudyServer.start(title(), run::soFar, port)) {
                    if (server != null) {
                        status.say("look at " + server.address() + " while it is carried out");
                    }
                    return tell(run.run(), root, out, err);
                }
            }
        }
    }

    private String title() {
        return RunFolders.name(file);
    }

    /** Until somebody asks, or the budget is spent. */
    private static BooleanSupplier within(OptionalInt minutes, BooleanSupplier asked, StatusLine status) {
        if (minutes.isEmpty()) {
            return asked;
        }
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(minutes.getAsInt());
        return new BooleanSupplier() {
            private boolean told;

            @Override
            public synchronized boolean getAsBoolean() {
                boolean spent = System.nanoTime() - end > 0;
                if (spent && !told) {
                    told = true;
                    status.say("the budget of %d minutes is spent".formatted(minutes.getAsInt()));
                }
                return spent || asked.getAsBoolean();
            }
        };
    }

    private static void printPlan(Study study, Plan plan, PrintWriter out) {
        List<List<String>> rows = new ArrayList<>();
        List<String> head = new ArrayList<>(List.of("trial", "seed"));
        study.axes().forEach(axis -> head.add(axis.key()));
        head.add("starts from");
        rows.add(head);
        for (Plan.Branch branch : plan.branches()) {
            for (Trial trial : branch.trials()) {
                List<String> row = new ArrayList<>(List.of(
                        trial.label(),
                        trial.parsed().training().seeds().getFirst().toString()));
                row.addAll(branch.point().sequencedValues());
                row.add(trial.start().equals(Trial.FRESH) ? "fresh weights" : trial.start());
                rows.add(row);
            }
        }
        Columns.printWords(rows, out);
        out.printf("%d trials%n", plan.trials().size());
        plan.halving().ifPresent(halving -> {
            int left = plan.branches().size();
            int epochs = plan.branches().getFirst().recipe().totalEpochs();
            for (int rung : halving.rungs(epochs, left)) {
                out.printf(
                        "after epoch %d of %d, %d of %d points go on%n", rung, epochs, halving.survivors(left), left);
                left = halving.survivors(left);
            }
        });
        out.flush();
    }

    /** Keeps what came out so far, and says what ended. */
    private static final class Keeper implements StudyListener {
        private static final long KEPT_SECONDS = 5;

        private final String title;
        private final Plan plan;
        private final Storage storage;
        private final StatusLine status;
        private final Optional<BranchFolders> folders;
        private int ended;
        private long kept;

        Keeper(String title, Plan plan, String root, StatusLine status) throws IOException {
            this.title = title;
            this.plan = plan;
            this.storage = Storage.of(root);
            this.status = status;
            TrainingListener reports = new ReportAtEnd();
            this.folders = Storage.local(root).map(_ -> new BranchFolders(plan, reports));
        }

        @Override
        public void onEnd(Trial trial, Outcome outcome, Supplier<StudyResult> soFar) throws IOException {
            if (folders.isPresent()) {
                folders.get().onEnd(trial, outcome, soFar);
            }
            if (outcome.isOver()) {
                ended++;
                keep(soFar);
            }
            switch (outcome.end()) {
                case FINISHED -> say(trial, describe(outcome.result()));
                case PAUSED -> say(trial, "has come as far as the others it is compared with");
                case LEFT_BEHIND -> say(trial, "is left behind");
                case STOPPED -> say(trial, "stopped");
                case GIVEN_UP -> say(trial, "was given up: " + outcome.text());
                case FAILED -> say(trial, "failed: " + outcome.text());
            }
        }

        /** Now and then: thousands of trials may end at once. */
        private void keep(Supplier<StudyResult> soFar) throws IOException {
            long now = System.nanoTime();
            if (kept == 0 || now - kept > TimeUnit.SECONDS.toNanos(KEPT_SECONDS)) {
                StudyResult result = soFar.get();
                storage.write(StudyResult.FILE, result.toJson());
                storage.write(StudyPage.FILE, StudyPage.of(title, result).html());
                kept = System.nanoTime();
            }
        }

        private void say(Trial trial, String what) {
            status.say("%s: %s (%d of %d)"
                    .formatted(trial.label(), what, ended, plan.trials().size()));
        }

        private static String describe(RunResult result) {
            Metric metric = result.mainMetric();
            return "finished with %s %s, %s of the parameters kept"
                    .formatted(
                            metric.words(),
                            metric.write(result.prunedScores().firstEntry().getValue()),
                            String.format(Locale.ROOT, "%.1f %%", 100 * result.parametersLeft()));
        }

        @Override
        public void onNote(String text) {
            status.say(text);
        }
    }

    private int tell(StudyResult result, String root, PrintWriter out, PrintWriter err) throws IOException {
        if (result.isStopped()) {
            err.println("stopped; the same command goes on");
            return ExitStatus.INTERRUPTED;
        }
        Storage storage = Storage.of(root);
        storage.write(StudyResult.FILE, result.toJson());
        storage.write(StudyPage.FILE, StudyPage.of(title(), result).html());
        print(result, out);
        out.println(Storage.path(root, StudyPage.FILE));
        out.flush();
        boolean failed = !result.ended(Outcome.End.FAILED).isEmpty();
        return failed ? 1 : 0;
    }

    private static void print(StudyResult result, PrintWriter out) throws IOException {
        Optional<Metric> metric = Optional.empty();
        boolean targets = result.plan().branches().stream()
                .anyMatch(branch -> branch.recipe().target().isPresent());
        List<List<String>> rows = new ArrayList<>();
        for (Plan.Branch branch : result.plan().branches()) {
            List<RunResult> runs = result.results(branch);
            if (!runs.isEmpty()) {
                metric = Optional.of(runs.getFirst().mainMetric());
                rows.add(row(
                        targets ? size(branch, runs) : List.of(),
                        name(branch),
                        metric.get()
                                .write(Spread.of(
                                        runs,
                                        run -> run.prunedScores().firstEntry().getValue())),
                        Spread.of(runs, RunResult::groupsLeft).percent(),
                        Spread.of(runs, RunResult::parametersLeft).percent(),
                        Spread.of(runs, RunResult::flopsLeft).percent(),
                        runs.size() == branch.trials().size()
                                ? ""
                                : "%d of %d seeds"
                                        .formatted(runs.size(), branch.trials().size())));
            } else {
                Outcome outcome = result.of(branch.trials().getFirst()).orElseThrow();
                rows.add(row(
                        targets ? List.of("", "") : List.of(),
                        name(branch),
                        "",
                        "",
                        "",
                        "",
                        switch (outcome.end()) {
                            case LEFT_BEHIND ->
                                "left behind after epoch %.0f"
                                        .formatted(outcome.metrics().epoch());
                            case GIVEN_UP -> "given up";
                            case FAILED -> "failed";
                            case FINISHED, PAUSED, STOPPED -> throw new IllegalStateException(outcome.toString());
                        }));
            }
        }
        rows.addFirst(row(
                targets ? List.of("requested", "reached") : List.of(),
                "point",
                metric.map(Metric::words).orElse("score"),
                "groups kept",
                "parameters kept",
                "FLOPs kept",
                ""));
        Columns.print(rows, out);
    }

    /** The size comes before the last cell, which is a remark. */
    private static List<String> row(List<String> size, String... cells) {
        List<String> row = new ArrayList<>(List.of(cells));
        row.addAll(row.size() - 1, size);
        return row;
    }

    private static List<String> size(Plan.Branch branch, List<RunResult> runs) {
        return RequestedSize.of(branch.recipe(), runs)
                .map(size ->
                        List.of("%s of %s".formatted(percent(size.requested()), size.words()), percent(size.reached())))
                .orElse(List.of("", ""));
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }

    private static String name(Plan.Branch branch) {
        return branch.name().isEmpty() ? "the recipe" : branch.name();
    }
}
