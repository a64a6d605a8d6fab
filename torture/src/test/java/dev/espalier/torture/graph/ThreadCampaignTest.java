package dev.espalier.torture.graph;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ThreadCampaignTest {
    @Test
    void threadsWithManyShapesGetWhatOneThreadGets(@TempDir Path folder) throws IOException, InterruptedException {
        Effort effort = new Effort(Effort.Limits.ofCases(1, 5), folder, new PrintWriter(Writer.nullWriter()));
        Figures figures = new ThreadCampaign(40).run(effort);
        assertTrue(figures.sound(), () -> String.join("\n", figures.told()));
        double passes = figures.numbers().getOrDefault("predictions", 0.0)
                + figures.numbers().getOrDefault("losses", 0.0);
        assertTrue(passes == 320, figures.numbers()::toString);
    }
}
