package dev.espalier.cli;

import dev.espalier.engine.Device;
import dev.espalier.reproduce.Comparison;
import dev.espalier.reproduce.Item;
import dev.espalier.reproduce.Items;
import dev.espalier.reproduce.Reproduction;
import dev.espalier.reproduce.Scale;
import dev.espalier.reproduce.Setting;
import dev.espalier.train.run.RunOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier reproduce}: the paper, one command a table. */
@Command(
        name = "reproduce",
        description = {
            "Reproduces a table or figure of the paper: prints the paper's numbers beside ours, and writes them as JSON and as a"
                    + " page with plots.",
            "Without an item, lists them. What was stopped goes on with the same --out.",
        })
final class ReproduceCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            paramLabel = "ITEM",
            arity = "0..1",
            completionCandidates = ItemNames.class,
            description = "What to reproduce; left out, the items are listed.")
    private @Nullable String item;

    /** What items are called. */
    static final class ItemNames implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Items.ALL.stream().map(Item::name).iterator();
        }
    }

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "The folder of the real data, which --scale full needs.")
    private @Nullable Path data;

    @Option(
            names = "--scale",
            paramLabel = "small|full",
            description =
                    "full is the paper's protocol on the real data; small the same code in minutes, on small data;"
                            + " ${DEFAULT-VALUE} if left out.")
    private Scale scale = Scale.SMALL;

    @Mixin
    private DeviceOption device = new DeviceOption();

    @Option(
            names = "--seeds",
            paramLabel = "N",
            description =
                    "Number of runs that differ in their seeds only; if left out, the paper's for --scale full, and"
                            + " 1 for small.")
    private @Nullable Integer seeds;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Where to write; a new folder under runs if left out. What was stopped there goes on.")
    private @Nullable Path folder;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        if (item == null) {
            list(out);
            return 0;
        }
        Item chosen = Items.of(item);
        if (scale == Scale.SMALL) {
            // The networks are so small that a second thread would only wait for the first.
            Device.useThreads(1);
        }
        try (Interruption interruption = new Interruption()) {
            Setting setting = setting(chosen, interruption);
            Optional<Reproduction> done = Reproduction.of(chosen, setting, command(chosen, setting));
            if (done.isEmpty()) {
                spec.commandLine().getErr().printf("stopped; go on with --out %s%n", setting.folder());
                return ExitStatus.INTERRUPTED;
            }
            tell(done.get(), out);
            return 0;
        }
    }

    private static void list(PrintWriter out) {
        List<List<String>> rows = new ArrayList<>();
        for (Item one : Items.ALL) {
            rows.add(List.of(one.name(), one.title() + " (" + one.place() + ")"));
        }
        Columns.printWords(rows, out);
        out.flush();
    }

    private Setting setting(Item chosen, BooleanSupplier stop) throws IOException {
        PrintWriter err = spec.commandLine().getErr();
        RunOptions run = new RunOptions(device.device(), new ProgressPrinter(new StatusLine(err), ""), stop);
        int seedCount = seeds != null ? seeds : defaultSeeds(chosen);
        Path place = folder != null
                ? folder
                : RunFolders.fresh("reproduce-" + chosen.name()).path();
        return new Setting(scale, Optional.ofNullable(data), seedCount, place, run);
    }

    private int defaultSeeds(Item chosen) {
        return switch (scale) {
            case SMALL -> 1;
            case FULL -> chosen.seeds();
        };
    }

    /** What it takes to do it again, defaults written out. */
    private String command(Item chosen, Setting setting) {
        return "espalier reproduce %s%s --scale %s --device %s --seeds %d"
                .formatted(
                        chosen.name(),
                        setting.data().map(path -> " --data " + path).orElse(""),
                        setting.scale(),
                        device,
                        setting.seedCount());
    }

    private static void tell(Reproduction done, PrintWriter out) {
        for (Comparison table : done.findings().tables()) {
            out.println(table.title());
            if (!table.note().isEmpty()) {
                out.println(table.note());
            }
            out.println();
            List<List<String>> rows = new ArrayList<>(List.of(table.head()));
            rows.addAll(table.body());
            Columns.print(rows, out);
            out.println();
        }
        done.findings().notes().forEach(out::println);
        out.printf(
                Locale.ROOT,
                "%nIn %.1f seconds. Look at %s; the numbers are in %s%n",
                done.seconds(),
                done.page(),
                done.json());
        out.flush();
    }
}
