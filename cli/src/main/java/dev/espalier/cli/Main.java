package dev.espalier.cli;

import dev.espalier.engine.GpuFailure;
import dev.espalier.train.run.DivergedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command {@code espalier}: knows its subcommands, and how a failure of any of them is told to the user. */
@Command(
        name = "espalier",
        description = "Make trained ONNX models smaller and faster, or train small ones.",
        // Inherited by every subcommand, so that each has --help and --version and none can forget them.
        scope = ScopeType.INHERIT,
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        sortOptions = false,
        usageHelpAutoWidth = true,
        usageHelpWidth = 120,
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:all went well", "1:a failure", "2:a wrong option or argument", "130:stopped by Ctrl-C"},
        subcommands = {
            DemoCommand.class,
            TrainCommand.class,
            SweepCommand.class,
            StudyCommand.class,
            TrialCommand.class,
            ProxCommand.class,
            DataCommand.class,
            SurveyCommand.class,
            InspectCommand.class,
            InputsCommand.class,
            ConvertCommand.class,
            PruneCommand.class,
            PredictCommand.class,
            ShrinkCommand.class,
            EvaluateCommand.class,
            CompareCommand.class,
            AnswerCommand.class,
            ReportCommand.class,
            UiCommand.class,
            BenchCommand.class,
            GpuCommand.class,
            ReproduceCommand.class,
            CompletionCommand.class,
            HelpCommand.class,
        })
public final class Main implements Callable<Integer> {
    private static final String STACKTRACE_VARIABLE = "ESPALIER_STACKTRACE";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Option(
            names = "--stacktrace",
            scope = ScopeType.INHERIT,
            description = "Print the stack of a failure too; the environment variable " + STACKTRACE_VARIABLE
                    + "=1 does the same.")
    private boolean stacktrace;

    private Main() {}

    /**
     * Runs the command line and ends the JVM with its exit status.
     *
     * @param arguments what the user typed after {@code espalier}
     */
    public static void main(String[] arguments) {
        StandardError.restore();
        System.exit(commandLine().execute(arguments));
    }

    /**
     * The command line as {@link #main} runs it, for programs that run commands without ending the JVM.
     *
     * @return all commands, ready to execute
     */
    public static CommandLine commandLine() {
        Main main = new Main();
        main.stacktrace = "1".equals(System.getenv(STACKTRACE_VARIABLE));
        return CommandGroups.in(new CommandLine(main))
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((failure, command, parsed) -> main.report(failure, command))
                .setParameterExceptionHandler((failure, arguments) -> main.refuse(failure));
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getErr());
        return ExitCode.USAGE;
    }

    private int report(Exception failure, CommandLine command) {
        if (stacktrace) {
            failure.printStackTrace(command.getErr());
        }
        return switch (failure) {
            case IllegalArgumentException wrong -> say(command, String.valueOf(wrong.getMessage()), ExitCode.USAGE);
            case NoSuchFileException missing -> say(command, describe(missing), ExitCode.USAGE);
            case FileSystemException refused -> say(command, explain(refused), ExitCode.SOFTWARE);
            case IOException broken -> say(command, String.valueOf(broken.getMessage()), ExitCode.SOFTWARE);
            case DivergedException nowhere ->
                say(command, "training was given up: " + nowhere.getMessage(), ExitCode.SOFTWARE);
            case UncheckedIOException broken -> say(command, String.valueOf(broken.getMessage()), ExitCode.SOFTWARE);
            case Exception other ->
                say(
                        command,
                        GpuFailure.in(other).map(GpuFailure::getMessage).orElseGet(() -> unexpected(other)),
                        ExitCode.SOFTWARE);
        };
    }

    private String unexpected(Exception failure) {
        return "unexpected failure: " + failure + (stacktrace ? "" : " (run again with --stacktrace to see where)");
    }

    /** What was looked for, and where: a relative path says nothing to who does not know what it is relative to. */
    private static String describe(NoSuchFileException missing) {
        String name = String.valueOf(missing.getFile());
        return "no such file: " + name
                + (Path.of(name).isAbsolute()
                        ? ""
                        : " (looked for in " + Path.of("").toAbsolutePath() + ")");
    }

    /** What the system says of a file, with its name; for some reasons the name is all it says. */
    private static String explain(FileSystemException refused) {
        String reason = refused.getReason();
        return refused.getFile() + ": "
                + (reason != null ? reason : refused.getClass().getSimpleName().replace("Exception", ""));
    }

    private int refuse(ParameterException failure) {
        CommandLine command = failure.getCommandLine();
        say(command, String.valueOf(failure.getMessage()), ExitCode.USAGE);
        UnmatchedArgumentException.printSuggestions(failure, command.getErr());
        command.getErr().println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
        return ExitCode.USAGE;
    }

    private static int say(CommandLine command, String message, int exitStatus) {
        command.getErr().println("espalier: " + message);
        return exitStatus;
    }

    /** Where this program came from and what it runs on: the first thing a report of a failure should name. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Main.class.getPackage().getImplementationVersion();
            return List.of(
                            "espalier " + (version == null ? "(not from a jar)" : version),
                            "java " + Runtime.version() + " (" + System.getProperty("java.vendor") + ")",
                            System.getProperty("os.name") + " " + System.getProperty("os.arch"))
                    .toArray(String[]::new);
        }
    }
}
