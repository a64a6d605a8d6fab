package dev.espalier.cli;

import dev.espalier.report.Report;
import dev.espalier.report.SweepPage;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier report}: a page on a run, or one that compares several. */
@Command(
        name = "report",
        description = {
            "Write an HTML report on a training run or a sweep.",
            "Shows curves, layers before and after, patterns of sparsity, recipe and provenance. Several runs are compared. A report is one file that needs no network.",
        })
final class ReportCommand implements Callable<Integer> {
    /** What a comparison is called, in the working directory. */
    private static final String COMPARISON = "comparison.html";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            paramLabel = "RUN",
            arity = "1..*",
            description = "The folder of a training run, finished or not, or of a sweep; several to compare them.")
    @SuppressWarnings("NullAway.Init")
    private List<Path> runs;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description =
                    "Where to write the page. Default: report.html in the folder of the run, sweep.html in that of a"
                            + " sweep, or " + COMPARISON
                            + " here if there are several.")
    private @Nullable Path output;

    @Override
    public Integer call() throws IOException {
        List<RunFolder> folders = new ArrayList<>();
        for (Path run : runs) {
            // Beside others, a sweep is its runs.
            RunFolder folder = new RunFolder(run);
            List<RunFolder> swept = folder.sweep();
            folders.addAll(swept.isEmpty() || runs.size() == 1 ? List.of(folder) : swept);
        }
        PrintWriter out = spec.commandLine().getOut();
        out.println(write(folders));
        out.flush();
        return 0;
    }

    private Path write(List<RunFolder> folders) throws IOException {
        RunFolder first = folders.getFirst();
        if (folders.size() == 1 && !first.sweep().isEmpty()) {
            Path file = output != null ? output : first.sweepReport();
            SweepPage.of(first).write(file);
            return file;
        }
        Path file = output != null ? output : folders.size() == 1 ? first.report() : Path.of(COMPARISON);
        Report.of(folders).write(file);
        return file;
    }
}
