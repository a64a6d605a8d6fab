package dev.espalier.core.prox;

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
import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.tensor.TensorView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The projection against its definition, and what follows from it. */
class HalfSpaceTest {
    /** Every kind of groups; the last two nest, and the last has weights in no group. */
    static List<Groups> groups() {
        return List.of(
                new AxisGroups(3, 8, 5),
                AxisGroups.single(20),
                new JointGroups(List.of(new AxisGroups(2, 6, 1), new AxisGroups(1, 6, 4))),
                new IndexGroups(30, List.of(List.of(8L, 2L, 4L), List.of(0L), List.of(7L, 1L, 29L, 28L))),
                NestedGroups.ofParts(new JointGroups(List.of(new AxisGroups(2, 6, 1), new AxisGroups(1, 6, 4)))),
                NestedGroups.of(new AxisGroups(3, 4, 2), new IndexGroups(24, List.of(List.of(0L, 1L), List.of(8L)))));
    }

    private static List<float[]> random(Groups groups, DoubleSupplier values) {
        List<float[]> tensors = new ArrayList<>();
        for (long size : groups.tensorSizes()) {
            float[] tensor = new float[Math.toIntExact(size)];
            for (int i = 0; i < tensor.length; i++) {
                tensor[i] = (float) values.getAsDouble();
            }
            tensors.add(tensor);
        }
        return tensors;
    }

    private static List<float[]> copy(List<float[]> tensors) {
        return tensors.stream().map(float[]::clone).toList();
    }

    private static List<TensorView> views(List<float[]> tensors) {
        return tensors.stream()
                .map(tensor -> TensorView.of(tensor, tensor.length))
                .toList();
    }

    private record Place(int tensor, int index) {}

    /** The places of all groups, outer and inner, each a list: the twin looks at nothing else. */
    private static List<List<Place>> allGroups(Groups groups) {
        List<List<Place>> all = new ArrayList<>();
        for (int group = 0; group < groups.count(); group++) {
            List<Place> places = new ArrayList<>();
            groups.forEach(group, (tensor, index) -> places.add(new Place(tensor, (int) index)));
            all.add(places);
            if (groups instanceof NestedGroups nested) {
                int[] owners = nested.owners(group);
                for (int inner = 0; inner <= Arrays.stream(owners).max().orElse(-1); inner++) {
                    int here = inner;
                    all.add(IntStream.range(0, owners.length)
                            .filter(i -> owners[i] == here)
                            .mapToObj(places::get)
                            .toList());
                }
            }
        }
        return all;
    }

    private static double product(List<Place> places, List<float[]> a, List<float[]> b) {
        double sum = 0;
        for (Place place : places) {
            sum += (double) a.get(place.tensor())[place.index()] * b.get(place.tensor())[place.index()];
        }
        return sum;
    }

    /** The definition: every group, outer or inner, is asked about the same two points. */
    private static List<float[]> naive(Groups groups, double epsilon, List<float[]> before, List<float[]> trial) {
        List<float[]> after = copy(trial);
        for (List<Place> group : allGroups(groups)) {
            double square = product(group, before, before);
            if (square == 0 || product(group, trial, before) < epsilon * square) {
                group.forEach(place -> after.get(place.tensor())[place.index()] = 0);
            }
        }
        return after;
    }

    @ParameterizedTest
    @MethodSource("groups")
    void everyGroupIsTreatedAsTheDefinitionSays(Groups groups) {
        SplittableRandom random = new SplittableRandom(5);
        int zeroed = 0;
        int kept = 0;
        for (int round = 0; round < 200; round++) {
            double epsilon = round % 4 * 0.3;
            double length = Math.exp(random.nextDouble(-2, 2));
            List<float[]> before = random(groups, random::nextGaussian);
            if (round % 3 == 0) { // one group is zero already
                groups.scatter(0, new double[groups.size(0)], views(before));
            }
            List<float[]> trial = random(groups, random::nextGaussian);
            for (int tensor = 0; tensor < trial.size(); tensor++) {
                for (int i = 0; i < trial.get(tensor).length; i++) {
                    trial.get(tensor)[i] = (float) (before.get(tensor)[i] + length * trial.get(tensor)[i]);
                }
            }
            List<float[]> expected = naive(groups, epsilon, before, trial);
            List<float[]> unchanged = copy(before);

            Summary summary = new HalfSpace(epsilon).project(groups, views(before), views(trial));
            for (int tensor = 0; tensor < trial.size(); tensor++) {
                assertArrayEquals(expected.get(tensor), trial.get(tensor), "round " + round);
                assertArrayEquals(unchanged.get(tensor), before.get(tensor));
            }
            assertEquals(groups.count(), summary.groups());
            Regularizer any = new Regularizer(
                    groups instanceof NestedGroups ? new NestedLasso(1, 0.5) : new GroupLasso(1), groups);
            assertEquals(groups.count() - summary.zeroed(), any.nonZeroGroups(views(trial)));
            assertEquals(any.zeroWithin(views(trial)), summary.zeroedWithin());
            assertTrue(round % 3 != 0 || summary.zeroed() > 0, "a zero came back in round " + round);
            zeroed += summary.zeroed();
            kept += summary.untouched();
        }
        assertTrue(zeroed > 100 && kept > 100, zeroed + " zeroed, " + kept + " kept");
    }

    /** ⟨y, x⟩ ≥ ‖x‖² − ‖y − x‖‖x‖: only steps longer than (1 − ε)‖x‖ make a zero, and against x all of these do. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.3, 0.9})
    void onlyAStepThatIsLongEnoughMakesAZero(double epsilon) {
        HalfSpace halfSpace = new HalfSpace(epsilon);
        SplittableRandom random = new SplittableRandom(6);
        for (int round = 0; round < 1000; round++) {
            double[] x = Cases.normal(random, 1 + round % 9);
            double[] step = Cases.normal(random, x.length);
            double length = (1 - epsilon) * Norm.of(x) / Norm.of(step);
            assertTrue(halfSpace.keeps(x, moved(x, step, 0.999 * length)));
            assertTrue(halfSpace.keeps(x, moved(x, x, -0.999 * (1 - epsilon))));
            assertFalse(halfSpace.keeps(x, moved(x, x, -1.001 * (1 - epsilon))));
        }
    }

    private static double[] moved(double[] x, double[] step, double length) {
        double[] y = new double[x.length];
        Arrays.setAll(y, i -> x[i] + length * step[i]);
        return y;
    }

    @Test
    void aLargerEpsilonMakesAllTheSameZerosAndMore() {
        SplittableRandom random = new SplittableRandom(7);
        Set<Integer> last = new HashSet<>();
        double[][] x = new double[100][];
        double[][] y = new double[100][];
        for (int group = 0; group < x.length; group++) {
            x[group] = Cases.normal(random, 4);
            y[group] = moved(x[group], Cases.normal(random, 4), 1);
        }
        for (double epsilon : new double[] {0, 0.25, 0.5, 0.75, 0.99}) {
            Set<Integer> zeros = new HashSet<>();
            for (int group = 0; group < x.length; group++) {
                if (!new HalfSpace(epsilon).keeps(x[group], y[group])) {
                    zeros.add(group);
                }
            }
            assertTrue(zeros.containsAll(last) && zeros.size() > last.size(), epsilon + ": " + zeros);
            last = zeros;
        }
    }

    /** With D = 1 and ℓ1/ℓ2: what the proximal step zeroes, the half-space step zeroes as well. */
    @Test
    void noProximalZeroIsMissed() {
        SplittableRandom random = new SplittableRandom(8);
        double rate = 0.1;
        GroupLasso lasso = new GroupLasso(2, GroupWeight.NONE);
        int both = 0;
        int more = 0;
        for (int round = 0; round < 2000; round++) {
            double[] x = moved(new double[5], Cases.normal(random, 5), 0.1);
            double[] candidate = moved(x, Cases.normal(random, 5), rate);
            double[] z = new double[5];
            Outcome outcome = WeightedProx.EXACT.apply(
                    lasso.wholeOfSize(5), candidate, new double[] {1, 1, 1, 1, 1}, rate, Double.NaN, z);
            double[] trial = moved(candidate, lasso.subgradient(x), -rate);
            boolean zero = !new HalfSpace(1e-9).keeps(x, trial);
            assertTrue(zero || outcome.branch() != Branch.ZEROED, "round " + round);
            both += outcome.branch() == Branch.ZEROED ? 1 : 0;
            more += zero && outcome.branch() != Branch.ZEROED ? 1 : 0;
        }
        assertTrue(both > 100 && more > 100, both + " zeros of both, " + more + " more");
    }

    @Test
    void anEpsilonOutOfRangeIsRefused() {
        for (double epsilon : new double[] {-0.1, 1, Double.NaN}) {
            IllegalArgumentException problem =
                    assertThrows(IllegalArgumentException.class, () -> new HalfSpace(epsilon));
            assertTrue(problem.toString().contains("epsilon = " + epsilon), problem.toString());
        }
        HalfSpace halfSpace = new HalfSpace(0);
        assertThrows(IllegalArgumentException.class, () -> halfSpace.keeps(new double[2], new double[3]));
    }
}
