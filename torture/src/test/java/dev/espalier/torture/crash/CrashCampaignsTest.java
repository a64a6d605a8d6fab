package dev.espalier.torture.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A few cases of each campaign, so that it stays alive; the many are for a run by hand. */
@Timeout(600)
final class CrashCampaignsTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private Effort effort(long cases, long seed) {
        return new Effort(Effort.Limits.ofCases(cases, seed), folder, new PrintWriter(new StringWriter()));
    }

    @Test
    void aDiskThatFailsCostsNothing() throws IOException, InterruptedException {
        Figures figures = new DiskCampaign().run(effort(20, 1));
        assertEquals(List.of(), figures.told());
        assertTrue(figures.numbers().getOrDefault("ended in the middle", 0.0) > 0, figures.numbers()::toString);
    }

    /** A fast machine may be through before its time has come: then it is tried again. */
    @Test
    void aKilledTrainingEndsInTheSameFiles() throws IOException, InterruptedException {
        double kills = 0;
        for (int seed = 1; seed <= 8 && kills == 0; seed++) {
            Figures figures = new KillCampaign().run(effort(1, seed));
            assertEquals(List.of(), figures.told());
            kills = figures.numbers().getOrDefault("kills", 0.0);
        }
        assertTrue(kills > 0, "nothing was killed in eight trainings");
    }
}
