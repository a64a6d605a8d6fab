package dev.espalier.train.run;

import dev.espalier.core.kernel.StepKernel;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.step.NonFiniteGradientException;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepCompanion;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.step.StepOptions.NonFinite;
import dev.espalier.core.step.StepReport;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.data.BatchPosition;
import dev.espalier.engine.Network;
import dev.espalier.engine.Precision;
import dev.espalier.engine.TrainingStep;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.group.TrainingPlan;
import dev.espalier.graph.objective.Terms;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.PriceList;
import dev.espalier.train.recipe.GroupCost;
import dev.espalier.train.recipe.Method;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.recipe.TargetRecipe;
import dev.espalier.train.recipe.TrainingRecipe;
import dev.espalier.train.task.Evaluation;
import dev.espalier.train.task.Example;
import dev.espalier.train.task.Examples;
import dev.espalier.train.task.Task;
import dev.espalier.train.task.TaskSection;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A model in training: the network, the optimizer, the penalty in force, and the step from batches to other weights. */
final class Session implements AutoCloseable {
    private final Recipe recipe;
    private final Task task;
    private final long seed;
    private final ModelGroups groups;
    private final Network network;
    private final Optimizer optimizer;
    private final StepView view;
    private final PenaltySchedule strength;
    private final Optional<Projection> projection;
    private final Optional<DenseStart> teacher;
    private final TrainingStep training;
    /** The parameters that have weight decay, if there is any. */
    private final Set<String> decayed;

    private final TrainingListener listener;
    private final Divergence divergence;
    private final Meter meter;
    /** What the last step reported that was done, and what the last one did, which may have been skipped. */
    private StepReport last = new StepReport(0, false, List.of());

    private StepReport latest = last;

    /** The batch that the next step begins with, if its gradients are being added already; null if they are not. */
    private @Nullable Ahead ahead;

    /** What became of the groups in the last step that was done. */
    private Summary summary = Summary.EMPTY;

    /** A session that closes the network when it is closed. */
    Session(
            Recipe recipe,
            Task task,
            Graph initial,
            long seed,
            TrainingListener listener,
            StepKernel.Factory kernels,
            Network network,
            Optional<PriceList> prices) {
        this.recipe = recipe;
        this.task = task;
        this.seed = seed;
        this.groups = recipe.groupRules().derive(initial);
        this.divergence = new Divergence(recipe, task.baseline());
        this.meter = new Meter(task.objective().sums(initial));
        Optional<Pilot> pilot = recipe.pilot().map(named -> new Pilot(named, groups));
        TrainingPlan plan = recipe.trainingPlan(stepsPerEpoch());
        List<ParameterSet> sets = plan.parameterSets(initial, groups).stream()
                .map(set -> pilot.map(known -> known.weigh(set)).orElse(set))
                .toList();
        this.decayed = sets.stream()
                .filter(set -> !set.frozen())
                .flatMap(set -> set.parameters().stream()
                        .map(Parameter::name)
                        .filter(name ->
                                set.regularizer() != null || plan.decays(Objects.requireNonNull(initial.tensor(name)))))
                .collect(Collectors.toUnmodifiableSet());
        this.listener = listener;
        Precision precision = precision(recipe.training().precision());
        this.network = network.seed(seed)
                .freeze(ParameterSet.frozenNames(sets)::contains)
                .precision(precision);
        UpdateRule rule = recipe.updateRule();
        optimizer = new Optimizer(rule, sets, recipe.stepOptions(), kernels);
        view = new StepView(rule, optimizer, this.network::readableWeights, this.network::readableGradients);
        GroupCost counted = recipe.target()
                .filter(target -> target.by() == TargetRecipe.By.CHOICE)
                .map(TargetRecipe::cost)
                .orElse(recipe.groupCost());
        Optional<CostFactors> costs = counted == GroupCost.NONE
                ? Optional.empty()
                : Optional.of(new CostFactors(counted, recipe.groupRules().note(initial), groups, prices));
        strength = new PenaltySchedule(
                recipe,
                groups,
                network,
                optimizer,
                task.batchesPerEpoch(),
                stepsPerEpoch(),
                costs,
                pilot,
                prices,
                listener::onNote);
        projection = recipe.method().halfSpace().map(halfSpace -> new Projection(halfSpace, network));
        training = new TrainingStep(network, this::update);
        teacher = TaskSection.startTeaches(recipe.task())
                ? Optional.of(new DenseStart(recipe, task, initial, network, precision))
                : Optional.empty();
    }

    private static Precision precision(TrainingRecipe.Precision wanted) {
        return switch (wanted) {
            case FLOAT32 -> Precision.FLOAT32;
            case TF32 -> Precision.TF32;
            case BF16 -> Precision.BF16;
        };
    }

    long stepsPerEpoch() {
        return Math.ceilDiv(task.batchesPerEpoch(), recipe.training().accumulate());
    }

    /**
     * Does a step.
     *
     * @param examples batches, of which as many are taken as make a step
     * @param goesOn whether the next step follows, and nobody looks at the model before: then a GPU may begin with it at once, within
     *     an epoch
     */
    void step(Examples examples, boolean goesOn) {
        long started = System.nanoTime();
        BatchPosition position = position(examples);
        int batches = batches(position);
        strength.beforeStep(position);
        teacher.ifPresent(one -> one.beforeStep(position));
        List<Batch> added = new ArrayList<>();
        if (ahead != null) {
            added.add(ahead.batch());
            ahead = null;
        }
        while (added.size() < batches) {
            added.add(add(examples.next(), 1.0 / batches));
        }
        long number = optimizer.steps() + 1;
        try {
            training.apply(next(examples, position, goesOn));
        } catch (NonFiniteGradientException problem) {
            count(added, number);
            throw new DivergedException(String.valueOf(problem.getMessage()));
        }
        count(added, number);
        strength.afterStep(summary);
        meter.addStep(latest.summary().iterations(), latest.summary().groups(), (System.nanoTime() - started) / 1e9);
    }

    /** The step after the one whose batches have all been taken. */
    private TrainingStep.Next next(Examples examples, BatchPosition now, boolean goesOn) {
        BatchPosition next = examples.position();
        boolean may = goesOn && network.queues() && next.epoch() == now.epoch();
        long steps = optimizer.allSteps() + 1;
        return new TrainingStep.Next(
                () -> may && !strength.adaptsAfter(steps), () -> stageNext(examples), new Runnable() {
                    private @Nullable Example first;

                    @Override
                    public void run() {
                        Example example = first == null ? examples.next() : first;
                        first = example;
                        ahead = new Ahead(add(example, 1.0 / batches(next)), next);
                    }
                });
    }

    /** Whether the next step has begun: it has to be done before anybody looks at the model. */
    boolean isAhead() {
        return ahead != null;
    }

    /** How many of the next steps may be left out. */
    long dispensable() {
        return strength.dispensable();
    }

    /**
     * Goes on as if steps had been done, and changes no weight.
     *
     * @param steps how many, at most {@link #dispensable}
     */
    void leaveOut(long steps) {
        requireNotAhead();
        optimizer.skip(steps);
    }

    /** Where the next step begins. */
    BatchPosition position(Examples examples) {
        return ahead == null ? examples.position() : ahead.position();
    }

    private void requireNotAhead() {
        if (ahead != null) {
            throw new IllegalStateException("the next step has begun, and the model has seen its batch: do it first");
        }
    }

    /** How many batches make the step that begins there. */
    private int batches(BatchPosition first) {
        return (int) Math.min(recipe.training().accumulate(), task.batchesPerEpoch() - first.batch());
    }

    /** While a GPU is at a step, the batch that the next one begins with is put on its way. */
    private void stageNext(Examples examples) {
        if (teacher.isEmpty()) {
            examples.peek()
                    .ifPresent(
                            next -> network.stage(next.inputs(), next.targets(), 1.0 / batches(examples.position())));
        }
    }

    /**
     * A batch whose gradients are being added.
     *
     * @param size how many samples it has
     * @param terms waits for what the objective came to
     */
    private record Batch(int size, Supplier<Terms> terms) {}

    /**
     * A batch before its step.
     *
     * @param batch the batch
     * @param position its own
     */
    private record Ahead(Batch batch, BatchPosition position) {}

    private Example learned(Example given) {
        return teacher.map(one -> one.of(given)).orElse(given);
    }

    private Batch add(Example given, double share) {
        Example example = learned(given);
        return new Batch(example.size(), network.queueGradients(example.inputs(), example.targets(), share));
    }

    /** Takes note of what batches came to, after their step: a GPU is asked for that and for its report at once. */
    private void count(List<Batch> batches, long step) {
        for (Batch batch : batches) {
            Terms terms = batch.terms().get();
            if (recipe.method().nonFinite() == NonFinite.FAIL) {
                divergence.requireFinite(terms.loss(), step);
            }
            if (Double.isFinite(terms.loss())) { // else its step is skipped, and it says nothing of the others
                meter.addBatch(terms, batch.size());
            }
        }
    }

    private void update(Map<String, TensorView> weights, Map<String, TensorView> gradients, StepCompanion companion) {
        double most = recipe.training().clipNorm();
        if (most > 0) {
            network.clipGradients(most);
        }
        strength.look();
        double decay = recipe.optimizer().gradientDecay();
        if (decay > 0) {
            network.decayGradients(decay, decayed);
        }
        strength.estimate(view)
                .ifPresent(lambda -> listener.onNote(
                        String.format(Locale.ROOT, "λ starts at %.3g, from the gradients so far", lambda)));
        listener.beforeStep(view);
        Optional<Projection> now = projection.filter(_ -> strength.projects());
        now.ifPresent(projecting -> projecting.beforeStep(
                optimizer.sets().stream().filter(strength::bears).toList()));
        // A teacher is waited for, and a projection comes after the step.
        boolean settles = teacher.isEmpty() && now.isEmpty();
        latest = optimizer.step(weights, gradients, settles ? companion : companion.unsettled());
        if (!latest.skipped()) {
            last = latest;
            summary = now.map(Projection::afterStep).orElseGet(latest::summary);
        }
    }

    /** Judges the model as it is. */
    Evaluation evaluate() {
        requireNotAhead();
        Task learned = teacher.map(one -> one.or(task)).orElse(task);
        return learned.evaluate(new TrainedModel(network), Task.Part.VALIDATION);
    }

    /** Gives up if the training goes nowhere. */
    void checkProgress(Evaluation evaluation) {
        divergence.check(meter.loss(), evaluation, optimizer.steps());
    }

    /** Gives up if the penalty has cut the model in two, or left no group. Off the CPU weights are copied for that. */
    void checkConnected(int epoch) {
        if (strength.lambda() > 0) {
            List<String> dead = new ArrayList<>();
            nonZeroGroups(groupedWeights()).forEach((layer, left) -> {
                if (left == 0) {
                    dead.add(layer);
                }
            });
            boolean all = dead.size() == groups.layers().size();
            divergence.requireConnected(dead, strength::isCut, all, strength.lambda(), epoch + 1);
        }
    }

    /**
     * What is left to do after the last step: the subgradient method makes small groups, not zeros, so zeros are made of them, unless
     * healing began with that; and the statistics of batch normalisations may be measured anew.
     */
    void finish() {
        requireNotAhead();
        if (recipe.method().kind().equals(Method.SUBGRADIENT) && recipe.phases().healEpochs() == 0) {
            network.changeWeights(this::threshold);
        }
        strength.finish();
        if (recipe.training().recalibrate() > 0) {
            recalibrate(recipe.training().recalibrate());
        }
    }

    /** Has batch normalisations measure their statistics anew, as if training went on with a rate of zero. */
    private void recalibrate(int batches) {
        long first = recipe.totalEpochs();
        long epochs = Math.ceilDiv(batches, task.batchesPerEpoch());
        try (Examples examples = task.examples(seed, new BatchPosition(first, 0), first + epochs)) {
            for (int i = 0; i < batches; i++) {
                Example example = learned(examples.next());
                network.addGradients(example.inputs(), example.targets(), 1);
                network.zeroGradients();
            }
        }
    }

    private void threshold(Map<String, TensorView> weights) {
        for (ParameterSet set : optimizer.sets()) {
            Regularizer regularizer = set.regularizer();
            if (regularizer != null) {
                regularizer.threshold(recipe.method().threshold(), views(set, weights));
            }
        }
    }

    /** The tensors of a set, in its order. */
    static List<TensorView> views(ParameterSet set, Map<String, TensorView> tensors) {
        return set.parameters().stream()
                .map(Parameter::name)
                .map(name -> Objects.requireNonNull(tensors.get(name), name))
                .toList();
    }

    /** All that a resumed training needs, as live memory by name. */
    SequencedMap<String, MemorySegment> state() {
        requireNotAhead();
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        optimizer.state().forEach((name, memory) -> state.put("optimizer/" + name, memory));
        network.state().forEach((name, memory) -> state.put("network/" + name, memory));
        strength.state().forEach((name, memory) -> state.put("strength/" + name, memory));
        teacher.ifPresent(one -> one.state().forEach((name, memory) -> state.put("teacher/" + name, memory)));
        state.put("meter", meter.memory());
        state.put("divergence", divergence.memory());
        return state;
    }

    /** After {@link #state} was read back: what is derived from it. */
    void restore() {
        network.restore();
        strength.restore();
        teacher.ifPresent(DenseStart::restore);
    }

    /** Steps done or skipped. */
    long steps() {
        return optimizer.allSteps();
    }

    long totalSteps() {
        return recipe.totalEpochs() * stepsPerEpoch();
    }

    boolean isLastOfPhase(int epoch) {
        return epoch + 1 == recipe.totalEpochs() || !strength.phase(epoch).equals(strength.phase(epoch + 1));
    }

    String kernelName() {
        return optimizer.kernelName();
    }

    /** λ of the last step that had a penalty; 0 if none had. */
    double lambda() {
        return strength.lastLambda();
    }

    ModelGroups groups() {
        return groups;
    }

    Meter meter() {
        return meter;
    }

    Progress progress(int epoch, double secondsLeft) {
        Map.Entry<Metric, Double> score = task.score(meter.sums()).firstEntry();
        return new Progress(
                seed,
                strength.label(epoch),
                steps(),
                totalSteps(),
                epoch + 1,
                recipe.totalEpochs(),
                meter.loss(),
                score.getKey(),
                score.getValue(),
                strength.groupsLeft(summary),
                meter.samplesPerSecond(),
                task.samples(),
                secondsLeft);
    }

    /** Where a model stands that was evaluated, and not trained yet. */
    Progress before(Evaluation evaluation) {
        return new Progress(
                seed,
                Metrics.BEFORE,
                0,
                totalSteps(),
                0,
                recipe.totalEpochs(),
                Double.NaN,
                evaluation.main().getKey(),
                evaluation.main().getValue(),
                groups.groupsLeft(network.graph()),
                0,
                task.samples(),
                0);
    }

    Metrics metrics(Evaluation evaluation, Progress progress, double seconds) {
        Map<String, TensorView> weights = groupedWeights();
        SequencedMap<String, Integer> nonZero = nonZeroGroups(weights);
        int left = nonZero.values().stream().mapToInt(Integer::intValue).sum();
        return new Metrics(
                steps(),
                progress.epoch(),
                progress.phase(),
                seconds,
                meter.samplesPerSecond(),
                rate(),
                strength.lambda(),
                progress.loss(),
                progress.epoch() == 0 ? new LinkedHashMap<>() : task.score(meter.sums()),
                penalty(weights),
                evaluation.loss(),
                evaluation.scores(),
                groups.count() == 0 ? 1 : (double) left / groups.count(),
                meter.iterationsPerGroup(),
                optimizer.skippedSteps(),
                nonZero,
                task.measures());
    }

    /** A step that ends in the proximal operator tells; after others it is computed. */
    private double penalty(Map<String, TensorView> weights) {
        if (recipe.method().kind().steps() == StepOptions.Method.PROXIMAL) {
            return last.penalty();
        }
        return optimizer.sets().stream()
                .filter(strength::bears)
                .mapToDouble(set -> Objects.requireNonNull(set.regularizer()).value(views(set, weights)))
                .sum();
    }

    private Map<String, TensorView> groupedWeights() {
        return network.snapshot().weights(groups.parameters());
    }

    private SequencedMap<String, Integer> nonZeroGroups(Map<String, TensorView> weights) {
        int[] live = ZeroGroups.of(groups, weights).live();
        SequencedMap<String, Integer> counts = new LinkedHashMap<>();
        for (int i = 0; i < live.length; i++) {
            counts.put(groups.layers().get(i).name(), live[i]);
        }
        return counts;
    }

    private double rate() {
        return recipe.learningRate(stepsPerEpoch()).at(Math.max(0, steps() - 1));
    }

    /** The model as it is, with a note of its groups. */
    Graph graph() {
        requireNotAhead();
        return recipe.groupRules().note(network.graph());
    }

    @Override
    public void close() {
        optimizer.close();
        teacher.ifPresent(DenseStart::close);
        network.close();
    }
}
