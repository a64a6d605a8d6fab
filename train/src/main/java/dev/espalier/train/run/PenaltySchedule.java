package dev.espalier.train.run;

import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.data.BatchPosition;
import dev.espalier.engine.Network;
import dev.espalier.engine.Snapshot;
import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.HeldZeros;
import dev.espalier.graph.group.LayerGroups;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.train.journal.PriceList;
import dev.espalier.train.recipe.Phase;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.recipe.TargetRecipe;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.IntToDoubleFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * How strong the penalty is at each step: none in the warm-up, λ while sparsifying, which a controller may adapt, and none
 * while healing, when the groups that are zero are held there. Where λ starts may be left to an estimate from gradients. A target may
 * also be met by choice: then groups are set to zero here, and held from then on.
 */
final class PenaltySchedule {
    /** How often in an epoch λ is adapted. */
    private static final int CHANGES_PER_EPOCH = 10;

    /** Steps without penalty before λ is estimated, where no phase of the kind came before: by then D has seen gradients. */
    private static final int WARMING_STEPS = 100;

    /** No more of them than such a part of the phase. */
    private static final double WARMING_SHARE = 0.05;

    /** Steps before groups are chosen in which it is looked what they are worth. */
    private static final int LOOKS = 8;

    /** The part of the phase after which groups are settled at the latest, where no phase without a penalty follows: the rest recovers. */
    private static final double LATEST = 0.9;

    private static final int NOW = 0;
    private static final int LAST = 1;
    private static final int START = 0;
    private static final int BEGUN = 1;

    private final Recipe recipe;
    private final ModelGroups groups;
    private final Network network;
    private final Optimizer optimizer;
    private final List<Phase> phases;
    private final int batchesPerEpoch;
    private final long stepsPerEpoch;
    private final HeldZeros held;
    private final Optional<TargetRecipe> target;
    private final Optional<LambdaController> controller;
    private final Optional<Choice> choice;
    private final Optional<LastLarger> larger;
    private final Optional<CostFactors> costs;
    private final Optional<Pilot> pilot;
    private final Optional<PriceList> prices;
    private final Consumer<String> note;

    /** λ that is in force, and the last one above zero. */
    private final double[] lambda = new double[2];

    /** Where λ starts from if that is estimated, 0 until then; and the progress by then, which the controller counts from. */
    private final double[] estimate = new double[2];

    /** Whether it was settled which groups stay, for a target: 0 or 1. */
    private final double[] settled = new double[1];

    /** How much of the phase was done before the current step. */
    private double progress;

    /** Whether λ is to be estimated before the current step. */
    private boolean estimating;

    /** Whether the current step is under the penalty. */
    private boolean sparsifying;

    /** What was looked at in the current step; null if nothing was, or it has been taken in. */
    private @Nullable Supplier<Map<String, double[]>> looked;

    /** Steps by the end of the last one that was done; those that were left out since are not counted. */
    private long previous;

    /** Whether as little is left as is wanted in the end, so that nothing more need be chosen. */
    private boolean met;

    PenaltySchedule(
            Recipe recipe,
            ModelGroups groups,
            Network network,
            Optimizer optimizer,
            int batchesPerEpoch,
            long stepsPerEpoch,
            Optional<CostFactors> costs,
            Optional<Pilot> pilot,
            Optional<PriceList> prices,
            Consumer<String> note) {
        this.recipe = recipe;
        this.groups = groups;
        this.network = network;
        this.optimizer = optimizer;
        this.batchesPerEpoch = batchesPerEpoch;
        this.stepsPerEpoch = stepsPerEpoch;
        this.phases = recipe.phases(stepsPerEpoch);
        this.held = new HeldZeros(groups);
        this.costs = costs;
        this.pilot = pilot;
        this.prices = prices;
        this.note = note;
        this.target = recipe.target();
        this.controller = target.map(
                wanted -> new LambdaController(recipe.lambda().orElse(1), wanted.share(), wanted.reachedAfter()));
        this.larger = target.map(_ -> new LastLarger(network.snapshot().graph(), groups));
        this.choice =
                target.filter(wanted -> wanted.by() == TargetRecipe.By.CHOICE).map(_ -> new Choice(groups));
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

    /** How many steps may be left out now: the first and the last one of a phase are done, whatever becomes of the others. */
    long dispensable() {
        long done = optimizer.allSteps();
        long end = 0;
        for (Phase phase : phases) {
            if (done == end) {
                return 0;
            }
            end += phase.steps();
            if (done < end) {
                return end - done - 1;
            }
        }
        return 0;
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
        if (optimizer.allSteps() == 0) {
            pilot.ifPresent(this::follow);
        }
        Phase phase = phase(next.epoch());
        long epochsBefore = next.epoch() - firstEpoch(phase);
        progress = (epochsBefore + (double) next.batch() / batchesPerEpoch) / phase.epochs();
        sparsifying = phase.kind() == Phase.Kind.SPARSIFY;
        estimating = sparsifying
                && !isSettled()
                && choice.isEmpty()
                && recipe.penaltyInForce().isPresent()
                && recipe.lambda().isEmpty()
                && estimate[START] == 0
                && progress >= warming(phase);
        if (next.batch() == 0 && phase.kind() == Phase.Kind.SPARSIFY) {
            weigh(progress == 0);
            if (progress == 0) {
                // A penalty that is far too strong may take more than requested before anybody looks.
                larger.ifPresent(model -> model.keep(network.snapshot().weights(groups.parameters())));
            }
        }
        if (sparsifying && settlesWithin(phase) && !isSettled()) {
            settle();
            change(0);
            return;
        }
        if (progress > 0) {
            return;
        }
        switch (phase.kind()) {
            case WARM_UP -> change(0);
            case SPARSIFY ->
                change(recipe.penaltyInForce().isPresent() ? recipe.lambda().orElse(0) : 0);
            case HEAL -> {
                change(0);
                if (target.isPresent() && !isSettled()) {
                    settle();
                } else {
                    held.hold(
                            network.snapshot().weights(groups.parameters()),
                            recipe.method().threshold());
                    hold();
                }
            }
        }
    }

    private boolean isSettled() {
        return settled[0] == 1;
    }

    /** Whether it is time to settle which groups stay, as no phase without a penalty follows in which the others could recover. */
    private boolean settlesWithin(Phase phase) {
        return target.isPresent()
                && phases.getLast().equals(phase)
                && progress >= Math.min(LATEST, (1 + target.get().reachedAfter()) / 2);
    }

    /** After the last step: settles which groups stay, if there was no step for that. */
    void finish() {
        if (target.isPresent() && !isSettled()) {
            settle();
        }
    }

    /**
     * Settles which groups stay, so that as much is left as was requested: λ has come near that, and seldom meets it. Where too much is
     * left, those go that a penalty would take next; where too little is left, the largest of those come back that the model had when it was
     * last larger.
     */
    private void settle() {
        settled[0] = 1;
        TargetRecipe wanted = target.orElseThrow();
        Remaining now = new Remaining(Summary.EMPTY);
        Graph graph = now.snapshot.graph();
        ZeroGroups zeros = now.zeros();
        double before = share(planned(graph, zeros, List.of()));
        List<GroupSlice> order = List.of();
        boolean tooFew =
                before < wanted.share() - ExactSize.NEAR && larger.orElseThrow().isKnown();
        if (before > wanted.share()) {
            order = choice.isPresent() ? choice.get().order(zeros, shares(now)) : order(zeros, now.weights());
        }
        List<GroupSlice> lost = tooFew ? lost(graph, zeros) : List.of();
        Map<LayerGroups, List<Integer>> back = GroupSlice.groups(lost);
        if (tooFew) {
            order = withoutLastOfLayers(lost, zeros);
        }
        Graph full = back.isEmpty() ? graph : larger.orElseThrow().restored(graph, back);
        ZeroGroups fewest = zeros.without(groups, back);
        ExactSize.Chosen chosen =
                new ExactSize(gone -> share(planned(full, fewest, gone)), wanted.share()).choose(order);
        if (!back.isEmpty()) {
            network.changeWeights(weights -> larger.orElseThrow().write(back, weights));
        }
        held.hold(
                network.snapshot().weights(groups.parameters()), recipe.method().threshold());
        held.hold(GroupSlice.groups(chosen.gone()));
        hold();
        network.zeroHeld();
        note.accept(String.format(
                Locale.ROOT,
                "%.1f %% of the %s requested, %.1f %% left under the penalty; groups are chosen by size: %.1f %% left",
                100 * wanted.share(),
                wanted.kind(),
                100 * before,
                100 * (order.isEmpty() && back.isEmpty() ? before : chosen.left())));
    }

    /** The groups that are left, those first that the smallest λ would take. One of each layer stays. */
    private List<GroupSlice> order(ZeroGroups zeros, Map<String, TensorView> weights) {
        return order(weights, (layer, group) -> !zeros.layers().get(layer)[group], 1);
    }

    /** The groups that have gone since the model was last large enough, the smallest of then first. */
    private List<GroupSlice> lost(Graph graph, ZeroGroups zeros) {
        Map<String, TensorView> before = larger.orElseThrow().views(graph);
        ZeroGroups then = ZeroGroups.of(groups, before);
        return order(
                before,
                (layer, group) ->
                        zeros.layers().get(layer)[group] && !then.layers().get(layer)[group],
                0);
    }

    /** Groups that may stay zero: all but the largest of each layer that has no other group left, as without it all paths would be cut. */
    private List<GroupSlice> withoutLastOfLayers(List<GroupSlice> lost, ZeroGroups zeros) {
        int[] live = zeros.live();
        Set<LayerGroups> empty = IntStream.range(0, live.length)
                .filter(layer -> live[layer] == 0)
                .mapToObj(groups.layers()::get)
                .collect(Collectors.toCollection(HashSet::new));
        List<GroupSlice> spared = lost.reversed().stream()
                .filter(slice -> empty.remove(slice.layer()))
                .toList();
        return lost.stream().filter(slice -> !spared.contains(slice)).toList();
    }

    /** A group of a layer, both by number. */
    @FunctionalInterface
    private interface Candidates {
        boolean has(int layer, int group);
    }

    /** Candidates by {@code ‖x_g‖ / (√|g|·c)}, the smallest first, without so many of each layer that are largest. */
    private List<GroupSlice> order(Map<String, TensorView> weights, Candidates candidates, int kept) {
        List<GroupSlice> slices = new ArrayList<>();
        for (int i = 0; i < groups.layers().size(); i++) {
            int number = i;
            LayerGroups layer = groups.layers().get(i);
            double factor = costs.map(known -> known.of(number)).orElse(1.0);
            double[] worth = layer.norms(weights);
            Arrays.setAll(
                    worth, group -> worth[group] / Math.sqrt(layer.groups().size(group)) / factor);
            List<GroupSlice> all = GroupSlice.of(layer, group -> candidates.has(number, group), worth, 1);
            slices.addAll(all.subList(0, Math.max(0, all.size() - kept)));
        }
        slices.sort(Comparator.comparingDouble(GroupSlice::perCost));
        return slices;
    }

    /** What would be left of a model without some groups more. */
    private Planned planned(Graph graph, ZeroGroups zeros, List<GroupSlice> gone) {
        int fewer = gone.stream().mapToInt(slice -> slice.groups().size()).sum();
        int live = Arrays.stream(zeros.live()).sum() - fewer;
        return new Planned(
                () -> groups.count() == 0 ? 1 : (double) live / groups.count(),
                () -> gone.isEmpty() ? Outlook.of(graph) : Outlook.without(graph, GroupSlice.groups(gone)));
    }

    /** Whether groups may become zero after the current step by a projection, if the method has one. */
    boolean projects() {
        return sparsifying && progress >= recipe.method().projectionAfter();
    }

    /** Whether the groups of a set bear a penalty now. */
    boolean bears(ParameterSet set) {
        return set.regularizer() != null && !set.frozen() && lambda[NOW] * factor(set) > 0;
    }

    /** Before the first step: what is zero in the pilot is zero from the start. */
    private void follow(Pilot leader) {
        held.hold(leader.zeros());
        hold();
        network.zeroHeld();
        note.accept(leader.words());
    }

    /** Once an epoch, never within one: what groups cost now that some of their neighbours are gone. */
    private void weigh(boolean first) {
        if (costs.isPresent() && choice.isEmpty()) {
            Remaining remaining = new Remaining(Summary.EMPTY);
            remaining.byNode().ifPresent(left -> costs.get().update(remaining.zeros(), left));
            apply();
            if (first) {
                note.accept(costs.get().words());
            }
        }
    }

    /** How much of the phase goes by until D has seen gradients. */
    private double warming(Phase phase) {
        return firstEpoch(phase) > 0 ? 0 : Math.min(WARMING_SHARE, (double) WARMING_STEPS / phase.steps());
    }

    /**
     * With the gradients of a step, before it is done: estimates where λ starts from, if that is still to be done.
     *
     * @param view what the step is about to do
     * @return λ, if it was estimated now
     */
    OptionalDouble estimate(StepView view) {
        if (!estimating) {
            return OptionalDouble.empty();
        }
        double found = new LambdaEstimate(view, one -> recipe.penalty(one).orElseThrow(), way(), factors())
                .lambda(target.orElseThrow().groups());
        if (!(found > 0 && found < Double.POSITIVE_INFINITY)) {
            return OptionalDouble.empty(); // the step's gradients are zero or not finite: the next may be better
        }
        estimate[START] = found;
        estimate[BEGUN] = progress;
        controller.orElseThrow().startAt(found);
        change(found);
        return OptionalDouble.of(found);
    }

    /** c of the sets that bear a penalty, in their order. */
    private IntToDoubleFunction factors() {
        List<ParameterSet> penalised = optimizer.sets().stream()
                .filter(set -> set.regularizer() != null && !set.frozen())
                .toList();
        return i -> factor(penalised.get(i));
    }

    private double factor(ParameterSet set) {
        return costs.map(known -> known.of(set)).orElse(1.0);
    }

    /** The learning rates of all steps from now until the target shall be reached, added up. */
    private double way() {
        LearningRate rate = recipe.learningRate(stepsPerEpoch);
        long now = optimizer.allSteps();
        Phase phase = phases.stream()
                .filter(one -> one.kind() == Phase.Kind.SPARSIFY)
                .findFirst()
                .orElseThrow();
        long end = firstEpoch(phase) * stepsPerEpoch
                + Math.round(target.orElseThrow().reachedAfter() * phase.steps());
        double sum = rate.at(now);
        for (long step = now + 1; step < end; step++) {
            sum += rate.at(step);
        }
        return sum;
    }

    private void hold() {
        if (held.isEmpty()) {
            network.release();
        } else {
            network.hold(held.places());
        }
    }

    /** With the gradients of a step, before it is done: looks at what groups are worth, if some are to be chosen soon. */
    void look() {
        if (choice.isPresent() && sparsifying && !met && !isSettled()) {
            long until = changeEvery() - 1 - optimizer.allSteps() % changeEvery();
            if (until < LOOKS) {
                Choice from = choice.get();
                Supplier<Map<String, double[]>> sums = network.products(from.axes());
                if (from.others().isEmpty()) {
                    looked = sums;
                } else {
                    from.look(
                            sums.get(),
                            network.readableWeights(from.others()),
                            network.readableGradients(from.others()));
                }
            }
        }
    }

    /** Sets to zero what is more than wanted by now. */
    private void choose(Choice from, Summary summary) {
        Remaining remaining = new Remaining(summary);
        double share = share(remaining);
        double excess = share - controller.orElseThrow().wanted(progress);
        met = share <= target.orElseThrow().share();
        keepLarger(share, remaining);
        if (excess > 0) {
            held.hold(from.take(remaining.zeros(), shares(remaining), excess));
            hold();
            network.zeroHeld();
        }
    }

    /** What one group of each layer is of the whole model. */
    private double[] shares(Remaining remaining) {
        if (costs.isPresent()) {
            return costs.get().shares(remaining.zeros(), remaining.byNode().orElse(Map.of()));
        }
        double[] alike = new double[groups.layers().size()];
        Arrays.fill(alike, 1.0 / groups.count());
        return alike;
    }

    /** After a step: lets the controller adapt λ, or chooses groups. Without a penalty there is nothing to adapt. */
    void afterStep(Summary summary) {
        if (choice.isPresent()) {
            takeIn(choice.get());
        }
        boolean adapts = adaptsAfter(optimizer.allSteps());
        previous = optimizer.allSteps();
        if (!adapts) {
            return;
        }
        if (choice.isPresent()) {
            choose(choice.get(), summary);
        } else {
            double since = (progress - estimate[BEGUN]) / (1 - estimate[BEGUN]);
            Remaining remaining = new Remaining(summary);
            double share = share(remaining);
            keepLarger(share, remaining);
            change(controller.orElseThrow().next(since, share));
        }
    }

    private void keepLarger(double share, Remaining remaining) {
        if (share >= target.orElseThrow().share()) {
            larger.orElseThrow().keep(remaining.weights());
        }
    }

    /** Whether the model is looked at after a step, and groups may be set to zero. */
    boolean adaptsAfter(long steps) {
        boolean may = choice.isPresent() ? sparsifying && !met : controller.isPresent() && lambda[NOW] > 0;
        return may && !isSettled() && steps / changeEvery() > previous / changeEvery();
    }

    /** What a GPU was asked for before the step it tells with the step's report, so that it need not wait in between. */
    private void takeIn(Choice from) {
        Supplier<Map<String, double[]>> sums = looked;
        if (sums != null) {
            from.look(sums.get(), Map.of(), Map.of());
            looked = null;
        }
    }

    private long changeEvery() {
        return Math.max(1, stepsPerEpoch / CHANGES_PER_EPOCH);
    }

    /** The share of groups that are not zero. A step without a penalty knows nothing of zeros: then it is what is held. */
    double groupsLeft(Summary summary) {
        int zero = Math.max(held.count(), summary.zeroed());
        return groups.count() == 0 ? 1 : 1 - (double) zero / groups.count();
    }

    /** What pruning would leave of a model. Whatever it takes to tell is done once, when somebody asks. */
    private class Planned implements TargetRecipe.Left {
        private final DoubleSupplier live;
        private final Supplier<Outlook> plan;
        private @Nullable Outlook outlook;

        Planned(DoubleSupplier live, Supplier<Outlook> plan) {
            this.live = live;
            this.plan = plan;
        }

        private Outlook outlook() {
            Outlook known = outlook;
            if (known == null) {
                known = plan.get();
                outlook = known;
            }
            return known;
        }

        /** What the nodes cost that pruning would leave; empty if all paths to the output are cut. */
        Optional<Map<String, Cost>> byNode() {
            return outlook().byNode();
        }

        @Override
        public double groups() {
            return live.getAsDouble();
        }

        @Override
        public double parameters() {
            return outlook().parametersLeft();
        }

        @Override
        public double flops() {
            return outlook().flopsLeft();
        }

        @Override
        public double latency() {
            PriceList list = prices.orElseThrow();
            return byNode().map(left -> LatencyPrices.estimate(list, left) / list.milliseconds())
                    .map(share -> Math.min(share, 1)) // a selection may be dearer than what it selects from
                    .orElse(0.0);
        }
    }

    /** The same of the model as it is now. */
    private final class Remaining extends Planned {
        private final Snapshot snapshot;
        private @Nullable ZeroGroups zeros;

        Remaining(Summary summary) {
            this(summary, network.snapshot());
        }

        private Remaining(Summary summary, Snapshot snapshot) {
            super(() -> groupsLeft(summary), () -> Outlook.of(snapshot.graph()));
            this.snapshot = snapshot;
        }

        /** The weights that have groups. */
        Map<String, TensorView> weights() {
            return snapshot.weights(groups.parameters());
        }

        ZeroGroups zeros() {
            ZeroGroups known = zeros;
            if (known == null) {
                known = ZeroGroups.of(groups, weights());
                zeros = known;
            }
            return known;
        }
    }

    /** What is left of what the target is about. */
    private double share(Planned remaining) {
        return target.orElseThrow().counted().applyAsDouble(remaining);
    }

    /** Whether all paths to the output are cut. */
    boolean isCut() {
        return Outlook.of(network.snapshot().graph()).isCut();
    }

    private void change(double strength) {
        lambda[NOW] = strength;
        lambda[LAST] = strength > 0 ? strength : lambda[LAST];
        apply();
    }

    private void apply() {
        if (recipe.penaltyInForce().isPresent()) {
            optimizer.changePenalties(this::penalty);
        }
    }

    private Penalty penalty(ParameterSet set) {
        Penalty penalty = recipe.penalty(lambda[NOW] * factor(set)).orElseThrow();
        int count = Objects.requireNonNull(set.regularizer()).groups().count();
        return recipe.method().valueWeight().of(penalty, count);
    }

    /** After {@link #state} was read back: tells the optimizer. */
    void restore() {
        if (estimate[START] > 0) {
            controller.orElseThrow().startAt(estimate[START]);
        }
        previous = optimizer.allSteps();
        apply();
        hold();
    }

    SequencedMap<String, MemorySegment> state() {
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        state.put("lambda", MemorySegment.ofArray(lambda));
        controller.ifPresent(adapting -> state.putAll(adapting.state()));
        if (recipe.lambda().isEmpty()) {
            state.put("estimate", MemorySegment.ofArray(estimate));
        }
        costs.ifPresent(known -> state.put("cost", known.memory()));
        choice.ifPresent(worth -> state.put("worth", worth.memory()));
        larger.ifPresent(kept -> {
            state.put("settled", MemorySegment.ofArray(settled));
            state.putAll(kept.state());
        });
        state.putAll(held.state());
        return state;
    }
}
