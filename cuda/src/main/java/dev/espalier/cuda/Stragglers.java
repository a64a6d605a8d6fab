package dev.espalier.cuda;

import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.kernel.StepKernel.SetStep;
import dev.espalier.core.kernel.Update;
import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.Outcome;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.core.rule.Coefficients;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.cuda.driver.Gpu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Groups of a set that left the common paths of {@code step.cu}, solved by the exact operator on copies of the set's tensors.
 * The GPU has updated their moments, and left their weights alone.
 */
final class Stragglers implements AutoCloseable {

    /**
     * Where the moments of a tensor are, and what its metric is not below.
     *
     * @param size how many weights it has
     * @param first address of the first moment on the GPU; zero if there is none
     * @param second address of the second, likewise
     * @param metricFloor what no entry of the metric is below; 0 for none
     */
    record Place(long size, long first, long second, float metricFloor) {}

    private final Arena copies = Arena.ofConfined();
    private final Gpu gpu;
    private final Regularizer regularizer;
    private final SetStep step;
    private final List<Update> updates = new ArrayList<>();
    private final List<TensorView> weights = new ArrayList<>();
    /** Null where moments have all that is needed of them. */
    private final List<@Nullable TensorView> gradients = new ArrayList<>();

    private final List<@Nullable MemorySegment> firsts = new ArrayList<>();
    private final List<@Nullable MemorySegment> seconds = new ArrayList<>();
    private final long normsThere;
    private final MemorySegment norms;
    private Summary summary = Summary.EMPTY;
    private double penalty;

    /**
     * Copies a set.
     *
     * @param gpu where it is
     * @param regularizer its penalty and groups
     * @param step its step
     * @param coefficients the update rule's numbers
     * @param places of its tensors
     * @param norms address of its norms on the GPU
     * @param normCount how many there are
     */
    Stragglers(
            Gpu gpu,
            Regularizer regularizer,
            SetStep step,
            Coefficients coefficients,
            List<Place> places,
            long norms,
            int normCount) {
        this.gpu = gpu;
        this.regularizer = regularizer;
        this.step = step;
        this.normsThere = norms;
        Update update = Update.of(coefficients, step.stepSize(), step.weightDecay());
        this.norms = copyOf(norms, normCount);
        for (int i = 0; i < places.size(); i++) {
            Place tensor = places.get(i);
            updates.add(update.withMetricFloor(tensor.metricFloor()));
            weights.add(copyOf(gpu, step.weights().get(i), copies));
            boolean kept = tensor.first() != 0 && tensor.second() != 0;
            gradients.add(kept ? null : copyOf(gpu, step.gradients().get(i), copies));
            firsts.add(tensor.first() == 0 ? null : copyOf(tensor.first(), tensor.size()));
            seconds.add(tensor.second() == 0 ? null : copyOf(tensor.second(), tensor.size()));
        }
    }

    private MemorySegment copyOf(long address, long floats) {
        MemorySegment copy = copies.allocate(floats * Float.BYTES, 8);
        gpu.copyOut(address, copy);
        return copy;
    }

    /** A copy of a tensor in host memory, laid out like it. */
    static TensorView copyOf(Gpu gpu, TensorView tensor, Arena where) {
        MemorySegment copy = where.allocate(tensor.segment().byteSize(), 8);
        gpu.copyOut(tensor.segment().address(), copy);
        return TensorView.of(copy, tensor.type(), tensor.shape(), tensor.strides());
    }

    /** Solves a group, which has been evaluated so often already. */
    void solve(int group, int evaluations) {
        double[] x = new double[regularizer.groups().size(group)];
        double[] d = new double[x.length];
        boolean[] finite = {true};
        int[] next = {0};
        regularizer.groups().forEach(group, (tensor, index) -> {
            int i = next[0]++;
            d[i] = metric(tensor, index);
            x[i] = updates.get(tensor)
                            .preconditioned(
                                    (float) d[i], (float) weights.get(tensor).get(index), direction(tensor, index))
                    / d[i];
            finite[0] &= Double.isFinite(x[i]) && d[i] > 0 && d[i] < Double.POSITIVE_INFINITY;
        });
        if (finite[0]) {
            NestedProfile whole = regularizer.whole(group);
            double start = norms.getAtIndex(ValueLayout.JAVA_FLOAT, group);
            Outcome outcome = WeightedProx.EXACT.apply(whole, x, d, step.stepSize(), start, x);
            count(group, evaluations, outcome, whole.value(x), whole.innerNorms(x));
        } else { // weights or state were not finite before the step: there is nothing to solve
            Outcome none = new Outcome(Branch.UNTOUCHED, Double.NaN, 0, 0, false);
            count(group, evaluations, none, Double.NaN, new double[0]);
        }
        regularizer.groups().scatter(group, x, weights);
    }

    /** A moment that is not kept is made of the gradient alone. */
    private float metric(int tensor, long index) {
        MemorySegment second = seconds.get(tensor);
        Update update = updates.get(tensor);
        return update.metric(
                second == null
                        ? update.second(0, gradient(tensor, index))
                        : second.getAtIndex(ValueLayout.JAVA_FLOAT, index));
    }

    private float direction(int tensor, long index) {
        MemorySegment first = firsts.get(tensor);
        Update update = updates.get(tensor);
        return first == null
                ? update.first(0, gradient(tensor, index))
                : first.getAtIndex(ValueLayout.JAVA_FLOAT, index);
    }

    private float gradient(int tensor, long index) {
        return (float) Objects.requireNonNull(gradients.get(tensor)).get(index);
    }

    private void count(int group, int evaluations, Outcome outcome, double value, double[] innerNorms) {
        penalty += value;
        int within = 0;
        if (regularizer.groups() instanceof NestedGroups nested) {
            int groups = nested.count();
            for (int part = 0; part < norms.byteSize() / Float.BYTES / groups; part++) {
                double norm = part < innerNorms.length ? innerNorms[part] : Double.NaN;
                norms.setAtIndex(ValueLayout.JAVA_FLOAT, (long) part * groups + group, (float) norm);
                within += norm == 0 ? 1 : 0;
            }
        } else {
            norms.setAtIndex(ValueLayout.JAVA_FLOAT, group, (float) outcome.theta());
        }
        int spent = evaluations + outcome.iterations();
        summary = summary.plus(
                        new Outcome(outcome.branch(), outcome.theta(), spent, outcome.residual(), outcome.converged()))
                .plusWithin(within);
    }

    /** Copies weights and norms to the GPU. */
    void writeBack() {
        for (int i = 0; i < weights.size() && step.stepSize() > 0; i++) {
            gpu.copyIn(weights.get(i).segment(), step.weights().get(i).segment().address());
        }
        gpu.copyIn(norms, normsThere);
    }

    /** What was done to the groups that were solved. */
    Summary summary() {
        return summary;
    }

    /** Their penalty afterwards. */
    double penalty() {
        return penalty;
    }

    @Override
    public void close() {
        copies.close();
    }
}
