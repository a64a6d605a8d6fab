package dev.espalier.cuda;

import dev.espalier.core.kernel.StepKernel;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.Coefficients;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.Place;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.cuda.driver.Gpu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.DoubleConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Steps on a GPU, in three launches whatever the model: {@link DeviceState} says what there is, {@link StepProgram} does it and
 * {@link StepResults} tells of it. Sets that {@code step.cu} has no code for are stepped by {@link HostSteps}, and single groups
 * that leave its common paths go to the exact operator ({@link Stragglers}): both right, and slow.
 */
final class CudaKernel implements StepKernel {
    private final Gpu gpu;
    private final CudaSteps options;
    private final Resources resources = new Resources();
    private final DeviceState state;
    private final StepProgram program;
    private final StepResults results;

    /** Stands behind a step. */
    private final Gpu.Mark done;

    /** Steps the sets that the GPU does not; null if there are none. */
    private final @Nullable HostSteps host;

    /**
     * Whether a step is done once the GPU has done what is queued, but for single groups: without sets that wait for the processor, and
     * with all in the moments that the exact operator needs, so that gradients are not.
     */
    private final boolean settles;

    private final String name;

    CudaKernel(Gpu gpu, CudaSteps options, UpdateRule rule, List<SetPlan> plans, int threads) {
        this.gpu = gpu;
        this.options = options;
        resources.keep(gpu);
        try {
            done = resources.keep(gpu.newMark());
            state = new DeviceState(gpu, resources, rule, plans);
            List<SetState> here = state.here();
            List<SetState> there =
                    state.sets().stream().filter(set -> !set.onGpu()).toList();
            host = there.isEmpty() ? null : new HostSteps(gpu, resources, rule, there, threads);
            settles = there.isEmpty() && rule.hasFirstMoment() && rule.hasSecondMoment();
            int groups = here.stream().mapToInt(set -> set.plan.norms()).sum();
            results = new StepResults(gpu, resources, state.tensorNames(), here.size(), groups);
            Set<Kind> kinds = EnumSet.noneOf(Kind.class);
            here.forEach(set -> kinds.add(set.kind));
            boolean floored = here.stream().anyMatch(set -> set.plan.metricFloor() > 0)
                    && rule.at(1).addSecond() > 0;
            program = new StepProgram(gpu, resources, kinds, floored, state.tiling(), plan -> {
                state.describe(plan);
                results.describe(plan);
            });
            name = "%s (%s), CUDA".formatted(gpu.name(), gpu.architecture());
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void requireUsable(String what, String of, TensorView tensor, boolean written) {
        if (!tensor.place().equals(Place.gpu(gpu.index()))) {
            throw new IllegalArgumentException("%s of %s is on %s, but the step runs on GPU %d: move it there"
                    .formatted(what, of, tensor.place(), gpu.index()));
        }
        if (tensor.type() != ElementType.FLOAT32) {
            throw new IllegalArgumentException("%s of %s is %s: a step needs float32".formatted(what, of, tensor));
        }
        if (tensor.shape().length > Structs.MOST_RANK && !tensor.contiguous()) {
            throw new IllegalArgumentException(
                    "%s of %s is %s, and not contiguous: a step needs at most %d dimensions then"
                            .formatted(what, of, tensor, Structs.MOST_RANK));
        }
    }

    @Override
    public SequencedMap<String, MemorySegment> state() {
        return state.lend(host == null ? new LinkedHashMap<>() : host.state());
    }

    @Override
    public void changePenalties(List<@Nullable Penalty> penalties) {
        List<SetState> sets = state.sets();
        List<@Nullable Regularizer> changed = new ArrayList<>(); // all or none
        for (int i = 0; i < sets.size(); i++) {
            SetState set = sets.get(i);
            Penalty penalty = penalties.get(i);
            changed.add(
                    set.regularizer == null || penalty == null
                            ? set.regularizer
                            : set.kind.requireRoom(set.regularizer.withPenalty(penalty)));
        }
        for (int i = 0; i < sets.size(); i++) {
            sets.get(i).regularizer = changed.get(i);
        }
        if (host != null) {
            host.changePenalties(penalties);
        }
    }

    @Override
    public Result step(List<SetStep> steps, Coefficients coefficients, double smallStep) {
        return step(steps, coefficients, smallStep, _ -> {});
    }

    @Override
    public Result step(List<SetStep> steps, Coefficients coefficients, double smallStep, UnderWay underWay) {
        state.requireOwn(steps);
        state.takeBack();
        if (state.marksAreUp()) {
            program.clearLetters();
        }
        long stream = options.stream().getAsLong();
        StepProgram.Variant variant = program.variant(state.write(steps, coefficients, smallStep));
        Runnable work = () -> {
            state.upload(stream);
            variant.launch(stream);
        };
        DoubleConsumer clock = options.clock();
        if (clock == null) {
            work.run();
        } else {
            clock.accept(gpu.time(stream, work));
        }
        // What is queued meanwhile is not waited for.
        done.put(stream);
        try {
            underWay.tell(settles);
        } finally {
            done.await();
        }
        Optional<BadGradient> bad = results.badGradient();
        if (bad.isPresent()) {
            return Result.refused(bad.get());
        }
        SetResult[] all = new SetResult[state.sets().size()];
        for (int i = 0; i < state.here().size(); i++) {
            SetState set = state.here().get(i);
            all[set.place] = results.waits(i)
                    ? untouched(set, steps.get(set.place))
                    : new SetResult(results.summary(i), results.penalty(i));
        }
        boolean late = solveStragglers(stream, steps, coefficients, all);
        if (host != null) {
            host.step(steps, coefficients, smallStep, all);
        }
        return Result.of(List.of(all), late);
    }

    /** Counts the groups of a set whose penalty waits for a gradient. */
    private SetResult untouched(SetState set, SetStep step) {
        try (Arena copies = Arena.ofConfined()) {
            List<TensorView> weights = step.weights().stream()
                    .map(tensor -> Stragglers.copyOf(gpu, tensor, copies))
                    .toList();
            return SetResult.untouched(Objects.requireNonNull(set.regularizer), weights);
        }
    }

    /** Solves the groups that left the common paths, by the exact operator: set by set, in a fixed order. Returns whether there were any. */
    private boolean solveStragglers(long stream, List<SetStep> steps, Coefficients coefficients, SetResult[] all) {
        Map<Integer, SequencedMap<Integer, Integer>> evaluationsOf = new TreeMap<>();
        for (StepResults.Straggler group : results.stragglers()) {
            int place = state.here().get(group.set()).place;
            evaluationsOf.computeIfAbsent(place, key -> new TreeMap<>()).put(group.group(), group.evaluations());
        }
        if (evaluationsOf.isEmpty()) {
            return false;
        }
        // What was queued behind the step may write to the same weights.
        gpu.synchronize(stream);
        evaluationsOf.forEach((place, groups) -> {
            try (Stragglers some = state.stragglers(state.sets().get(place), steps.get(place), coefficients)) {
                groups.forEach(some::solve);
                some.writeBack();
                all[place] =
                        new SetResult(all[place].summary().plus(some.summary()), all[place].penalty() + some.penalty());
            }
        });
        return true;
    }

    @Override
    public void close() {
        resources.close();
    }
}
