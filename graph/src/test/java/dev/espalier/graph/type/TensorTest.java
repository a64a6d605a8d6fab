package dev.espalier.graph.type;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TensorTest {
    @ParameterizedTest
    @EnumSource
    void everyTypeKeepsTheNumbersThatFitIt(DataType type) {
        long[] numbers = type == DataType.BOOL
                ? new long[] {0, 1}
                : type.name().startsWith("U") ? new long[] {0, 1, 127, 200} : new long[] {0, 1, -1, 127, -128};
        Tensor tensor = Tensor.of(numbers).cast(type);
        assertArrayEquals(numbers, tensor.toLongs());
        assertEquals(numbers.length * (long) type.bytes(), tensor.data().byteSize());
        assertArrayEquals(
                numbers, tensor.cast(DataType.FLOAT64).cast(DataType.INT64).toLongs());
    }

    @Test
    void contentsAreMadeOnceAndNotBeforeSomebodyAsks() {
        Tensor numbers = Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3);
        int[] made = {0};
        Tensor later = Tensor.later(DataType.FLOAT32, new long[] {2, 3}, () -> {
            made[0]++;
            return numbers.data();
        });
        assertEquals(numbers.toString(), later.toString());
        assertEquals(6, later.size());
        assertEquals(0, made[0]);
        assertTrue(later.sameAs(numbers));
        assertEquals(5, later.reshape(6).getDouble(4));
        assertEquals(1, made[0]);
        Tensor wrong = Tensor.later(DataType.FLOAT64, new long[] {2, 3}, numbers::data);
        assertThrows(IllegalArgumentException.class, wrong::data);
    }

    @Test
    void someNumbersInARowAreReadAsAllOfThemAre() {
        for (DataType type : new DataType[] {DataType.FLOAT32, DataType.FLOAT64, DataType.INT8}) {
            Tensor numbers = Tensor.of(new long[] {1, -2, 3, 4, 5}).cast(type);
            float[] some = new float[3];
            numbers.read(1, some);
            assertArrayEquals(new float[] {-2, 3, 4}, some);
            assertThrows(IndexOutOfBoundsException.class, () -> numbers.read(3, some));
        }
    }

    @Test
    void bfloat16RoundsTiesToEven() {
        double step = 1.0 / 128;
        Tensor rounded = Tensor.compute(
                DataType.BFLOAT16, new long[] {4}, i -> i == 3 ? Double.NaN : 1 + (0.5 + i * 0.5) * step);
        assertEquals(1, rounded.getDouble(0));
        assertEquals(1 + step, rounded.getDouble(1));
        assertEquals(1 + 2 * step, rounded.getDouble(2));
        assertTrue(Double.isNaN(rounded.getDouble(3)));
    }

    @Test
    void largeUnsignedNumbersAreNotNegative() {
        assertEquals(0x1p64, Tensor.of(new long[] {-1}).cast(DataType.UINT64).getDouble(0));
        assertEquals(
                0x1p63,
                Tensor.of(new long[] {Long.MIN_VALUE}).cast(DataType.UINT64).getDouble(0));
    }

    @Test
    void sizesThatDoNotFitAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> Tensor.of(new float[3], 2, 2));
        assertThrows(
                IllegalArgumentException.class, () -> Tensor.of(new float[4]).reshape(3));
        assertThrows(IllegalArgumentException.class, () -> Tensor.size(-1, 2));
        assertThrows(IllegalArgumentException.class, () -> Tensor.size(1L << 40, 1L << 40));
    }

    @Test
    void sameMeansTypeShapeAndBits() {
        Tensor tensor = Tensor.of(new float[] {1, 2, 3, 4}, 2, 2);
        assertTrue(tensor.sameAs(Tensor.of(new float[] {1, 2, 3, 4}, 2, 2)));
        assertFalse(tensor.sameAs(tensor.reshape(4)));
        assertFalse(tensor.sameAs(tensor.cast(DataType.FLOAT64)));
        assertFalse(tensor.sameAs(Tensor.of(new float[] {1, 2, 3, 5}, 2, 2)));
    }

    @Test
    void nobodyCanWriteToIt() {
        assertTrue(Tensor.of(new float[] {1}).data().isReadOnly());
    }
}
