package dev.espalier.graph.type;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class ShapeTest {
    @Test
    void broadcastingAlignsTheLastAxes() {
        assertEquals(Shape.of(2, 3, 4), Shape.of(3, 1).broadcast(Shape.of(2, 1, 4)));
        assertEquals(Shape.of("n", 4), Shape.of("n", 1).broadcast(Shape.of(4)));
        assertEquals(Shape.of(0, 4), Shape.of(0, 1).broadcast(Shape.of(1, 4)));
        assertEquals(Shape.of(7), Shape.of("n").broadcast(Shape.of(7)));
        assertEquals("[max(m, n)]", Shape.of("n").broadcast(Shape.of("m")).toString());
        assertEquals(Shape.of("m").broadcast(Shape.of("n")), Shape.of("n").broadcast(Shape.of("m")));
        assertEquals(Shape.of(5), Shape.SCALAR.broadcast(Shape.of(5)));
    }

    @Test
    void lengthsThatDoNotBroadcastAreNamed() {
        assertEquals(
                "shapes [2 × 3] and [4] do not broadcast: 3 and 4 differ and neither is 1",
                assertThrows(
                                IllegalArgumentException.class,
                                () -> Shape.of(2, 3).broadcast(Shape.of(4)))
                        .getMessage());
    }

    @Test
    void axesCountFromTheEndAndOneBeyondIsNamed() {
        assertEquals(Dimension.of(4), Shape.of(2, 3, 4).get(-1));
        assertEquals(Shape.of(2, "n", 4), Shape.of(2, 3, 4).with(-2, Dimension.symbol("n")));
        assertEquals(
                "axis 2 is out of range: it must be in [-2, 2) for a tensor of rank 2",
                assertThrows(
                                IllegalArgumentException.class,
                                () -> Shape.of(2, 3).get(2))
                        .getMessage());
    }

    @Test
    void sizeIsTheProduct() {
        assertEquals(Dimension.symbol("n").times(6), Shape.of(2, "n", 3).size());
        assertEquals(Dimension.ONE, Shape.SCALAR.size());
    }

    @Test
    void whatIsNoDimensionIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> Shape.of(2, 'x'));
    }
}
