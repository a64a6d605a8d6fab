package dev.espalier.core.tensor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Views write through, round to their type, and read in row-major order of their shape. */
class TensorViewTest {

    @Test
    void arraysAreWrittenThrough() {
        float[] floats = {1, 2, 3};
        double[] doubles = {1, 2, 3};
        TensorView.of(floats).set(1, 7);
        TensorView.of(doubles).set(2, 8);
        assertArrayEquals(new float[] {1, 7, 3}, floats);
        assertArrayEquals(new double[] {1, 2, 8}, doubles);
    }

    @Test
    void floatsAreRoundedToTheNearest() {
        TensorView view = TensorView.of(new float[1]);
        view.set(0, 0.1);
        assertEquals(0.1f, view.get(0));
        view.set(0, 1e-50);
        assertEquals(0, view.get(0));
    }

    @ParameterizedTest
    @EnumSource
    void nativeMemoryIsReadAsItIs(ElementType type) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(type.bytes() * 6 + 1).asSlice(1); // not aligned
            TensorView view = TensorView.of(memory, type, 2, 3);
            for (int i = 0; i < 6; i++) {
                view.set(i, i + 0.5);
            }
            for (int i = 0; i < 6; i++) {
                assertEquals(i + 0.5, view.get(i));
            }
            assertEquals(type, view.type());
            assertEquals(memory, view.segment());
            assertEquals(type == ElementType.FLOAT32 ? 4 : 8, type.bytes());
        }
    }

    @Test
    void aTransposedViewReadsColumns() {
        double[] memory = {1, 2, 3, 4, 5, 6}; // two rows of three
        TensorView transposed =
                TensorView.of(MemorySegment.ofArray(memory), ElementType.FLOAT64, new long[] {3, 2}, new long[] {1, 3});
        double[] expected = {1, 4, 2, 5, 3, 6};
        for (int i = 0; i < 6; i++) {
            assertEquals(expected[i], transposed.get(i));
        }
        transposed.set(1, 40);
        assertEquals(40, memory[3]);
        assertFalse(transposed.contiguous());
        assertTrue(TensorView.of(memory, 2, 3).contiguous());
    }

    @Test
    void gapsInMemoryAreSkipped() {
        float[] memory = {1, 2, 0, 3, 4, 0}; // two rows of two in a matrix of three columns
        TensorView view =
                TensorView.of(MemorySegment.ofArray(memory), ElementType.FLOAT32, new long[] {2, 2}, new long[] {3, 1});
        assertEquals(4, view.size());
        assertEquals(3, view.get(2));
        view.set(3, 9);
        assertArrayEquals(new float[] {1, 2, 0, 3, 9, 0}, memory);
    }

    @Test
    void shapesAndStrides() {
        TensorView view = TensorView.of(new float[24], 2, 3, 4);
        assertArrayEquals(new long[] {2, 3, 4}, view.shape());
        assertArrayEquals(new long[] {12, 4, 1}, view.strides());
        assertEquals(24, view.size());
        assertEquals("FLOAT32[2, 3, 4]", view.toString());
        view.shape()[0] = 9;
        view.strides()[0] = 9;
        assertArrayEquals(new long[] {2, 3, 4}, view.shape(), "a copy was handed out");
        assertArrayEquals(new long[] {12, 4, 1}, view.strides(), "a copy was handed out");
        long[] shape = {24};
        TensorView other = TensorView.of(new float[24], shape);
        shape[0] = 1;
        assertEquals(24, other.size());
        assertArrayEquals(new long[] {24}, other.shape(), "the caller's array was kept");
        assertEquals(0, TensorView.of(new float[0], 3, 0).size());
    }
}
