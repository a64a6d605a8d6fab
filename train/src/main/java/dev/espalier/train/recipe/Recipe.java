package dev.espalier.train.recipe;

import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.StepOptions;
import dev.espalier.data.DataSection;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.PaperRules;
import dev.espalier.graph.group.TrainingPlan;
import dev.espalier.settings.Draft;
import dev.espalier.settings.Form;
import dev.espalier.settings.Settings;
import dev.espalier.settings.Values;
import dev.espalier.train.model.ModelSection;
import dev.espalier.train.task.Batching;
import dev.espalier.train.task.TaskSection;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * How a model is trained: all that decides the outcome, apart from the machine. Immutable and sound: a recipe that cannot
 * be followed is refused when it is made.
 */
public final class Recipe {
    /** What a recipe can say: its sections, in the order of {@link #toToml}, and what must hold between them. */
    public static final Form FORM = new Form(
            "recipe",
            List.of(
                    DataSection.SECTION,
                    TaskSection.SECTION,
                    ModelSection.SECTION,
                    MethodRecipe.SECTION,
                    PenaltyKind.SECTION,
                    GroupRecipe.SECTION,
                    OptimizerRecipe.SECTION,
                    ScheduleRecipe.SECTION,
                    PhaseRecipe.SECTION,
                    TargetRecipe.SECTION,
                    TrainingRecipe.SECTION,
                    EvaluationRecipe.SECTION,
                    CheckpointRecipe.SECTION,
                    DivergenceRecipe.SECTION),
            checks());

    private static List<Form.Check> checks() {
        List<Form.Check> checks = new ArrayList<>(List.of(ModelSection.FITS_THE_DATA));
        checks.addAll(PenaltyKind.CHECKS);
        checks.add(ScheduleRecipe.WARMS_UP_IN_TIME);
        checks.add(MethodRecipe.CORRECTS_WHAT_HAS_A_BIAS);
        checks.add(PhaseRecipe.NEED_A_PENALTY);
        checks.add(PhaseRecipe.TEACH_WHAT_WAS_LEARNED);
        checks.add(TargetRecipe.CAN_BE_MET);
        return checks;
    }

    private final Settings settings;

    private Recipe(Settings settings) {
        this.settings = settings;
    }

    /**
     * Reads a recipe from a file. Whatever is wrong in it is told at once.
     *
     * @param file the file, TOML
     * @param overrides values that replace those of the file, each as {@code section.key=value}
     * @return the recipe
     * @throws IOException if the file cannot be read
     * @throws dev.espalier.settings.SettingsException if the recipe cannot be followed
     */
    public static Recipe read(Path file, List<String> overrides) throws IOException {
        return new Recipe(FORM.read(file, overrides));
    }

    /**
     * Reads a recipe from a text.
     *
     * @param source what messages call it
     * @param toml the text
     * @param overrides values that replace those of the text, each as {@code section.key=value}
     * @return the recipe
     * @throws dev.espalier.settings.SettingsException if the recipe cannot be followed
     */
    public static Recipe parse(String source, String toml, List<String> overrides) {
        return new Recipe(FORM.parse(source, toml, overrides));
    }

    /**
     * Reads variants of a recipe from a text that is parsed once.
     *
     * @param source what messages call the text
     * @param toml the text
     * @return from what messages call a variant, and values that replace those of the text, to the recipe
     * @throws dev.espalier.settings.SettingsException if the text is no TOML; a variant that cannot be followed throws the same
     */
    public static BiFunction<String, List<String>, Recipe> variants(String source, String toml) {
        Draft draft = FORM.draft(source, toml);
        return (variant, overrides) -> new Recipe(draft.read(variant, overrides));
    }

    /**
     * All values that are in force, defaults included.
     *
     * @return the values, section by section
     */
    public Settings settings() {
        return settings;
    }

    /**
     * What the model learns from.
     *
     * @return the values of {@code [data]}
     */
    public Values data() {
        return settings.section(DataSection.SECTION);
    }

    /**
     * What is learned.
     *
     * @return the values of {@code [task]}
     */
    public Values task() {
        return settings.section(TaskSection.SECTION);
    }

    /**
     * The model.
     *
     * @return the values of {@code [model]}
     */
    public Values model() {
        return settings.section(ModelSection.SECTION);
    }

    /** {@return whether the model can do the task before it is trained} */
    public boolean startsReady() {
        return ModelSection.KINDS.of(model()).isReady(model());
    }

    /**
     * What is done with the penalty.
     *
     * @return the method
     */
    public MethodRecipe method() {
        return MethodRecipe.of(settings.section(MethodRecipe.SECTION));
    }

    /**
     * The strength of the penalty, to begin with if there is a target.
     *
     * @return λ; 0 if there is no penalty, and empty if it is to be estimated from the first gradients
     */
    public OptionalDouble lambda() {
        return PenaltyKind.lambda(settings.section(PenaltyKind.SECTION));
    }

    /**
     * The penalty of every group, at another strength.
     *
     * @param lambda λ ≥ 0
     * @return the penalty; empty for none
     */
    public Optional<Penalty> penalty(double lambda) {
        return PenaltyKind.penalty(settings.section(PenaltyKind.SECTION), lambda);
    }

    /** {@return what the strength of a group's penalty is weighed by} */
    public GroupCost groupCost() {
        return penaltyInForce().isPresent() ? PenaltyKind.cost(settings.section(PenaltyKind.SECTION)) : GroupCost.NONE;
    }

    /** {@return the model whose groups say how strongly each is penalised; empty if there is none, or no penalty} */
    public Optional<PilotRecipe> pilot() {
        return penaltyInForce().flatMap(_ -> PenaltyKind.pilot(settings.section(PenaltyKind.SECTION)));
    }

    /** {@return whether training has to know how many milliseconds layers take} */
    public boolean needsPrices() {
        return groupCost() == GroupCost.LATENCY || target().stream().anyMatch(TargetRecipe::isLatency);
    }

    /**
     * Which weights are grouped.
     *
     * @return the section {@code [groups]}
     */
    public GroupRecipe groups() {
        return GroupRecipe.of(settings.section(GroupRecipe.SECTION));
    }

    /**
     * How a gradient becomes a step.
     *
     * @return the optimizer
     */
    public OptimizerRecipe optimizer() {
        return OptimizerRecipe.of(settings.section(OptimizerRecipe.SECTION));
    }

    /** {@return how a gradient becomes a direction and a metric} */
    public UpdateRule updateRule() {
        UpdateRule rule = optimizer().rule();
        return rule instanceof UpdateRule.Adam adam ? adam.withMetric(method().metric()) : rule;
    }

    /**
     * How the learning rate changes.
     *
     * @return the schedule
     */
    public ScheduleRecipe schedule() {
        return ScheduleRecipe.of(settings.section(ScheduleRecipe.SECTION));
    }

    /**
     * What comes before and after the training with the penalty.
     *
     * @return the section {@code [phases]}
     */
    public PhaseRecipe phases() {
        return PhaseRecipe.of(settings.section(PhaseRecipe.SECTION));
    }

    /**
     * How sparse the model shall become.
     *
     * @return the target; empty if λ stays as it is
     */
    public Optional<TargetRecipe> target() {
        return TargetRecipe.of(settings.section(TargetRecipe.SECTION));
    }

    /**
     * Epochs, batches and seeds.
     *
     * @return the section {@code [training]}
     */
    public TrainingRecipe training() {
        return TrainingRecipe.of(settings.section(TrainingRecipe.SECTION));
    }

    /**
     * How the model is judged.
     *
     * @return the section {@code [evaluation]}
     */
    public EvaluationRecipe evaluation() {
        return EvaluationRecipe.of(settings.section(EvaluationRecipe.SECTION));
    }

    /** {@return how rows of data make batches, for training and for judging} */
    public Batching batching() {
        return new Batching(training().batchSize(), evaluation().batchSize(), data().of(DataSection.LOADERS));
    }

    /**
     * When the state is written down.
     *
     * @return the section {@code [checkpoint]}
     */
    public CheckpointRecipe checkpoint() {
        return CheckpointRecipe.of(settings.section(CheckpointRecipe.SECTION));
    }

    /**
     * When training is given up.
     *
     * @return the section {@code [divergence]}
     */
    public DivergenceRecipe divergence() {
        return DivergenceRecipe.of(settings.section(DivergenceRecipe.SECTION));
    }

    /**
     * What decides the outcome and is otherwise than in another recipe.
     *
     * @param other the other recipe
     * @return the values here as TOML by path, such as {@code training.epochs}; {@code unset} for a key that only the other has
     */
    public SequencedMap<String, String> differences(Recipe other) {
        return settings.differences(other.settings);
    }

    /**
     * The same with data and checkpoint where another recipe has them: where they lie on a machine decides nothing.
     *
     * @param other the other recipe
     * @return the recipe
     */
    public Recipe placedLike(Recipe other) {
        SequencedMap<String, String> mine = settings.texts();
        SequencedMap<String, String> others = other.settings.texts();
        return with(Stream.of("data.dir", "model.checkpoint")
                .filter(path -> mine.containsKey(path) && others.containsKey(path))
                .map(path -> path + "=" + others.get(path))
                .toArray(String[]::new));
    }

    /**
     * The same with other values, as on the command line.
     *
     * @param overrides such as {@code penalty.lambda=1e-3}
     * @return the recipe
     * @throws dev.espalier.settings.SettingsException if that is no recipe
     */
    public Recipe with(String... overrides) {
        return new Recipe(settings.with(overrides));
    }

    /**
     * The same with files and folders elsewhere.
     *
     * @param move from where they are to where they are then: paths or URIs
     * @return the recipe
     */
    public Recipe relocated(UnaryOperator<String> move) {
        return new Recipe(settings.relocated(move));
    }

    /**
     * The same with a penalty of another strength.
     *
     * @param lambda λ ≥ 0
     * @return the recipe
     * @throws IllegalArgumentException if it has no penalty
     */
    public Recipe withLambda(double lambda) {
        return new Recipe(settings.with(PenaltyKind.LAMBDA, OptionalDouble.of(lambda)));
    }

    /**
     * The same with another threshold.
     *
     * @param threshold t ≥ 0: groups with {@code ‖x_g‖ ≤ t·√|g|} become zero in the end
     * @return the recipe
     * @throws IllegalArgumentException if its method is not {@link Method#SUBGRADIENT}
     */
    public Recipe withThreshold(double threshold) {
        return new Recipe(settings.with(Method.THRESHOLD, threshold));
    }

    /**
     * The same with one run.
     *
     * @param seed what all that is random in it depends on
     * @return the recipe
     */
    public Recipe withSeed(long seed) {
        return withSeeds(List.of(seed));
    }

    /**
     * The same with other runs.
     *
     * @param seeds one run for each, all different
     * @return the recipe
     */
    public Recipe withSeeds(List<Long> seeds) {
        return new Recipe(settings.with(TrainingRecipe.SEEDS, List.copyOf(seeds)));
    }

    /**
     * The same pruned for something else.
     *
     * @param goal what the trained model is pruned for
     * @return the recipe
     */
    public Recipe prunedFor(TrainingRecipe.PruneFor goal) {
        return new Recipe(settings.with(TrainingRecipe.PRUNE_FOR, goal));
    }

    /**
     * The same over another number of epochs.
     *
     * @param epochs passes over the training data, those of the phases before and after not counted
     * @return the recipe
     */
    public Recipe withEpochs(int epochs) {
        return new Recipe(settings.with(TrainingRecipe.EPOCHS, epochs));
    }

    /**
     * The same without a penalty in force: what a sparse model is compared with. It is trained for as many epochs in all, in
     * one phase.
     *
     * @return the recipe
     */
    public Recipe asBaseline() {
        return new Recipe(settings.with(List.of(
                settings.section(MethodRecipe.SECTION).withKind(Method.BASELINE.name()),
                Values.defaults(PhaseRecipe.SECTION, ""),
                TargetRecipe.none(),
                settings.section(TrainingRecipe.SECTION).with(TrainingRecipe.EPOCHS, totalEpochs()))));
    }

    /**
     * The penalty that training applies.
     *
     * @return the recipe's penalty, of strength 0 if that is to be estimated; empty for a baseline
     */
    public Optional<Penalty> penaltyInForce() {
        return method().kind().penalizes() ? penalty(lambda().orElse(0)) : Optional.empty();
    }

    /**
     * The phases of the training, one after the other. Each runs the schedule from its beginning; only the first one has the
     * schedule's warm-up.
     *
     * @param stepsPerEpoch how many steps an epoch has
     * @return one to three phases, none of them empty
     */
    public List<Phase> phases(long stepsPerEpoch) {
        PhaseRecipe phases = phases();
        List<Phase> list = new ArrayList<>();
        addPhase(list, Phase.Kind.WARM_UP, phases.warmUpEpochs(), phases.warmUpRate(), stepsPerEpoch);
        addPhase(list, Phase.Kind.SPARSIFY, training().epochs(), optimizer().rate(), stepsPerEpoch);
        addPhase(list, Phase.Kind.HEAL, phases.healEpochs(), phases.healRate(), stepsPerEpoch);
        return List.copyOf(list);
    }

    private void addPhase(List<Phase> list, Phase.Kind kind, int epochs, double rateOrZero, long stepsPerEpoch) {
        if (epochs > 0) {
            double rate = rateOrZero == 0 ? optimizer().rate() : rateOrZero;
            LearningRate learningRate = list.isEmpty()
                    ? schedule().learningRate(rate, epochs, stepsPerEpoch)
                    : schedule().withoutWarmUp(rate, epochs, stepsPerEpoch);
            list.add(new Phase(kind, epochs, Math.multiplyExact(epochs, stepsPerEpoch), learningRate));
        }
    }

    /**
     * The length of the training.
     *
     * @return the epochs of all phases
     */
    public int totalEpochs() {
        PhaseRecipe phases = phases();
        return Math.addExact(Math.addExact(phases.warmUpEpochs(), training().epochs()), phases.healEpochs());
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
        return groups().groupRules(paperRules());
    }

    private PaperRules paperRules() {
        return ModelSection.KINDS.of(model()).paperRules();
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
                optimizer().weightDecay(),
                optimizer().decayed(),
                groups().frozenParameters(paperRules()));
    }

    /**
     * How steps are done.
     *
     * @return the options of an optimizer
     */
    public StepOptions stepOptions() {
        return method().stepOptions().withMetricFloor(optimizer().metricFloor());
    }

    /**
     * The recipe as text with all values that are in force, defaults included. Reading it gives an equal recipe.
     *
     * @return TOML
     */
    public String toToml() {
        return settings.toToml();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Recipe recipe && settings.equals(recipe.settings);
    }

    @Override
    public int hashCode() {
        return settings.hashCode();
    }

    @Override
    public String toString() {
        return toToml();
    }
}
