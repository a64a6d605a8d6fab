package dev.espalier.graph.prune;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SeededZerosTest {
    private static final Graph MODEL = Mlp.ofVectors(3, 10, List.of(40, 30), Weights.seeded(4));

    @Test
    void everyLayerLosesItsShare() {
        Graph zeroed = new SeededZeros(0.4, 1).in(MODEL);
        for (LayerGroups layer : ModelGroups.of(zeroed).layers()) {
            assertEquals((int) (0.4 * layer.groups().count()), layer.zeroGroups(zeroed), layer.name());
        }
    }

    @Test
    void theSeedDecidesWhichGo() {
        Graph once = new SeededZeros(0.4, 1).in(MODEL);
        Graph again = new SeededZeros(0.4, 1).in(MODEL);
        Graph other = new SeededZeros(0.4, 2).in(MODEL);
        boolean differs = false;
        for (LayerGroups layer : ModelGroups.of(MODEL).layers()) {
            assertArrayEquals(layer.zeros(once), layer.zeros(again));
            differs |= !Arrays.equals(layer.zeros(once), layer.zeros(other));
        }
        assertTrue(differs);
    }

    @Test
    void aLayerNeverLosesAll() {
        Graph zeroed = new SeededZeros(0.999, 1).in(MODEL);
        for (LayerGroups layer : ModelGroups.of(zeroed).layers()) {
            assertFalse(layer.zeroGroups(zeroed) == layer.groups().count(), layer.name());
        }
        assertThrows(IllegalArgumentException.class, () -> new SeededZeros(1, 1));
    }

    @Test
    void nothingIsAskedForNothing() {
        assertSame(MODEL, new SeededZeros(0, 1).in(MODEL));
    }
}
