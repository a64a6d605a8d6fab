package dev.espalier.training;

import ai.djl.ndarray.NDArray;
import dev.espalier.data.BatchPosition;
import dev.espalier.djl.network.Network;
import dev.espalier.djl.network.Tensors;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.group.HeldZeros;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PruneReport;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.prox.Summary;
import dev.espalier.train.recipe.Phase;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.recipe.TargetRecipe;
import dev.espalier.step.Optimizer;
import dev.espalier.tensor.ElementType;
import dev.espalier.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;

/**
 * How strong the penalty is at each step: none in the warm-up, λ while sparsifying, which a controller may adapt, and none
 * while healing, when the groups that are zero are held there.
 */
final class Strength {
    /** How often in an epoch λ is adapted. */
    private static final int CHANGES_PER_EPOCH = 10;

    private static final int NOW = 0;
    private static final int LAST = 1;

    private final Recipe recipe;
    private final Network network;
    private final Optimizer optimizer;
    private final List<Phase> phases;
    private final int batchesPerEpoch;
    private final long stepsPerEpoch;
    private final HeldZeros held;
    private final Optional<TargetRecipe> target;
    private final Optional<StrengthController> controller;

    /** λ that is in force, and the last one above zero. */
    private final double[] lambda = new double[2];

    /** See {@link #newMasks}; none until they are needed. */
    private Map<String, NDArray> masks = Map.of();

    /** How much of the phase was done before the current step. */
    private double progress;

    Strength(
            Recipe recipe,
            ModelGroups groups,
            Network network,
            Optimizer optimizer,
            int batchesPerEpoch,
            long stepsPerEpoch) {
        this.recipe = recipe;
        this.network = network;
        this.optimizer = optimizer;
        this.batchesPerEpoch = batchesPerEpoch;
        this.stepsPerEpoch = stepsPerEpoch;
        this.phases = recipe.phases(stepsPerEpoch);
        this.held = new HeldZeros(groups);
        this.target = recipe.target();
        this.controller = target.map(
                wanted -> new StrengthController(recipe.lambda(), wanted.share(), wanted.reachedAfter()));
    }

    Phase phase(long epoch) {
        long left = epoch;
        for (Phase phase : phases) {
            if (left < phase.epochs()) {
                return phase;
            }
            left -= phase.epochs();
        }
        throw new IllegalArgumentException("epoch " + epoch + " is after the end of training");
    }

    /** What the phase of an epoch is called; a baseline has only one, which makes nothing sparse. */
    String label(long epoch) {
        return recipe.penaltyInForce().isPresent() ? phase(epoch).label() : "train";
    }

    private long firstEpoch(Phase searched) {
        long first = 0;
        for (Phase phase : phases.subList(0, phases.indexOf(searched))) {
            first += phase.epochs();
        }
        return first;
    }

    /** λ that is in force; 0 for none. */
    double lambda() {
        return lambda[NOW];
    }

    /** The last λ above zero; 0 if there was none. */
    double lastLambda() {
        return lambda[LAST];
    }

    /** Before a step: at the beginning of a phase, sets what the phase is about. */
    void beforeStep(BatchPosition next) {
        Phase phase = phase(next.epoch());
        long epochsBefore = next.epoch() - firstEpoch(phase);
        progress = (epochsBefore + (double) next.batch() / batchesPerEpoch) / phase.epochs();
        if (progress > 0) {
            return;
        }
        switch (phase.kind()) {
            case WARM_UP -> change(0);
            case SPARSIFY ->
                change(recipe.penaltyInForce().isPresent() ? recipe.lambda() : 0);
            case HEAL -> {
                change(0);
                held.hold(network.readableWeights(), recipe.method().threshold());
                forgetMasks();
            }
        }
    }

    /** After a step: lets the controller adapt λ. Without a penalty there is nothing to adapt. */
    void afterStep(Summary summary) {
        if (controller.isPresent() && lambda[NOW] > 0 && optimizer.steps() % changeEvery() == 0) {
            change(controller.get().next(progress, share(summary)));
        }
    }

    private long changeEvery() {
        return Math.max(1, stepsPerEpoch / CHANGES_PER_EPOCH);
    }

    /** The share of groups that are not zero. A step without a penalty knows nothing of zeros: then it is what is held. */
    double groupSparsity(Summary summary) {
        int zero = held.count() > 0 ? held.count() : summary.zeroed();
        return summary.groups() == 0 ? 1 : 1 - (double) zero / summary.groups();
    }

    /** What is left of what the target is about. */
    private double share(Summary summary) {
        return target.orElseThrow().counted().applyAsDouble(new TargetRecipe.Left() {
            @Override
            public double groups() {
                return groupSparsity(summary);
            }

            @Override
            public double parameters() {
                return share(PruneReport::parametersAfter, PruneReport::parametersBefore);
            }

            @Override
            public double flops() {
                return share(PruneReport::flopsAfter, PruneReport::flopsBefore);
            }
        });
    }

    private double share(ToLongFunction<PruneReport> after, ToLongFunction<PruneReport> before) {
        Graph graph = network.graph();
        try {
            PruneReport report =
                    PruneReport.of(Pruner.plan(graph, PruneOptions.DEFAULT), SampleInputs.DEFAULT.dimensions(graph));
            return (double) after.applyAsLong(report) / before.applyAsLong(report);
        } catch (GraphException _) {
            return 0; // all paths to the output are cut, and groups may still come back
        }
    }

    private void change(double strength) {
        lambda[NOW] = strength;
        lambda[LAST] = strength > 0 ? strength : lambda[LAST];
        apply();
    }

    private void apply() {
        if (recipe.penaltyInForce().isPresent()) {
            optimizer.changePenalty(recipe.penalty(lambda[NOW]).orElseThrow());
        }
    }

    /** Sets the groups that are held to zero again: by the processor if it reaches them, else by masks that are near them. */
    void hold(Map<String, TensorView> weights) {
        if (held.isEmpty()) {
            return;
        }
        if (network.shared()) {
            held.apply(weights);
        } else {
            if (masks.isEmpty()) {
                masks = newMasks(weights);
            }
            network.multiplyWeights(masks);
        }
    }

    /** Zero for every weight that is held and one for all others, for each tensor that has such. */
    private Map<String, NDArray> newMasks(Map<String, TensorView> weights) {
        Map<String, Tensor> made = new LinkedHashMap<>();
        Map<String, TensorView> views = new LinkedHashMap<>();
        weights.forEach((name, view) -> {
            MemorySegment ones = Arena.ofAuto().allocate(ValueLayout.JAVA_FLOAT, view.size());
            for (long i = 0; i < view.size(); i++) {
                ones.setAtIndex(ValueLayout.JAVA_FLOAT, i, 1);
            }
            made.put(name, Tensor.of(DataType.FLOAT32, view.shape(), ones));
            views.put(name, TensorView.of(ones, ElementType.FLOAT32, view.shape()));
        });
        held.apply(views);
        Map<String, NDArray> arrays = new LinkedHashMap<>();
        made.forEach((name, mask) -> {
            if (LongStream.range(0, mask.size()).anyMatch(i -> mask.getDouble(i) == 0)) {
                arrays.put(name, Tensors.of(network.manager(), mask));
            }
        });
        return arrays;
    }

    private void forgetMasks() {
        masks.values().forEach(NDArray::close);
        masks = Map.of();
    }

    /** After {@link #state} was read back: tells the optimizer. */
    void restore() {
        apply();
        forgetMasks();
    }

    SequencedMap<String, MemorySegment> state() {
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        state.put("lambda", MemorySegment.ofArray(lambda));
        controller.ifPresent(adapting -> state.putAll(adapting.state()));
        state.putAll(held.state());
        return state;
    }
}
