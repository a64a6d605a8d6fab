package dev.espalier.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.training.optimizer.Optimizer;
import dev.espalier.core.check.Check;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StateFile;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.step.StepReport;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.torch.Torch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Cleaner;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * A DJL optimizer whose every update ends in the weighted proximal operator, so that whole groups of weights become exactly
 * zero. It takes the place of any other in a DJL trainer:
 *
 * <pre>{@code
 * var optimizer = ProximalAdam.builder().forBlock(model.getBlock()).optPenalty(new GroupLasso(1e-3)).build();
 * var config = new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss()).optOptimizer(optimizer);
 * }</pre>
 *
 * <p>Builders come from {@link Proximal} and {@link ProximalAdam}. (The static methods that this class inherits from DJL,
 * such as {@code adam()}, make DJL's own optimizers, without a penalty.)
 *
 * <p>DJL updates one parameter at a time, so that groups cannot span parameters, and a gradient that is not finite is
 * noticed when others have been updated already. {@link BlockStepper} has neither limit. Weight decay is decoupled, unlike
 * that of DJL's Adam. Weights must be float32 on the CPU.
 */
public final class ProximalOptimizer extends Optimizer implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();

    private final Block block;
    private final long firstStep;
    private final Steps steps = new Steps();
    private final Cleaner.Cleanable cleanable = CLEANER.register(this, steps);
    private ProximalOptions options;

    /** What a parameter needs for its steps. */
    private static final class Slot {
        final ModelParameter parameter;
        dev.espalier.core.step.Optimizer optimizer;

        @Nullable
        StepReport report;

        Slot(ModelParameter parameter, dev.espalier.core.step.Optimizer optimizer) {
            this.parameter = parameter;
            this.optimizer = optimizer;
        }

        @Nullable
        Regularizer regularizer() {
            return optimizer.sets().getFirst().regularizer();
        }
    }

    /** The slots by parameter id, in the order of the model. DJL closes no optimizer, so the garbage collector may have to. */
    private static final class Steps implements Runnable {
        final SequencedMap<String, Slot> slots = new LinkedHashMap<>();
        boolean closed;

        @Override
        public void run() {
            closed = true;
            slots.values().forEach(slot -> slot.optimizer.close());
            slots.clear();
        }
    }

    private ProximalOptimizer(Builder builder, Block block, Penalty penalty) {
        super(builder);
        this.block = block;
        this.firstStep = builder.firstStep;
        this.options = new ProximalOptions(
                builder.rule, builder.learningRate, getWeightDecay(), penalty, builder.groups, builder.stepOptions);
    }

    /**
     * Updates a parameter and sets its gradient to zero. Called by DJL's trainer.
     *
     * @param parameterId the parameter's id
     * @param weight its weights, changed in place
     * @param grad its gradient, left as it is
     */
    @Override
    public synchronized void update(String parameterId, NDArray weight, NDArray grad) {
        Slot slot = slots().get(parameterId);
        if (slot == null) {
            throw new IllegalArgumentException(("there is no trained parameter of id %s in the model that was given to"
                            + " forBlock: it must be the block of the model that is trained, and frozen parameters must"
                            + " be frozen before the first update")
                    .formatted(parameterId));
        }
        String name = slot.parameter.name();
        TensorView weights = Torch.view(weight);
        if (rescaleGrad == 1 && clipGrad < 0) {
            slot.report = slot.optimizer.step(Map.of(name, weights), Map.of(name, Torch.view(grad)));
        } else {
            try (NDArray copy = grad.duplicate()) {
                TensorView gradient = Torch.view(copy);
                condition(gradient);
                slot.report = slot.optimizer.step(Map.of(name, weights), Map.of(name, gradient));
            }
        }
        JniUtils.zeroGrad((PtNDArray) weight);
    }

    private void condition(TensorView gradient) {
        double most = clipGrad < 0 ? Double.POSITIVE_INFINITY : clipGrad;
        for (long i = 0; i < gradient.size(); i++) {
            gradient.set(i, Math.clamp(gradient.get(i) * rescaleGrad, -most, most));
        }
    }

    private SequencedMap<String, Slot> slots() {
        if (steps.closed) {
            throw new IllegalStateException("the optimizer has been closed: close it after the last update");
        }
        if (steps.slots.isEmpty()) {
            SequencedMap<ModelParameter, ParameterSet> sets =
                    new LinkedHashMap<>(); // all legal, before any is allocated
            for (BlockGroups.Assignment assignment : options.groups().assign(block)) {
                sets.put(assignment.parameters().getFirst(), options.parameterSet(assignment));
            }
            sets.forEach((parameter, set) ->
                    steps.slots.put(parameter.parameter().getId(), new Slot(parameter, optimizer(set))));
        }
        return steps.slots;
    }

    private dev.espalier.core.step.Optimizer optimizer(ParameterSet set) {
        dev.espalier.core.step.Optimizer made = options.optimizer(List.of(set));
        made.state().firstEntry().getValue().setAtIndex(ValueLayout.JAVA_LONG, 0, firstStep); // the count of steps
        return made;
    }

    /**
     * What the last update did to every penalised parameter.
     *
     * @return by the parameter's name; without those that have not been updated yet
     */
    public synchronized SequencedMap<String, StepReport> reports() {
        SequencedMap<String, StepReport> reports = new LinkedHashMap<>();
        for (Slot slot : steps.slots.values()) {
            if (slot.report != null && slot.regularizer() != null) {
                reports.put(slot.parameter.name(), slot.report);
            }
        }
        return reports;
    }

    /**
     * How many groups are left in the whole model.
     *
     * @return their number and how many of them are not zero
     */
    public GroupsLeft groupsLeft() {
        return groupsLeftBySet().values().stream().reduce(GroupsLeft.EMPTY, GroupsLeft::plus);
    }

    /**
     * How many groups are left in every penalised parameter: each is a set of its own here. The model must have been
     * initialised.
     *
     * @return by the name of the set, which is the parameter's
     */
    public synchronized SequencedMap<String, GroupsLeft> groupsLeftBySet() {
        SequencedMap<String, GroupsLeft> left = new LinkedHashMap<>();
        for (Slot slot : slots().values()) {
            Regularizer regularizer = slot.regularizer();
            if (regularizer != null) {
                List<TensorView> weights =
                        List.of(Torch.view(slot.parameter.parameter().getArray()));
                left.put(
                        slot.parameter.name(),
                        new GroupsLeft(regularizer.groups().count(), regularizer.nonZeroGroups(weights)));
            }
        }
        return left;
    }

    /**
     * The learning rate.
     *
     * @return α over steps
     */
    public synchronized LearningRate learningRate() {
        return options.learningRate();
    }

    /**
     * Replaces the learning rate. Moments and the count of steps stay.
     *
     * @param learningRate α over steps, from the first step of training
     */
    public synchronized void setLearningRate(LearningRate learningRate) {
        options = options.withLearningRate(learningRate);
        for (Slot slot : steps.slots.values()) {
            slot.optimizer = options.successor(slot.optimizer);
        }
    }

    /**
     * All that the optimizer keeps between updates, as live memory by name. The model must have been initialised.
     *
     * @return the memory, in the order of the model's parameters
     */
    public synchronized SequencedMap<String, MemorySegment> state() {
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        for (Slot slot : slots().values()) {
            slot.optimizer.state().forEach((name, memory) -> state.put(slot.parameter.name() + "/" + name, memory));
        }
        return state;
    }

    /**
     * Saves the optimizer's state: counts, moments and norms. The weights are the model's to save.
     *
     * @param file the file; replaced if it exists
     */
    public void save(Path file) {
        StateFile.save(file, state());
    }

    /**
     * Goes on from a saved state, bit for bit if the weights are those that belong to it.
     *
     * @param file the file
     */
    public void load(Path file) {
        StateFile.load(file, state());
    }

    /** Frees the optimizer's memory and threads. Without it the garbage collector does, some time later. */
    @Override
    public synchronized void close() {
        cleanable.clean();
    }

    /** Builds a {@link ProximalOptimizer}. The block and the penalty must be set; all else has a default. */
    public static final class Builder extends OptimizerBuilder<Builder> {
        private final UpdateRule rule;
        private @Nullable Block block;
        private @Nullable Penalty penalty;
        private LearningRate learningRate = ProximalOptions.DEFAULT_LEARNING_RATE;
        private BlockGroups groups = BlockGroups.DEFAULT;
        private StepOptions stepOptions = StepOptions.DEFAULT;
        private int firstStep;

        Builder(UpdateRule rule) {
            this.rule = rule;
        }

        /**
         * Sets the model, whose parameters' names and layers the group rules ask for. It need not be initialised yet.
         *
         * @param model the block of the model that is trained
         * @return this builder
         */
        public Builder forBlock(Block model) {
            this.block = model;
            return this;
        }

        /**
         * Sets the penalty of a group.
         *
         * @param groupPenalty the penalty
         * @return this builder
         */
        public Builder optPenalty(Penalty groupPenalty) {
            this.penalty = groupPenalty;
            return this;
        }

        /**
         * Sets which parameters are penalised. {@link BlockGroups#DEFAULT} if it is not called.
         *
         * @param rules the rules, without joint ones
         * @return this builder
         */
        public Builder optGroups(BlockGroups rules) {
            this.groups = rules;
            return this;
        }

        /**
         * Sets the learning rate. Constant at 0.001 if it is not called.
         *
         * @param schedule α over steps
         * @return this builder
         */
        public Builder optLearningRate(LearningRate schedule) {
            this.learningRate = schedule;
            return this;
        }

        /**
         * Sets how steps are done.
         *
         * @param options the options
         * @return this builder
         */
        public Builder optStepOptions(StepOptions options) {
            this.stepOptions = options;
            return this;
        }

        @Override
        public Builder optBeginNumUpdate(int beginNumUpdate) {
            Check.atLeast("beginNumUpdate", beginNumUpdate, 0);
            this.firstStep = beginNumUpdate;
            return super.optBeginNumUpdate(beginNumUpdate);
        }

        @Override
        protected Builder self() {
            return this;
        }

        /**
         * Builds the optimizer.
         *
         * @return the optimizer
         */
        public ProximalOptimizer build() {
            if (block == null) {
                throw new IllegalStateException(
                        "the optimizer does not know its model: call forBlock(model.getBlock()) before build()");
            }
            if (penalty == null) {
                throw new IllegalStateException("there is no penalty: call optPenalty, with new GroupLasso(1e-3) for"
                        + " example, before build(); for none use BlockGroups.NONE and any penalty");
            }
            groups.rules().stream()
                    .filter(rule -> rule.grouping() instanceof BlockGroups.Grouping.Joint)
                    .findFirst()
                    .ifPresent(rule -> {
                        throw new IllegalArgumentException(
                                "joint groups of " + rule.selector()
                                        + ": DJL updates one parameter at a time; use a BlockStepper for groups that span several");
                    });
            return new ProximalOptimizer(this, block, penalty);
        }
    }
}
