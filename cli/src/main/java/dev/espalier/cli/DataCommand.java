package dev.espalier.cli;

import dev.espalier.data.image.Cifar10Download;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier data}: data sets, brought to where recipes look for them. */
@Command(
        name = "data",
        description = {
            "Verify or download the files of a public data set.",
            "Missing files are downloaded and unpacked. An interrupted download continues.",
        })
final class DataCommand implements Callable<Integer> {
    private static final int MEGABYTE = 1_000_000;

    /** What can be downloaded. */
    enum Name {
        CIFAR10;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            index = "0",
            paramLabel = "NAME",
            description = "The data set: ${COMPLETION-CANDIDATES} (170 MB to download, 184 MB unpacked).")
    @SuppressWarnings("NullAway.Init")
    private Name name;

    @Parameters(
            index = "1",
            paramLabel = "DIR",
            description = "The folder of its files, or of its archive if you have that; it is made if it is missing.")
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @Option(
            names = "--from",
            paramLabel = "URL",
            description = "Where the archive lies, if not on the authors' site: a mirror, by https.")
    private URI from = Cifar10Download.OFFICIAL;

    @Override
    public Integer call() throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        switch (name) {
            case CIFAR10 ->
                out.println(cifar10() + ": the official CIFAR-10, 50,000 images to learn from and 10,000 for the test");
        }
        out.flush();
        return 0;
    }

    private Path cifar10() throws IOException, InterruptedException {
        StatusLine status = new StatusLine(spec.commandLine().getErr());
        try {
            return new Cifar10Download(from, (bytes, total) -> status.show(megabytes(bytes, total))).into(folder);
        } finally {
            status.clear();
        }
    }

    private static String megabytes(long bytes, long total) {
        String of = total > 0 ? String.format(Locale.ROOT, " of %d", total / MEGABYTE) : "";
        return String.format(Locale.ROOT, "%d%s MB", bytes / MEGABYTE, of);
    }
}
