package dev.espalier.core.group;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.NestedGroups.Inner.Listed;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Groups against obvious loops. */
class GroupsTest {

    private static TensorView counting(int size, long... shape) {
        return TensorView.of(
                DoubleStream.iterate(0, value -> value + 1).limit(size).toArray(), shape);
    }

    @ParameterizedTest
    @CsvSource({"1, 1, 1", "1, 5, 1", "1, 1, 7", "6, 1, 1", "1, 4, 3", "3, 4, 1", "3, 4, 5", "2, 7, 9"})
    void axisGroupsAreATripleLoop(int outer, int count, int inner) {
        AxisGroups groups = new AxisGroups(outer, count, inner);
        TensorView tensor = counting(outer * count * inner);
        double[][] expected = new double[count][outer * inner];
        int next = 0;
        for (int a = 0; a < outer; a++) {
            for (int g = 0; g < count; g++) {
                for (int b = 0; b < inner; b++) {
                    expected[g][a * inner + b] = next++;
                }
            }
        }
        assertEquals(count, groups.count());
        assertEquals(List.of(tensor.size()), groups.tensorSizes());
        for (int g = 0; g < count; g++) {
            assertEquals(outer * inner, groups.size(g));
            assertArrayEquals(expected[g], groups.gather(g, List.of(tensor)));
        }
    }

    /** The same weights in column-major memory: the groups see the shape, not the memory. */
    @ParameterizedTest
    @CsvSource({"3, 4, 5", "1, 6, 2", "7, 1, 3", "2, 2, 2"})
    void stridedTensorsHaveTheSameGroups(int outer, int count, int inner) {
        TensorView rowMajor = counting(outer * count * inner, outer, count, inner);
        float[] memory = new float[outer * count * inner];
        TensorView columnMajor = TensorView.of(
                MemorySegment.ofArray(memory), ElementType.FLOAT32, new long[] {outer, count, inner}, new long[] {
                    1, outer, (long) outer * count
                });
        for (long index = 0; index < rowMajor.size(); index++) {
            columnMajor.set(index, rowMajor.get(index));
        }
        for (int axis = 0; axis < 3; axis++) {
            AxisGroups groups = AxisGroups.along(axis, outer, count, inner);
            for (int g = 0; g < groups.count(); g++) {
                assertArrayEquals(groups.gather(g, List.of(rowMajor)), groups.gather(g, List.of(columnMajor)));
            }
        }
        // In memory, group g of the middle axis is the block of columns (·, g, b).
        double[] group = new AxisGroups(outer, count, inner).gather(count - 1, List.of(columnMajor));
        for (int a = 0; a < outer; a++) {
            for (int b = 0; b < inner; b++) {
                assertEquals(memory[a + outer * (count - 1) + outer * count * b], group[a * inner + b]);
            }
        }
    }

    @Test
    void theTableOfCommonLayers() {
        assertEquals(new AxisGroups(8, 3, 25), AxisGroups.along(1, 8, 3, 5, 5), "input channels of a convolution");
        assertEquals(new AxisGroups(1, 8, 75), AxisGroups.along(0, 8, 3, 5, 5), "filters of a convolution");
        assertEquals(new AxisGroups(4, 6, 1), AxisGroups.along(1, 4, 6), "inputs of a linear layer");
        assertEquals(new AxisGroups(1, 4, 6), AxisGroups.along(0, 4, 6), "neurons of a linear layer");
        assertEquals(new AxisGroups(1, 24, 1), AxisGroups.single(4, 6), "single weights");
        assertEquals(new AxisGroups(1, 1, 1), AxisGroups.single(), "a scalar");
    }

    @Test
    void jointGroupsAreTheUnionOfTheirParts() {
        // Query, key and value of one input dimension; the value has other outputs.
        JointGroups groups = new JointGroups(
                List.of(AxisGroups.along(1, 2, 3), AxisGroups.along(1, 2, 3), AxisGroups.along(1, 4, 3)));
        List<TensorView> tensors = List.of(
                TensorView.of(new double[] {1, 2, 3, 4, 5, 6}),
                TensorView.of(new float[] {11, 12, 13, 14, 15, 16}),
                TensorView.of(new double[] {21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}));
        assertEquals(3, groups.count());
        assertEquals(List.of(6L, 6L, 12L), groups.tensorSizes());
        assertEquals(8, groups.size(1));
        assertArrayEquals(new double[] {2, 5, 12, 15, 22, 25, 28, 31}, groups.gather(1, tensors));
    }

    @Test
    void indexGroupsAreTheirLists() {
        IndexGroups groups = new IndexGroups(6, List.of(List.of(5L, 0L), List.of(3L)));
        TensorView tensor = counting(6, 2, 3);
        assertEquals(2, groups.count());
        assertEquals(2, groups.size(0));
        assertEquals(1, groups.size(1));
        assertEquals(List.of(6L), groups.tensorSizes());
        assertArrayEquals(new double[] {5, 0}, groups.gather(0, List.of(tensor)));
        assertArrayEquals(new double[] {3}, groups.gather(1, List.of(tensor)));
    }

    @Test
    void indexGroupsKeepNoHoldOfTheCallersLists() {
        List<Long> members = new ArrayList<>(List.of(0L, 1L));
        IndexGroups groups = new IndexGroups(6, new ArrayList<>(List.of(members)));
        members.add(2L);
        assertEquals(2, groups.size(0));
    }

    static Stream<Groups> allGroups() {
        return Stream.of(
                new AxisGroups(3, 4, 5),
                AxisGroups.single(7),
                new JointGroups(List.of(new AxisGroups(2, 3, 1), new AxisGroups(1, 3, 4))),
                new IndexGroups(9, List.of(List.of(8L, 2L, 4L), List.of(0L), List.of(7L, 1L))),
                NestedGroups.ofParts(new JointGroups(List.of(new AxisGroups(2, 3, 1), new AxisGroups(1, 3, 4)))),
                NestedGroups.of(new AxisGroups(3, 4, 5), AxisGroups.single(60)));
    }

    @Test
    void partsAreTheInnerGroupsOfJointGroups() {
        NestedGroups nested =
                NestedGroups.ofParts(new JointGroups(List.of(new AxisGroups(2, 3, 1), new AxisGroups(1, 3, 4))));
        for (int group = 0; group < 3; group++) {
            int[] owners = nested.owners(group);
            int[] next = {0};
            nested.forEach(group, (tensor, index) -> assertEquals(tensor, owners[next[0]++]));
            assertEquals(owners.length, next[0]);
        }
    }

    /** Kernels within input channels: a weight of filter a and channel g is in the kernel (a, g). */
    @Test
    void innerGroupsAreNumberedWithinTheirOuterGroup() {
        NestedGroups nested = NestedGroups.of(new AxisGroups(3, 4, 5), new AxisGroups(1, 12, 5));
        for (int group = 0; group < 4; group++) {
            assertArrayEquals(new int[] {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2}, nested.owners(group));
        }
        NestedGroups partly =
                NestedGroups.of(new AxisGroups(1, 2, 3), new IndexGroups(6, List.of(List.of(4L, 3L), List.of(2L))));
        assertArrayEquals(new int[] {-1, -1, 0}, partly.owners(0));
        assertArrayEquals(new int[] {0, 0, -1}, partly.owners(1));
    }

    @Test
    void groupsThatDoNotNestAreRefused() {
        AxisGroups outer = new AxisGroups(3, 4, 5);
        assertRefused(() -> NestedGroups.of(outer, new AxisGroups(1, 3, 20)), "must nest");
        assertRefused(
                () -> NestedGroups.of(new IndexGroups(4, List.of(List.of(0L, 1L))), AxisGroups.along(0, 2, 2)),
                "inner group 1 has 2 weights but only 0");
        assertRefused(() -> NestedGroups.of(outer, AxisGroups.single(61)), "[60]", "[61]");
        NestedGroups nested = NestedGroups.of(outer, AxisGroups.single(60));
        assertRefused(() -> NestedGroups.of(nested, AxisGroups.single(60)), "two levels");
        assertRefused(() -> new NestedGroups(outer, new NestedGroups.Inner.Parts()), "has no parts");
        IndexGroups pair = new IndexGroups(2, List.of(List.of(0L, 1L)));
        assertRefused(() -> new NestedGroups(pair, new Listed(List.of(List.of(0, 2)))), "numbered 0, 1");
        assertRefused(() -> new NestedGroups(pair, new Listed(List.of(List.of(0)))), "owners of group 0 has 1");
    }

    private static void assertRefused(Executable call, String... fragments) {
        String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, call).getMessage());
        for (String fragment : fragments) {
            assertTrue(message.contains(fragment), message);
        }
    }

    private static List<TensorView> tensors(Groups groups, double value) {
        return groups.tensorSizes().stream()
                .map(size -> TensorView.of(
                        DoubleStream.generate(() -> value).limit(size).toArray()))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("allGroups")
    void groupsAreDisjointAndAsLargeAsTheySay(Groups groups) {
        Set<String> seen = new HashSet<>();
        for (int group = 0; group < groups.count(); group++) {
            int[] size = {0};
            groups.forEach(group, (tensor, index) -> {
                assertTrue(index >= 0 && index < groups.tensorSizes().get(tensor), () -> tensor + "/" + index);
                assertTrue(seen.add(tensor + "/" + index), () -> "twice: " + tensor + "/" + index);
                size[0]++;
            });
            assertEquals(size[0], groups.size(group));
        }
    }

    @ParameterizedTest
    @MethodSource("allGroups")
    void scatterUndoesGatherAndTouchesNothingElse(Groups groups) {
        List<TensorView> tensors = tensors(groups, -1);
        for (int group = 0; group < groups.count(); group++) {
            int base = 100 * group;
            double[] values = LongStream.range(0, groups.size(group))
                    .mapToDouble(place -> base + place)
                    .toArray();
            groups.scatter(group, values, tensors);
        }
        int written = 0;
        for (int group = 0; group < groups.count(); group++) {
            double[] values = groups.gather(group, tensors);
            for (int place = 0; place < values.length; place++) {
                assertEquals(100 * group + place, values[place]);
            }
            written += values.length;
        }
        long untouched = tensors.stream()
                .flatMapToDouble(tensor -> LongStream.range(0, tensor.size()).mapToDouble(tensor::get))
                .filter(value -> value == -1)
                .count();
        assertEquals(groups.tensorSizes().stream().mapToLong(size -> size).sum() - written, untouched);
    }
}
