package dev.espalier.torture.crash;

import dev.espalier.cli.ThisProgram;
import dev.espalier.torture.Campaign;
import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import dev.espalier.torture.Folders;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * Processes that train are killed, by {@code kill -9}, at random moments: most of these after the first file was written, so that what is hit
 * is steps, evaluations, checkpoints and exports. Each is gone on with and killed again, some times over; in the end its files must be those
 * of one that was left alone.
 */
public final class KillCampaign implements Campaign {
    /** A JVM that has no time to optimize anything. */
    static final List<String> QUICK = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m");

    private static final int MOST_KILLS = 12;

    /** Longer than this nothing takes, on however busy a machine. */
    private static final long HANG_SECONDS = 900;

    private static final long LOOK_MILLIS = 5;

    /** Of the effort that is under way. */
    private Figures figures = new Figures();

    private final Map<Victim, Whole> wholes = new ConcurrentHashMap<>();

    /** A campaign. */
    public KillCampaign() {}

    @Override
    public String name() {
        return "kill";
    }

    @Override
    public String description() {
        return "kill -9 of processes that train, at random moments; what goes on from there must end in the same files";
    }

    /**
     * What an undisturbed victim left.
     *
     * @param files its files
     * @param millis how long it took from its first file to its end
     */
    private record Whole(Delivered files, long millis) {}

    @Override
    public Figures run(Effort effort) throws IOException, InterruptedException {
        figures = effort.figures();
        Path folder = Files.createTempDirectory("espalier-kill");
        List<Victim> victims = Victim.all();
        try {
            effort.forEach((number, random) -> {
                Victim victim = victims.get(Math.toIntExact(number % victims.size()));
                Whole whole = whole(victim, folder);
                Path place = folder.resolve("case-" + number);
                if (endure(victim, place, random, whole, "case " + number + ", " + victim.name() + ": ")) {
                    Folders.delete(place);
                } else {
                    Path kept = effort.folder().resolve("case-" + number);
                    Folders.delete(kept);
                    Folders.move(place, kept);
                }
            });
            return figures;
        } finally {
            Folders.delete(folder);
        }
    }

    private Whole whole(Victim victim, Path folder) throws IOException, InterruptedException {
        synchronized (wholes) {
            Whole known = wholes.get(victim);
            if (known == null) {
                Path place = folder.resolve("whole-" + victim.name());
                Victim.prepare(place);
                Process process = start(victim.begin(), place);
                awaitFirstFile(process, place);
                long begun = System.nanoTime();
                if (!process.waitFor(HANG_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                    throw new IOException("an undisturbed " + victim.name() + " fails: " + said(place));
                }
                known = new Whole(
                        Delivered.in(place.resolve("run")), TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
                wholes.put(victim, known);
            }
            return known;
        }
    }

    private boolean endure(Victim victim, Path place, RandomGenerator random, Whole whole, String what)
            throws IOException, InterruptedException {
        Victim.prepare(place);
        int most = random.nextInt(1, MOST_KILLS + 1);
        int kills = 0;
        boolean ended = false;
        while (kills < most && !ended) {
            Process process = start(words(victim, place), place);
            long wait;
            if (random.nextInt(5) == 0) {
                wait = random.nextLong(2 * whole.millis() + 1);
            } else {
                awaitFirstFile(process, place);
                wait = random.nextLong(whole.millis() + 1);
            }
            boolean over = process.waitFor(wait, TimeUnit.MILLISECONDS);
            if (over) {
                ended = process.exitValue() == 0;
                if (!ended) {
                    figures.fail(what + "going on fails after " + kills + " kills: " + said(place));
                    return false;
                }
            } else {
                kill(process, random);
                kills++;
                figures.add("kills", 1);
                figures.add("kills of " + victim.name(), 1);
                figures.add("trainings that were under way", victim.trainings());
            }
        }
        if (!ended) {
            Process last = start(words(victim, place), place);
            if (!last.waitFor(HANG_SECONDS, TimeUnit.SECONDS)) {
                last.destroyForcibly();
                figures.fail(what + "hangs after " + kills + " kills: " + said(place));
                return false;
            }
            if (last.exitValue() != 0) {
                figures.fail(what + "going on fails after " + kills + " kills: " + said(place));
                return false;
            }
        }
        List<String> differences = whole.files().differences(Delivered.in(place.resolve("run")));
        if (!differences.isEmpty()) {
            figures.fail(what + "after " + kills + " kills " + String.join(", ", differences));
            return false;
        }
        figures.add("ended in the same files", 1);
        return true;
    }

    /** The process, or one with all that it started; those that are left alone see their input end. */
    private static void kill(Process process, RandomGenerator random) throws InterruptedException {
        List<ProcessHandle> children = process.descendants().toList();
        process.destroyForcibly().waitFor();
        if (random.nextBoolean()) {
            children.forEach(ProcessHandle::destroyForcibly);
        }
    }

    /** What goes on with it, or begins it if there is nothing yet. */
    static List<String> words(Victim victim, Path place) throws IOException {
        Path run = place.resolve("run");
        if (Files.isDirectory(run)) {
            try (Stream<Path> left = Files.list(run)) {
                return left.findAny().isPresent() ? victim.resume() : victim.begin();
            }
        }
        return victim.begin();
    }

    private static Process start(List<String> words, Path place) throws IOException {
        return new ProcessBuilder(ThisProgram.command(QUICK, words))
                .directory(place.toFile())
                .redirectErrorStream(true)
                .redirectOutput(place.resolve("said.txt").toFile())
                .redirectInput(new File("/dev/null"))
                .start();
    }

    /** Waits until something is written that was not there when it was called. */
    private static void awaitFirstFile(Process process, Path place) throws IOException, InterruptedException {
        long before = newest(place);
        while (process.isAlive() && newest(place) == before) {
            Thread.sleep(LOOK_MILLIS);
        }
    }

    /** When the newest file of the run was written; 0 if there is none. */
    private static long newest(Path place) throws IOException {
        Path run = place.resolve("run");
        if (!Files.isDirectory(run)) {
            return 0;
        }
        long newest = 0;
        try (Stream<Path> files = Files.walk(run)) {
            for (Path file : files.toList()) {
                newest = Math.max(
                        newest,
                        Files.isRegularFile(file)
                                ? Files.getLastModifiedTime(file).to(TimeUnit.MICROSECONDS)
                                : 0);
            }
        } catch (NoSuchFileException | UncheckedIOException _) {
            return newest; // it is just being replaced
        }
        return newest;
    }

    /** The last lines of what was said. */
    static String said(Path place) throws IOException {
        List<String> lines = Files.readAllLines(place.resolve("said.txt"));
        return String.join(" | ", lines.subList(Math.max(0, lines.size() - 6), lines.size()));
    }
}
