package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.espalier.core.tensor.TensorView;
import dev.espalier.data.BatchPosition;
import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.task.Examples;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/** A training whose weights are out of the processor's reach goes as any other. */
class SessionTest {
    private static Network near(Graph model, Objective objective) {
        return new Network(model, objective, Device.CPU);
    }

    private static Network far(Graph model, Objective objective) {
        return Network.outOfReach(model, objective, Device.CPU);
    }

    private static Recipe recipe(String... overrides) {
        return Recipe.parse("test.toml", """
                [data]
                kind = "digits"
                train_limit = 200
                test_limit = 50
                [model]
                kind = "mlp"
                hidden = [24, 16]
                [penalty]
                kind = "group-lasso"
                lambda = 2e-2
                [optimizer]
                rate = 1e-2
                [phases]
                heal_epochs = 2
                [training]
                prune_for = "size"
                epochs = 3
                batch_size = 20
                """, List.of(overrides));
    }

    private static Session session(Recipe recipe, Task task, BiFunction<Graph, Objective, Network> networks) {
        Graph initial = task.model(Weights.seeded(1));
        return new Session(
                recipe,
                task,
                initial,
                1,
                TrainingListener.NOBODY,
                Device.CPU.kernels(),
                networks.apply(initial, task.objective()),
                Optional.empty());
    }

    private static void train(Session session, Task task, long fromEpoch, long toEpoch) {
        try (Examples examples = task.examples(1, new BatchPosition(fromEpoch, 0), toEpoch)) {
            while (session.isAhead() || examples.hasNext()) {
                session.step(examples, true);
            }
        }
    }

    private static Map<String, double[]> weights(Session session) {
        Map<String, double[]> weights = new LinkedHashMap<>();
        session.graph()
                .tensors(Initializer.Kind.PARAMETER)
                .forEach((name, tensor) -> weights.put(name, numbers(tensor)));
        return weights;
    }

    private static double[] numbers(Tensor tensor) {
        double[] numbers = new double[(int) tensor.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = tensor.getDouble(i) + 0.0; // minus zero is zero
        }
        return numbers;
    }

    private static void assertSame(Map<String, double[]> expected, Map<String, double[]> actual, double tolerance) {
        assertEquals(expected.keySet(), actual.keySet());
        expected.forEach((name, numbers) ->
                assertArrayEquals(numbers, Objects.requireNonNull(actual.get(name)), tolerance, name));
    }

    private static int zeros(Map<String, double[]> weights) {
        int zeros = 0;
        for (double[] numbers : weights.values()) {
            for (double number : numbers) {
                zeros += number == 0 ? 1 : 0;
            }
        }
        return zeros;
    }

    @Test
    void throughAllPhasesTheWeightsAreTheSame() throws IOException {
        Recipe recipe = recipe();
        Task task = Tasks.of(recipe);
        try (Session near = session(recipe, task, SessionTest::near);
                Session far = session(recipe, task, SessionTest::far)) {
            train(near, task, 0, 5);
            train(far, task, 0, 5);
            assertTrue(zeros(weights(near)) > 100, "nothing was held at zero");
            assertSame(weights(near), weights(far), 0);
            Progress progress = near.progress(4, 0);
            assertEquals(
                    near.metrics(near.evaluate(), progress, 0).nonZeroGroups(),
                    far.metrics(far.evaluate(), progress, 0).nonZeroGroups());
        }
    }

    /** The pass of a step that was begun ahead has changed the statistics of batches by then. */
    @Test
    void stepsThatAreBegunAheadComeToTheSameBits() throws IOException {
        Recipe recipe = recipe(
                "model.kind=small-cnn", "model.channels=[6, 8]", "training.accumulate=3", "phases.heal_epochs=1");
        Task task = Tasks.of(recipe);
        try (Session waiting = session(recipe, task, SessionTest::far);
                Session eager = session(recipe, task, SessionTest::far);
                Examples some = task.examples(1, new BatchPosition(0, 0), 4);
                Examples same = task.examples(1, new BatchPosition(0, 0), 4)) {
            List<Integer> begun = new ArrayList<>();
            for (int step = 0; some.hasNext(); step++) {
                assertEquals(some.position(), eager.position(same));
                waiting.step(some, false);
                eager.step(same, step != 5);
                if (eager.isAhead()) {
                    assertThrows(IllegalStateException.class, eager::state);
                    assertThrows(IllegalStateException.class, eager::evaluate);
                    begun.add(step);
                } else {
                    assertEquals(saved(waiting), saved(eager));
                }
            }
            assertFalse(same.hasNext() || eager.isAhead());
            // Four steps make an epoch.
            assertEquals(List.of(0, 1, 2, 4, 6, 8, 9, 10, 12, 13, 14), begun);
        }
    }

    /** The state as text, without what the clock says. */
    private static String saved(Session session) {
        StringBuilder text = new StringBuilder();
        session.state().forEach((name, memory) -> {
            if (!name.equals("meter")) {
                text.append(name).append(Arrays.toString(memory.toArray(ValueLayout.JAVA_BYTE)));
            }
        });
        return text.toString();
    }

    /** The same from near and from afar. */
    @Test
    void decayWithinTheGradientShortensWeightsWithoutAPenalty() throws IOException {
        String[] decay = {
            "method.kind=baseline", "penalty.kind=none", "optimizer.gradient_decay=1", "phases.heal_epochs=0"
        };
        Recipe recipe = recipe(decay);
        Task task = Tasks.of(recipe);
        try (Session near = session(recipe, task, SessionTest::near);
                Session far = session(recipe, task, SessionTest::far);
                Session plain = session(recipe.with("optimizer.gradient_decay=0"), task, SessionTest::near)) {
            for (Session session : List.of(near, far, plain)) {
                train(session, task, 0, 3);
            }
            assertSame(weights(near), weights(far), 1e-6);
            assertTrue(length(near) < 0.2 * length(plain), length(near) + " and " + length(plain));
        }
    }

    /** The norm of all matrices; biases do not decay. */
    private static double length(Session session) {
        return Math.sqrt(weights(session).entrySet().stream()
                .filter(entry -> entry.getKey().endsWith("weight"))
                .flatMapToDouble(entry -> Arrays.stream(entry.getValue()))
                .map(x -> x * x)
                .sum());
    }

    /** Groups that become zero in the end leave statistics behind that were theirs. */
    @Test
    void statisticsAreMeasuredAnewAndWeightsAreNot() throws IOException {
        Recipe recipe = recipe(
                "model.kind=small-cnn",
                "model.channels=[6, 8]",
                "method.kind=subgradient",
                "method.threshold=0.05",
                "phases.heal_epochs=0");
        Task task = Tasks.of(recipe);
        try (Session plain = session(recipe, task, SessionTest::near);
                Session measured = session(recipe.with("training.recalibrate=25"), task, SessionTest::far)) {
            train(plain, task, 0, 3);
            train(measured, task, 0, 3);
            plain.finish();
            measured.finish();
            assertTrue(zeros(weights(plain)) > 10, "nothing became zero");
            assertSame(weights(plain), weights(measured), 0);
            Map<String, double[]> before = buffers(plain);
            Map<String, double[]> after = buffers(measured);
            assertTrue(before.keySet().stream().allMatch(name -> !Arrays.equals(before.get(name), after.get(name))));
            // Twice as many batches change little more.
            try (Session longer = session(recipe.with("training.recalibrate=50"), task, SessionTest::near)) {
                train(longer, task, 0, 3);
                longer.finish();
                assertTrue(distance(after, buffers(longer)) < 0.3 * distance(before, after));
            }
        }
    }

    private static Map<String, double[]> buffers(Session session) {
        Map<String, double[]> buffers = new LinkedHashMap<>();
        session.graph().tensors(Initializer.Kind.BUFFER).forEach((name, tensor) -> buffers.put(name, numbers(tensor)));
        return buffers;
    }

    private static double distance(Map<String, double[]> some, Map<String, double[]> others) {
        double sum = 0;
        for (Map.Entry<String, double[]> entry : some.entrySet()) {
            double[] other = Objects.requireNonNull(others.get(entry.getKey()));
            for (int i = 0; i < other.length; i++) {
                sum += Math.pow(entry.getValue()[i] - other[i], 2);
            }
        }
        return Math.sqrt(sum);
    }

    /** An epoch in which nothing goes, three in which groups go by choice after every step, and two that heal. */
    private static Recipe byChoice() {
        return recipe(
                "penalty.lambda=auto",
                "target.kind=parameters",
                "target.share=0.3",
                "target.by=choice",
                "phases.warm_up_epochs=1");
    }

    @Test
    void groupsThatGoByChoiceAreTheSameFromAfar() throws IOException {
        Recipe recipe = byChoice();
        Task task = Tasks.of(recipe);
        try (Session near = session(recipe, task, SessionTest::near);
                Session far = session(recipe, task, SessionTest::far)) {
            for (int epoch = 0; epoch < 6; epoch++) {
                train(near, task, epoch, epoch + 1);
                train(far, task, epoch, epoch + 1);
                assertSame(weights(near), weights(far), 0);
            }
            double left = near.groups().groupsLeft(near.graph());
            assertTrue(left > 0.2 && left < 0.8, "groups left: " + left);
        }
    }

    @Test
    void aCheckpointBetweenChoicesIsGoneOnFrom() throws IOException {
        assertGoneOnFrom(byChoice(), 2, 6);
    }

    /** Its D starts small, and αλ_g/D is what a step takes off a group. */
    @Test
    void withAnUncorrectedMetricEarlyStepsZeroMore() throws IOException {
        double corrected = groupsLeftEarly("penalty.lambda=1e-3");
        double uncorrected = groupsLeftEarly("penalty.lambda=1e-3", "method.metric=uncorrected");
        assertTrue(corrected > 0.9 && uncorrected < 0.5, "groups left: %s and %s".formatted(corrected, uncorrected));
    }

    /** The share of groups that are left after five steps. */
    private static double groupsLeftEarly(String... overrides) throws IOException {
        Recipe recipe = recipe(overrides);
        Task task = Tasks.of(recipe);
        try (Session session = session(recipe, task, SessionTest::near);
                Examples examples = task.examples(1, new BatchPosition(0, 0), 1)) {
            for (int step = 0; step < 5; step++) {
                session.step(examples, true);
            }
            return session.groups().groupsLeft(session.graph());
        }
    }

    private static void save(Session session, Map<String, byte[]> saved) {
        session.state().forEach((name, memory) -> saved.put(name, memory.toArray(ValueLayout.JAVA_BYTE)));
    }

    private static void restore(Session session, Map<String, byte[]> saved) {
        SequencedMap<String, MemorySegment> state = session.state();
        saved.forEach(
                (name, bytes) -> Objects.requireNonNull(state.get(name), name).copyFrom(MemorySegment.ofArray(bytes)));
        session.restore();
    }

    /** After so many epochs, from afar: a session that takes over the state of another ends as that one does. */
    private static void assertGoneOnFrom(Recipe recipe, int epoch, int last) throws IOException {
        Task task = Tasks.of(recipe);
        Map<String, byte[]> saved = new LinkedHashMap<>();
        Map<String, double[]> expected;
        try (Session first = session(recipe, task, SessionTest::far)) {
            train(first, task, 0, epoch);
            save(first, saved);
            train(first, task, epoch, last);
            expected = weights(first);
        }
        try (Session second = session(recipe, task, SessionTest::far)) {
            restore(second, saved);
            train(second, task, epoch, last);
            assertSame(expected, weights(second), 0);
        }
    }

    @Test
    void aCheckpointInTheMiddleOfHealingIsGoneOnFrom() throws IOException {
        assertGoneOnFrom(recipe(), 4, 5);
    }

    @Test
    void clippingIsTheSameUpToRounding() throws IOException {
        Recipe recipe =
                recipe("training.clip_norm=0.1", "penalty.lambda=1e-4", "phases.heal_epochs=0", "training.epochs=1");
        Task task = Tasks.of(recipe);
        try (Session near = session(recipe, task, SessionTest::near);
                Session far = session(recipe, task, SessionTest::far)) {
            train(near, task, 0, 1);
            train(far, task, 0, 1);
            assertSame(weights(near), weights(far), 1e-4);
        }
    }

    @Test
    void theSubgradientMethodMakesItsZerosAtTheEnd() throws IOException {
        Recipe recipe = recipe("method.kind=subgradient", "method.threshold=1e-1", "phases.heal_epochs=0");
        Task task = Tasks.of(recipe);
        try (Session near = session(recipe, task, SessionTest::near);
                Session far = session(recipe, task, SessionTest::far)) {
            for (Session session : List.of(near, far)) {
                train(session, task, 0, 3);
                session.finish();
            }
            assertTrue(zeros(weights(near)) > 100, "nothing was cut off");
            assertSame(weights(near), weights(far), 0);
        }
    }

    /** Both layers have 64 groups: 8, their number's root, is a factor of λ, and a power of two, so that nothing is rounded. */
    @Test
    void valuesWeighedByTheNumberOfGroupsActAsAnotherLambda() throws IOException {
        String[] alike = {"model.hidden=[64]", "method.kind=subgradient", "method.threshold=0", "phases.heal_epochs=0"};
        for (String penalty : List.of("group-lasso", "group-mcp")) {
            boolean bends = penalty.equals("group-mcp");
            Recipe recipe = recipe(alike).with("penalty.lambda=1e-3", "penalty.group_weight=none");
            for (int sign : new int[] {1, -1}) {
                double weight = Math.pow(8, sign);
                Recipe weighed = recipe.with("method.value_weight=" + (sign > 0 ? "groups" : "inverse-groups"));
                Recipe stronger = recipe.with("penalty.lambda=" + 1e-3 * weight);
                if (bends) {
                    // h(w·r; β, λ) = h(r; β/w², λw)
                    weighed = weighed.with("penalty.kind=group-mcp", "penalty.beta=100");
                    stronger = stronger.with("penalty.kind=group-mcp", "penalty.beta=" + 100 / (weight * weight));
                }
                Task task = Tasks.of(recipe);
                try (Session one = session(weighed, task, SessionTest::near);
                        Session other = session(stronger, task, SessionTest::near);
                        Session plain = session(recipe, task, SessionTest::near)) {
                    for (Session session : List.of(one, other, plain)) {
                        train(session, task, 0, 1);
                    }
                    assertSame(weights(other), weights(one), 0);
                    assertTrue(distance(weights(plain), weights(one)) > 1e-3, penalty);
                }
            }
        }
    }

    /** In which groups become zero after the first of three epochs. */
    private static Recipe halfSpace(String... overrides) {
        return recipe("method.kind=half-space", "method.projection_after=0.3", "method.epsilon=0.7")
                .with(overrides);
    }

    @Test
    void halfSpaceStepsAreTheSameFromAfar() throws IOException {
        Recipe recipe = halfSpace();
        Task task = Tasks.of(recipe);
        try (Session near = session(recipe, task, SessionTest::near);
                Session far = session(recipe, task, SessionTest::far)) {
            for (Session session : List.of(near, far)) {
                train(session, task, 0, 5);
                session.finish();
            }
            assertTrue(zeros(weights(near)) > 100, "nothing became zero");
            assertSame(weights(near), weights(far), 0);
        }
    }

    /** The whole training again, with the optimizer's subgradient steps and the definition of the projection written down. */
    @Test
    void halfSpaceStepsAreSubgradientStepsAndAProjection() throws IOException {
        Recipe recipe = halfSpace("phases.heal_epochs=0");
        Recipe plain = recipe.with("method.kind=subgradient", "method.threshold=0");
        Task task = Tasks.of(recipe);
        Graph initial = task.model(Weights.seeded(1));
        Network network = near(initial, task.objective());
        try (Session session = session(recipe, task, SessionTest::near);
                Session twin = session(plain, task, (_, _) -> network);
                Examples examples = task.examples(1, new BatchPosition(0, 0), 3);
                Examples same = task.examples(1, new BatchPosition(0, 0), 3)) {
            int cleared = 0;
            for (int step = 0; step < 30; step++) {
                Map<String, double[]> before = weights(twin);
                session.step(examples, true);
                twin.step(same, true);
                if (step >= 9) { // 0.3 of 30 steps are done
                    cleared += project(twin, before, network.weights());
                }
                assertSame(weights(twin), weights(session), 0);
                Progress progress = session.progress(step / 10, 0);
                assertEquals(twin.groups().groupsLeft(network.graph()), progress.groupsLeft(), 1e-12);
            }
            assertTrue(cleared > 10, cleared + " groups became zero");
        }
    }

    /** Input channels of fully connected layers, whose weights are [out, in]: column by column. */
    private static int project(Session session, Map<String, double[]> before, Map<String, TensorView> weights) {
        int cleared = 0;
        for (LayerGroups layer : session.groups().layers()) {
            double[] x = Objects.requireNonNull(before.get(layer.name()));
            TensorView y = Objects.requireNonNull(weights.get(layer.name()));
            int columns = layer.groups().count();
            for (int column = 0; column < columns; column++) {
                double product = 0;
                double square = 0;
                for (int i = column; i < x.length; i += columns) {
                    product += y.get(i) * x[i];
                    square += x[i] * x[i];
                }
                if (square == 0 || product < 0.7 * square) {
                    cleared += square == 0 ? 0 : 1;
                    for (int i = column; i < x.length; i += columns) {
                        y.set(i, 0);
                    }
                }
            }
        }
        return cleared;
    }

    /** What is zero after one step is zero after the next, through healing and from a checkpoint. */
    @Test
    void zerosOfHalfSpaceStepsStay() throws IOException {
        Recipe recipe = halfSpace();
        Task task = Tasks.of(recipe);
        Map<String, byte[]> saved = new LinkedHashMap<>();
        Map<String, double[]> expected;
        try (Session first = session(recipe, task, SessionTest::near);
                Examples examples = task.examples(1, new BatchPosition(0, 0), 5)) {
            Metrics last = first.metrics(first.evaluate(), first.before(first.evaluate()), 0);
            for (int step = 0; step < 50; step++) {
                if (step == 20) {
                    save(first, saved);
                    assertTrue(last.groupsLeft() < 0.9, "nothing is zero in the checkpoint: " + last.groupsLeft());
                }
                first.step(examples, false);
                Progress progress = first.progress(step / 10, 0);
                Metrics metrics = first.metrics(first.evaluate(), progress, 0);
                assertTrue(metrics.groupsLeft() <= last.groupsLeft(), "a group came back in step " + step);
                assertTrue(step >= 9 || metrics.groupsLeft() == 1, "a zero too early, in step " + step);
                assertEquals(metrics.groupsLeft(), progress.groupsLeft(), 1e-12);
                assertEquals(step < 30, metrics.penalty() > 0, "penalty of step " + step);
                last = metrics;
            }
            expected = weights(first);
        }
        try (Session second = session(recipe, task, SessionTest::far)) {
            restore(second, saved);
            train(second, task, 2, 5);
            assertSame(expected, weights(second), 0);
        }
    }

    @Test
    void withoutAPenaltyNothingIsProjected() throws IOException {
        Recipe recipe = halfSpace("method.epsilon=0.99", "method.projection_after=0", "penalty.lambda=0");
        Task task = Tasks.of(recipe);
        try (Session session = session(recipe, task, SessionTest::near)) {
            train(session, task, 0, 1);
            assertEquals(1, session.progress(0, 0).groupsLeft());
        }
    }

    /** One weight that is not a number makes one step with such a gradient; then all goes on as if the step had been done. */
    @Test
    void ratesAndMetricsDoNotMindASkippedStep() throws IOException {
        Recipe recipe = recipe(
                "method.non_finite=skip",
                "schedule.kind=cosine",
                "target.kind=groups",
                "target.share=0.5",
                "phases.heal_epochs=0");
        Task task = Tasks.of(recipe);
        Graph initial = task.model(Weights.seeded(1));
        Network network = new Network(initial, task.objective(), Device.CPU);
        List<Double> rates = new ArrayList<>();
        TrainingListener listener = new TrainingListener() {
            @Override
            public void beforeStep(StepView view) {
                rates.add(view.penalised().getFirst().problem().apply(0).stepSize());
            }
        };
        try (Session session = new Session(
                        recipe, task, initial, 1, listener, Device.CPU.kernels(), network, Optional.empty());
                Examples examples = task.examples(1, new BatchPosition(0, 0), 3)) {
            TensorView weights = network.readableWeights().firstEntry().getValue();
            for (int step = 0; step < 30; step++) {
                double before = weights.get(0);
                double lambda = session.lambda();
                boolean bad = step % 10 == 9;
                weights.set(0, bad ? Double.NaN : before);
                session.step(examples, true);
                if (bad) {
                    weights.set(0, before);
                }
                assertTrue(step == 0 || Math.abs(Math.log(session.lambda() / lambda)) < 1, "λ jumped");
            }
            Metrics metrics = session.metrics(session.evaluate(), session.progress(2, 0), 0);
            assertEquals(3, metrics.skippedSteps());
            assertEquals(30, session.steps());
            assertTrue(Double.isFinite(metrics.trainLoss()) && session.lambda() > 0, metrics::toString);
            for (int step = 0; step < 30; step++) {
                assertEquals(recipe.learningRate(10).at(step), rates.get(step), 1e-15);
            }
            assertEquals(recipe.learningRate(10).at(29), metrics.learningRate());
            session.checkProgress(session.evaluate());
        }
    }

    /** A look at the groups copies them from where they are, and changes nothing. */
    @Test
    void whatIsLookedAtFromAfarIsWhatIsSeenFromNear() throws IOException {
        Recipe recipe = recipe();
        assertEquals(looks(recipe, SessionTest::near), looks(recipe, SessionTest::far));
    }

    /** All groups before each of some steps, as text. */
    private static List<String> looks(Recipe recipe, BiFunction<Graph, Objective, Network> networks)
            throws IOException {
        Task task = Tasks.of(recipe);
        Graph initial = task.model(Weights.seeded(1));
        List<String> seen = new ArrayList<>();
        TrainingListener listener = new TrainingListener() {
            @Override
            public void beforeStep(StepView view) {
                for (StepView.PenalisedSet set : view.penalised()) {
                    for (int group = 0; group < set.regularizer().groups().count(); group++) {
                        StepView.GroupProblem problem = set.problem().apply(group);
                        seen.add(Arrays.toString(problem.before()) + Arrays.toString(problem.candidate()));
                    }
                }
            }
        };
        try (Session session = new Session(
                        recipe,
                        task,
                        initial,
                        1,
                        listener,
                        Device.CPU.kernels(),
                        networks.apply(initial, task.objective()),
                        Optional.empty());
                Examples examples = task.examples(1, new BatchPosition(0, 0), 1)) {
            for (int step = 0; step < 3; step++) {
                session.step(examples, true);
            }
        }
        assertTrue(seen.size() > 3);
        return seen;
    }

    private static Session onGpu(Recipe recipe, Task task) {
        Graph initial = task.model(Weights.seeded(1));
        return new Session(
                recipe,
                task,
                initial,
                1,
                TrainingListener.NOBODY,
                Device.gpu(0).kernels(),
                new Network(initial, task.objective(), Device.gpu(0)),
                Optional.empty());
    }

    /** Fifty steps carry rounding a long way; what was learned, and how much became zero, is about the same. */
    @Test
    void aGpuLearnsWhatTheProcessorLearns() throws IOException {
        assumeTrue(Device.gpu(0).whyNot().isEmpty(), "there is no GPU here");
        for (String precision : List.of("float32", "tf32", "bf16")) {
            Recipe recipe = recipe("training.precision=" + precision, "training.clip_norm=5");
            Task task = Tasks.of(recipe);
            try (Session near = session(recipe("training.clip_norm=5"), task, SessionTest::near);
                    Session far = onGpu(recipe, task)) {
                train(near, task, 0, 1);
                train(far, task, 0, 1);
                if (precision.equals("float32")) {
                    assertSame(weights(near), weights(far), 5e-3);
                }
                train(near, task, 1, 5);
                train(far, task, 1, 5);
                double expected = near.evaluate().main().getValue();
                assertEquals(expected, far.evaluate().main().getValue(), 0.1, precision);
                assertEquals(zeros(weights(near)), zeros(weights(far)), 0.1 * zeros(weights(near)), precision);
            }
        }
    }

    @Test
    void aCheckpointOfAGpuIsGoneOnFromOnEitherDevice() throws IOException {
        assumeTrue(Device.gpu(0).whyNot().isEmpty(), "there is no GPU here");
        Recipe recipe = recipe();
        Task task = Tasks.of(recipe);
        Map<String, byte[]> saved = new LinkedHashMap<>();
        Map<String, double[]> expected;
        try (Session first = onGpu(recipe, task)) {
            train(first, task, 0, 4);
            save(first, saved);
            train(first, task, 4, 5);
            expected = weights(first);
        }
        try (Session same = onGpu(recipe, task);
                Session other = session(recipe, task, SessionTest::near)) {
            for (Session second : List.of(same, other)) {
                SequencedMap<String, MemorySegment> state = second.state();
                saved.forEach((name, bytes) ->
                        Objects.requireNonNull(state.get(name), name).copyFrom(MemorySegment.ofArray(bytes)));
                second.restore();
                train(second, task, 4, 5);
            }
            assertSame(expected, weights(same), 0);
            assertSame(expected, weights(other), 5e-3);
        }
    }

    @Test
    void bfloat16LearnsAsWell() throws IOException {
        Recipe recipe = recipe("training.precision=bf16", "penalty.lambda=1e-4");
        Task task = Tasks.of(recipe);
        try (Session session = session(recipe, task, SessionTest::near)) {
            train(session, task, 0, 5);
            double accuracy = session.evaluate().main().getValue();
            assertTrue(accuracy > 0.6, "accuracy " + accuracy);
        }
    }
}
