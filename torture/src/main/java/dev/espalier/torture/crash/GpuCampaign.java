package dev.espalier.torture.crash;

import dev.espalier.cli.ThisProgram;
import dev.espalier.core.step.StateFile;
import dev.espalier.engine.Device;
import dev.espalier.torture.Campaign;
import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import dev.espalier.torture.Folders;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * Trainings on a GPU that is lost, or has no memory left, at every {@link Moment} of theirs; and that share it with another process that holds
 * nearly all of its memory, or trains too. What cannot go on says so in words and leaves its checkpoints whole; in the end all files must
 * be those of a training that was left alone. There is one case at a time, however many jobs there are.
 */
public final class GpuCampaign implements Campaign {
    private static final long HANG_SECONDS = 300;
    private static final long LOOK_MILLIS = 1;

    /** What a training of this size does with; taken from it when its moment comes. */
    private static final long ENOUGH = 4L << 30;

    /** What of the GPU is told in our own words. */
    private static final List<String> WORDS = List.of("the GPU has no memory left (", "the GPU was lost (");

    /** Of the effort that is under way. */
    private Figures figures = new Figures();

    private final ReentrantLock gpu = new ReentrantLock();
    private final Map<Victim, Delivered> wholes = new HashMap<>();

    /** Made by the service loader. */
    public GpuCampaign() {}

    /** What happens to a training. */
    private enum Trouble {
        LOST,
        FULL,
        CROWDED,
        SHARED;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public String name() {
        return "gpu";
    }

    @Override
    public String description() {
        return "a GPU that is lost, full or shared while it trains; what goes on from there must end in the same files";
    }

    @Override
    public Figures run(Effort effort) throws IOException, InterruptedException {
        figures = effort.figures();
        Optional<String> reason = Device.gpu(0).whyNotTrained();
        if (reason.isPresent()) {
            effort.say("nothing is tried here: " + reason.get());
            return figures;
        }
        Saboteur.prepare();
        Path folder = Files.createTempDirectory("espalier-gpu");
        List<Victim> victims = Victim.all().stream()
                .filter(victim -> victim.begin().getFirst().equals("train"))
                .map(victim -> victim.with("--device", "gpu"))
                .toList();
        List<Trouble> troubles = List.copyOf(EnumSet.allOf(Trouble.class));
        List<Moment> moments = List.copyOf(EnumSet.allOf(Moment.class));
        try {
            effort.forEach((number, random) -> {
                gpu.lockInterruptibly();
                try {
                    // All moments of all troubles are over after so many cases as there are of both.
                    Trouble trouble = troubles.get(Math.toIntExact(number % troubles.size()));
                    Moment moment = moments.get(Math.toIntExact(number / troubles.size() % moments.size()));
                    Victim victim = victims.get(random.nextInt(victims.size()));
                    new Case(number, trouble, moment, victim, random, folder, effort).run();
                } finally {
                    gpu.unlock();
                }
            });
            return figures;
        } finally {
            Folders.delete(folder);
        }
    }

    /** A training, or two, and what happens to it. */
    private final class Case {
        private final Trouble trouble;
        private final Moment moment;
        private final Victim victim;
        private final RandomGenerator random;
        private final Path folder;
        private final Path place;
        private final Path kept;
        private final String what;

        Case(
                long number,
                Trouble trouble,
                Moment moment,
                Victim victim,
                RandomGenerator random,
                Path folder,
                Effort effort)
                throws IOException {
            this.trouble = trouble;
            this.moment = moment;
            this.victim = victim;
            this.random = random;
            this.folder = folder;
            this.place = folder.resolve("case-" + number);
            this.kept = effort.folder().resolve("case-" + number);
            this.what = "case %d, %s, %s%s: "
                    .formatted(
                            number,
                            victim.name(),
                            trouble.text(),
                            trouble == Trouble.LOST || trouble == Trouble.FULL ? " in " + moment : "");
        }

        void run() throws IOException, InterruptedException {
            Delivered whole = whole();
            Victim.prepare(place);
            Optional<String> problem = switch (trouble) {
                case LOST -> lose();
                case FULL -> fill();
                case CROWDED -> crowd();
                case SHARED -> share(whole);
            };
            problem = problem.isPresent() ? problem : goOn(whole);
            figures.add(trouble.text() + ": cases", 1);
            if (problem.isEmpty()) {
                figures.add("ended in the same files", 1);
                Folders.delete(place);
            } else {
                figures.fail(what + problem.get());
                Folders.delete(kept);
                Folders.move(place, kept);
            }
        }

        /** What the victim leaves if nothing happens to it. */
        private Delivered whole() throws IOException, InterruptedException {
            Delivered known = wholes.get(victim);
            if (known == null) {
                Path whole = folder.resolve("whole-" + victim.name());
                Victim.prepare(whole);
                int status = status(start(whole, command(victim.begin())));
                if (status != 0) {
                    throw new IOException("an undisturbed " + victim.name() + " fails: " + KillCampaign.said(whole));
                }
                known = Delivered.in(whole.resolve("run"));
                wholes.put(victim, known);
            }
            return known;
        }

        private Saboteur.Deed deed(boolean loses) {
            long most = switch (moment) {
                case START -> 10_000;
                case STEP -> 300; // there are many, one behind the other
                default -> 20;
            };
            return new Saboteur.Deed(moment, random.nextLong(most), loses, place.resolve("now"));
        }

        private Optional<String> lose() throws IOException, InterruptedException {
            Saboteur.Deed deed = deed(true);
            return judged(status(start(place, Saboteur.command(command(victim.begin()), deed))), deed);
        }

        private Optional<String> fill() throws IOException, InterruptedException {
            Saboteur.Deed deed = deed(false);
            try (Hoard hoard = Hoard.leaving(ENOUGH)) {
                Process process = start(place, Saboteur.command(command(victim.begin()), deed));
                while (process.isAlive() && Files.notExists(deed.sign())) {
                    Thread.sleep(LOOK_MILLIS);
                }
                hoard.fill();
                return judged(status(process), deed);
            }
        }

        /** From nothing at all to what is enough. */
        private Optional<String> crowd() throws IOException, InterruptedException {
            try (Hoard _ = Hoard.leaving(1L << random.nextInt(20, 32))) {
                int status = status(start(place, command(victim.begin())));
                figures.add("crowded: gone to the end all the same", status == 0 ? 1 : 0);
                return judge(status, said());
            }
        }

        private Optional<String> share(Delivered whole) throws IOException, InterruptedException {
            Path beside = folder.resolve("beside");
            Folders.delete(beside);
            Victim.prepare(beside);
            Process other = start(beside, command(victim.begin()));
            int status = status(start(place, command(victim.begin())));
            int its = status(other);
            if (status != 0 || its != 0) {
                return Optional.of("two trainings at once end with " + status + " and " + its + ": "
                        + KillCampaign.said(status != 0 ? place : beside));
            }
            return differences(whole, beside);
        }

        private Optional<String> judged(int status, Saboteur.Deed deed) throws IOException {
            List<String> said = said();
            Optional<String> failed = said.stream()
                    .filter(line -> line.startsWith("the saboteur failed"))
                    .findFirst();
            if (failed.isPresent() && trouble == Trouble.LOST) {
                return failed;
            }
            String name = trouble.text() + " in " + moment.name().toLowerCase(Locale.ROOT);
            figures.add(name + ": met", Files.exists(deed.sign()) ? 1 : 0);
            figures.add(name + ": gone to the end all the same", status == 0 ? 1 : 0);
            return judge(status, said);
        }

        private List<String> said() throws IOException {
            return Files.readAllLines(place.resolve("said.txt"));
        }

        /** In a process that nothing happens to, after a look at the checkpoints. */
        private Optional<String> goOn(Delivered whole) throws IOException, InterruptedException {
            Path checkpoints = place.resolve("run").resolve("checkpoints");
            if (Files.isDirectory(checkpoints)) {
                try (Stream<Path> files = Files.list(checkpoints)) {
                    for (Path file : files.filter(one -> one.toString().endsWith(".state"))
                            .toList()) {
                        if (!StateFile.isIntact(file)) {
                            return Optional.of(file.getFileName() + " is damaged");
                        }
                    }
                }
            }
            int status = status(start(place, command(KillCampaign.words(victim, place))));
            return status == 0 ? differences(whole, place) : Optional.of("going on fails: " + KillCampaign.said(place));
        }
    }

    private static Optional<String> differences(Delivered whole, Path place) throws IOException {
        List<String> differences = whole.differences(Delivered.in(place.resolve("run")));
        return differences.isEmpty() ? Optional.empty() : Optional.of("in the end " + String.join(", ", differences));
    }

    /**
     * What is wrong with the end of a process.
     *
     * @param status how it ended; 0 is well, whatever happened to the GPU
     * @param said its lines
     * @return what; empty if it says in our words what happened, and nothing else
     */
    static Optional<String> judge(int status, List<String> said) {
        if (status == 0) {
            return Optional.empty();
        }
        List<String> problems = new ArrayList<>();
        List<String> ours =
                said.stream().filter(line -> line.startsWith("espalier: ")).toList();
        if (ours.stream().noneMatch(line -> WORDS.stream().anyMatch(line::contains))) {
            problems.add("it does not say what happened to the GPU");
        }
        if (ours.stream().anyMatch(line -> line.contains("unexpected failure"))) {
            problems.add("it calls that unexpected");
        }
        if (said.stream().anyMatch(line -> line.startsWith("\tat "))) {
            problems.add("it shows a stack");
        }
        if (said.stream().anyMatch(line -> line.startsWith("terminate called") || line.contains("A fatal error"))) {
            problems.add("a library ended the process");
        }
        return problems.isEmpty()
                ? Optional.empty()
                : Optional.of(String.join(", ", problems) + " (status " + status + "): "
                        + String.join(" | ", said.subList(Math.max(0, said.size() - 6), said.size())));
    }

    private static List<String> command(List<String> words) {
        return ThisProgram.command(KillCampaign.QUICK, words);
    }

    private static Process start(Path place, List<String> command) throws IOException {
        return new ProcessBuilder(command)
                .directory(place.toFile())
                .redirectErrorStream(true)
                .redirectOutput(place.resolve("said.txt").toFile())
                .redirectInput(new File("/dev/null"))
                .start();
    }

    /** How a process ends; one that hangs is killed, and its status is not 0. */
    private static int status(Process process) throws InterruptedException {
        if (!process.waitFor(HANG_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
        return process.waitFor();
    }
}
