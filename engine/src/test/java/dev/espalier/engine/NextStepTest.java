package dev.espalier.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.ZeroPlaces;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepCompanion;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torch.Torch;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A step that begins before the one before it is done comes to the same, even if it has to begin twice. */
class NextStepTest {
    private static final String FIRST = "layer1.conv.weight";
    private static final int STEPS = 60;

    @BeforeAll
    static void useOneThread() {
        Torch.tune();
        JniUtils.setNumThreads(1);
    }

    /** A training with dropout, statistics and weights that are held, whose steps are told of as a GPU would. */
    private static final class Story implements AutoCloseable {
        private final Graph graph = Models.convolutional();
        private final SplittableRandom random = new SplittableRandom(5);
        private final Network network;
        private final Optimizer optimizer;
        private final List<Object> told = new ArrayList<>();
        private int step;
        private int staged;
        private int begun;

        Story(Device device) {
            network = Network.outOfReach(graph, Models.CLASSES, device).seed(3);
            BitSet one = new BitSet();
            one.set(0);
            network.hold(Map.of(FIRST, List.of(new ZeroPlaces(new AxisGroups(1, 4, 9), one))));
            List<ParameterSet> sets = graph.tensors(Initializer.Kind.PARAMETER).entrySet().stream()
                    .map(entry -> ParameterSet.of(
                            LearningRate.constant(0.01),
                            Parameter.of(entry.getKey(), entry.getValue().shape())))
                    .toList();
            optimizer = new Optimizer(new UpdateRule.Adam(), sets, StepOptions.DEFAULT, device.kernels());
        }

        private record Batch(Map<String, Tensor> inputs, Map<String, Tensor> targets) {}

        private Batch draw() {
            Tensor images = Tensor.compute(DataType.FLOAT32, new long[] {6, 1, 8, 8}, _ -> random.nextDouble(-1, 1));
            return new Batch(
                    Map.of("image", images),
                    Map.of("class", Tensor.of(random.longs(6, 0, 2).toArray())));
        }

        private Supplier<Terms> queue(Batch batch) {
            return network.queueGradients(batch.inputs(), batch.targets(), 1);
        }

        private void set(int place, double value) {
            network.changeWeights(
                    weights -> Objects.requireNonNull(weights.get(FIRST)).set(place, value));
        }

        private double weight(int place) {
            return Objects.requireNonNull(network.graph().tensor(FIRST)).getDouble(place);
        }

        /** In some steps a weight is right only after all, and one that is held is not zero until it is set to it. */
        private void update(
                Set<Integer> corrected,
                Map<String, TensorView> weights,
                Map<String, TensorView> gradients,
                StepCompanion companion) {
            if (!corrected.contains(step)) {
                optimizer.step(weights, gradients, companion);
                return;
            }
            optimizer.step(weights, gradients);
            double right = weight(20);
            set(20, right + 1);
            companion.underWay(true);
            set(20, right);
            set(3, 5);
            companion.corrected();
        }

        /** Trains; true to have each step begin as soon as it may. */
        List<Object> train(Set<Integer> corrected, boolean follows) {
            TrainingStep training = new TrainingStep(
                    network, (weights, gradients, companion) -> update(corrected, weights, gradients, companion));
            List<Supplier<Terms>> ahead = new ArrayList<>(List.of(queue(draw())));
            for (step = 0; step < STEPS; step++) {
                Supplier<Terms> now = ahead.removeLast();
                Batch next = draw();
                Runnable begin = () -> {
                    begun++;
                    ahead.clear();
                    ahead.add(queue(next));
                };
                training.apply(new TrainingStep.Next(() -> follows, () -> staged++, begin));
                told.add(now.get().values());
                if (!follows) {
                    begin.run();
                }
            }
            told.add(ahead.getLast().get().values());
            network.readableGradients()
                    .forEach((name, view) ->
                            told.add(name + Arrays.toString(view.segment().toArray(ValueLayout.JAVA_INT))));
            told.addAll(state());
            return told;
        }

        private List<String> state() {
            List<String> state = new ArrayList<>();
            network.state()
                    .forEach(
                            (name, memory) -> state.add(name + Arrays.toString(memory.toArray(ValueLayout.JAVA_BYTE))));
            return state;
        }

        @Override
        public void close() {
            optimizer.close();
            network.close();
        }
    }

    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void aStepThatBeginsEarlyComesToTheSame(Device device) {
        try (Story patient = new Story(device);
                Story early = new Story(device)) {
            assertEquals(patient.train(Set.of(), false), early.train(Set.of(), true));
            assertEquals(STEPS, early.begun);
            assertEquals(0, early.staged);
            assertEquals(STEPS, patient.staged);
        }
    }

    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void whatBeganTooEarlyBeginsAgainAndThenNotForAWhile(Device device) {
        Set<Integer> corrected = Set.of(0, 10, 45);
        try (Story patient = new Story(device);
                Story early = new Story(device)) {
            assertEquals(patient.train(corrected, false), early.train(corrected, true));
            assertEquals(STEPS + 2, early.begun, "twice in the first and the last of them");
            assertEquals(
                    10 + 32 + 14,
                    early.staged,
                    "patient from the first of them to 32 after the second, and from the third on");
        }
    }

    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void whatFailsAfterTheNextStepHasBegunLeavesNothingOfIt(Device device) {
        try (Story story = new Story(device)) {
            TrainingStep failing = new TrainingStep(story.network, (_, _, companion) -> {
                companion.underWay(true);
                throw new IllegalStateException("no");
            });
            Story.Batch batch = story.draw();
            assertTrue(story.queue(batch).get().loss() > 0);
            TrainingStep.Next next = new TrainingStep.Next(() -> true, () -> {}, () -> story.queue(batch));
            story.network.zeroHeld();
            List<String> before = story.state();
            assertThrows(IllegalStateException.class, () -> failing.apply(next));
            assertEquals(before, story.state());
            story.network.readableGradients().values().forEach(view -> {
                for (int i = 0; i < view.size(); i++) {
                    assertEquals(0, view.get(i));
                }
            });
        }
    }

    /** The step is done and counted; what cannot begin is told after that, and nothing is left of it. */
    @ParameterizedTest
    @MethodSource("dev.espalier.engine.Models#devices")
    void whatCannotBeginIsToldOnceTheStepIsDone(Device device) {
        try (Story story = new Story(device)) {
            TrainingStep training = new TrainingStep(
                    story.network,
                    (weights, gradients, companion) -> story.update(Set.of(0), weights, gradients, companion));
            Story.Batch batch = story.draw();
            assertTrue(story.queue(batch).get().loss() > 0);
            List<String> before = story.state();
            TrainingStep.Next next = new TrainingStep.Next(() -> true, () -> {}, () -> {
                assertTrue(story.queue(batch).get().loss() > 0);
                throw new IllegalStateException("out of samples");
            });
            assertThrows(IllegalStateException.class, () -> training.apply(next));
            assertEquals(1, story.optimizer.steps());
            assertEquals(0, story.weight(3), "it is held");
            List<String> after = story.state();
            for (int i = 0; i < before.size(); i++) {
                boolean stays =
                        !before.get(i).contains("weight") && !before.get(i).contains("bias");
                assertEquals(stays, before.get(i).equals(after.get(i)), before.get(i));
            }
        }
    }
}
