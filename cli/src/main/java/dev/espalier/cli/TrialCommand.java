package dev.espalier.cli;

import dev.espalier.engine.Device;
import dev.espalier.report.ReportAtEnd;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.study.Outcome;
import dev.espalier.train.study.Storage;
import dev.espalier.train.study.Trial;
import dev.espalier.train.study.TrialRunner;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code espalier trial}: one trial of a study, for whoever carries the study out in several processes. Not for people. */
@Command(
        name = TrialCommand.NAME,
        hidden = true,
        description =
                "Run the trial that stands as JSON on standard input, and print its outcome on standard output. It stops,"
                        + " to be gone on with later, when standard input ends.")
final class TrialCommand implements Callable<Integer> {
    static final String NAME = "trial";

    /** How long a process may take to notice that who had started it was killed: a step, or the judging of a model. */
    private static final Duration ORPHAN = Duration.ofMinutes(2);

    private static final Duration LOOK = Duration.ofMillis(50);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        // Not closed: a thread waits for its end.
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line = input.readLine();
        if (line == null) {
            throw new IllegalArgumentException(
                    "a trial is expected on standard input: it is for 'espalier study --on process'");
        }
        Trial trial = Trial.parse(line);
        AtomicBoolean abandoned = new AtomicBoolean();
        Thread.ofPlatform().daemon().start(() -> {
            awaitEnd(input);
            abandoned.set(true);
        });
        if (trial.threads() > 0) {
            Device.useThreads(trial.threads());
        }
        Path root = Storage.local(trial.root()).orElseThrow();
        try (Interruption interruption = new Interruption()) {
            BooleanSupplier stop = () -> abandoned.get() || interruption.getAsBoolean();
            awaitOrphan(new RunFolder(root.resolve(trial.name())), stop, err);
            Outcome outcome = new TrialRunner()
                    .run(
                            trial,
                            root,
                            new ProgressPrinter(new StatusLine(err, false), trial.name()).and(new ReportAtEnd()),
                            stop);
            out.println(outcome.toJson());
            out.flush();
            return 0;
        }
    }

    /**
     * Waits for who trains there still. One process directs a study, so this one was most likely started by another that has been killed since,
     * and stops when it notices. If it does not, it is in the way, which is told as ever.
     */
    private static void awaitOrphan(RunFolder folder, BooleanSupplier stop, PrintWriter err)
            throws IOException, InterruptedException {
        Optional<ProcessHandle> orphan = folder.trainer();
        if (orphan.isPresent()) {
            err.println("process %d trains there still, as if its study had been killed: waiting until it has stopped"
                    .formatted(orphan.get().pid()));
            err.flush();
            long end = System.nanoTime() + ORPHAN.toNanos();
            while (orphan.get().isAlive() && !stop.getAsBoolean() && System.nanoTime() < end) {
                Thread.sleep(LOOK);
            }
        }
    }

    private static void awaitEnd(BufferedReader input) {
        try {
            while (input.readLine() != null) {
                // nothing more is said
            }
        } catch (IOException _) {
            // it has ended, one way or another
        }
    }
}
