package dev.espalier.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

final class StepMeasurementTest {
    /** All loops, and the best of them: what no step can beat. */
    @Test
    void nothingBeatsTheFloor() {
        try (HostHome home = new HostHome(2)) {
            StepMeasurement measured = StepMeasurement.of(ModelShapes.linearLayers(4), home, 5, _ -> {});
            assertEquals(
                    List.of(MemoryLoop.values()),
                    List.copyOf(measured.gigabytesPerSecond().keySet()));
            assertTrue(
                    measured.gigabytesPerSecond().values().stream()
                            .allMatch(one -> one > 0 && one <= measured.bandwidth()),
                    measured::toString);
            assertEquals(measured.bandwidth(), measured.gigabytesPerSecond().get(measured.bestLoop()));
            assertEquals(
                    28.0 * measured.parameters() / measured.bandwidth() / 1e6, measured.floorMilliseconds(), 1e-12);
            // Loops and steps take turns: what else a busy machine does may meet the one and not the other.
            assertTrue(measured.adamwMilliseconds() > measured.floorMilliseconds() / 2, measured::toString);
        }
    }
}
