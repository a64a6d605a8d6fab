package dev.espalier.torture.graph;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.type.DataType;
import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TypeCampaignTest {
    @Test
    void operatorsGiveTheSameForEveryType(@TempDir Path folder) throws IOException, InterruptedException {
        Effort effort = new Effort(
                Effort.Limits.ofCases(TypeCampaign.TYPES.size(), 3), folder, new PrintWriter(Writer.nullWriter()));
        Figures figures = new TypeCampaign(0.5).run(effort);
        assertTrue(figures.sound(), () -> String.join("\n", figures.told()));
        Map<String, Double> numbers = figures.numbers();
        for (DataType type : TypeCampaign.TYPES) {
            String judged = type.toString().toLowerCase(Locale.ROOT) + ": judged by ONNX Runtime";
            assertTrue(numbers.getOrDefault(judged, 0.0) >= 15, numbers::toString);
        }
    }
}
