package dev.espalier.core.step;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.tensor.TensorView;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UniformIterateTest {
    private static final List<Parameter> PARAMETERS = List.of(new Parameter("a", 2), new Parameter("b", 1));

    /** Weights that tell their step. */
    private static Map<String, TensorView> weights(double step) {
        return Map.of("a", TensorView.of(new float[] {(float) step, (float) -step}), "b", TensorView.of(new float[] {
            (float) (10 * step)
        }));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 10})
    void everyStepIsKeptEquallyOften(int steps) {
        int runs = 20_000;
        int[] kept = new int[steps];
        for (int seed = 0; seed < runs; seed++) {
            UniformIterate uniform = new UniformIterate(PARAMETERS, seed);
            assertEquals(0, uniform.step());
            for (int step = 1; step <= steps; step++) {
                uniform.offer(weights(step));
            }
            kept[Math.toIntExact(uniform.step()) - 1]++;
        }
        double expected = (double) runs / steps;
        double chiSquare = Arrays.stream(kept)
                .mapToDouble(count -> (count - expected) * (count - expected) / expected)
                .sum();
        // Seeds are fixed, so this is no game of chance: five standard deviations above the mean of chi-square.
        assertTrue(chiSquare <= steps - 1 + 5 * Math.sqrt(2.0 * (steps - 1)), () -> Arrays.toString(kept));
    }

    @Test
    void restoreWritesTheWeightsOfTheStepThatWasKept() {
        for (int seed = 0; seed < 50; seed++) {
            UniformIterate uniform = new UniformIterate(PARAMETERS, seed);
            for (int step = 1; step <= 9; step++) {
                uniform.offer(weights(step));
                Map<String, TensorView> restored = weights(-99);
                uniform.restore(restored);
                long kept = uniform.step();
                assertTrue(kept >= 1 && kept <= step);
                assertEquals(1.0 * kept, value(restored, "a", 0));
                assertEquals(-1.0 * kept, value(restored, "a", 1));
                assertEquals(10.0 * kept, value(restored, "b", 0));
            }
        }
    }

    private static double value(Map<String, TensorView> weights, String name, int index) {
        return Objects.requireNonNull(weights.get(name)).get(index);
    }

    @Test
    void weightsThatDoNotFitAreRefusedByName() {
        UniformIterate uniform = new UniformIterate(PARAMETERS, 1);
        TensorView two = TensorView.of(new float[2]);
        for (Map<String, TensorView> bad : List.of(Map.of("a", two), Map.of("a", two, "b", two))) {
            assertTrue(assertThrows(IllegalArgumentException.class, () -> uniform.offer(bad))
                    .toString()
                    .contains("weights of b"));
            assertTrue(assertThrows(IllegalArgumentException.class, () -> uniform.restore(bad))
                    .toString()
                    .contains("weights of b"));
        }
    }
}
