package dev.espalier.recipe;

import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.TrainingPlan;
import dev.espalier.penalty.Penalty;
import dev.espalier.schedule.LearningRate;
import dev.espalier.step.StepOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Collectors;

/**
 * How a model is trained: all that decides the outcome, apart from the machine. Immutable and sound: a recipe that cannot
 * be followed is refused when it is made. {@link RecipeReader} reads it from TOML, and {@link #toToml} writes it.
 *
 * @param data what the model learns from
 * @param model the model
 * @param method what is done with the penalty
 * @param penalty the penalty of every group
 * @param groups which weights are grouped
 * @param optimizer how a gradient becomes a step
 * @param schedule how the learning rate changes
 * @param phases what comes before and after the training with the penalty
 * @param target how sparse the model shall become
 * @param training epochs, batches and seeds
 * @param evaluation how the model is judged
 * @param checkpoint when the state is written down
 * @param divergence when training is given up
 */
public record Recipe(
        DataRecipe data,
        ModelRecipe model,
        MethodRecipe method,
        PenaltyRecipe penalty,
        GroupRecipe groups,
        OptimizerRecipe optimizer,
        ScheduleRecipe schedule,
        PhaseRecipe phases,
        TargetRecipe target,
        TrainingRecipe training,
        EvaluationRecipe evaluation,
        CheckpointRecipe checkpoint,
        DivergenceRecipe divergence) {

    /** In the order of {@link #toToml}. */
    static final List<Section<?>> SECTIONS = List.of(
            DataRecipe.SECTION,
            ModelKeys.SECTION,
            MethodRecipe.SECTION,
            PenaltyKeys.SECTION,
            GroupRecipe.SECTION,
            OptimizerRecipe.SECTION,
            ScheduleRecipe.SECTION,
            PhaseRecipe.SECTION,
            TargetRecipe.SECTION,
            TrainingRecipe.SECTION,
            EvaluationRecipe.SECTION,
            CheckpointRecipe.SECTION,
            DivergenceRecipe.SECTION);

    /** Checks that the sections fit each other. */
    public Recipe {
        List<Conflicts.Conflict> conflicts =
                Conflicts.between(data, model, method, penalty, groups, schedule, phases, target, training);
        if (!conflicts.isEmpty()) {
            throw new IllegalArgumentException(
                    conflicts.stream().map(Conflicts.Conflict::message).collect(Collectors.joining("; ")));
        }
    }

    /**
     * Every key that a recipe can have. A path may occur more than once, for different kinds of its section.
     *
     * @return the keys, section by section
     */
    public static List<Key<?>> keys() {
        return SECTIONS.stream()
                .<Key<?>>flatMap(section -> section.keys().stream())
                .toList();
    }

    /**
     * The same with other values, as on the command line.
     *
     * @param overrides such as {@code penalty.lambda=1e-3}
     * @return the recipe
     * @throws RecipeException if that is no recipe
     */
    public Recipe with(String... overrides) {
        return RecipeReader.parse("the recipe", toToml(), List.of(overrides));
    }

    /**
     * All values that are in force, defaults included.
     *
     * @return values as TOML by path, such as {@code training.epochs}, in the order of {@link #toToml}
     */
    public SequencedMap<String, String> settings() {
        SequencedMap<String, String> settings = new LinkedHashMap<>();
        String section = "";
        for (String line : toToml().lines().filter(line -> !line.isEmpty()).toList()) {
            if (line.startsWith("[")) {
                section = line.substring(1, line.length() - 1);
            } else {
                int equals = line.indexOf(" = ");
                settings.put(section + "." + line.substring(0, equals), line.substring(equals + 3));
            }
        }
        return settings;
    }

    /**
     * The same without a penalty in force: what a sparse model is compared with. It is trained for as many epochs in all, in
     * one phase.
     *
     * @return the recipe
     */
    public Recipe asBaseline() {
        return new Recipe(
                data,
                model,
                new MethodRecipe(MethodRecipe.Kind.BASELINE, 0, 0, method.nonFinite()),
                penalty,
                groups,
                optimizer,
                schedule,
                PhaseRecipe.NONE,
                TargetRecipe.NONE,
                training.withEpochs(totalEpochs()),
                evaluation,
                checkpoint,
                divergence);
    }

    /**
     * The penalty that training applies.
     *
     * @return the recipe's penalty; empty for a baseline
     */
    public Optional<Penalty> penaltyInForce() {
        return switch (method.kind()) {
            case BASELINE -> Optional.empty();
            case PROXIMAL, SUBGRADIENT -> penalty.penalty();
        };
    }

    /**
     * The phases of the training, one after the other. Each runs the schedule from its beginning; only the first one has the
     * schedule's warm-up.
     *
     * @param stepsPerEpoch how many steps an epoch has
     * @return one to three phases, none of them empty
     */
    public List<Phase> phases(long stepsPerEpoch) {
        List<Phase> list = new ArrayList<>();
        addPhase(list, Phase.Kind.WARM_UP, phases.warmUpEpochs(), phases.warmUpRate(), stepsPerEpoch);
        addPhase(list, Phase.Kind.SPARSIFY, training.epochs(), optimizer.rate(), stepsPerEpoch);
        addPhase(list, Phase.Kind.HEAL, phases.healEpochs(), phases.healRate(), stepsPerEpoch);
        return List.copyOf(list);
    }

    private void addPhase(List<Phase> list, Phase.Kind kind, int epochs, double rateOrZero, long stepsPerEpoch) {
        if (epochs > 0) {
            double rate = rateOrZero == 0 ? optimizer.rate() : rateOrZero;
            LearningRate learningRate = list.isEmpty()
                    ? schedule.learningRate(rate, epochs, stepsPerEpoch)
                    : schedule.withoutWarmUp(rate, epochs, stepsPerEpoch);
            list.add(new Phase(kind, epochs, Math.multiplyExact(epochs, stepsPerEpoch), learningRate));
        }
    }

    /**
     * The length of the training.
     *
     * @return the epochs of all phases
     */
    public int totalEpochs() {
        return Math.addExact(Math.addExact(phases.warmUpEpochs(), training.epochs()), phases.healEpochs());
    }

    /**
     * The learning rate over the steps of the whole training.
     *
     * @param stepsPerEpoch how many steps an epoch has
     * @return the schedules of all phases, one after the other
     */
    public LearningRate learningRate(long stepsPerEpoch) {
        List<Phase> list = phases(stepsPerEpoch);
        LearningRate rate = list.getLast().rate();
        for (Phase phase : list.reversed().subList(1, list.size())) {
            rate = phase.rate().then(phase.steps(), rate);
        }
        return rate;
    }

    /**
     * Which weights of the model are grouped.
     *
     * @return the rules
     */
    public GroupRules groupRules() {
        return groups.groupRules(model);
    }

    /**
     * How the model's parameters are trained.
     *
     * @param stepsPerEpoch how many steps an epoch has
     * @return the plan
     */
    public TrainingPlan trainingPlan(long stepsPerEpoch) {
        return new TrainingPlan(
                penaltyInForce().orElse(null),
                learningRate(stepsPerEpoch),
                optimizer.weightDecay(),
                groups.frozenParameters(model));
    }

    /**
     * How steps are done.
     *
     * @return the options of an optimizer
     */
    public StepOptions stepOptions() {
        return method.stepOptions();
    }

    /**
     * The recipe as text with all values that are in force, defaults included. Reading it gives an equal recipe.
     *
     * @return TOML
     */
    public String toToml() {
        return String.join(
                "\n",
                DataRecipe.SECTION.toToml(data),
                ModelKeys.SECTION.toToml(model),
                MethodRecipe.SECTION.toToml(method),
                PenaltyKeys.SECTION.toToml(penalty),
                GroupRecipe.SECTION.toToml(groups),
                OptimizerRecipe.SECTION.toToml(optimizer),
                ScheduleRecipe.SECTION.toToml(schedule),
                PhaseRecipe.SECTION.toToml(phases),
                TargetRecipe.SECTION.toToml(target),
                TrainingRecipe.SECTION.toToml(training),
                EvaluationRecipe.SECTION.toToml(evaluation),
                CheckpointRecipe.SECTION.toToml(checkpoint),
                DivergenceRecipe.SECTION.toToml(divergence));
    }
}
