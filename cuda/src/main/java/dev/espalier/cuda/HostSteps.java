package dev.espalier.cuda;

import dev.espalier.core.kernel.LaneChoice;
import dev.espalier.core.kernel.StepKernel;
import dev.espalier.core.kernel.StepKernel.SetResult;
import dev.espalier.core.kernel.StepKernel.SetStep;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.rule.Coefficients;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.cuda.driver.Gpu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/** The sets that {@code step.cu} has no code for, stepped by the processor's kernel on copies. */
final class HostSteps {
    private final Gpu gpu;
    private final List<SetState> sets;
    private final StepKernel kernel;

    /**
     * Steps of some sets.
     *
     * @param resources will give back what this takes
     */
    HostSteps(Gpu gpu, Resources resources, UpdateRule rule, List<SetState> sets, int threads) {
        this.gpu = gpu;
        this.sets = sets;
        kernel = resources.keep(
                LaneChoice.BEST.create(rule, sets.stream().map(set -> set.plan).toList(), threads));
    }

    SequencedMap<String, MemorySegment> state() {
        return kernel.state();
    }

    /** As of all sets, at their places. */
    void changePenalties(List<@Nullable Penalty> penalties) {
        List<@Nullable Penalty> own = new ArrayList<>();
        sets.forEach(set -> own.add(penalties.get(set.place)));
        kernel.changePenalties(own);
    }

    /** Steps, and puts what was done at the sets' places. */
    void step(List<SetStep> steps, Coefficients coefficients, double smallStep, SetResult[] results) {
        try (Arena copies = Arena.ofShared()) {
            List<SetStep> onHost = new ArrayList<>();
            for (SetState set : sets) {
                SetStep step = steps.get(set.place);
                onHost.add(new SetStep(
                        copiesOf(step.weights(), copies),
                        copiesOf(step.gradients(), copies),
                        step.stepSize(),
                        step.weightDecay()));
            }
            StepKernel.Result result = kernel.step(onHost, coefficients, smallStep);
            for (int i = 0; i < sets.size(); i++) {
                int place = sets.get(i).place;
                results[place] = result.sets().get(i);
                List<TensorView> weights = steps.get(place).weights();
                for (int tensor = 0; tensor < weights.size(); tensor++) {
                    gpu.copyIn(
                            onHost.get(i).weights().get(tensor).segment(),
                            weights.get(tensor).segment().address());
                }
            }
        }
    }

    private List<TensorView> copiesOf(List<TensorView> tensors, Arena where) {
        return tensors.stream()
                .map(tensor -> Stragglers.copyOf(gpu, tensor, where))
                .toList();
    }
}
