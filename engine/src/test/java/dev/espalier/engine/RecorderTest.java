package dev.espalier.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.ZeroPlaces;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepOptions;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torch.Recording;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What is recorded on a GPU comes to the same bits as what is not. Most of this needs a GPU, and is skipped without. */
class RecorderTest {
    private static final Device GPU = Device.gpu(0);
    private static final String FIRST = "layer1.conv.weight";

    private static void requireGpu() {
        assumeTrue(
                GPU.whyNot().isEmpty(),
                () -> "there is no GPU here: " + GPU.whyNot().orElseThrow());
    }

    /** A training with all that changes between steps: shapes, shares, what is clipped, held, frozen, and trained for. */
    private static final class Story implements AutoCloseable {
        private final Graph graph = Models.convolutional();
        private final Network network;
        private final Optimizer optimizer;
        private final SplittableRandom random = new SplittableRandom(5);
        private final List<Object> told = new ArrayList<>();
        private int mostRecorded;

        Story(boolean recorded) {
            network = new Network(graph, Models.CLASSES, GPU).seed(3).record(recorded);
            List<ParameterSet> sets = graph.tensors(Initializer.Kind.PARAMETER).entrySet().stream()
                    .map(entry -> ParameterSet.of(
                            LearningRate.constant(0.01),
                            Parameter.of(entry.getKey(), entry.getValue().shape())))
                    .toList();
            optimizer = new Optimizer(new UpdateRule.Adam(0.9, 0.999, 1e-8), sets, StepOptions.DEFAULT, GPU.kernels());
        }

        private record Batch(Map<String, Tensor> inputs, Map<String, Tensor> targets) {}

        Map<String, Tensor> images(int count) {
            return Map.of(
                    "image",
                    Tensor.compute(DataType.FLOAT32, new long[] {count, 1, 8, 8}, _ -> random.nextDouble(-1, 1)));
        }

        Map<String, Tensor> classes(int count) {
            return Map.of("class", Tensor.of(random.longs(count, 0, 2).toArray()));
        }

        void steps(int count, int samples) {
            Batch[] next = {new Batch(images(samples), classes(samples))};
            List<Supplier<Map<String, double[]>>> products = new ArrayList<>();
            TrainingStep step = new TrainingStep(network, (weights, gradients, _) -> {
                network.clipGradients(0.5);
                network.decayGradients(1e-3, Set.of(FIRST));
                products.add(network.products(Map.of(FIRST, axis())));
                optimizer.step(weights, gradients, _ -> {
                    next[0] = new Batch(images(samples), classes(samples));
                    // Now and then for nothing, or twice: another batch comes, and nobody is told.
                    if (random.nextInt(4) > 0) {
                        network.stage(next[0].inputs(), next[0].targets(), 0.5);
                    }
                    if (random.nextInt(4) == 0) {
                        next[0] = new Batch(images(samples), classes(samples));
                        network.stage(images(samples), classes(samples), 0.5);
                    }
                });
            });
            for (int i = 0; i < count; i++) {
                List<Supplier<Terms>> terms = new ArrayList<>();
                terms.add(network.queueGradients(next[0].inputs(), next[0].targets(), 0.5));
                // More than there are places for, and none is waited for.
                for (int more = 0; more < 3; more++) {
                    terms.add(network.queueGradients(images(samples), classes(samples), 0.5));
                }
                step.apply();
                terms.forEach(each -> told.add(each.get().values()));
            }
            products.forEach(each -> told.add(Arrays.toString(each.get().get(FIRST))));
            network.snapshot().weights(Set.of(FIRST)).forEach((name, view) -> told.add(name + bits(view.segment())));
            mostRecorded = Math.max(mostRecorded, network.recordings());
            told.add(network.terms(images(samples), classes(samples)).values());
            told.add(bits(
                    network.predict(images(samples)).firstEntry().getValue().data()));
        }

        List<Object> all() {
            steps(30, 8);
            steps(30, 5);
            network.hold(filter(0));
            steps(30, 8);
            network.hold(filter(1));
            steps(30, 8);
            network.freeze("layer2.conv.weight"::equals);
            for (int i = 0; i < 5; i++) {
                told.add(network.addGradients(images(8), classes(8), 1).values());
            }
            network.readableGradients().forEach((name, view) -> told.add(name + bits(view.segment())));
            network.zeroGradients();
            network.freeze(_ -> false).release();
            network.pursue(twice());
            steps(30, 8);
            network.precision(Precision.TF32);
            steps(5, 8);
            network.state().forEach((name, memory) -> told.add(name + bits(memory)));
            return told;
        }

        private static Objective twice() {
            return formula -> {
                var terms = Models.CLASSES.write(formula);
                var doubled = new LinkedHashMap<>(terms);
                doubled.put(
                        Objective.LOSS,
                        formula.times(Objects.requireNonNull(terms.get(Objective.LOSS)), formula.number(2)));
                return doubled;
            };
        }

        private Map<String, List<ZeroPlaces>> filter(int place) {
            BitSet places = new BitSet();
            places.set(place);
            AxisGroups filters = new AxisGroups((int) axis().outer(), (int) axis().count(), (int) axis().inner());
            return Map.of(FIRST, List.of(new ZeroPlaces(filters, places)));
        }

        /** Filters of three times three. */
        private Axis axis() {
            return new Axis(
                    1, Objects.requireNonNull(network.weights().get(FIRST)).size() / 9, 9);
        }

        @Override
        public void close() {
            optimizer.close();
            network.close();
        }
    }

    private static List<Byte> bits(MemorySegment memory) {
        List<Byte> bytes = new ArrayList<>();
        for (byte one : memory.toArray(ValueLayout.JAVA_BYTE)) {
            bytes.add(one);
        }
        return bytes;
    }

    @Test
    void aTrainingComesToTheSameBits() {
        requireGpu();
        try (Story plain = new Story(false);
                Story recorded = new Story(true)) {
            List<Object> expected = plain.all();
            List<Object> found = recorded.all();
            assertTrue(recorded.mostRecorded > 3, "little was recorded: " + recorded.mostRecorded);
            assertEquals(0, plain.mostRecorded);
            assertEquals(expected.size(), found.size());
            for (int i = 0; i < expected.size(); i++) {
                assertEquals(expected.get(i), found.get(i), "at " + i);
            }
        }
    }

    /** Each new shape is a new plan, which is seen too seldom to be recorded. */
    @Test
    void manyShapesDoNotFillTheMemory() {
        requireGpu();
        try (Network network = new Network(Models.convolutional(), Models.CLASSES, GPU)) {
            for (int samples = 1; samples <= 150; samples++) {
                long count = samples;
                Tensor images =
                        Tensor.compute(DataType.FLOAT32, new long[] {count, 1, 8, 8}, i -> Math.sin((double) i));
                Tensor classes = Tensor.computeLongs(DataType.INT64, new long[] {count}, i -> i % 2);
                network.predict(Map.of("image", images));
                network.addGradients(Map.of("image", images), Map.of("class", classes), 1);
                assertTrue(network.rememberedWork() <= 64, "remembered " + network.rememberedWork());
            }
        }
    }

    @Test
    void onAGpuThingsCanBeRecorded() {
        requireGpu();
        assertTrue(Recording.whyNot().isEmpty(), () -> Recording.whyNot().orElseThrow());
    }

    @Test
    void offAGpuNothingIsRecordedAndThatIsNothingToWarnOf() {
        try (Network network = new Network(Models.perceptron(4, 3), Models.CLASSES, Device.CPU).record(true)) {
            Map<String, Tensor> x = Map.of("x", Tensor.of(new float[] {1, 2, 3, 4}, 1, 4));
            for (int i = 0; i < 5; i++) {
                network.addGradients(x, Map.of("class", Tensor.of(new long[] {1})), 1);
            }
            assertEquals(0, network.recordings());
        }
    }

    /** A rehearsal draws nothing, or libtorch would refuse it; all else is as in training. */
    @Test
    void aRehearsalTrainsButDropsNothingOut() {
        Map<String, Tensor> image =
                Map.of("image", Tensor.compute(DataType.FLOAT32, new long[] {3, 1, 8, 8}, i -> Math.sin((double) i)));
        try (Network network = new Network(Models.convolutional(), Device.CPU)) {
            Tensor first = output(network, image, Mode.REHEARSAL);
            assertEquals(
                    bits(first.data()),
                    bits(output(network, image, Mode.REHEARSAL).data()));
            assertTrue(
                    first.data().mismatch(output(network, image, Mode.TRAINING).data()) >= 0, "nothing was dropped");
            Tensor inference = output(network, image, Mode.INFERENCE);
            assertTrue(first.data().mismatch(inference.data()) >= 0, "it was normalised by stored statistics");
        }
    }

    private static Tensor output(Network network, Map<String, Tensor> inputs, Mode mode) {
        try (Pass pass = network.forward(inputs, mode)) {
            return Tensors.tensor(pass.outputs().firstEntry().getValue());
        }
    }
}
