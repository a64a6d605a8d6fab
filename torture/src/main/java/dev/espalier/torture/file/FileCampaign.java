package dev.espalier.torture.file;

import dev.espalier.torture.Campaign;
import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import dev.espalier.torture.Folders;
import dev.espalier.torture.file.Reading.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.random.RandomGenerator;

/**
 * Changed files over every reader. Whichever made a reader do something new is kept and changed further; so a case depends on those
 * before it, and what fails is replayed from its file, which is kept, shortened, in the campaign's folder.
 */
public final class FileCampaign implements Campaign {
    /** One of so many files keeps its wrong sums. */
    private static final int UNMENDED = 8;

    /** What tells the reader from the rest in the name of a kept file. */
    private static final String BEHIND_NAME = "-";

    private final String part;

    /** All readers; called by the service loader. */
    public FileCampaign() {
        this("");
    }

    private FileCampaign(String part) {
        this.part = part;
    }

    @Override
    public String name() {
        return "files";
    }

    @Override
    public String description() {
        return "changed files over every reader: what is wrong with them is said, soon, without much memory, and no other file is touched";
    }

    @Override
    public Campaign only(String other) {
        return new FileCampaign(other);
    }

    @Override
    public Figures run(Effort effort) throws IOException, InterruptedException {
        Path work = emptied(effort.folder().resolve("work"));
        BlockingQueue<Job> jobs = new LinkedBlockingQueue<>();
        for (int i = 0; i < effort.jobs(); i++) {
            jobs.add(new Job(work.resolve("job-" + i), true));
        }
        Run run = new Run(effort, jobs.element());
        effort.forEach((number, random) -> {
            Job job = jobs.take();
            try {
                run.tryOne(job, random);
            } finally {
                jobs.add(job);
            }
        });
        jobs.forEach(Job::close);
        Folders.delete(work);
        return run.figures();
    }

    @Override
    public Figures replay(Path file, Effort effort) throws IOException, InterruptedException {
        Path work = emptied(effort.folder().resolve("work"));
        Figures figures = effort.figures();
        String name = String.valueOf(file.getFileName()).split(BEHIND_NAME, -1)[0];
        try (Job job = new Job(work, false)) {
            Reading reading = job.read(name, Files.readAllBytes(file));
            figures.set("milliseconds", reading.nanos() / 1e6);
            figures.set("bytes allocated", (double) reading.allocated());
            reading.failure().ifPresent(failure -> {
                effort.say(failure.details());
                figures.fail(name + ": " + failure.signature());
            });
        }
        Folders.delete(work);
        return figures;
    }

    private static Path emptied(Path folder) throws IOException {
        Folders.delete(folder);
        return Files.createDirectories(folder);
    }

    /** A campaign under way. */
    private final class Run {
        private final Effort effort;
        private final Figures figures;
        private final SequencedMap<String, Corpus> corpora = new LinkedHashMap<>();
        private final List<Tally> tallies = new ArrayList<>();

        /** Reads the sound files first: they must be. */
        Run(Effort effort, Job job) throws IOException, InterruptedException {
            this.effort = effort;
            this.figures = effort.figures();
            for (Target target : job.targets()) {
                String name = target.name();
                if (part.isEmpty() || part.equals(name)) {
                    Corpus corpus = new Corpus();
                    for (byte[] seed : job.seeds(name)) {
                        Reading reading = job.read(name, seed);
                        if (!reading.sound()) {
                            figures.fail(name + ": a sound file is refused"
                                    + reading.failure()
                                            .map(failure -> ": " + failure.details())
                                            .orElse(""));
                        }
                        corpus.plant(seed);
                        corpus.learn(seed, job.hits(), reading);
                    }
                    corpora.put(name, corpus);
                    tallies.add(new Tally(target));
                }
            }
            if (tallies.isEmpty()) {
                throw new IllegalArgumentException("there is no reader " + part + ": it is one of "
                        + job.targets().stream().map(Target::name).toList());
            }
        }

        void tryOne(Job job, RandomGenerator random) throws IOException, InterruptedException {
            Tally tally = any(random);
            Target target = job.target(tally.name());
            Corpus corpus = corpus(tally);
            byte[] changed = new Mutations(random, target).mutate(corpus.any(random), () -> corpus.any(random));
            byte[] file = random.nextInt(UNMENDED) == 0 ? changed : target.mend(changed);
            Reading reading = job.read(tally.name(), file);
            corpus.learn(file, job.hits(), reading);
            if (tally.add(file.length, reading)) {
                keep(job, tally.name(), file, reading.failure().orElseThrow());
            }
        }

        private Corpus corpus(Tally tally) {
            Corpus corpus = corpora.get(tally.name());
            if (corpus == null) {
                throw new IllegalStateException(tally.name());
            }
            return corpus;
        }

        /** Readers get their shares of the time, whatever a file costs them. */
        private Tally any(RandomGenerator random) {
            double[] bounds = new double[tallies.size()];
            double sum = 0;
            for (int i = 0; i < bounds.length; i++) {
                sum += tallies.get(i).share() / tallies.get(i).meanNanos();
                bounds[i] = sum;
            }
            int found = Arrays.binarySearch(bounds, random.nextDouble() * sum);
            return tallies.get(Math.min(bounds.length - 1, found < 0 ? -found - 1 : found));
        }

        private void keep(Job job, String name, byte[] file, Failure failure) throws IOException, InterruptedException {
            byte[] shortest =
                    failure.signature().startsWith("a hang") ? file : new Shortening(job, name, failure).of(file);
            String stem = name
                    + BEHIND_NAME
                    + failure.signature().replaceAll("[^A-Za-z0-9.]+", "_")
                    + BEHIND_NAME
                    + shortest.length;
            Path kept = effort.folder().resolve(stem + ".bin");
            Files.write(kept, shortest);
            Files.writeString(effort.folder().resolve(stem + ".txt"), failure.signature() + "\n" + failure.details());
            effort.say(name + ": " + failure.signature());
            figures.fail(name + ": " + failure.signature() + "; torture/run files --replay " + kept);
        }

        Figures figures() throws IOException {
            List<String> table = new ArrayList<>(List.of(Tally.head()));
            for (Map.Entry<String, Corpus> one : corpora.entrySet()) {
                Tally tally = tallies.stream()
                        .filter(each -> each.name().equals(one.getKey()))
                        .findFirst()
                        .orElseThrow();
                table.add(tally.row(one.getValue()));
                figures.set(tally.name() + ": files", (double) tally.cases());
                figures.set(tally.name() + ": read to the end", (double) tally.sound());
                figures.set(tally.name() + ": failed", (double) tally.failed());
                figures.set(tally.name() + ": worst milliseconds", tally.worstMilliseconds());
            }
            figures.set(
                    "files", (double) tallies.stream().mapToLong(Tally::cases).sum());
            Files.write(effort.folder().resolve("table.md"), table);
            return figures;
        }
    }
}
