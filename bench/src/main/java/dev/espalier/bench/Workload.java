package dev.espalier.bench;

import dev.espalier.bench.ModelShapes.TensorShape;
import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.step.StepReport;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A model in the state that training with Adam leaves it in: log-normal second moments, gradients that are mostly noise,
 * and a third of the groups near the threshold at which they become zero.
 *
 * <p>Gradients alternate between a draw of noise and its near opposite, so that weights jitter, as they do late in
 * training, instead of marching off.
 */
public final class Workload implements AutoCloseable {
    /** Learning rate and penalty of the paper's VGG-16. */
    public static final double RATE = 1e-3;

    /** Strength of the paper's penalties on VGG-16. */
    public static final double LAMBDA = 2e-5;

    /** Knee of the paper's group MCP on VGG-16. */
    public static final double BETA = 5e3;

    private static final double DECAY = 5e-3;
    private static final double MEDIAN_OF_D = 1e-3;
    private static final double SPREAD_OF_D = 1.0;
    private static final long STEPS_BEFORE = 1000;

    private final Arena arena = Arena.ofShared();
    private final Optimizer optimizer;
    private final Map<String, TensorView> weights = new HashMap<>();
    private final List<Map<String, TensorView>> gradients = List.of(new HashMap<>(), new HashMap<>());
    private int turn;

    /** How tensors that read the same input are grouped: query, key and value. */
    public enum Grouping {
        /** Each by itself. */
        APART,
        /** One group for the three. */
        JOINED,
        /** One group for the three, and within it one for each; takes a penalty that nests. */
        NESTED
    }

    /**
     * A model whose tensors are grouped each by itself.
     *
     * @param tensors its tensors
     * @param penalty the penalty of its grouped tensors; null for none
     * @param options how steps are done
     */
    public Workload(List<TensorShape> tensors, @Nullable Penalty penalty, StepOptions options) {
        this(
                tensors,
                penalty,
                Grouping.APART,
                options,
                new HostHome(Runtime.getRuntime().availableProcessors()));
    }

    /**
     * A model.
     *
     * @param tensors its tensors
     * @param penalty the penalty of its grouped tensors; null for none
     * @param grouping how tensors that read the same input are grouped
     * @param options how steps are done
     * @param home where it lives; closed by whoever opened it, afterwards
     */
    public Workload(
            List<TensorShape> tensors, @Nullable Penalty penalty, Grouping grouping, StepOptions options, Home home) {
        SequencedMap<String, List<TensorShape>> together = new LinkedHashMap<>();
        for (TensorShape tensor : tensors) {
            String key = grouping == Grouping.APART
                    ? tensor.name()
                    : tensor.name().replaceFirst("\\.(query|key|value)\\.weight$", ".readers");
            together.computeIfAbsent(key, name -> new ArrayList<>()).add(tensor);
        }
        List<ParameterSet> sets = together.values().stream()
                .map(shapes -> set(shapes, penalty, grouping))
                .toList();
        optimizer = new Optimizer(new UpdateRule.Adam(), sets, options, home.kernels());
        Map<String, MemorySegment> state = optimizer.state();
        Objects.requireNonNull(state.get("counters")).set(ValueLayout.JAVA_LONG_UNALIGNED, 0, STEPS_BEFORE);
        RandomGenerator random = new SplittableRandom(7);
        for (TensorShape tensor : tensors) {
            fill(tensor, Objects.requireNonNull(state.get("second/" + tensor.name())), random);
        }
        weights.replaceAll((name, tensor) -> home.bring(tensor));
        gradients.forEach(noise -> noise.replaceAll((name, tensor) -> home.bring(tensor)));
    }

    private static ParameterSet set(List<TensorShape> tensors, @Nullable Penalty penalty, Grouping grouping) {
        Parameter[] parameters = tensors.stream()
                .map(tensor -> Parameter.of(tensor.name(), tensor.dimensions()))
                .toArray(Parameter[]::new);
        ParameterSet set =
                ParameterSet.of(LearningRate.constant(RATE), parameters).withWeightDecay(DECAY);
        if (penalty == null || tensors.getFirst().groupAxis() < 0) {
            return set;
        }
        List<AxisGroups> parts = tensors.stream()
                .map(tensor -> AxisGroups.along(tensor.groupAxis(), tensor.dimensions()))
                .toList();
        if (parts.size() == 1) {
            return set.withRegularizer(new Regularizer(penalty, parts.getFirst()));
        }
        JointGroups joint = new JointGroups(parts);
        return set.withRegularizer(
                new Regularizer(penalty, grouping == Grouping.NESTED ? NestedGroups.ofParts(joint) : joint));
    }

    private void fill(TensorShape tensor, MemorySegment second, RandomGenerator random) {
        long size = tensor.size();
        MemorySegment x = allocate(size);
        MemorySegment firstNoise = allocate(size);
        MemorySegment secondNoise = allocate(size);
        int groups = tensor.groupAxis() < 0 ? 1 : tensor.shape().get(1).intValue();
        long inner = tensor.groupAxis() < 0 ? size : size / tensor.shape().get(0) / groups;
        for (long i = 0; i < size; i++) {
            double d = MEDIAN_OF_D * Math.exp(SPREAD_OF_D * random.nextGaussian());
            boolean nearThreshold = tensor.groupAxis() >= 0 && i / inner % groups % 3 == 0;
            // near its threshold a group's ‖u‖ is that of l = αλ√n, give or take a tenth from group to group
            double x0 = nearThreshold
                    ? RATE
                            * LAMBDA
                            / d
                            * (0.9 + 0.2 * (i / inner % groups * 0.618 % 1))
                            * Math.signum(random.nextGaussian())
                    : 0.02 * random.nextGaussian();
            double noise = nearThreshold ? 0.3 * LAMBDA : d;
            store(x, i, x0);
            store(second, i, d * d);
            double gradient = noise * random.nextGaussian();
            store(firstNoise, i, gradient);
            store(secondNoise, i, 0.2 * noise * random.nextGaussian() - gradient);
        }
        weights.put(tensor.name(), TensorView.of(x, ElementType.FLOAT32, tensor.dimensions()));
        gradients.get(0).put(tensor.name(), TensorView.of(firstNoise, ElementType.FLOAT32, tensor.dimensions()));
        gradients.get(1).put(tensor.name(), TensorView.of(secondNoise, ElementType.FLOAT32, tensor.dimensions()));
    }

    private MemorySegment allocate(long size) {
        return arena.allocate(size * ElementType.FLOAT32.bytes(), 64);
    }

    private static void store(MemorySegment segment, long index, double value) {
        segment.set(ValueLayout.JAVA_FLOAT_UNALIGNED, index * Float.BYTES, (float) value);
    }

    /**
     * Does one step.
     *
     * @return what was done
     */
    public StepReport step() {
        turn = 1 - turn;
        return optimizer.step(weights, gradients.get(turn));
    }

    /**
     * What steps run on.
     *
     * @return the kernel's name
     */
    public String kernelName() {
        return optimizer.kernelName();
    }

    @Override
    public void close() {
        optimizer.close();
        arena.close();
    }
}
