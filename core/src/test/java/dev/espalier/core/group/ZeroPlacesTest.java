package dev.espalier.core.group;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ZeroPlacesTest {
    private static double[] numbers(TensorView view) {
        double[] numbers = new double[(int) view.size()];
        Arrays.setAll(numbers, view::get);
        return numbers;
    }

    /** In row-major order, and across it. */
    private static List<TensorView> views(int rows, int columns) {
        double[] one = new double[rows * columns];
        double[] other = new double[rows * columns];
        Arrays.setAll(one, i -> i + 1);
        Arrays.setAll(other, i -> i + 1);
        return List.of(
                TensorView.of(one, rows, columns),
                TensorView.of(
                        MemorySegment.ofArray(other), ElementType.FLOAT64, new long[] {rows, columns}, new long[] {
                            1, rows
                        }));
    }

    @Test
    void whatIsClearedIsWhatTheFactorsMakeZero() {
        SplittableRandom random = new SplittableRandom(1);
        for (AxisGroups axis : List.of(
                new AxisGroups(3, 5, 4),
                new AxisGroups(1, 12, 5),
                new AxisGroups(60, 1, 1),
                AxisGroups.single(6, 10))) {
            for (TensorView view : views(6, 10)) {
                BitSet some = new BitSet();
                for (int place = 0; place < axis.count(); place++) {
                    some.set(place, random.nextInt(3) > 0);
                }
                ZeroPlaces zeros = new ZeroPlaces(axis, some);
                float[] factors = zeros.factors();
                double[] expected = numbers(view);
                for (int i = 0; i < expected.length; i++) {
                    expected[i] *= factors[i / axis.inner() % axis.count()];
                }
                zeros.clear(view);
                assertArrayEquals(expected, numbers(view), axis + " " + some);
                assertEquals(some, zeros.places());
            }
        }
    }

    @Test
    void placesAreThoseOfTheAxisAndStayAsTheyAre() {
        BitSet places = new BitSet();
        places.set(2);
        ZeroPlaces zeros = new ZeroPlaces(new AxisGroups(1, 3, 1), places);
        places.set(0);
        zeros.places().clear();
        assertArrayEquals(new float[] {1, 1, 0}, zeros.factors());
        assertThrows(IllegalArgumentException.class, () -> new ZeroPlaces(new AxisGroups(1, 2, 1), places));
    }
}
