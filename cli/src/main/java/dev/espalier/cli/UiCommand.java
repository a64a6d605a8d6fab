package dev.espalier.cli;

import dev.espalier.ui.Ui;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier ui}: runs in a browser. */
@Command(
        name = "ui",
        description = {
            "Serve a local web page to watch, compare, start and stop runs.",
            "Shows the runs of a folder and their curves while they train. It needs no network.",
            "Ctrl-C ends the page. A training that was started from it continues, and the next `espalier ui` finds it again.",
        })
final class UiCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            paramLabel = "FOLDER",
            arity = "0..1",
            defaultValue = ".",
            description =
                    "The folder to show: runs in it, up to three folders deep, and recipes (default: the working directory).")
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "0",
            description = "Where to listen, on 127.0.0.1 alone; any free port by default.")
    private int port;

    @Override
    public Integer call() throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        try (Interruption interruption = new Interruption();
                Ui ui = Ui.start(folder, port, train())) {
            out.println(ui.address());
            out.flush();
            err.println("open this address in a browser; Ctrl-C ends the page");
            err.flush();
            interruption.untilAsked();
            ui.farewell().forEach(err::println);
            err.flush();
            return ExitStatus.INTERRUPTED;
        }
    }

    /** What starts a training. */
    static List<String> train() {
        return ThisProgram.command(List.of(), List.of("train"));
    }
}
