package dev.espalier.torture;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.espalier.core.check.Writing;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs campaigns, prints their figures as a table, and keeps them as JSON. */
@Command(
        name = "torture/run",
        description = "Tries over and over what Espalier must withstand, and counts what it does not.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpAutoWidth = true,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:nothing failed", "1:something did", "2:a wrong option or argument"})
public final class Main implements Callable<Integer> {
    private static final String ALL = "all";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            paramLabel = "WHAT",
            completionCandidates = Names.class,
            description = "The campaign, or all of them, one after the other: ${COMPLETION-CANDIDATES}.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private String what;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            description = "How long each campaign goes on; 1 unless --cases says how many cases.")
    private double minutes;

    @Option(names = "--cases", paramLabel = "N", description = "How many cases each campaign tries.")
    private long cases;

    @Option(
            names = "--seed",
            paramLabel = "S",
            description = "What all that is random depends on; the date if left out.")
    private long seed = Instant.now().getEpochSecond() / 86_400;

    @Option(
            names = "--first",
            paramLabel = "N",
            description = "Number of the first case: with --cases 1, the one that failed.")
    private long first;

    @Option(
            names = "--only",
            paramLabel = "PART",
            description = "The part of a campaign that is tried; all if left out.")
    private String part = "";

    @Option(
            names = "--replay",
            paramLabel = "FILE",
            description = "Tries what a file holds that a campaign left, and nothing else.")
    private @Nullable Path replayed;

    @Option(names = "--jobs", paramLabel = "N", description = "How many threads work on it (${DEFAULT-VALUE}).")
    private int jobs = 1;

    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            description = "Where WHAT.json and what replays failures are left (${DEFAULT-VALUE}).")
    private Path folder = Path.of("runs", "torture");

    private Main() {}

    /**
     * Runs campaigns, and ends the JVM.
     *
     * @param arguments what the user typed
     */
    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    /**
     * The program as {@link #main} runs it, for who does not want the JVM to end.
     *
     * @return the program, ready to execute
     */
    static CommandLine commandLine() {
        return new CommandLine(new Main());
    }

    /** All campaigns, in the order in which the service's file has them. */
    static List<Campaign> campaigns() {
        return ServiceLoader.load(Campaign.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
    }

    /** What the first argument can be. */
    static final class Names implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Stream.concat(campaigns().stream().map(Campaign::name), Stream.of(ALL))
                    .iterator();
        }
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        List<Campaign> chosen = campaigns().stream()
                .filter(campaign -> what.equals(ALL) || what.equals(campaign.name()))
                .toList();
        if (chosen.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "there is no campaign " + what + ": it is one of " + String.join(", ", new Names()));
        }
        Effort.Limits limits = limits();
        boolean sound = true;
        for (Campaign campaign : chosen) {
            sound &= run(part.isEmpty() ? campaign : campaign.only(part), limits);
        }
        return sound ? 0 : 1;
    }

    private Effort.Limits limits() {
        double wanted =
                minutes != 0 ? minutes : cases != 0 ? Duration.ofDays(365).toMinutes() : 1;
        try {
            return new Effort.Limits(
                    first,
                    cases != 0 ? cases : Long.MAX_VALUE,
                    Duration.ofMillis(Math.round(wanted * 60_000)),
                    seed,
                    jobs);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }

    private boolean run(Campaign campaign, Effort.Limits limits) throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        out.printf("%s: %s%n", campaign.name(), campaign.description());
        Map<String, Object> circumstances = circumstances(campaign);
        long begun = System.nanoTime();
        // A campaign that ends before its time, with its machine or by a mistake of its own, leaves what it has
        // counted.
        Effort effort = new Effort(
                limits,
                folder.resolve(campaign.name()),
                spec.commandLine().getErr(),
                Effort.NOW_AND_THEN,
                soFar -> keep(circumstances, soFar, (System.nanoTime() - begun) / 60e9, false));
        Figures figures = replayed == null ? campaign.run(effort) : campaign.replay(replayed, effort);
        double took = (System.nanoTime() - begun) / 60e9;
        figures.told().forEach(failure -> out.println("FAILED " + failure));
        print(figures.numbers(), out);
        out.printf(
                Locale.ROOT, "%s after %.1f minutes, seed %d%n", figures.sound() ? "sound" : "NOT sound", took, seed);
        out.flush();
        keep(circumstances, figures, took, true);
        return figures.sound();
    }

    private static void print(Map<String, Double> numbers, PrintWriter out) {
        int width = numbers.keySet().stream().mapToInt(String::length).max().orElseThrow();
        numbers.forEach((name, number) -> out.printf("  %-" + width + "s  %14s%n", name, text(number)));
    }

    private static String text(double number) {
        return number == Math.rint(number) && Math.abs(number) < 1e15
                ? String.format(Locale.ROOT, "%,d", (long) number)
                : String.format(Locale.ROOT, "%.4g", number);
    }

    /** Which campaign this is, where and of what. */
    private Map<String, Object> circumstances(Campaign campaign) throws IOException {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("campaign", campaign.name());
        all.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        all.put("commit", commit());
        all.put("machine", machine());
        all.put("java", System.getProperty("java.vm.name") + " " + Runtime.version());
        all.put("seed", seed);
        return all;
    }

    private void keep(Map<String, Object> circumstances, Figures figures, double took, boolean finished) {
        Map<String, Object> all = new LinkedHashMap<>(circumstances);
        all.put("minutes", took);
        all.put("finished", finished);
        all.put("sound", figures.sound());
        all.put("figures", figures.numbers());
        all.put("failures", figures.told());
        try {
            Writing.folder(folder);
            Writing.whole(
                    folder.resolve(circumstances.get("campaign") + ".json"),
                    new ObjectMapper()
                            .enable(SerializationFeature.INDENT_OUTPUT)
                            .writeValueAsString(all));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String machine() throws IOException {
        Path cpu = Path.of("/proc/cpuinfo");
        String model = "";
        if (Files.isReadable(cpu)) {
            try (Stream<String> lines = Files.lines(cpu)) {
                model = lines.filter(line -> line.startsWith("model name"))
                        .map(line ->
                                ", " + line.substring(line.indexOf(':') + 1).strip())
                        .findFirst()
                        .orElse("");
            }
        }
        return System.getProperty("os.name") + " " + System.getProperty("os.arch") + ", "
                + Runtime.getRuntime().availableProcessors() + " processors" + model;
    }

    /** That of the checkout which this is started in. */
    private static String commit() throws IOException {
        try {
            Process git = new ProcessBuilder("git", "describe", "--always", "--dirty")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String answer = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return answer.isEmpty() ? "unknown" : answer;
        } catch (IOException e) {
            return "unknown";
        }
    }
}
