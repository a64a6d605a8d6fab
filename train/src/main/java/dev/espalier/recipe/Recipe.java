package dev.espalier.recipe;

import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.TrainingPlan;
import dev.espalier.penalty.Penalty;
import dev.espalier.schedule.LearningRate;
import dev.espalier.step.StepOptions;
import java.util.List;
import java.util.Optional;
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
            TrainingRecipe.SECTION,
            EvaluationRecipe.SECTION,
            CheckpointRecipe.SECTION,
            DivergenceRecipe.SECTION);

    /** Checks that the sections fit each other. */
    public Recipe {
        List<Conflicts.Conflict> conflicts = Conflicts.between(data, model, method, penalty, schedule, training);
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
     * The same with another method, and the penalty as it is.
     *
     * @param other what is done with the penalty
     * @return the recipe
     */
    public Recipe withMethod(MethodRecipe other) {
        return new Recipe(
                data, model, other, penalty, groups, optimizer, schedule, training, evaluation, checkpoint, divergence);
    }

    /**
     * The same without a penalty in force: what a sparse model is compared with.
     *
     * @return the recipe
     */
    public Recipe asBaseline() {
        return withMethod(new MethodRecipe(MethodRecipe.Kind.BASELINE, 0, 0, method.nonFinite()));
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
     * The learning rate over steps.
     *
     * @param stepsPerEpoch how many steps an epoch has
     * @return the schedule
     */
    public LearningRate learningRate(long stepsPerEpoch) {
        return schedule.learningRate(optimizer.rate(), training.epochs(), stepsPerEpoch);
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
                TrainingRecipe.SECTION.toToml(training),
                EvaluationRecipe.SECTION.toToml(evaluation),
                CheckpointRecipe.SECTION.toToml(checkpoint),
                DivergenceRecipe.SECTION.toToml(divergence));
    }
}
