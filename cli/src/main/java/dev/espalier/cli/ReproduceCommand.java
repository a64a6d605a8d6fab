package dev.espalier.cli;

import dev.espalier.engine.Device;
import dev.espalier.reproduce.Comparison;
import dev.espalier.reproduce.Item;
import dev.espalier.reproduce.Items;
import dev.espalier.reproduce.Reproduction;
import dev.espalier.reproduce.ResultsPage;
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
import java.util.stream.LongStream;
import java.util.stream.Stream;
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
            "Reproduce the paper's tables, figures and theorems.",
            "Prints the paper's numbers next to ours, and writes them as JSON and as a page with plots. Without an item, lists all items.",
            "A stopped item continues with the same --out, and rows that are run separately, even at the same time, are merged there.",
            "With --page, makes the documentation's page of results from stored results, without training.",
        })
final class ReproduceCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            paramLabel = "ITEM",
            arity = "0..1",
            completionCandidates = ItemNames.class,
            description = "The table, figure or theorem; without it, the items are listed.")
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
                            + " (default: ${DEFAULT-VALUE}).")
    private Scale scale = Scale.SMALL;

    @Mixin
    private DeviceOption device = new DeviceOption();

    @Option(
            names = "--seeds",
            paramLabel = "N",
            description =
                    "Number of runs that differ in their seeds only: 1 to N; by default the paper's for --scale full, and"
                            + " 1 for small.")
    private @Nullable Integer seeds;

    @Option(
            names = "--seed",
            paramLabel = "SEEDS",
            split = ",",
            description = "The seeds themselves instead: one, several as 2,3, or a range as 4..6.")
    private List<String> chosenSeeds = new ArrayList<>();

    @Option(
            names = "--rows",
            paramLabel = "ROWS",
            split = ",",
            completionCandidates = RowNames.class,
            description =
                    "Rows of a table that are to be run, such as lasso-proximal,mcp-proximal; all by default. The table has"
                            + " the others too, as far as they are there.")
    private List<String> rows = new ArrayList<>();

    /** What rows are called. */
    static final class RowNames implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Items.ALL.stream()
                    .flatMap(item -> item.rows().stream())
                    .distinct()
                    .iterator();
        }
    }

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            completionCandidates = RecipeKeys.class,
            description =
                    "Another value for a key of the trainings' recipes, such as training.epochs=10; may be given several times."
                            + " Unless it is the precision or changes no outcome, it makes a variant, which has folders and lines of its own.")
    private List<String> changes = new ArrayList<>();

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Where to write (default: a new folder under runs). A stopped item in it continues.")
    private @Nullable Path folder;

    @Option(
            names = "--page",
            paramLabel = "DOCS",
            description = "Make DOCS/results.md and its plots from what is kept in DOCS/results; nothing is trained.")
    private @Nullable Path page;

    @Option(
            names = "--from",
            paramLabel = "DIR",
            description =
                    "With --page: first keep what is finished in DIR, the --out of an earlier call; models need not be there.")
    private @Nullable Path from;

    @Mixin
    private LaunchOptions launch = new LaunchOptions();

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        if (page != null) {
            makePage(new ResultsPage(page), out);
            return 0;
        }
        if (from != null) {
            throw new IllegalArgumentException(
                    "--from %s: say where its results are to be kept, with --page docs".formatted(from));
        }
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

    private void makePage(ResultsPage made, PrintWriter out) throws IOException {
        if (item != null) {
            throw new IllegalArgumentException(
                    "--page makes the page of all items: leave %s out, or --page".formatted(item));
        }
        if (from != null) {
            made.gather(from).forEach(out::println);
        }
        List<Path> written = made.write();
        written.forEach(file -> out.println("wrote " + file));
        if (written.isEmpty()) {
            out.println("the page is as it should be");
        }
        out.flush();
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
        StatusLine status = new StatusLine(err);
        Path place = folder != null
                ? folder
                : RunFolders.fresh("reproduce-" + chosen.name()).path();
        List<Device> devices = launch.devices(device, place, status);
        RunOptions run = new RunOptions(devices.getFirst(), new ProgressPrinter(status, ""), stop);
        Setting setting = new Setting(
                        scale, Optional.ofNullable(data), seeds != null ? seeds : defaultSeeds(chosen), place, run)
                .withRows(rows)
                .withChanges(changes)
                .withLaunching(launch.launching(chosen.name(), launch.threads(), devices, status));
        if (chosenSeeds.isEmpty()) {
            return setting;
        }
        if (seeds != null) {
            throw new IllegalArgumentException("--seeds %d is how many, --seed %s which: give one of the two"
                    .formatted(seeds, chosenSeeds.getFirst()));
        }
        return setting.withSeeds(
                chosenSeeds.stream().flatMap(ReproduceCommand::seeds).toList());
    }

    /** A seed, or a range of them. */
    private static Stream<Long> seeds(String text) {
        String[] ends = text.split("\\.\\.", -1);
        try {
            long first = Long.parseLong(ends[0]);
            long last = Long.parseLong(ends[ends.length - 1]);
            if (ends.length <= 2 && first <= last) {
                return LongStream.rangeClosed(first, last).boxed();
            }
        } catch (NumberFormatException _) {
            // told below
        }
        throw new IllegalArgumentException(
                "--seed %s is no seed: give numbers as 2,3, or a range as 4..6".formatted(text));
    }

    private int defaultSeeds(Item chosen) {
        return switch (scale) {
            case SMALL -> 1;
            case FULL -> chosen.seeds();
        };
    }

    /** What it takes to do it again, defaults written out; where the data lay is nobody else's concern. */
    private String command(Item chosen, Setting setting) {
        List<String> words = new ArrayList<>(List.of("espalier reproduce", chosen.name()));
        if (setting.data().isPresent()) {
            words.add("--data DIR");
        }
        words.add("--scale " + setting.scale());
        words.add("--device " + setting.run().device());
        words.add(setting.seedOption());
        if (!setting.rows().isEmpty()) {
            words.add("--rows " + String.join(",", setting.rows()));
        }
        setting.changes().forEach(change -> words.add("--set " + change));
        return String.join(" ", words);
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
                "%nIn %.1f seconds. Look at %s; the numbers are in %s%s%n",
                done.seconds(),
                done.page(),
                done.json(),
                done.item().trains() ? ", the trainings in " + done.trainings() : "");
        out.flush();
    }
}
