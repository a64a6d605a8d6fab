package dev.espalier.graph.group;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class HeldZerosTest {

    /** How a tensor lies in memory. */
    private enum Memory {
        FLOATS {
            @Override
            TensorView tensor(long size) {
                return TensorView.of(new float[Math.toIntExact(size)]);
            }
        },
        DOUBLES {
            @Override
            TensorView tensor(long size) {
                return TensorView.of(new double[Math.toIntExact(size)]);
            }
        },
        EVERY_OTHER_FLOAT {
            @Override
            TensorView tensor(long size) {
                MemorySegment memory = MemorySegment.ofArray(new float[Math.toIntExact(2 * size)]);
                return TensorView.of(memory, ElementType.FLOAT32, new long[] {size}, new long[] {2});
            }
        };

        abstract TensorView tensor(long size);
    }

    private static final List<Groups> GROUPS = List.of(
            new AxisGroups(3, 8, 9),
            new AxisGroups(4, 11, 1),
            new AxisGroups(1, 5, 6),
            new AxisGroups(1, 9, 1),
            new AxisGroups(2, 1, 3),
            new JointGroups(List.of(new AxisGroups(3, 6, 1), new AxisGroups(2, 6, 4))),
            new IndexGroups(10, List.of(List.of(9L, 0L, 4L), List.of(1L), List.of(2L, 3L))),
            NestedGroups.ofParts(new JointGroups(List.of(new AxisGroups(3, 6, 1), new AxisGroups(2, 6, 4)))),
            NestedGroups.of(
                    new AxisGroups(2, 3, 4),
                    new IndexGroups(24, List.of(List.of(0L, 13L), List.of(4L, 5L), List.of(6L, 7L, 16L)))));

    static Stream<Arguments> cases() {
        return GROUPS.stream()
                .flatMap(groups -> Stream.of(Memory.values())
                        .flatMap(memory -> IntStream.range(0, 5).mapToObj(seed -> Arguments.of(groups, memory, seed))));
    }

    private static ModelGroups model(Groups groups) {
        List<GroupedWeight> weights = IntStream.range(0, groups.tensorSizes().size())
                .mapToObj(i -> new GroupedWeight("weight" + i, 1, List.of()))
                .toList();
        return new ModelGroups(List.of(new LayerGroups(weights, groups)));
    }

    private static Map<String, TensorView> weights(Groups groups, Memory memory) {
        Map<String, TensorView> weights = new HashMap<>();
        weights.put("bias", TensorView.of(new float[3]));
        for (int i = 0; i < groups.tensorSizes().size(); i++) {
            weights.put("weight" + i, memory.tensor(groups.tensorSizes().get(i)));
        }
        return weights;
    }

    private static List<TensorView> tensors(Groups groups, Map<String, TensorView> weights) {
        return IntStream.range(0, groups.tensorSizes().size())
                .mapToObj(i -> Objects.requireNonNull(weights.get("weight" + i)))
                .toList();
    }

    /** Fills everything with numbers that are not zero. */
    private static void fill(Map<String, TensorView> weights, SplittableRandom random) {
        for (TensorView view : weights.values()) {
            for (long i = 0; i < view.size(); i++) {
                view.set(i, random.nextDouble(0.5, 1));
            }
        }
    }

    private static double[] contents(Map<String, TensorView> weights) {
        List<Double> contents = new ArrayList<>();
        weights.keySet().stream()
                .sorted()
                .map(weights::get)
                .map(Objects::requireNonNull)
                .forEach(view -> {
                    for (long i = 0; i < view.size(); i++) {
                        contents.add(view.get(i));
                    }
                });
        return contents.stream().mapToDouble(Double::doubleValue).toArray();
    }

    /** The slow twin: {@link Groups#scatter} of zeros. */
    @ParameterizedTest
    @MethodSource("cases")
    void heldGroupsAndNoOthersBecomeZeroAgain(Groups groups, Memory memory, int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Map<String, TensorView> weights = weights(groups, memory);
        fill(weights, random);
        boolean[] zero = new boolean[groups.count()];
        int count = 0;
        for (int group = 0; group < zero.length; group++) {
            // All, none, or some of them.
            zero[group] = seed == 0 || (seed != 1 && random.nextBoolean());
            if (zero[group]) {
                count++;
                groups.scatter(group, new double[groups.size(group)], tensors(groups, weights));
            }
        }
        HeldZeros held = new HeldZeros(model(groups));
        held.apply(weights);
        assertEquals(0, held.count());
        held.hold(weights, 0);
        assertEquals(count, held.count());
        assertEquals(count == 0, held.isEmpty());

        fill(weights, random);
        Map<String, TensorView> expected = copy(groups, memory, weights);
        for (int group = 0; group < zero.length; group++) {
            if (zero[group]) {
                groups.scatter(group, new double[groups.size(group)], tensors(groups, expected));
            }
        }
        held.apply(weights);
        assertArrayEquals(contents(expected), contents(weights));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void aGroupWithASingleWeightThatIsNotZeroIsNotZero(Groups groups, Memory memory, int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Map<String, TensorView> weights = weights(groups, memory);
        LayerGroups layer = model(groups).layers().getFirst();
        int group = random.nextInt(groups.count());
        double[] values = new double[groups.size(group)];
        values[random.nextInt(values.length)] = Float.MIN_VALUE;
        groups.scatter(group, values, tensors(groups, weights));
        boolean[] expected = new boolean[groups.count()];
        for (int i = 0; i < expected.length; i++) {
            expected[i] = i != group;
        }
        assertArrayEquals(expected, layer.zeros(weights));
        values[random.nextInt(values.length)] = Double.NaN;
        groups.scatter(group, values, tensors(groups, weights));
        assertArrayEquals(expected, layer.zeros(weights));
    }

    static Stream<Arguments> trees() {
        return cases().filter(arguments -> arguments.get()[0] instanceof NestedGroups);
    }

    /** The slow twin: {@link Regularizer#threshold} on a copy says what is zero. */
    @ParameterizedTest
    @MethodSource("trees")
    void groupsWithinGroupsAreHeldAsAThresholdWouldClearThem(NestedGroups groups, Memory memory, int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Map<String, TensorView> weights = weights(groups, memory);
        fill(weights, random);
        for (int group = 0; group < groups.count(); group++) {
            int[] owners = groups.owners(group);
            double[] values = groups.gather(group, tensors(groups, weights));
            int smaller = group == 0 ? 0 : random.nextInt(-1, 3);
            for (int i = 0; i < values.length; i++) {
                values[i] *= owners[i] == smaller ? 1e-3 : 1;
            }
            groups.scatter(group, values, tensors(groups, weights));
        }
        double[] before = contents(weights);
        HeldZeros held = new HeldZeros(model(groups));
        held.hold(weights, 0.01);
        assertArrayEquals(before, contents(weights));
        assertFalse(held.isEmpty());

        Map<String, TensorView> expected = copy(groups, memory, weights);
        int zero = new Regularizer(new NestedLasso(1, 0.5), groups).threshold(0.01, tensors(groups, expected));
        held.apply(weights);
        assertArrayEquals(contents(expected), contents(weights));
        assertEquals(zero, held.count());

        double[] once = contents(weights);
        HeldZeros again = new HeldZeros(model(groups));
        again.hold(weights, 0);
        fill(weights, random);
        again.apply(weights);
        double[] later = contents(weights);
        for (int i = 0; i < once.length; i++) {
            assertEquals(once[i] == 0, later[i] == 0);
        }
    }

    private static Map<String, TensorView> copy(Groups groups, Memory memory, Map<String, TensorView> weights) {
        Map<String, TensorView> copy = weights(groups, memory);
        copy.forEach((name, view) -> {
            for (long i = 0; i < view.size(); i++) {
                view.set(i, Objects.requireNonNull(weights.get(name)).get(i));
            }
        });
        return copy;
    }

    @Test
    void aGroupIsSmallWithoutTheSmallOnesWithin() {
        // Root mean squares 1 and 1.3 of the parts, 1.16 of the whole; without the first part 0.92.
        NestedGroups groups =
                NestedGroups.ofParts(new JointGroups(List.of(new AxisGroups(1, 1, 1), new AxisGroups(1, 1, 1))));
        float[] first = {1};
        float[] second = {1.3f};
        Map<String, TensorView> weights = Map.of("weight0", TensorView.of(first), "weight1", TensorView.of(second));
        HeldZeros held = new HeldZeros(model(groups));
        held.hold(weights, 1);
        assertEquals(1, held.count());
        held.apply(weights);
        assertEquals(0, first[0]);
        assertEquals(0, second[0]);
    }

    @Test
    void aPartIsHeldWhileTheOthersLiveAndTheStateKnowsIt() {
        NestedGroups groups =
                NestedGroups.ofParts(new JointGroups(List.of(new AxisGroups(1, 2, 1), new AxisGroups(2, 2, 1))));
        Map<String, TensorView> weights = Map.of(
                "weight0", TensorView.of(new float[] {0, 1}), "weight1", TensorView.of(new float[] {1, 0, 1, 0}));
        HeldZeros first = new HeldZeros(model(groups));
        first.hold(weights, 0);
        assertEquals(0, first.count());
        assertFalse(first.isEmpty());
        HeldZeros second = new HeldZeros(model(groups));
        assertTrue(second.isEmpty());
        second.state()
                .forEach((name, memory) ->
                        memory.copyFrom(Objects.requireNonNull(first.state().get(name))));
        assertEquals(
                List.of("held/weight0 + weight1", "held within/weight0 + weight1"),
                List.copyOf(second.state().keySet()));
        float[] query = {5, 6};
        float[] key = {1, 2, 3, 4};
        second.apply(Map.of("weight0", TensorView.of(query), "weight1", TensorView.of(key)));
        assertArrayEquals(new float[] {0, 6}, query);
        assertArrayEquals(new float[] {1, 0, 3, 0}, key);
    }

    @Test
    void minusZeroIsZeroAndIsHeldAsPlusZero() {
        float[] values = {-0f, 1, -0f, 1};
        Map<String, TensorView> weights = Map.of("weight0", TensorView.of(values));
        HeldZeros held = new HeldZeros(model(new AxisGroups(2, 2, 1)));
        held.hold(weights, 0);
        held.apply(weights);
        assertArrayEquals(new float[] {0, 1, 0, 1}, values);
    }

    @Test
    void aThresholdHoldsSmallGroupsToo() {
        // Norms 0, 0.5, 5: root mean squares 0, 0.354, 3.54.
        float[] values = {0, 0.3f, 3, 0, 0.4f, 4};
        Map<String, TensorView> weights = Map.of("weight0", TensorView.of(values));
        HeldZeros held = new HeldZeros(model(new AxisGroups(2, 3, 1)));
        held.hold(weights, 0.35);
        assertEquals(1, held.count());
        held.hold(weights, 0.36);
        assertEquals(2, held.count());
        assertEquals(0.3f, values[1]);
        held.apply(weights);
        assertArrayEquals(new float[] {0, 0, 3, 0, 0, 4}, values);
        assertThrows(IllegalArgumentException.class, () -> held.hold(weights, -1));
    }

    @Test
    void aCopyOfTheStateHoldsTheSame() {
        Groups groups = new AxisGroups(2, 3, 1);
        Map<String, TensorView> weights = Map.of("weight0", TensorView.of(new float[] {1, 0, 1, 1, 0, 1}));
        HeldZeros first = new HeldZeros(model(groups));
        first.hold(weights, 0);
        HeldZeros second = new HeldZeros(model(groups));
        second.state()
                .forEach((name, memory) ->
                        memory.copyFrom(Objects.requireNonNull(first.state().get(name))));
        assertEquals(List.of("held/weight0"), List.copyOf(second.state().keySet()));
        float[] values = {1, 2, 3, 4, 5, 6};
        second.apply(Map.of("weight0", TensorView.of(values)));
        assertArrayEquals(new float[] {1, 0, 3, 4, 0, 6}, values);
    }

    @Test
    void weightsThatAreMissingOrOfAnotherSizeAreRefusedByName() {
        HeldZeros held = new HeldZeros(model(new AxisGroups(2, 3, 1)));
        for (Map<String, TensorView> wrong :
                List.of(Map.<String, TensorView>of(), Map.of("weight0", TensorView.of(new float[5])))) {
            String message = assertThrows(IllegalArgumentException.class, () -> held.apply(wrong))
                    .toString();
            assertTrue(message.contains("weight0"), message);
            assertThrows(IllegalArgumentException.class, () -> held.hold(wrong, 0));
        }
        assertFalse(held.count() > 0);
    }
}
