package dev.espalier.cli;

import dev.espalier.engine.Device;
import dev.espalier.report.ReportAtEnd;
import dev.espalier.train.study.Outcome;
import dev.espalier.train.study.Storage;
import dev.espalier.train.study.Trial;
import dev.espalier.train.study.TrialRunner;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code espalier trial}: one trial of a study, for whoever carries the study out in several processes. Not for people. */
@Command(
        name = TrialCommand.NAME,
        hidden = true,
        description =
                "Carries out the trial that stands as JSON on standard input, and says how it ended on standard output. It stops,"
                        + " to be gone on with later, when standard input ends.")
final class TrialCommand implements Callable<Integer> {
    static final String NAME = "trial";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
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
        try (Interruption interruption = new Interruption()) {
            Outcome outcome = new TrialRunner()
                    .run(
                            trial,
                            Storage.local(trial.root()).orElseThrow(),
                            new ProgressPrinter(new StatusLine(err, false), trial.name()).and(new ReportAtEnd()),
                            () -> abandoned.get() || interruption.getAsBoolean());
            out.println(outcome.toJson());
            out.flush();
            return 0;
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
