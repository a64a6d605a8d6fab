package dev.espalier.core.step;

import dev.espalier.core.check.Check;
import dev.espalier.core.kernel.LaneChoice;
import dev.espalier.core.kernel.StepKernel;
import dev.espalier.core.kernel.StepKernel.SetPlan;
import dev.espalier.core.kernel.StepKernel.SetStep;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.root.ReciprocalNewton;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.step.StepOptions.Method;
import dev.espalier.core.step.StepOptions.NonFinite;
import dev.espalier.core.step.StepReport.SetReport;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The adaptive proximal optimizer (Algorithm 2 of the paper; Algorithm 1 where there is no penalty):
 *
 * <pre>{@code
 * m_t, D_t from g_t by the update rule
 * x_{t+1} = prox_{αh}^{D_t}(x_t − α D_t⁻¹ m_t)
 * }</pre>
 *
 * <p>A step takes the whole model at once, as one fused pass over its memory. The optimizer owns the moments and the
 * groups' norms; weights and gradients are lent to it for the time of a step.
 */
public final class Optimizer implements AutoCloseable {
    /** The relative error of θ that float32 weights can tell. */
    private static final double FLOAT_TOLERANCE = 1e-7;

    private static final String WEIGHTS = "weights";
    private static final String GRADIENT = "gradient";

    private static final int STEPS = 0;
    private static final int SKIPPED = 1;

    private final UpdateRule rule;
    private final StepOptions options;
    private final StepKernel kernel;
    private final long[] counters = new long[2];
    private List<ParameterSet> sets;
    private boolean closed;

    /**
     * An optimizer for a model.
     *
     * @param rule the update rule
     * @param sets all parameters of the model, each in one set
     * @param options how steps are done
     */
    public Optimizer(UpdateRule rule, List<ParameterSet> sets, StepOptions options) {
        this(rule, sets, options, LaneChoice.BEST);
    }

    /**
     * An optimizer on a kernel of a given kind.
     *
     * @param rule the update rule
     * @param sets all parameters of the model, each in one set
     * @param options how steps are done
     * @param kernels makes what steps run on
     */
    @SuppressWarnings("exports") // who asks a device for kernels passes them on; only our modules make any
    public Optimizer(UpdateRule rule, List<ParameterSet> sets, StepOptions options, StepKernel.Factory kernels) {
        this.rule = rule;
        this.sets = List.copyOf(sets);
        this.options = options;
        requireDistinct(sets);
        List<SetPlan> plans = trained().map(this::plan).toList();
        long weights = plans.stream()
                .flatMap(plan -> plan.sizes().stream())
                .mapToLong(Long::longValue)
                .sum();
        kernel = kernels.create(rule, plans, options.threadsFor(weights));
    }

    private Stream<ParameterSet> trained() {
        return sets.stream().filter(set -> !set.frozen());
    }

    private SetPlan plan(ParameterSet set) {
        return new SetPlan(
                set.parameters().stream().map(Parameter::name).toList(),
                set.parameters().stream().map(Parameter::size).toList(),
                set.regularizer(),
                options.method() == Method.PROXIMAL,
                options.metricFloor());
    }

    private static void requireDistinct(List<ParameterSet> sets) {
        Set<String> names = new HashSet<>();
        for (ParameterSet set : sets) {
            for (Parameter parameter : set.parameters()) {
                if (!names.add(parameter.name())) {
                    throw new IllegalArgumentException(
                            "parameter " + parameter.name() + " is in two sets: every parameter must be in one");
                }
            }
        }
    }

    /**
     * Does one step on the whole model. Nothing is changed if any argument or gradient is bad.
     *
     * @param weights every parameter's weights by name, float32 in native memory; updated in place
     * @param gradients the trained parameters' gradients by name, likewise; left as they are by the proximal method, while
     *     the subgradient method adds the penalty's subgradient to them
     * @return what was done
     */
    public StepReport step(Map<String, TensorView> weights, Map<String, TensorView> gradients) {
        return step(weights, gradients, StepCompanion.NONE);
    }

    /**
     * The same, and something else on the processor while a GPU is at it.
     *
     * @param weights every parameter's weights by name
     * @param gradients the trained parameters' gradients by name
     * @param companion is told how far the step is
     * @return what was done
     */
    public StepReport step(
            Map<String, TensorView> weights, Map<String, TensorView> gradients, StepCompanion companion) {
        requireOpen();
        long step = steps() + 1;
        List<SetStep> setSteps = trained()
                .map(set -> new SetStep(
                        views(WEIGHTS, weights, set),
                        views(GRADIENT, gradients, set),
                        set.learningRate().at(allSteps()),
                        set.weightDecay()))
                .toList();
        double tolerance = Math.max(options.tolerance().at(step - 1), FLOAT_TOLERANCE);
        StepKernel.Result result =
                kernel.step(setSteps, rule.at(step), ReciprocalNewton.smallHalleyStep(tolerance), companion::underWay);
        StepKernel.BadGradient bad = result.bad();
        if (bad != null && options.nonFinite() == NonFinite.FAIL) {
            throw new NonFiniteGradientException(bad.name(), step, bad.magnitude());
        }
        if (bad != null) {
            counters[SKIPPED]++;
            return new StepReport(step, true, List.of());
        }
        counters[STEPS] = step;
        if (result.late()) {
            companion.corrected();
        }
        return new StepReport(step, false, reports(result));
    }

    /**
     * Lays another penalty on the groups of every penalised set, from the next step on. Moments, norms and counters stay: it
     * goes on like an optimizer that was made with this penalty and has read this one's {@link #state}. With λ = 0 the groups
     * are stepped as without a penalty, up to rounding; the subgradient method then takes exactly the plain step.
     *
     * @param penalty the penalty of each group
     */
    public void changePenalty(Penalty penalty) {
        changePenalties(_ -> penalty);
    }

    /**
     * The same with a penalty for each penalised set: of another strength, where groups of one set cost more than those of
     * another.
     *
     * @param penalties from a penalised set to the penalty of each of its groups
     */
    public void changePenalties(Function<ParameterSet, Penalty> penalties) {
        requireOpen();
        List<ParameterSet> changed =
                sets.stream().map(set -> changed(set, penalties)).toList();
        List<@Nullable Penalty> trained = new ArrayList<>();
        for (ParameterSet set : changed) {
            if (!set.frozen()) {
                Regularizer regularizer = set.regularizer();
                trained.add(regularizer == null ? null : regularizer.penalty());
            }
        }
        kernel.changePenalties(trained); // may refuse them
        sets = changed;
    }

    private static ParameterSet changed(ParameterSet set, Function<ParameterSet, Penalty> penalties) {
        Regularizer regularizer = set.regularizer();
        return regularizer == null ? set : set.withRegularizer(regularizer.withPenalty(penalties.apply(set)));
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the optimizer is closed, and its moments are gone: make a new one");
        }
    }

    private List<SetReport> reports(StepKernel.Result result) {
        List<ParameterSet> stepped = trained().toList();
        List<SetReport> reports = new ArrayList<>();
        for (int i = 0; i < stepped.size() && options.method() == Method.PROXIMAL; i++) {
            if (stepped.get(i).regularizer() != null) {
                StepKernel.SetResult set = result.sets().get(i);
                reports.add(new SetReport(stepped.get(i).name(), set.summary(), set.penalty()));
            }
        }
        return reports;
    }

    private List<TensorView> views(String what, Map<String, TensorView> views, ParameterSet set) {
        List<TensorView> found = new ArrayList<>(set.parameters().size());
        for (Parameter parameter : set.parameters()) {
            String name = parameter.name();
            TensorView view = views.get(name);
            if (view == null) {
                throw new IllegalArgumentException("there is no " + what + " of " + name + " among " + views.keySet());
            }
            if (view.size() != parameter.size()) { // no strings are made for a step that goes well
                Check.sameSize(what + " of " + name, view.size(), "the parameter", parameter.size());
            }
            boolean written = what.equals(WEIGHTS) || options.method() == Method.SUBGRADIENT;
            kernel.requireUsable(what, name, view, written);
            found.add(view);
        }
        return found;
    }

    /**
     * The squared distance of zero to the subdifferential of the objective, over all trained weights: what the convergence
     * theorem bounds. Slow; for looking at, not for every step.
     *
     * @param weights every parameter's weights by name
     * @param gradients the trained parameters' gradients there, by name
     * @return {@code dist(0, ∂F(x))²}
     */
    public double squaredStationarityDistance(Map<String, TensorView> weights, Map<String, TensorView> gradients) {
        double sum = 0;
        for (ParameterSet set : trained().toList()) {
            List<TensorView> setGradients = views(GRADIENT, gradients, set);
            List<BitSet> grouped =
                    setGradients.stream().map(gradient -> new BitSet()).toList();
            Regularizer regularizer = set.regularizer();
            if (regularizer != null) {
                sum += regularizer.squaredStationarityDistance(views(WEIGHTS, weights, set), setGradients);
                for (int group = 0; group < regularizer.groups().count(); group++) {
                    regularizer
                            .groups()
                            .forEach(
                                    group,
                                    (tensor, index) -> grouped.get(tensor).set(Math.toIntExact(index)));
                }
            }
            for (int tensor = 0; tensor < grouped.size(); tensor++) {
                sum += squaresOfFree(setGradients.get(tensor), grouped.get(tensor));
            }
        }
        return sum;
    }

    private static double squaresOfFree(TensorView gradient, BitSet grouped) {
        double sum = 0;
        int size = Math.toIntExact(gradient.size());
        for (int i = grouped.nextClearBit(0); i < size; i = grouped.nextClearBit(i + 1)) {
            sum += gradient.get(i) * gradient.get(i);
        }
        return sum;
    }

    /**
     * All that the optimizer keeps between steps, as memory by name: step counts, every moment, every group's norm. What is
     * written to it until the next step counts in it: whoever saves it and later reads it back into an optimizer of the same
     * model goes on bit for bit.
     *
     * @return the memory, in a fixed order; good until the next step
     * @see StateFile
     */
    public SequencedMap<String, MemorySegment> state() {
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        state.put("counters", MemorySegment.ofArray(counters));
        state.putAll(kernel.state());
        return state;
    }

    /**
     * Number of steps done; skipped ones are not counted.
     *
     * @return how many
     */
    public long steps() {
        return counters[STEPS];
    }

    /**
     * Number of steps asked for, those done and those skipped: learning rates go by it, since all else that has a schedule
     * goes by batches. Moments, and so their bias correction, go by {@link #steps}.
     *
     * @return how many
     */
    public long allSteps() {
        return counters[STEPS] + counters[SKIPPED];
    }

    /**
     * Counts steps as skipped that are not done at all, as by a training that would not end in time: the learning rate goes on.
     *
     * @param steps how many, at least 0
     */
    public void skip(long steps) {
        counters[SKIPPED] += Check.atLeast("steps", steps, 0);
    }

    /**
     * Number of steps skipped because a gradient was not finite, or by {@link #skip}.
     *
     * @return how many
     */
    public long skippedSteps() {
        return counters[SKIPPED];
    }

    /**
     * The parameter sets.
     *
     * @return as they were given, with the penalty that is in force
     */
    public List<ParameterSet> sets() {
        return sets;
    }

    /**
     * How steps are done.
     *
     * @return as they were given
     */
    public StepOptions options() {
        return options;
    }

    /**
     * What steps run on, for reports.
     *
     * @return the device, the kind of lanes, the number of threads
     */
    public String kernelName() {
        return kernel.name();
    }

    /** Frees the optimizer's memory and threads. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            kernel.close();
        }
    }
}
