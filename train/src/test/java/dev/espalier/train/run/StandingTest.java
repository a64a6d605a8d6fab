package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class StandingTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static void write(Path file) throws IOException {
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        Files.writeString(file, "");
    }

    private static void checkpoint(RunFolder run) throws IOException {
        write(run.checkpoints().resolve("step-0000000010.state"));
    }

    @Test
    void aRunIsNothingThenLostThenStoppedThenFinished() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("run"));
        assertEquals(Standing.NOTHING, Standing.of(run));
        Files.createDirectory(run.path());
        assertEquals(Standing.NOTHING, Standing.of(run));
        write(run.recipe());
        write(run.checkpoints().resolve("step-0000000010.state.tmp"));
        assertEquals(Standing.LOST, Standing.of(run));
        checkpoint(run);
        assertEquals(Standing.STOPPED, Standing.of(run));
        write(run.resultFile());
        assertEquals(Standing.FINISHED, Standing.of(run));
    }

    @Test
    void severalSeedsAreFinishedWhenAllAre() throws IOException {
        RunFolder run = new RunFolder(folder.resolve("run"));
        write(run.recipe());
        write(run.seed(1).recipe());
        assertEquals(Standing.LOST, Standing.of(run));
        write(run.seed(1).resultFile());
        write(run.seed(2).recipe());
        assertEquals(Standing.STOPPED, Standing.of(run), "the first need not be done again");
        checkpoint(run.seed(2));
        assertEquals(Standing.STOPPED, Standing.of(run));
        write(run.seed(2).resultFile());
        assertEquals(Standing.FINISHED, Standing.of(run));
    }

    @Test
    void aSweepIsWhatItsRunsAre() throws IOException {
        RunFolder sweep = new RunFolder(folder.resolve("sweep"));
        RunFolder weak = new RunFolder(sweep.path().resolve("weak"));
        RunFolder strong = new RunFolder(sweep.path().resolve("strong"));
        Files.createDirectories(weak.path());
        assertEquals(Standing.NOTHING, Standing.of(sweep));
        write(weak.recipe());
        assertEquals(Standing.LOST, Standing.of(sweep));
        write(weak.resultFile());
        write(strong.recipe());
        checkpoint(strong.seed(1));
        assertEquals(Standing.STOPPED, Standing.of(sweep));
        write(strong.seed(1).resultFile());
        assertEquals(Standing.FINISHED, Standing.of(sweep));
    }
}
