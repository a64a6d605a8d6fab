package dev.espalier.torture.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FileCampaignTest {
    private static final String CARELESS = "careless";
    private static final int CASES = 60;

    @TempDir
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private Job job;

    @BeforeEach
    void begin() {
        // Not the usual limit: the machine may be busy with something else.
        job = new Job(folder.resolve("job"), false, Duration.ofMinutes(5));
    }

    @AfterEach
    void end() {
        job.close();
    }

    private Effort effort(long cases) {
        return new Effort(
                Effort.Limits.ofCases(cases, 1), folder.resolve("out"), new PrintWriter(new StringWriter(), true));
    }

    private String failure(String file) throws Exception {
        return job.read(CARELESS, file.getBytes(StandardCharsets.UTF_8))
                .failure()
                .map(Reading.Failure::signature)
                .orElse("");
    }

    /** Every reader withstands some changes of its sound files, fewer where they take long; a campaign by hand makes more. */
    @Test
    void changedFilesAreReadOrRefused() throws Exception {
        for (Target target : job.targets()) {
            if (target.name().equals(CARELESS)) {
                continue;
            }
            List<byte[]> seeds = job.seeds(target.name());
            for (byte[] seed : seeds) {
                Reading reading = job.read(target.name(), seed);
                assertTrue(reading.sound(), () -> "a sound file of " + target.name() + " is refused: " + reading);
            }
            for (int number = 0; number < CASES / target.share(); number++) {
                RandomGenerator random = new SplittableRandom(number);
                byte[] changed = new Mutations(random, target)
                        .mutate(seeds.get(random.nextInt(seeds.size())), () -> seeds.get(random.nextInt(seeds.size())));
                Reading reading = job.read(target.name(), target.mend(changed));
                String replay = target.name() + ", case " + number;
                assertTrue(
                        reading.failure().isEmpty(),
                        () -> replay + ": " + reading.failure().orElseThrow());
            }
        }
    }

    @Test
    void whatMustNotBeIsSeen() throws Exception {
        assertEquals("", failure("fine"));
        assertEquals("", failure("x"));
        assertTrue(failure("null").startsWith("NullPointerException at CarelessTarget.read:"));
        assertTrue(failure("mean").startsWith("IOException at CarelessTarget.read:"));
        assertEquals("a file outside", failure("file"));
        assertEquals("", failure("fine"));
        assertEquals("too much memory", failure("lots"));
    }

    @Test
    void aHangIsSeenAndLeftBehind() throws Exception {
        job.close();
        job = new Job(folder.resolve("impatient"), false, Duration.ofSeconds(3));
        assertEquals("a hang", failure("hang"));
        assertEquals("", failure("fine"));
    }

    /** Four bytes in their places are one of four thousand million: counters find them one by one. */
    @Test
    void countersLeadToWhatChanceWouldNotFind() throws Exception {
        Figures figures = new FileCampaign().only(CARELESS).run(effort(20_000));
        assertTrue(
                figures.told().stream().anyMatch(told -> told.contains("IllegalStateException")),
                () -> figures.numbers().toString());
        Path kept;
        try (Stream<Path> files = Files.list(folder.resolve("out"))) {
            kept = files.filter(file -> file.toString().matches(".*IllegalState.*\\.bin"))
                    .findFirst()
                    .orElseThrow();
        }
        assertEquals("deep", Files.readString(kept));
        assertFalse(new FileCampaign().replay(kept, effort(1)).sound());
    }

    @Test
    void aReaderThatIsNotThereIsRefused() {
        assertTrue(String.valueOf(assertThrows(
                                IllegalArgumentException.class,
                                () -> new FileCampaign().only("nothing").run(effort(1)))
                        .getMessage())
                .contains("it is one of"));
    }
}
