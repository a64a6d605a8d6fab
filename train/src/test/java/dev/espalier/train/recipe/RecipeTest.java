package dev.espalier.recipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.DataSource;
import dev.espalier.data.Holdout;
import dev.espalier.data.SampleShape;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.group.PaperRules;
import dev.espalier.graph.group.TrainingPlan;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.Weights;
import dev.espalier.group.Groups;
import dev.espalier.group.JointGroups;
import dev.espalier.group.NestedGroups;
import dev.espalier.penalty.GroupLasso;
import dev.espalier.penalty.GroupMcp;
import dev.espalier.penalty.GroupWeight;
import dev.espalier.penalty.NestedLasso;
import dev.espalier.penalty.SparseGroupLasso;
import dev.espalier.rule.UpdateRule;
import dev.espalier.schedule.LearningRate;
import dev.espalier.schedule.ToleranceSchedule;
import dev.espalier.step.StepOptions;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.tomlj.Toml;

final class RecipeTest {
    private static final DataRecipe.Preparation PREPARATION = new DataRecipe.Preparation(false, 3, true);
    private static final List<DataRecipe.Source> SOURCES = List.of(
            new DataRecipe.Digits(PREPARATION),
            new DataRecipe.Cifar10("a \"quoted\" folder", PREPARATION),
            new DataRecipe.Mnist("C:\\back\\slash", PREPARATION),
            new DataRecipe.FashionMnist("fashion", PREPARATION),
            new DataRecipe.Images("tab\tλ\n", 48, 1, 0.125, PREPARATION),
            new DataRecipe.Csv("table.csv", false, "class", "\t", 0.5, false),
            new DataRecipe.Squad("squad", "a.json", "b.json", 200, 50, 32));
    private static final List<ModelRecipe> MODELS = List.of(
            new ModelRecipe.Vgg16(),
            new ModelRecipe.ResNet34(3),
            new ModelRecipe.SmallCnn(List.of(3, 2, 1), false),
            new ModelRecipe.Mlp(List.of(7)),
            new ModelRecipe.Bert("folder"),
            new ModelRecipe.Onnx("model.onnx"));
    private static final List<MethodRecipe> METHODS = List.of(
            new MethodRecipe(MethodRecipe.Kind.BASELINE, 0, 0, StepOptions.NonFinite.FAIL),
            new MethodRecipe(MethodRecipe.Kind.PROXIMAL, 0, 1e-6, StepOptions.NonFinite.SKIP),
            new MethodRecipe(MethodRecipe.Kind.SUBGRADIENT, 2.5e-3, 0, StepOptions.NonFinite.FAIL));
    private static final List<PenaltyRecipe> PENALTIES = List.of(
            new PenaltyRecipe.Lasso(0, GroupWeight.NONE),
            new PenaltyRecipe.Mcp(1e-300, 1e300, GroupWeight.SQRT_SIZE),
            new PenaltyRecipe.Nested(3, 0, GroupWeight.NONE),
            new PenaltyRecipe.SparseGroup(1e-9, 1, GroupWeight.SQRT_SIZE));
    private static final List<GroupRecipe.Rules> START_RULES = List.of(GroupRecipe.Rules.values());
    private static final List<UpdateRule> RULES = List.of(
            new UpdateRule.Adam(0, 0.5, 1),
            new UpdateRule.Sgd(),
            new UpdateRule.Momentum(0.1),
            new UpdateRule.AdaGrad(3),
            new UpdateRule.RmsProp(0.3, 0.7));
    private static final List<ScheduleRecipe.Shape> SHAPES = List.of(
            new ScheduleRecipe.Constant(),
            new ScheduleRecipe.Step(0.5, 40),
            new ScheduleRecipe.MultiStep(0.25, List.of(5, 9)),
            new ScheduleRecipe.Linear(),
            new ScheduleRecipe.Cosine(1e-7));

    private static final List<TargetRecipe.Kind> TARGETS =
            List.of(TargetRecipe.Kind.SPARSITY, TargetRecipe.Kind.PARAMETERS, TargetRecipe.Kind.FLOPS);

    /** A recipe of the given kinds, where data and model fit each other; {@code number} counts through the other kinds. */
    private static Recipe recipe(DataRecipe.Source source, ModelRecipe model, int number) {
        PenaltyRecipe penalty = PENALTIES.get(number % PENALTIES.size());
        return new Recipe(
                new DataRecipe(source, 0.1, 5, 6, Long.MIN_VALUE, 7),
                model,
                METHODS.get(number % METHODS.size()),
                penalty,
                new GroupRecipe(
                        START_RULES.get(number % START_RULES.size()),
                        List.of("a\\.b"),
                        List.of(".*", ""),
                        penalty instanceof PenaltyRecipe.Nested ? GroupRecipe.Join.NESTED : GroupRecipe.Join.JOINT,
                        number % 2 == 0,
                        List.of("é")),
                new OptimizerRecipe(RULES.get(number % RULES.size()), 0.1 + number, 0.2),
                new ScheduleRecipe(SHAPES.get(number % SHAPES.size()), 0.5),
                number % METHODS.size() == 0 ? PhaseRecipe.NONE : new PhaseRecipe(number % 2, 0.25, number / 2, 0.75),
                number % 6 == 1
                        ? new TargetRecipe(TARGETS.get(number / 6 % TARGETS.size()), 0.125, 1)
                        : TargetRecipe.NONE,
                new TrainingRecipe(
                        1 + number, 2, 3, 4, TrainingRecipe.Precision.BF16, List.of(Long.MIN_VALUE, Long.MAX_VALUE)),
                new EvaluationRecipe(1, 2, 3, 4),
                new CheckpointRecipe(5, 6),
                new DivergenceRecipe(7, 0));
    }

    private static boolean fit(DataRecipe.Source source, ModelRecipe model) {
        return Conflicts.between(new DataRecipe(source, 0, 0, 0, 1, 1), model, null, null, null, null, null, null, null)
                .isEmpty();
    }

    private static List<Recipe> recipes() {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(7);
        return Stream.iterate(0, number -> number < 30, number -> number + 1)
                .flatMap(number -> SOURCES.stream()
                        .flatMap(source -> MODELS.stream()
                                .filter(model -> fit(source, model))
                                .map(model -> recipe(source, model, number + random.nextInt(3)))))
                .toList();
    }

    @Test
    void textAndBackGivesAnEqualRecipe() {
        for (Recipe recipe : recipes()) {
            assertEquals(recipe, RecipeReader.parse("text", recipe.toToml(), List.of()), recipe::toToml);
        }
    }

    @Test
    void textHoldsExactlyTheKeysThatApply() {
        for (Recipe recipe : recipes()) {
            String toml = recipe.toToml();
            for (Section<?> section : Recipe.SECTIONS) {
                String kind = String.valueOf(Toml.parse(toml).getString(section.name() + ".kind"));
                Set<String> applying = section.keys().stream()
                        .filter(key -> key.belongsTo(kind))
                        .map(Key::name)
                        .collect(Collectors.toSet());
                assertEquals(
                        applying,
                        Toml.parse(toml).getTableOrEmpty(section.name()).keySet(),
                        () -> toml);
            }
        }
    }

    @Test
    void everyKeyIsInSomeText() {
        Set<String> seen = new LinkedHashSet<>();
        recipes().forEach(recipe -> seen.addAll(Toml.parse(recipe.toToml()).dottedKeySet()));
        assertEquals(Recipe.keys().stream().map(Key::path).collect(Collectors.toSet()), seen);
    }

    @Test
    void defaultsAreLegalAndKeysOfOnePathAgreeExceptInTheirDefaults() {
        for (Key<?> key : Recipe.keys()) {
            assertTrue(
                    key.standard()
                            .map(text -> Toml.parse("value = " + text).get("value"))
                            .map(value -> key.from(value) != null)
                            .orElse(true),
                    key::path);
            for (Key<?> other : Recipe.keys()) {
                if (other.path().equals(key.path())) {
                    assertEquals(key.takes(), other.takes(), key::path);
                    assertEquals(key.meaning(), other.meaning(), key::path);
                }
            }
        }
    }

    @Test
    void recordsRefuseWhatTheReaderRefuses() {
        assertRefused(
                "training.epochs", () -> new TrainingRecipe(0, 1, 1, 0, TrainingRecipe.Precision.FLOAT32, List.of(1L)));
        assertRefused(
                "training.seeds", () -> new TrainingRecipe(1, 1, 1, 0, TrainingRecipe.Precision.FLOAT32, List.of()));
        assertRefused("optimizer.rate", () -> new OptimizerRecipe(new UpdateRule.Sgd(), 0, 0));
        assertRefused("penalty.beta", () -> new PenaltyRecipe.Mcp(1, 0, GroupWeight.NONE));
        assertRefused("penalty.lambda", () -> new PenaltyRecipe.Lasso(Double.NaN, GroupWeight.NONE));
        assertRefused("penalty.lambda", () -> new PenaltyRecipe.Nested(-1, 0, GroupWeight.NONE));
        assertRefused("penalty.share", () -> new PenaltyRecipe.Nested(1, 1.5, GroupWeight.NONE));
        assertRefused("penalty.lambda", () -> new PenaltyRecipe.SparseGroup(-1, 0, GroupWeight.NONE));
        assertRefused("penalty.share", () -> new PenaltyRecipe.SparseGroup(1, Double.NaN, GroupWeight.NONE));
        assertRefused("data.length", () -> new DataRecipe.Squad("a", "b", "c", 100, 33, 64));
        assertRefused("schedule.milestones", () -> new ScheduleRecipe.MultiStep(0.1, List.of(2, 1)));
        assertRefused("schedule.milestones", () -> new ScheduleRecipe.MultiStep(0.1, List.of(0, 1)));
        assertRefused("data.dir", () -> new DataRecipe.Cifar10(" ", PREPARATION));
        assertRefused("data.test_fraction", () -> new DataRecipe.Csv("a", true, "b", ",", 1, true));
        assertRefused("data.delimiter", () -> new DataRecipe.Csv("a", true, "b", "\"", 0.5, true));
        assertRefused("data.delimiter", () -> new DataRecipe.Csv("a", true, "b", ", ", 0.5, true));
        assertRefused("data.channels", () -> new DataRecipe.Images("a", 8, 2, 0.5, PREPARATION));
        assertRefused("model.hidden", () -> new ModelRecipe.Mlp(List.of(3, -1)));
        assertRefused(
                "groups.frozen",
                () -> new GroupRecipe(
                        GroupRecipe.Rules.ALL, List.of(), List.of(), GroupRecipe.Join.NONE, false, List.of("*")));
        assertRefused(
                "method.threshold",
                () -> new MethodRecipe(MethodRecipe.Kind.PROXIMAL, 1, 0, StepOptions.NonFinite.FAIL));
        assertRefused(
                "method.tolerance",
                () -> new MethodRecipe(MethodRecipe.Kind.BASELINE, 0, 1, StepOptions.NonFinite.FAIL));
        assertRefused("phases.heal_epochs", () -> new PhaseRecipe(0, 0, -1, 0));
        assertRefused("phases.warm_up_rate", () -> new PhaseRecipe(0, Double.NaN, 1, 0));
        assertRefused("target.share", () -> new TargetRecipe(TargetRecipe.Kind.FLOPS, 1, 1));
        assertRefused("target.reached_after", () -> new TargetRecipe(TargetRecipe.Kind.FLOPS, 0.5, 0));
        assertRefused("target.share", () -> new TargetRecipe(TargetRecipe.Kind.NONE, 0.5, 1));
        assertRefused("do not fit", () -> recipe(SOURCES.getFirst(), new ModelRecipe.Bert("x"), 0));
    }

    private static void assertRefused(String name, Runnable making) {
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class, making::run, name);
        assertTrue(String.valueOf(refusal.getMessage()).contains(name), refusal::getMessage);
    }

    @Test
    void labelledDataBecomesItsSource() {
        assertEquals(new DataSource.Digits(), new DataRecipe.Digits(PREPARATION).dataSource(4));
        assertEquals(new DataSource.Cifar10(Path.of("c")), new DataRecipe.Cifar10("c", PREPARATION).dataSource(4));
        assertEquals(new DataSource.Mnist(Path.of("m")), new DataRecipe.Mnist("m", PREPARATION).dataSource(4));
        assertEquals(
                new DataSource.FashionMnist(Path.of("f")), new DataRecipe.FashionMnist("f", PREPARATION).dataSource(4));
        assertEquals(
                new DataSource.Images(Path.of("i"), new SampleShape.Image(1, 48, 48), new Holdout(0.125, 4)),
                new DataRecipe.Images("i", 48, 1, 0.125, PREPARATION).dataSource(4));
        assertEquals(
                new DataSource.Csv(Path.of("t"), false, "class", '\t', new Holdout(0.5, 4)),
                new DataRecipe.Csv("t", false, "class", "\t", 0.5, true).dataSource(4));
    }

    @Test
    void aTableIsReadAsItsSourceReadsItByDefault() {
        Recipe recipe = RecipeReader.parse("text", """
                [data]
                kind = "csv"
                path = "t"
                [model]
                kind = "mlp"
                [method]
                kind = "baseline"
                [optimizer]
                rate = 1
                [training]
                epochs = 1
                batch_size = 1
                """, List.of());
        DataRecipe.Csv table = (DataRecipe.Csv) recipe.data().source();
        assertEquals(
                new DataSource.Csv(Path.of("t")), table.dataSource(recipe.data().splitSeed()));
        assertEquals(new DataRecipe.Preparation(true, 0, false), table.preparation());
    }

    @Test
    void schedulesCountEpochsInSteps() {
        assertEquals(new LearningRate.Constant(1), learningRate(new ScheduleRecipe.Constant(), 0));
        assertEquals(new LearningRate.StepDecay(1, 0.5, 400), learningRate(new ScheduleRecipe.Step(0.5, 40), 0));
        assertEquals(
                new LearningRate.MultiStep(1, 0.5, List.of(20L, 30L)),
                learningRate(new ScheduleRecipe.MultiStep(0.5, List.of(2, 3)), 0));
        assertEquals(new LearningRate.LinearToZero(1, 60), learningRate(new ScheduleRecipe.Linear(), 0));
        assertEquals(
                new LearningRate.WarmUp(5, new LearningRate.Cosine(1, 0.25, 60)),
                learningRate(new ScheduleRecipe.Cosine(0.25), 0.5));
        assertEquals(new LearningRate.Constant(1), learningRate(new ScheduleRecipe.Constant(), 0.01));
        assertThrows(
                IllegalArgumentException.class,
                () -> new ScheduleRecipe(new ScheduleRecipe.Linear(), 0).learningRate(1, 1, 0));
    }

    private static LearningRate learningRate(ScheduleRecipe.Shape shape, double warmUp) {
        return new ScheduleRecipe(shape, warmUp).learningRate(1, 6, 10);
    }

    @Test
    void aBaselineKeepsThePenaltyButDoesNotApplyIt() {
        Recipe sparse = recipe(SOURCES.getFirst(), MODELS.get(2), 1);
        Recipe dense = sparse.asBaseline();
        assertEquals(Optional.of(new GroupMcp(1e-300, 1e300)), sparse.penaltyInForce());
        assertEquals(sparse.penalty(), dense.penalty());
        assertEquals(Optional.empty(), dense.penaltyInForce());
        assertNull(dense.trainingPlan(10).penalty());
        assertEquals(MethodRecipe.Kind.BASELINE, dense.method().kind());
        assertNotEquals(sparse, dense);
        Recipe onePhase = read("");
        assertEquals(onePhase, onePhase.asBaseline().with("method.kind=proximal"));
    }

    @Test
    void aBaselineTrainsAsLongInOnePhaseAndWithoutATarget() {
        Recipe dense = read("phases.warm_up_epochs=2 phases.heal_epochs=3 target.kind=sparsity target.share=0.5")
                .asBaseline();
        assertEquals(11, dense.totalEpochs());
        assertEquals(11, dense.training().epochs());
        assertEquals(PhaseRecipe.NONE, dense.phases());
        assertEquals(TargetRecipe.NONE, dense.target());
    }

    /** Six epochs with a penalty, at a rate of 1 that falls linearly, and overrides. */
    private static Recipe read(String overrides) {
        String toml = """
                [data]
                kind = "digits"
                [model]
                kind = "small-cnn"
                [penalty]
                kind = "group-mcp"
                lambda = 1e-3
                beta = 100
                [optimizer]
                rate = 1
                [schedule]
                kind = "linear"
                [training]
                epochs = 6
                batch_size = 64
                """;
        return RecipeReader.parse(
                "test.toml", toml, overrides.isEmpty() ? List.of() : List.of(overrides.split(" ", -1)));
    }

    @Test
    void withoutFurtherPhasesThereIsOneThatIsTheWholeTraining() {
        Recipe recipe = read("schedule.warm_up=0.5");
        LearningRate rate = new LearningRate.WarmUp(5, new LearningRate.LinearToZero(1, 60));
        assertEquals(List.of(new Phase(Phase.Kind.SPARSIFY, 6, 60, rate)), recipe.phases(10));
        assertEquals(rate, recipe.learningRate(10));
        assertEquals(6, recipe.totalEpochs());
    }

    @Test
    void eachPhaseRunsTheScheduleWithItsOwnRateAndTheFirstOneWarmsUp() {
        Recipe recipe = read("schedule.warm_up=0.5 phases.warm_up_epochs=2 phases.warm_up_rate=0.5"
                + " phases.heal_epochs=3 phases.heal_rate=0.25");
        List<Phase> expected = List.of(
                new Phase(
                        Phase.Kind.WARM_UP, 2, 20, new LearningRate.WarmUp(5, new LearningRate.LinearToZero(0.5, 20))),
                new Phase(Phase.Kind.SPARSIFY, 6, 60, new LearningRate.LinearToZero(1, 60)),
                new Phase(Phase.Kind.HEAL, 3, 30, new LearningRate.LinearToZero(0.25, 30)));
        assertEquals(expected, recipe.phases(10));
        assertEquals(11, recipe.totalEpochs());
        LearningRate whole = recipe.learningRate(10);
        assertEquals(0.1, whole.at(0));
        assertEquals(0.25, whole.at(10));
        assertEquals(1, whole.at(20));
        assertEquals(0.5, whole.at(50));
        assertEquals(0.25, whole.at(80));
        assertEquals(0, whole.at(110));
    }

    @Test
    void aPhaseWithoutARateHasTheOptimizers() {
        Recipe recipe = read("phases.warm_up_epochs=1 phases.heal_epochs=1 optimizer.rate=0.5");
        for (Phase phase : recipe.phases(10)) {
            assertEquals(0.5, phase.rate().at(0), phase::toString);
        }
    }

    @Test
    void aPenaltyOfAnotherStrengthIsOtherwiseTheSame() {
        PenaltyRecipe lasso = new PenaltyRecipe.Lasso(0.5, GroupWeight.NONE);
        assertEquals(Optional.of(new GroupLasso(0.25, GroupWeight.NONE)), lasso.penalty(0.25));
        assertEquals(lasso.penalty(), lasso.penalty(0.5));
        PenaltyRecipe mcp = new PenaltyRecipe.Mcp(0.5, 3, GroupWeight.NONE);
        assertEquals(Optional.of(new GroupMcp(0, 3, GroupWeight.NONE)), mcp.penalty(0));
        assertEquals(mcp.penalty(), mcp.penalty(0.5));
        PenaltyRecipe nested = new PenaltyRecipe.Nested(0.5, 0.75, GroupWeight.NONE);
        assertEquals(Optional.of(new NestedLasso(0, 0.75, GroupWeight.NONE)), nested.penalty(0));
        assertEquals(nested.penalty(), nested.penalty(0.5));
        PenaltyRecipe sparse = new PenaltyRecipe.SparseGroup(0.5, 0.75, GroupWeight.NONE);
        assertEquals(Optional.of(new SparseGroupLasso(2, 0.75, GroupWeight.NONE)), sparse.penalty(2));
        assertEquals(sparse.penalty(), sparse.penalty(0.5));
        assertEquals(Optional.empty(), new PenaltyRecipe.None().penalty(1));
    }

    @Test
    void thePlanHasTheRecipesPenaltyRateAndDecay() {
        Recipe recipe = recipe(SOURCES.getFirst(), MODELS.get(2), 1);
        TrainingPlan plan = recipe.trainingPlan(10);
        assertEquals(new GroupMcp(1e-300, 1e300), plan.penalty());
        assertEquals(recipe.learningRate(10), plan.learningRate());
        assertEquals(0.2, plan.weightDecay());
    }

    @Test
    void methodsBecomeStepOptions() {
        assertEquals(StepOptions.DEFAULT, METHODS.getFirst().stepOptions());
        assertEquals(
                StepOptions.DEFAULT
                        .withNonFinite(StepOptions.NonFinite.SKIP)
                        .withTolerance(new ToleranceSchedule(1e-6, 0)),
                METHODS.get(1).stepOptions());
        assertEquals(
                StepOptions.Method.SUBGRADIENT, METHODS.get(2).stepOptions().method());
    }

    @Test
    void groupsFollowThePaperUnlessTheRecipeSaysOtherwise() {
        Graph graph = Bert.questionAnswering(
                new BertConfig(40, 16, 1, 2, 24, 12, 2, 1e-12, 0, 0, BertConfig.Activation.GELU), Weights.seeded(1));
        int all = PaperRules.BERT.derive(graph).count();
        // Query, key, value, attention's output and the two feed-forward layers, and the head.
        assertEquals(5 * 16 + 24 + 16, all);
        List<String> none = List.of();
        List<String> head = List.of("qa_outputs\\.weight");
        assertEquals(all, count(graph, groups(GroupRecipe.Rules.PAPER, none, none)));
        assertEquals(all - 16, count(graph, groups(GroupRecipe.Rules.ALL, none, head)));
        assertEquals(16, count(graph, groups(GroupRecipe.Rules.NONE, head, none)));
        assertEquals(0, count(graph, groups(GroupRecipe.Rules.NONE, head, head)));
    }

    private static GroupRecipe groups(GroupRecipe.Rules rules, List<String> include, List<String> exclude) {
        return new GroupRecipe(rules, include, exclude, GroupRecipe.Join.NONE, false, List.of());
    }

    @Test
    void readersOfTheSameChannelsAreJoinedOrNested() {
        Graph graph = Bert.questionAnswering(
                new BertConfig(40, 16, 1, 2, 24, 12, 2, 1e-12, 0, 0, BertConfig.Activation.GELU), Weights.seeded(1));
        ModelGroups apart = derive(graph, GroupRecipe.Join.NONE, false);
        ModelGroups joint = derive(graph, GroupRecipe.Join.JOINT, false);
        ModelGroups nested = derive(graph, GroupRecipe.Join.NESTED, false);
        // Query, key and value have one of their sets of groups in common.
        assertEquals(apart.count() - 2 * 16, joint.count());
        assertEquals(joint.count(), nested.count());
        Groups attention = joint.layers().getFirst().groups();
        assertEquals(
                NestedGroups.ofParts((JointGroups) attention),
                nested.layers().getFirst().groups());
    }

    @Test
    void headsTakeThePlaceOfTheGroupsOfAttentions() {
        Graph graph = Bert.questionAnswering(
                new BertConfig(40, 16, 1, 2, 24, 12, 2, 1e-12, 0, 0, BertConfig.Activation.GELU), Weights.seeded(1));
        for (GroupRecipe.Join join : GroupRecipe.Join.values()) {
            // Two heads, the two feed-forward layers, and the model's head.
            assertEquals(2 + 16 + 24 + 16, derive(graph, join, true).count(), join::toString);
        }
    }

    private static ModelGroups derive(Graph graph, GroupRecipe.Join join, boolean heads) {
        return new GroupRecipe(GroupRecipe.Rules.PAPER, List.of(), List.of(), join, heads, List.of())
                .groupRules(new ModelRecipe.Bert("folder"))
                .derive(graph);
    }

    @Test
    void thePapersEmbeddingsAreFrozenAndWhatTheRecipeAdds() {
        Graph graph = Bert.questionAnswering(
                new BertConfig(40, 16, 1, 2, 24, 12, 2, 1e-12, 0, 0, BertConfig.Activation.GELU), Weights.seeded(1));
        int trained = trained(graph, GroupRecipe.Rules.ALL, List.of());
        // Three tables, and the weight and the bias of their norm.
        assertEquals(trained - 5, trained(graph, GroupRecipe.Rules.PAPER, List.of()));
        assertEquals(trained - 7, trained(graph, GroupRecipe.Rules.PAPER, List.of("qa_outputs\\..*")));
        assertEquals(trained - 2, trained(graph, GroupRecipe.Rules.ALL, List.of("qa_outputs\\..*")));
    }

    private static int trained(Graph graph, GroupRecipe.Rules rules, List<String> frozen) {
        GroupRecipe groups = new GroupRecipe(rules, List.of(), List.of(), GroupRecipe.Join.NONE, false, frozen);
        ModelRecipe model = new ModelRecipe.Bert("folder");
        return TrainingPlan.dense(LearningRate.constant(1))
                .withFrozen(groups.frozenParameters(model))
                .parameterSets(graph, groups.groupRules(model).derive(graph))
                .stream()
                .filter(set -> !set.frozen())
                .mapToInt(set -> set.parameters().size())
                .sum();
    }

    private static int count(Graph graph, GroupRecipe groups) {
        return groups.groupRules(new ModelRecipe.Bert("folder")).derive(graph).count();
    }
}
