package dev.espalier.torture.number;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class NumberCampaignTest {
    @Test
    void aFewGroupsAreWhatDoublePrecisionSays(@TempDir Path folder) throws IOException, InterruptedException {
        Effort effort = new Effort(Effort.Limits.ofCases(12, 7), folder, new PrintWriter(Writer.nullWriter()));
        Figures figures = new NumberCampaign().run(effort);
        assertTrue(figures.sound(), () -> String.join("\n", figures.told()));
        Map<String, Double> numbers = figures.numbers();
        for (String way :
                new String[] {"lasso, zeroed", "lasso, shrunk", "scad, zeroed", "scad, shrunk", "scad, untouched"}) {
            assertTrue(numbers.getOrDefault(way + ": groups", 0.0) > 10, numbers::toString);
        }
    }
}
