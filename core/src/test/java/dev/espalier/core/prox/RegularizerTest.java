package dev.espalier.core.prox;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.SparseGroupLasso;
import dev.espalier.core.root.Bisection;
import dev.espalier.core.root.Tolerance;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A penalty over the groups of whole tensors against the same, group by group. */
class RegularizerTest {

    /** Every penalty on every kind of groups in either element type. */
    static Stream<Arguments> regularizers() {
        List<Groups> groups = List.of(
                new AxisGroups(3, 8, 5),
                AxisGroups.single(20),
                new JointGroups(List.of(new AxisGroups(2, 6, 1), new AxisGroups(1, 6, 4))),
                new IndexGroups(30, List.of(List.of(8L, 2L, 4L), List.of(0L), List.of(7L, 1L, 29L, 28L))));
        List<Penalty> penalties = List.of(
                new GroupLasso(0.3),
                new GroupMcp(0.3, 4),
                GroupScad.classical(1, 3.7, GroupWeight.NONE),
                new SparseGroupLasso(0.3, 0.4));
        List<Groups> nested = List.of(
                NestedGroups.ofParts(new JointGroups(List.of(new AxisGroups(2, 6, 1), new AxisGroups(1, 6, 4)))),
                NestedGroups.of(new AxisGroups(3, 4, 2), new IndexGroups(24, List.of(List.of(0L, 1L), List.of(8L)))));
        return Stream.concat(
                        groups.stream().flatMap(of -> penalties.stream().map(penalty -> new Regularizer(penalty, of))),
                        nested.stream().map(of -> new Regularizer(new NestedLasso(0.3, 0.4), of)))
                .flatMap(one -> Stream.of(ElementType.values()).map(type -> Arguments.of(one, type)));
    }

    private static List<TensorView> tensors(Groups groups, ElementType type, DoubleSupplier values) {
        List<TensorView> tensors = new ArrayList<>();
        for (long size : groups.tensorSizes()) {
            TensorView tensor =
                    TensorView.of(MemorySegment.ofArray(new byte[Math.toIntExact(size * type.bytes())]), type, size);
            for (long index = 0; index < size; index++) {
                tensor.set(index, values.getAsDouble());
            }
            tensors.add(tensor);
        }
        return tensors;
    }

    private static List<TensorView> copy(Groups groups, List<TensorView> tensors) {
        double[] values = tensors.stream()
                .flatMapToDouble(tensor -> LongStream.range(0, tensor.size()).mapToDouble(tensor::get))
                .toArray();
        int[] next = {0};
        return tensors(groups, tensors.getFirst().type(), () -> values[next[0]++]);
    }

    @ParameterizedTest
    @MethodSource("regularizers")
    void applyIsTheOperatorOnEveryGroup(Regularizer regularizer, ElementType type) {
        Groups groups = regularizer.groups();
        SplittableRandom random = new SplittableRandom(7);
        List<TensorView> weights = tensors(groups, type, random::nextGaussian);
        List<TensorView> diagonal = tensors(groups, type, () -> Cases.logUniform(random, 1e-3, 1e1));
        double stepSize = 0.1;
        List<TensorView> expected = copy(groups, weights); // free weights stay as they are
        Summary summary = Summary.EMPTY;
        for (int group = 0; group < groups.count(); group++) {
            double[] x = groups.gather(group, weights);
            double[] z = new double[x.length];
            NestedProfile whole = regularizer.whole(group);
            summary = summary.plus(
                    WeightedProx.EXACT.apply(whole, x, groups.gather(group, diagonal), stepSize, Double.NaN, z));
            if (groups instanceof NestedGroups) {
                summary = summary.plusWithin((int) Arrays.stream(whole.innerNorms(z))
                        .filter(norm -> norm == 0)
                        .count());
            }
            groups.scatter(group, z, expected);
        }
        List<TensorView> before = copy(groups, diagonal);

        assertEquals(summary, regularizer.apply(WeightedProx.EXACT, weights, new Metric(diagonal, stepSize)));
        assertEqual(expected, weights);
        assertEqual(before, diagonal);
        assertEquals(groups.count(), summary.groups());
        assertEquals(groups.count() - summary.zeroed(), regularizer.nonZeroGroups(weights));
        assertTrue(summary.shrunk() > 0, () -> "nothing to see: " + regularizer);
    }

    private static void assertEqual(List<TensorView> expected, List<TensorView> actual) {
        for (int tensor = 0; tensor < expected.size(); tensor++) {
            for (long index = 0; index < expected.get(tensor).size(); index++) {
                assertEquals(expected.get(tensor).get(index), actual.get(tensor).get(index), tensor + "/" + index);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("regularizers")
    void valueSubgradientAndStationarityAreSumsOverTheGroups(Regularizer regularizer, ElementType type) {
        Groups groups = regularizer.groups();
        SplittableRandom random = new SplittableRandom(8);
        List<TensorView> weights = tensors(groups, type, random::nextGaussian);
        groups.scatter(0, new double[groups.size(0)], weights); // zero has a rule of its own
        List<TensorView> gradients = tensors(groups, type, random::nextGaussian);
        List<TensorView> expected = copy(groups, gradients);
        double value = 0;
        double squares = 0;
        for (int group = 0; group < groups.count(); group++) {
            double[] x = groups.gather(group, weights);
            double[] gradient = groups.gather(group, gradients);
            value += regularizer.whole(group).value(x);
            squares += Math.pow(regularizer.whole(group).stationarityDistance(x, gradient), 2);
            double[] subgradient = regularizer.whole(group).subgradient(x);
            Arrays.setAll(gradient, i -> gradient[i] + subgradient[i]);
            groups.scatter(group, gradient, expected);
        }
        List<TensorView> before = copy(groups, weights);

        assertEquals(value, regularizer.value(weights), 1e-14 * value);
        assertEquals(squares, regularizer.squaredStationarityDistance(weights, gradients), 1e-14 * squares);
        regularizer.addSubgradient(weights, gradients);
        assertEqual(expected, gradients);
        assertEqual(before, weights);
        assertEquals(groups.count() - 1, regularizer.nonZeroGroups(weights));
    }

    @ParameterizedTest
    @MethodSource("regularizers")
    void theSubgradientIsTheDerivativeOfTheValue(Regularizer regularizer, ElementType type) {
        Groups groups = regularizer.groups();
        SplittableRandom random = new SplittableRandom(9);
        List<TensorView> weights = tensors(groups, type, random::nextGaussian);
        List<TensorView> gradients = tensors(groups, type, () -> 0);
        regularizer.addSubgradient(weights, gradients);
        double step = 0x1p-10; // survives float32 beside weights of order one
        for (int tensor = 0; tensor < weights.size(); tensor++) {
            TensorView view = weights.get(tensor);
            for (long index = 0; index < view.size(); index++) {
                double weight = view.get(index);
                view.set(index, weight + step);
                double width = view.get(index);
                double after = regularizer.value(weights);
                view.set(index, weight - step);
                width -= view.get(index);
                double before = regularizer.value(weights);
                view.set(index, weight);
                assertEquals((after - before) / width, gradients.get(tensor).get(index), 2e-3, tensor + "/" + index);
            }
        }
    }

    /** A convolution's input channels in channels-last memory give what they give in row-major memory. */
    @ParameterizedTest
    @EnumSource
    void stridedTensorsAreWrittenInPlace(ElementType type) {
        int[] shape = {4, 6, 9};
        Groups groups = AxisGroups.along(1, 4, 6, 9);
        SplittableRandom random = new SplittableRandom(10);
        List<TensorView> rowMajor = tensors(groups, type, random::nextGaussian);
        List<TensorView> metric = tensors(groups, type, () -> Cases.logUniform(random, 1e-3, 1e1));
        TensorView channelsLast = TensorView.of(
                MemorySegment.ofArray(new byte[Math.toIntExact(4 * 6 * 9 * type.bytes())]),
                type,
                Arrays.stream(shape).asLongStream().toArray(),
                new long[] {6 * 9, 1, 6});
        for (long index = 0; index < channelsLast.size(); index++) {
            channelsLast.set(index, rowMajor.getFirst().get(index));
        }
        Regularizer regularizer = new Regularizer(new GroupLasso(0.5), groups);
        Summary expected = regularizer.apply(WeightedProx.EXACT, rowMajor, new Metric(metric, 0.1));
        assertEquals(expected, regularizer.apply(WeightedProx.EXACT, List.of(channelsLast), new Metric(metric, 0.1)));
        assertEqual(rowMajor, List.of(channelsLast));
    }

    @Test
    void weightsInNoGroupAreFree() {
        double[] weights = {1, 2, 3, 4};
        double[] gradients = {1, 1, 1, 1};
        Regularizer regularizer = new Regularizer(new GroupLasso(100), new IndexGroups(4, List.of(List.of(1L, 3L))));
        regularizer.addSubgradient(List.of(TensorView.of(weights)), List.of(TensorView.of(gradients)));
        regularizer.apply(
                WeightedProx.EXACT,
                List.of(TensorView.of(weights)),
                new Metric(List.of(TensorView.of(new double[] {1, 1, 1, 1})), 1));
        assertArrayEquals(new double[] {1, 0, 3, 0}, weights);
        assertEquals(1, gradients[0]);
        assertEquals(1, gradients[2]);
        assertTrue(gradients[1] > 1 && gradients[3] > 1);
    }

    @Test
    void theSummaryCountsBranchesAndGroupsThatReachedTheLimit() {
        // Threshold 2, knee 4: a group of each branch, and one more that is shrunk.
        double[] weights = {0.1, 0.1, 3, 0.5, 9, 9, 0.5, 3};
        double[] metric = {1, 2, 1, 2, 1, 2, 1, 2};
        Regularizer regularizer = new Regularizer(new GroupMcp(2 / Math.sqrt(2), 2), new AxisGroups(1, 4, 2));
        Solver hasty = new Solver.ByRoot(new Bisection(), new Tolerance(1e-16, 2));
        Summary summary = regularizer.apply(
                new WeightedProx(hasty),
                List.of(TensorView.of(weights)),
                new Metric(List.of(TensorView.of(metric)), 1));
        assertEquals(1, summary.zeroed());
        assertEquals(2, summary.shrunk());
        assertEquals(1, summary.untouched());
        assertEquals(4, summary.groups());
        assertEquals(2, summary.unconverged());
        assertEquals(4, summary.iterations());
        assertTrue(summary.residual() > 1e-6, summary::toString);
    }

    @Test
    void thresholdZeroesSmallGroupsAndNoOthers() {
        // groups are columns: norms 5, 0.5 and 0; the threshold is t·√2
        double[] weights = {3, 0.3, 0, 4, 0.4, 0};
        Regularizer regularizer = new Regularizer(new GroupLasso(1), AxisGroups.along(1, 2, 3));
        List<TensorView> tensors = List.of(TensorView.of(weights));
        assertEquals(1, regularizer.threshold(0.49 / Math.sqrt(2), tensors));
        assertArrayEquals(new double[] {3, 0.3, 0, 4, 0.4, 0}, weights);
        assertEquals(2, regularizer.threshold(0.5 / Math.sqrt(2) + 1e-12, tensors));
        assertArrayEquals(new double[] {3, 0, 0, 4, 0, 0}, weights);
    }

    @Test
    void thresholdZeroesGroupsWithinGroupsToo() {
        double[] first = {3, 0.3, 4, 0.4}; // two inputs: norms 5 and 0.5
        double[] second = {0.1, 0.1};
        Regularizer regularizer = new Regularizer(
                new NestedLasso(1, 0.5),
                NestedGroups.ofParts(new JointGroups(List.of(new AxisGroups(2, 2, 1), new AxisGroups(1, 2, 1)))));
        List<TensorView> tensors = List.of(TensorView.of(first), TensorView.of(second));
        assertEquals(0, regularizer.threshold(0.2, tensors));
        assertArrayEquals(new double[] {3, 0.3, 4, 0.4}, first);
        assertArrayEquals(new double[] {0, 0}, second);
        assertEquals(1, regularizer.threshold(0.3, tensors));
        assertArrayEquals(new double[] {3, 0, 4, 0}, first);
    }
}
