package dev.espalier.torture.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A little of each campaign, so that it stays alive; the much is for a run by hand. */
@Timeout(600)
final class LoadCampaignsTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private Effort effort(long cases) {
        return new Effort(Effort.Limits.ofCases(cases, 1), folder, new PrintWriter(new StringWriter()));
    }

    @Test
    void aFewStepsAreSampled() throws IOException {
        Figures figures = new LongCampaign().run(effort(30));
        assertEquals(30, figures.numbers().get("steps"));
        assertTrue(figures.numbers().getOrDefault("samples", 0.0) >= 30, figures.numbers()::toString);
        assertEquals(List.of(), figures.told());
    }

    @Test
    void growthIsNoticed() throws IOException {
        Vitals vitals = new Vitals();
        List<byte[]> kept = new ArrayList<>();
        for (int i = 1; i <= 12; i++) {
            kept.add(new byte[1 << 20]);
            vitals.take(i);
        }
        double growth = vitals.growth(Vitals.Sample::heap);
        assertTrue(growth > 4 && growth < 8, growth + " MB, of six");
        assertTrue(vitals.early(Vitals.Sample::heap) > 4, "four are kept by then");
        assertEquals(12, kept.size());
    }

    @Test
    void commandsAtOnceSayWhatTheySayAlone() throws IOException, InterruptedException {
        Figures figures = new LoadCampaign(1, 9).run(effort(1));
        assertEquals(List.of(), figures.told());
        assertEquals(9, figures.numbers().get("commands"));
        assertEquals(1, figures.numbers().get("trainings"));
    }
}
