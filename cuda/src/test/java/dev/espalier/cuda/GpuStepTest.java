package dev.espalier.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.kernel.LaneChoice;
import dev.espalier.core.kernel.Update;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.penalty.SparseGroupLasso;
import dev.espalier.core.prox.Metric;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.core.rule.Coefficients;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.NonFiniteGradientException;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepCompanion;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.step.StepOptions.Method;
import dev.espalier.core.step.StepOptions.NonFinite;
import dev.espalier.core.step.StepReport;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.Place;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.cuda.GpuModel.Layout;
import dev.espalier.cuda.driver.CudaException;
import dev.espalier.cuda.driver.Gpu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A step on a GPU is that on the processor, up to rounding. Skipped, with the reason, where there is no GPU. */
class GpuStepTest {
    private static final StepOptions OPTIONS = StepOptions.DEFAULT.withThreads(1);

    @BeforeEach
    void thereIsAGpu() {
        assumeTrue(
                CudaSteps.whyNot().isEmpty(),
                () -> "no GPU: " + CudaSteps.whyNot().orElseThrow());
    }

    private static ParameterSet set(String name, Groups groups, Penalty penalty) {
        Parameter[] parameters = new Parameter[groups.tensorSizes().size()];
        Arrays.setAll(
                parameters, i -> new Parameter(name + i, groups.tensorSizes().get(i)));
        return ParameterSet.of(LearningRate.constant(0.1), parameters)
                .withWeightDecay(0.1)
                .withRegularizer(new Regularizer(penalty, groups));
    }

    private static ParameterSet free(String name, long size) {
        return ParameterSet.of(LearningRate.constant(0.1), new Parameter(name, size))
                .withWeightDecay(0.1);
    }

    /** The same steps on both; what each reports, and all weights and state, agree. Returns what was done in all. */
    private static Summary assertAgree(UpdateRule rule, List<ParameterSet> sets, StepOptions options, int steps) {
        return assertAgree(rule, sets, options, steps, Layout.ROW_MAJOR, Layout.ROW_MAJOR);
    }

    private static Summary assertAgree(
            UpdateRule rule,
            List<ParameterSet> sets,
            StepOptions options,
            int steps,
            Layout weights,
            Layout gradients) {
        Summary total = Summary.EMPTY;
        try (GpuModel model = new GpuModel(sets, weights, gradients);
                Optimizer host = new Optimizer(rule, sets, options, LaneChoice.SCALAR);
                Optimizer gpu = new Optimizer(rule, sets, options, CudaSteps.onFirstGpu())) {
            SplittableRandom random = new SplittableRandom(5);
            GpuModel.fill(model.weights, random, 0.5);
            model.upload(model.weights, model.gpuWeights);
            for (int step = 0; step < steps; step++) {
                GpuModel.fill(model.gradients, random, step == 3 ? 6 : 1);
                model.upload(model.gradients, model.gpuGradients);
                StepReport expected = host.step(model.weights, model.gradients);
                StepReport actual = gpu.step(model.gpuWeights, model.gpuGradients);
                assertReports(expected, actual);
                total = total.plus(actual.summary());
                SequencedMap<String, TensorView> found = model.download();
                model.weights.forEach((name, tensor) -> assertClose(name, tensor, GpuModel.get(found, name)));
                model.upload(model.weights, model.gpuWeights); // from the same point again
            }
            SequencedMap<String, MemorySegment> state = host.state();
            SequencedMap<String, MemorySegment> other = gpu.state();
            assertEquals(List.copyOf(state.keySet()), List.copyOf(other.keySet()));
            boolean exact = options.method() == Method.PROXIMAL;
            state.forEach((name, memory) -> {
                if (name.startsWith("theta/") || !exact) {
                    assertArrayEquals(floats(memory), floats(GpuModel.get(other, name)), 1e-5f, name);
                } else {
                    assertEquals(-1, memory.mismatch(GpuModel.get(other, name)), name); // moments to the last bit
                }
            });
        }
        return total;
    }

    private static float[] floats(MemorySegment memory) {
        float[] values = new float[Math.toIntExact(memory.byteSize() / 4)];
        MemorySegment.copy(memory, ValueLayout.JAVA_FLOAT_UNALIGNED, 0, values, 0, values.length);
        return values;
    }

    private static void assertReports(StepReport expected, StepReport actual) {
        assertEquals(expected.sets().size(), actual.sets().size());
        for (int i = 0; i < expected.sets().size(); i++) {
            Summary one = expected.sets().get(i).summary();
            Summary other = actual.sets().get(i).summary();
            String what = expected.sets().get(i) + " and " + actual.sets().get(i);
            assertEquals(one.zeroed(), other.zeroed(), what);
            assertEquals(one.shrunk(), other.shrunk(), what);
            assertEquals(one.untouched(), other.untouched(), what);
            assertEquals(one.zeroedWithin(), other.zeroedWithin(), what);
            assertEquals(one.unconverged(), other.unconverged(), what);
            assertTrue(Math.abs(one.iterations() - other.iterations()) <= 2 + 0.2 * one.iterations(), what);
            double penalty = expected.sets().get(i).penalty();
            // Near its threshold the norm of a group is only as certain as both say themselves.
            double certain = Math.max(1e-5, one.residual() + other.residual());
            assertEquals(penalty, actual.sets().get(i).penalty(), certain * Math.abs(penalty), what);
        }
    }

    private static void assertClose(String name, TensorView expected, TensorView actual) {
        for (long i = 0; i < expected.size(); i++) {
            double value = expected.get(i);
            if (!(Math.abs(value - actual.get(i)) <= 3e-6 * Math.abs(value) + 1e-6)) {
                long place = i;
                assertEquals(value, actual.get(i), () -> name + "[" + place + "]");
            }
        }
    }

    static List<UpdateRule> rules() {
        return List.of(
                new UpdateRule.Sgd(),
                new UpdateRule.Momentum(),
                new UpdateRule.AdaGrad(),
                new UpdateRule.RmsProp(),
                new UpdateRule.Adam());
    }

    static List<Penalty> penalties() {
        return List.of(
                new GroupLasso(2),
                new GroupLasso(0),
                new GroupMcp(2, 0.7),
                new GroupMcp(1, 0.05),
                new SparseGroupLasso(2, 0.3),
                new GroupScad(2, 0.7, 0.5),
                new GroupScad(1, 0.08, 0.6),
                new GroupScad(2, 3, 0.4),
                new Halving(2));
    }

    /** A penalty that has no fast path: its slope falls to a half, and stays there. */
    private record Halving(double lambda) implements Penalty {
        @Override
        public double strength(long size) {
            return lambda * Math.sqrt((double) size);
        }

        @Override
        public Profile profile(double strength) {
            return Profile.of(new Profile.Piece(0, strength, 1), new Profile.Piece(strength / 2, strength / 2, 0));
        }
    }

    @ParameterizedTest
    @MethodSource("rules")
    void everyRuleWithEveryPenaltyAndLayout(UpdateRule rule) {
        List<ParameterSet> sets = new ArrayList<>();
        int number = 0;
        for (Penalty penalty : penalties()) {
            List<Groups> some = List.of(
                    new AxisGroups(40, 30, 1),
                    new AxisGroups(17, 12, 9),
                    new AxisGroups(1, 10, 300),
                    new AxisGroups(1, 50, 7),
                    AxisGroups.single(333),
                    new JointGroups(
                            List.of(new AxisGroups(30, 20, 1), new AxisGroups(5, 20, 9), new AxisGroups(1, 20, 2))),
                    new IndexGroups(20, List.of(List.of(0L, 5L, 7L), List.of(1L, 2L))));
            for (Groups groups : some) {
                sets.add(set("set" + number++ + ".", groups, penalty));
            }
        }
        JointGroups joint = new JointGroups(List.of(new AxisGroups(30, 40, 1), new AxisGroups(5, 40, 2)));
        sets.add(set("nested.", NestedGroups.ofParts(joint), new NestedLasso(2, 0.4)));
        sets.add(set("none.", NestedGroups.ofParts(joint), new NestedLasso(0, 0.4)));
        sets.add(set(
                "listed.",
                NestedGroups.of(new AxisGroups(4, 5, 2), new AxisGroups(1, 20, 2)),
                new NestedLasso(2, 0.4)));
        sets.add(free("free", 12_345));
        Summary total = assertAgree(rule, sets, OPTIONS, 5);
        assertTrue(Math.min(Math.min(total.zeroed(), total.shrunk()), total.untouched()) > 50, total::toString);
    }

    @ParameterizedTest
    @EnumSource
    void tensorsMayLieAnyhow(Layout layout) {
        JointGroups joint = new JointGroups(List.of(new AxisGroups(30, 40, 1), new AxisGroups(5, 40, 2)));
        List<ParameterSet> sets = List.of(
                set("conv", new AxisGroups(20, 30, 9), new GroupMcp(2, 0.7)),
                set("linear", new AxisGroups(100, 64, 1), new GroupLasso(2)),
                set("nested", NestedGroups.ofParts(joint), new NestedLasso(2, 0.4)),
                set("single", AxisGroups.single(100), new GroupLasso(2)),
                set("index", new IndexGroups(20, List.of(List.of(0L, 5L))), new GroupLasso(2)),
                free("free", 5000));
        assertAgree(new UpdateRule.Adam(), sets, OPTIONS, 3, layout, Layout.ROW_MAJOR);
        assertAgree(new UpdateRule.Adam(), sets, OPTIONS, 3, Layout.SLICED, layout);
    }

    @Test
    void awkwardShapes() {
        int[] sizes = {1, 2, 3, 9, 17, 65, 257};
        List<ParameterSet> sets = new ArrayList<>();
        for (int outer : sizes) {
            for (int count : sizes) {
                for (int inner : sizes) {
                    if ((long) outer * count * inner <= 20_000) {
                        Penalty penalty = sets.size() % 2 == 0 ? new GroupLasso(2) : new GroupMcp(2, 0.7);
                        sets.add(set("set" + sets.size() + ".", new AxisGroups(outer, count, inner), penalty));
                    }
                }
            }
        }
        assertAgree(new UpdateRule.Adam(), sets, OPTIONS, 4);
    }

    @Test
    void groupsOfRealLayersSpanManyBlocks() {
        JointGroups attention = new JointGroups(
                List.of(new AxisGroups(768, 768, 1), new AxisGroups(768, 768, 1), new AxisGroups(768, 768, 1)));
        List<ParameterSet> sets = List.of(
                set("conv", new AxisGroups(512, 512, 9), new GroupMcp(0.05, 0.7)),
                set("linear", new AxisGroups(3072, 768, 1), new GroupLasso(0.05)),
                set("joint", attention, new GroupLasso(0.05)),
                set("nested", NestedGroups.ofParts(attention), new NestedLasso(0.05, 0.5)),
                set("rows", new AxisGroups(1, 2000, 768), new GroupLasso(0.05)),
                free("free", 1_000_003));
        Summary total = assertAgree(new UpdateRule.Adam(), sets, StepOptions.DEFAULT, 3);
        assertTrue(total.shrunk() > 0, total::toString);
    }

    private static List<ParameterSet> allKinds() {
        JointGroups joint = new JointGroups(List.of(new AxisGroups(30, 40, 1), new AxisGroups(5, 40, 2)));
        return List.of(
                set("conv", new AxisGroups(200, 30, 9), new GroupMcp(2, 0.7)),
                set("joint", joint, new SparseGroupLasso(2, 0.3)),
                set("knees", new AxisGroups(20, 30, 9), new Halving(2)),
                set("nested", NestedGroups.ofParts(joint), new NestedLasso(2, 0.4)),
                set("single", AxisGroups.single(333), new GroupLasso(2)),
                set("index", new IndexGroups(20, List.of(List.of(0L, 5L))), new GroupLasso(2)),
                free("free", 50_001));
    }

    @ParameterizedTest
    @MethodSource("rules")
    void aFloorOfTheMetricIsThatOfTheProcessor(UpdateRule rule) {
        for (Method method : Method.values()) {
            StepOptions options = OPTIONS.withMethod(method).withMetricFloor(0.7);
            assertAgree(rule, allKinds(), options, 4);
            assertAgree(rule, allKinds(), options, 2, Layout.TRANSPOSED, Layout.SLICED);
        }
    }

    /** No gradient, then one that is noise, then one weight's alone, then none again: a penalty waits on both for as long. */
    @ParameterizedTest
    @MethodSource("rules")
    void aPenaltyWaitsForAGradientAsOnTheProcessor(UpdateRule rule) {
        List<ParameterSet> sets = allKinds();
        try (GpuModel model = new GpuModel(sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR);
                Optimizer host = new Optimizer(rule, sets, OPTIONS, LaneChoice.SCALAR);
                Optimizer gpu = new Optimizer(rule, sets, OPTIONS, CudaSteps.onFirstGpu())) {
            GpuModel.fill(model.weights, new SplittableRandom(5), 0.5);
            model.upload(model.weights, model.gpuWeights);
            int untouched = 0;
            for (int step = 0; step < 4; step++) {
                GpuModel.fill(model.gradients, new SplittableRandom(step), step == 1 ? 1e-12 : 0);
                if (step == 2) {
                    model.gradients.values().forEach(gradient -> gradient.set(gradient.size() - 1, 1e-3));
                }
                model.upload(model.gradients, model.gpuGradients);
                StepReport expected = host.step(model.weights, model.gradients);
                StepReport actual = gpu.step(model.gpuWeights, model.gpuGradients);
                assertReports(expected, actual);
                untouched += step < 2 ? actual.summary().untouched() : 0;
                SequencedMap<String, TensorView> found = model.download();
                model.weights.forEach((name, tensor) -> assertClose(name, tensor, GpuModel.get(found, name)));
                model.upload(model.weights, model.gpuWeights);
            }
            boolean waits = rule.at(1).addSecond() > 0;
            assertEquals(waits, untouched == 2 * (30 + 40 + 30 + 40 + 333 + 1), () -> "untouched " + rule);
        }
    }

    @Test
    void theSubgradientMethodIsThere() {
        JointGroups joint = new JointGroups(List.of(new AxisGroups(30, 20, 1), new AxisGroups(5, 20, 9)));
        List<ParameterSet> sets = List.of(
                set("conv", new AxisGroups(200, 30, 9), new GroupMcp(0.2, 0.7)),
                set("joint", joint, new SparseGroupLasso(0.2, 0.3)),
                set("nested", NestedGroups.ofParts(joint), new NestedLasso(0.2, 0.4)),
                set("index", new IndexGroups(20, List.of(List.of(0L, 5L))), new GroupLasso(2)),
                free("free", 5000));
        assertAgree(new UpdateRule.Adam(), sets, OPTIONS.withMethod(Method.SUBGRADIENT), 4);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 1e-45, 1e-3, 10})
    void anyLearningRate(double rate) {
        JointGroups joint = new JointGroups(List.of(new AxisGroups(30, 40, 1), new AxisGroups(5, 40, 2)));
        List<ParameterSet> sets = new ArrayList<>();
        for (Penalty penalty : penalties()) {
            sets.add(set("conv" + sets.size(), new AxisGroups(20, 30, 9), penalty));
            sets.add(set("single" + sets.size(), AxisGroups.single(50), penalty));
        }
        sets.add(set("nested", NestedGroups.ofParts(joint), new NestedLasso(2, 0.4)));
        sets.add(free("free", 50));
        List<ParameterSet> rated = sets.stream()
                .map(set -> new ParameterSet(
                        set.parameters(), LearningRate.constant(rate), set.weightDecay(), set.regularizer(), false))
                .toList();
        assertAgree(new UpdateRule.Adam(), rated, OPTIONS, 3);
    }

    @Test
    void aStepIsTheDoublePrecisionOperatorUpToRounding() {
        AxisGroups groups = new AxisGroups(600, 40, 9);
        for (Penalty penalty : List.of(new GroupLasso(0.3), new GroupMcp(0.3, 2))) {
            List<ParameterSet> sets = List.of(set("w", groups, penalty));
            UpdateRule rule = new UpdateRule.Adam();
            try (GpuModel model = new GpuModel(sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR);
                    Optimizer gpu = new Optimizer(rule, sets, OPTIONS, CudaSteps.onFirstGpu())) {
                SplittableRandom random = new SplittableRandom(9);
                GpuModel.fill(model.weights, random, 0.5);
                GpuModel.fill(model.gradients, random, 1);
                model.upload(model.weights, model.gpuWeights);
                model.upload(model.gradients, model.gpuGradients);
                Summary done = gpu.step(model.gpuWeights, model.gpuGradients).summary();
                double[] expected = doubleStep(rule.at(1), model, groups, penalty, done);
                TensorView found = GpuModel.get(model.download(), "w0");
                for (int i = 0; i < expected.length; i++) {
                    assertEquals(expected[i], found.get(i), 2e-6 * Math.abs(expected[i]) + 2e-7, penalty + " " + i);
                }
            }
        }
    }

    private static double[] doubleStep(
            Coefficients rule, GpuModel model, AxisGroups groups, Penalty penalty, Summary done) {
        TensorView weights = GpuModel.get(model.weights, "w0");
        TensorView gradients = GpuModel.get(model.gradients, "w0");
        double[] x = new double[Math.toIntExact(weights.size())];
        double[] d = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            double g = gradients.get(i);
            d[i] = Math.sqrt(rule.scaleSecond() * rule.addSecond() * g * g + rule.innerEpsilon()) + rule.outerEpsilon();
            double direction = rule.scaleFirst() * rule.addFirst() * g;
            x[i] = (1 - 0.1 * 0.1) * weights.get(i) - 0.1 * direction / d[i];
        }
        Summary summary = new Regularizer(penalty, groups)
                .apply(WeightedProx.EXACT, List.of(TensorView.of(x)), new Metric(List.of(TensorView.of(d)), 0.1));
        assertEquals(summary.zeroed(), done.zeroed());
        assertEquals(summary.shrunk(), done.shrunk());
        return x;
    }

    @Test
    void twoRunsAreTheSameToTheLastBit() {
        List<ParameterSet> sets = List.of(
                set("conv", new AxisGroups(512, 256, 9), new GroupMcp(0.05, 0.7)),
                set("linear", new AxisGroups(3072, 768, 1), new GroupLasso(0.05)),
                free("free", 100_001));
        List<Object> traces = new ArrayList<>();
        for (int run = 0; run < 3; run++) {
            try (GpuModel model = new GpuModel(sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR);
                    Optimizer gpu = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS, CudaSteps.onFirstGpu())) {
                SplittableRandom random = new SplittableRandom(3);
                GpuModel.fill(model.weights, random, 0.5);
                model.upload(model.weights, model.gpuWeights);
                List<StepReport> reports = new ArrayList<>();
                for (int step = 0; step < 4; step++) {
                    GpuModel.fill(model.gradients, random, 1);
                    model.upload(model.gradients, model.gpuGradients);
                    reports.add(gpu.step(model.gpuWeights, model.gpuGradients));
                }
                List<Integer> hashes = new ArrayList<>();
                model.download().values().forEach(tensor -> hashes.add(Arrays.hashCode(floats(tensor.segment()))));
                gpu.state().values().forEach(memory -> hashes.add(Arrays.hashCode(floats(memory))));
                traces.add(List.of(reports, hashes));
            }
        }
        assertEquals(traces.get(0), traces.get(1));
        assertEquals(traces.get(0), traces.get(2));
    }

    @Test
    void aBadGradientChangesNothingAndIsNamed() {
        List<ParameterSet> sets = List.of(
                set("conv", new AxisGroups(64, 32, 9), new GroupLasso(0.5)),
                set("index", new IndexGroups(20, List.of(List.of(0L, 5L))), new GroupLasso(2)),
                free("free", 100_001));
        for (float bad : new float[] {Float.NaN, Float.NEGATIVE_INFINITY, 2e15f}) {
            try (GpuModel model = new GpuModel(sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR);
                    Optimizer gpu = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS, CudaSteps.onFirstGpu());
                    Optimizer skipping = new Optimizer(
                            new UpdateRule.Adam(),
                            sets,
                            OPTIONS.withNonFinite(NonFinite.SKIP),
                            CudaSteps.onFirstGpu())) {
                SplittableRandom random = new SplittableRandom(3);
                GpuModel.fill(model.weights, random, 0.5);
                GpuModel.fill(model.gradients, random, 1);
                model.upload(model.weights, model.gpuWeights);
                GpuModel.get(model.gradients, "free").set(99_999, bad);
                model.upload(model.gradients, model.gpuGradients);
                var thrown = assertThrows(
                        NonFiniteGradientException.class, () -> gpu.step(model.gpuWeights, model.gpuGradients));
                assertSays("free", thrown);
                assertTrue(skipping.step(model.gpuWeights, model.gpuGradients).skipped());
                model.download()
                        .forEach((name, tensor) -> assertEquals(
                                -1,
                                tensor.segment()
                                        .mismatch(GpuModel.get(model.weights, name)
                                                .segment()),
                                name));
                gpu.state()
                        .forEach((name, memory) ->
                                assertEquals(0, Arrays.stream(bytes(memory)).sum(), name));
                GpuModel.get(model.gradients, "free").set(99_999, 1);
                model.upload(model.gradients, model.gpuGradients);
                assertEquals(1, gpu.step(model.gpuWeights, model.gpuGradients).step()); // and it goes on
            }
        }
    }

    private static int[] bytes(MemorySegment memory) {
        byte[] bytes = memory.toArray(ValueLayout.JAVA_BYTE);
        int[] values = new int[bytes.length];
        Arrays.setAll(values, i -> bytes[i]);
        return values;
    }

    @Test
    void aRunGoesOnOnTheOtherDevice() {
        List<ParameterSet> sets = List.of(
                set("conv", new AxisGroups(64, 32, 9), new GroupLasso(0.5)),
                set("index", new IndexGroups(20, List.of(List.of(0L, 5L))), new GroupLasso(2)),
                free("free", 1001));
        try (GpuModel model = new GpuModel(sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR);
                Optimizer host = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS);
                Optimizer gpu = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS, CudaSteps.onFirstGpu())) {
            SplittableRandom random = new SplittableRandom(3);
            GpuModel.fill(model.weights, random, 0.5);
            for (int step = 0; step < 3; step++) {
                GpuModel.fill(model.gradients, random, 1);
                host.step(model.weights, model.gradients);
            }
            SequencedMap<String, MemorySegment> state = host.state();
            gpu.state().forEach((name, memory) -> memory.copyFrom(GpuModel.get(state, name)));
            model.upload(model.weights, model.gpuWeights);
            model.upload(model.gradients, model.gpuGradients);
            StepReport expected = host.step(model.weights, model.gradients);
            StepReport actual = gpu.step(model.gpuWeights, model.gpuGradients);
            assertEquals(4, actual.step());
            assertReports(expected, actual);
            model.download().forEach((name, tensor) -> assertClose(name, GpuModel.get(model.weights, name), tensor));
        }
    }

    @Test
    void thePenaltyCanBeChanged() {
        List<ParameterSet> sets = List.of(set("conv", new AxisGroups(64, 32, 9), new GroupLasso(0)), free("free", 11));
        try (GpuModel model = new GpuModel(sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR);
                Optimizer gpu = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS, CudaSteps.onFirstGpu())) {
            SplittableRandom random = new SplittableRandom(3);
            GpuModel.fill(model.weights, random, 0.5);
            GpuModel.fill(model.gradients, random, 1);
            model.upload(model.weights, model.gpuWeights);
            model.upload(model.gradients, model.gpuGradients);
            assertEquals(
                    32, gpu.step(model.gpuWeights, model.gpuGradients).summary().untouched());
            gpu.changePenalty(new GroupLasso(100));
            assertEquals(
                    32, gpu.step(model.gpuWeights, model.gpuGradients).summary().zeroed());
            gpu.changePenalty(new GroupMcp(100, 5));
            assertEquals(
                    32, gpu.step(model.gpuWeights, model.gpuGradients).summary().zeroed());
        }
    }

    /**
     * Group MCP where a third of the weights sees no gradient, so that κ is up to 1e12 times their d: the exact operator on the
     * same u and d, up to rounding. Where another local minimum is as good as the best, up to rounding, the step may end there.
     */
    @ParameterizedTest
    @MethodSource("rulesOfLittleEpsilon")
    void weightsWithoutGradientUnderMcpAreExact(UpdateRule rule) {
        AxisGroups groups = new AxisGroups(6, 256, 9);
        int seed = 0;
        int ties = 0;
        Summary total = Summary.EMPTY;
        for (double alpha : new double[] {1e-4, 1e-2, 1e-1}) {
            for (double beta : new double[] {1.5, 5, 5000}) {
                for (double gradients : new double[] {alpha / beta, 1}) {
                    SplittableRandom random = new SplittableRandom(seed++);
                    GroupMcp penalty = new GroupMcp(Math.pow(10, random.nextDouble(-3, -1)), beta);
                    double knee = beta * penalty.strength(54);
                    List<ParameterSet> sets =
                            List.of(ParameterSet.of(LearningRate.constant(alpha), new Parameter("w", 6 * 256 * 9))
                                    .withRegularizer(new Regularizer(penalty, groups)));
                    try (GpuModel model = new GpuModel(sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR);
                            Optimizer gpu = new Optimizer(rule, sets, OPTIONS, CudaSteps.onFirstGpu())) {
                        TensorView x = GpuModel.get(model.weights, "w");
                        TensorView g = GpuModel.get(model.gradients, "w");
                        for (int group = 0; group < groups.count(); group++) {
                            double scale = knee * Math.exp(random.nextDouble(-2, 1)) / Math.sqrt(54);
                            double slope = gradients * Math.pow(10, random.nextDouble(-1, 1));
                            groups.forEach(group, (tensor, index) -> {
                                x.set(index, scale * random.nextGaussian());
                                double value = slope * random.nextGaussian();
                                g.set(index, index % 3 == 0 ? 0 : value);
                            });
                        }
                        model.upload(model.weights, model.gpuWeights);
                        model.upload(model.gradients, model.gpuGradients);
                        total = total.plus(
                                gpu.step(model.gpuWeights, model.gpuGradients).summary());
                        TensorView found = GpuModel.get(model.download(), "w");
                        Update update = Update.of(rule.at(1), alpha, 0);
                        for (int group = 0; group < groups.count(); group++) {
                            String what = "%s, α %s, β %s, group %d".formatted(rule, alpha, beta, group);
                            ties += assertExact(
                                    update, penalty.profileOfSize(54), alpha, groups, group, x, g, found, what);
                        }
                    }
                }
            }
        }
        assertTrue(total.shrunk() > 500 && total.untouched() > 500 && ties < 20, total + ", ties " + ties);
    }

    static List<UpdateRule> rulesOfLittleEpsilon() {
        return List.of(
                new UpdateRule.Sgd(),
                new UpdateRule.Momentum(),
                new UpdateRule.AdaGrad(),
                new UpdateRule.AdaGrad(1e-14),
                new UpdateRule.RmsProp(),
                new UpdateRule.RmsProp(0.99, 1e-10),
                new UpdateRule.Adam(),
                new UpdateRule.Adam(0.9, 0.999, 1e-10));
    }

    /** Compares a group with the exact operator. Returns 1 if it is at another minimum that is as good. */
    private static int assertExact(
            Update update,
            Profile profile,
            double alpha,
            AxisGroups groups,
            int group,
            TensorView weights,
            TensorView gradients,
            TensorView found,
            String what) {
        double[] x = groups.gather(group, List.of(weights));
        double[] d = groups.gather(group, List.of(gradients));
        double[] actual = groups.gather(group, List.of(found));
        for (int i = 0; i < x.length; i++) {
            float g = (float) d[i];
            float metric = update.metric(update.second(0, g));
            d[i] = metric;
            x[i] = update.preconditioned(metric, (float) x[i], update.first(0, g)) / metric;
            assertTrue(Double.isFinite(actual[i]) && actual[i] * x[i] >= 0, what);
        }
        double[] z = new double[x.length];
        WeightedProx.EXACT.apply(profile, x, d, alpha, z);
        double worst = 0;
        double largest = 0;
        for (int i = 0; i < z.length; i++) {
            worst = Math.max(worst, Math.abs(z[i] - actual[i]));
            largest = Math.max(largest, Math.abs(x[i]));
        }
        if (worst <= 1e-5 * largest) {
            return 0;
        }
        double best = objective(profile, x, d, alpha, z);
        double tie = 1e-5 * alpha * profile.value(Double.MAX_VALUE);
        assertEquals(best, objective(profile, x, d, alpha, actual), tie, what);
        return 1;
    }

    private static double objective(Profile profile, double[] x, double[] d, double alpha, double[] z) {
        double distance = 0;
        double squares = 0;
        for (int i = 0; i < z.length; i++) {
            distance += d[i] * (z[i] - x[i]) * (z[i] - x[i]) / 2;
            squares += z[i] * z[i];
        }
        return distance + alpha * profile.value(Math.sqrt(squares));
    }

    /** A rule that keeps no second moment has one all the same, in groups that are left to the processor too. */
    @Test
    void rulesThatKeepNoSecondMomentAgree() {
        List<ParameterSet> sets = List.of(
                set("mcp.", new AxisGroups(40, 30, 1), new GroupMcp(1, 0.05)),
                set("knees.", new AxisGroups(17, 12, 9), new GroupMcp(2, 0.01)));
        for (UpdateRule rule : List.of(
                new UpdateRule.Adam(0.9, 0, 1e-8),
                new UpdateRule.Adam(0, 0, 1e-8),
                new UpdateRule.RmsProp(0, 1e-8),
                new UpdateRule.Momentum(0))) {
            Summary total = assertAgree(rule, sets, OPTIONS, 4);
            assertTrue(total.groups() > 0, total::toString);
        }
        try (GpuModel model = new GpuModel(sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR);
                Optimizer host = new Optimizer(new UpdateRule.RmsProp(0, 1e-8), sets, OPTIONS);
                Optimizer gpu = new Optimizer(new UpdateRule.RmsProp(0, 1e-8), sets, OPTIONS, CudaSteps.onFirstGpu())) {
            host.changePenalty(new Halving(2)); // the GPU has no fast path for it: all groups straggle
            gpu.changePenalty(new Halving(2));
            SplittableRandom random = new SplittableRandom(8);
            GpuModel.fill(model.weights, random, 0.5);
            GpuModel.fill(model.gradients, random, 1);
            model.upload(model.weights, model.gpuWeights);
            model.upload(model.gradients, model.gpuGradients);
            assertReports(host.step(model.weights, model.gradients), gpu.step(model.gpuWeights, model.gpuGradients));
            SequencedMap<String, TensorView> found = model.download();
            model.weights.forEach((name, tensor) -> assertClose(name, tensor, GpuModel.get(found, name)));
        }
    }

    /** Whoever queues something behind a step is told whether it finds the weights, and if it did not after all. */
    @Test
    void aCompanionIsToldOfGroupsThatAreSolvedLate() {
        List<ParameterSet> sets = List.of(set("mcp.", new AxisGroups(40, 30, 1), new GroupMcp(1, 0.05)));
        for (UpdateRule rule : List.of(
                new UpdateRule.Adam(),
                new UpdateRule.Adam(0, 0.999, 1e-8),
                new UpdateRule.RmsProp(0.99, 1e-8),
                new UpdateRule.Momentum(0.9),
                new UpdateRule.Sgd())) {
            try (GpuModel model = new GpuModel(sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR);
                    Optimizer gpu = new Optimizer(rule, sets, OPTIONS, CudaSteps.onFirstGpu())) {
                SplittableRandom random = new SplittableRandom(8);
                GpuModel.fill(model.weights, random, 0.5);
                GpuModel.fill(model.gradients, random, 1);
                model.upload(model.weights, model.gpuWeights);
                model.upload(model.gradients, model.gpuGradients);
                Told told = new Told();
                gpu.step(model.gpuWeights, model.gpuGradients, told);
                int before = told.corrections;
                gpu.changePenalty(new Halving(2)); // all groups straggle
                gpu.step(model.gpuWeights, model.gpuGradients, told);
                boolean kept = rule.hasFirstMoment() && rule.hasSecondMoment();
                assertEquals(List.of(kept, kept), told.settled, rule::toString);
                assertEquals(before + 1, told.corrections, rule::toString);
            }
        }
    }

    private static final class Told implements StepCompanion {
        private final List<Boolean> settled = new ArrayList<>();
        private int corrections;

        @Override
        public void underWay(boolean now) {
            settled.add(now);
        }

        @Override
        public void corrected() {
            corrections++;
        }
    }

    /** Teams of several blocks: each of them has reported its share of single weights while these bore a penalty. */
    @Test
    void aPenaltyOfSingleWeightsThatIsGoneIsNotReported() {
        List<ParameterSet> sets = List.of(set("w", new AxisGroups(4096, 48, 9), new SparseGroupLasso(0.1, 0.5)));
        try (GpuModel model = new GpuModel(sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR);
                Optimizer gpu = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS, CudaSteps.onFirstGpu())) {
            SplittableRandom random = new SplittableRandom(3);
            GpuModel.fill(model.weights, random, 0.5);
            GpuModel.fill(model.gradients, random, 1);
            model.upload(model.weights, model.gpuWeights);
            model.upload(model.gradients, model.gpuGradients);
            assertTrue(gpu.step(model.gpuWeights, model.gpuGradients).penalty() > 0);
            for (Penalty penalty : List.of(new GroupLasso(0.01), new SparseGroupLasso(0.1, 0), new GroupLasso(0))) {
                gpu.changePenalty(penalty);
                double penaltyOnGpu =
                        gpu.step(model.gpuWeights, model.gpuGradients).penalty();
                double value = new Regularizer(penalty, new AxisGroups(4096, 48, 9))
                        .value(List.of(GpuModel.get(model.download(), "w0")));
                assertEquals(value, penaltyOnGpu, 1e-5 * value, penalty::toString);
            }
        }
    }

    @Test
    void aPenaltyOfTooManyPiecesIsRefusedAndChangesNothing() {
        List<ParameterSet> sets = List.of(
                set("w", new AxisGroups(64, 32, 9), new GroupLasso(0.1)),
                set("single", AxisGroups.single(50), new GroupLasso(0.1)));
        try (GpuModel model = new GpuModel(sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR);
                Optimizer gpu = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS, CudaSteps.onFirstGpu());
                Optimizer other = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS)) {
            assertMessage("at most 8 pieces", () -> gpu.changePenalty(new KindTest.Staircase(1, 9)));
            assertEquals(sets, gpu.sets());
            SplittableRandom random = new SplittableRandom(3);
            GpuModel.fill(model.weights, random, 0.5);
            GpuModel.fill(model.gradients, random, 1);
            model.upload(model.weights, model.gpuWeights);
            model.upload(model.gradients, model.gpuGradients);
            assertReports(other.step(model.weights, model.gradients), gpu.step(model.gpuWeights, model.gpuGradients));
            gpu.changePenalty(new KindTest.Staircase(1, 8));
            other.changePenalty(new KindTest.Staircase(1, 8));
            model.upload(model.weights, model.gpuWeights);
            assertReports(other.step(model.weights, model.gradients), gpu.step(model.gpuWeights, model.gpuGradients));
        }
    }

    /** Squares in float vanish where a norm is far too large; that is no zero. */
    @Test
    void aNormThatIsFarTooLargeZeroesNothing() {
        JointGroups joint = new JointGroups(List.of(new AxisGroups(30, 40, 1), new AxisGroups(5, 40, 2)));
        List<ParameterSet> sets = List.of(set("nested", NestedGroups.ofParts(joint), new NestedLasso(0.01, 0.4)));
        try (GpuModel model = new GpuModel(sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR);
                Optimizer host = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS);
                Optimizer gpu = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS, CudaSteps.onFirstGpu())) {
            SplittableRandom random = new SplittableRandom(3);
            GpuModel.fill(model.weights, random, 0.5);
            GpuModel.fill(model.gradients, random, 1);
            model.upload(model.weights, model.gpuWeights);
            model.upload(model.gradients, model.gpuGradients);
            MemorySegment norms = gpu.state().lastEntry().getValue();
            for (long i = 0; i < norms.byteSize() / Float.BYTES; i++) {
                norms.setAtIndex(ValueLayout.JAVA_FLOAT, i, 1e30f);
            }
            host.step(model.weights, model.gradients);
            assertEquals(
                    40, gpu.step(model.gpuWeights, model.gpuGradients).summary().shrunk());
            SequencedMap<String, TensorView> found = model.download();
            model.weights.forEach((name, tensor) -> assertClose(name, tensor, GpuModel.get(found, name)));
        }
    }

    /** Decay that a float beside one cannot tell: the same on both to the last bit but one. */
    @ParameterizedTest
    @ValueSource(doubles = {5e-8, 5e-7, 5e-6})
    void littleWeightDecayIsTheSame(double decay) {
        List<ParameterSet> sets = List.of(
                free("free", 5000).withWeightDecay(decay),
                set("w", new AxisGroups(64, 32, 9), new GroupLasso(0)).withWeightDecay(decay));
        assertAgree(new UpdateRule.Sgd(), sets, OPTIONS, 4);
    }

    @Test
    void memoryOfTheHostIsRefusedWithWhatToDo() {
        List<ParameterSet> sets = List.of(free("free", 11));
        try (GpuModel model = new GpuModel(sets, Layout.ROW_MAJOR, Layout.ROW_MAJOR);
                Arena arena = Arena.ofConfined();
                Optimizer host = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS);
                Optimizer gpu = new Optimizer(new UpdateRule.Adam(), sets, OPTIONS, CudaSteps.onFirstGpu())) {
            assertMessage("move it there", () -> gpu.step(model.weights, model.gradients));
            assertMessage("GPU 0", () -> host.step(model.gpuWeights, model.gpuGradients));
            SequencedMap<String, TensorView> pretended = model.gpuWeights;
            pretended.put(
                    "free",
                    TensorView.of(
                            Place.gpu(0), arena.allocate(44), ElementType.FLOAT32, new long[] {11}, new long[] {1}));
            CudaException thrown = assertThrows(CudaException.class, () -> gpu.step(pretended, model.gpuGradients));
            assertSays("weights of free", thrown);
        }
    }

    private static void assertSays(String part, Exception thrown) {
        assertTrue(String.valueOf(thrown.getMessage()).contains(part), thrown::toString);
    }

    private static void assertMessage(String part, Runnable action) {
        IllegalArgumentException thrown = assertThrows(IllegalArgumentException.class, action::run);
        assertSays(part, thrown);
    }

    @Test
    void whatTheDriverRefusesIsAnExceptionWithItsMessage() {
        try (Gpu gpu = Gpu.open(0)) {
            CudaException memory = assertThrows(CudaException.class, () -> gpu.allocate(1L << 45));
            assertSays("OUT_OF_MEMORY", memory);
            CudaException source = assertThrows(
                    CudaException.class, () -> gpu.compile("broken.cu", "__global__ void f() { wrong }", List.of()));
            assertSays("wrong", source);
            CudaException device = assertThrows(CudaException.class, () -> Gpu.open(99));
            assertSays("no GPU 99", device);
        }
    }
}
