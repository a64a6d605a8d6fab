package dev.espalier.train.recipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.Groups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.PenaltyFamily;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.penalty.SparseGroupLasso;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.schedule.ToleranceSchedule;
import dev.espalier.core.step.StepOptions;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.ModelGroups;
import dev.espalier.graph.group.PaperRules;
import dev.espalier.graph.group.TrainingPlan;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.Weights;
import dev.espalier.settings.Form;
import dev.espalier.settings.Key;
import dev.espalier.settings.Kind;
import dev.espalier.settings.Kinds;
import dev.espalier.settings.Section;
import dev.espalier.settings.Settings;
import dev.espalier.settings.SettingsException;
import dev.espalier.settings.Values;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.tomlj.Toml;

final class RecipeTest {
    private static final String SHORT = """
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

    /** Six epochs with a penalty, at a rate of 1 that falls linearly, and overrides. */
    private static Recipe read(String overrides) {
        return Recipe.parse("test.toml", SHORT, overrides.isEmpty() ? List.of() : List.of(overrides.split(" ", -1)));
    }

    /** Every kind of every section, data and models in all pairs, as far as they fit each other. */
    private static List<Recipe> recipes() {
        List<Recipe> recipes = new ArrayList<>();
        Section data = section("data");
        Section model = section("model");
        for (Kind source : data.kinds()) {
            for (Kind network : model.kinds()) {
                List<String> overrides = new ArrayList<>(overrides(data, source));
                overrides.addAll(overrides(model, network));
                parse(overrides).ifPresent(recipes::add);
            }
        }
        for (Section section : Recipe.FORM.sections()) {
            for (Kind kind : section.kinds()) {
                List<String> overrides = new ArrayList<>(overrides(section, kind));
                if (section.name().equals("penalty")) {
                    overrides.add("method.kind=baseline");
                }
                parse(overrides).ifPresent(recipes::add);
            }
        }
        return recipes;
    }

    private static Optional<Recipe> parse(List<String> overrides) {
        try {
            return Optional.of(Recipe.parse("test.toml", SHORT, overrides));
        } catch (SettingsException conflict) {
            assertTrue(String.valueOf(conflict.getMessage()).contains("do not fit"), conflict::getMessage);
            return Optional.empty();
        }
    }

    private static Section section(String name) {
        return Recipe.FORM.sections().stream()
                .filter(section -> section.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** What it takes to say that a section is of a kind: its name, and a value for what has no default. */
    private static List<String> overrides(Section section, Kind kind) {
        List<String> overrides = new ArrayList<>(List.of(section.name() + ".kind=" + kind.name()));
        for (Key<?> key : kind.keys()) {
            if (key.defaultText().isEmpty()) {
                overrides.add(key.path() + "=" + sample(key.takes()));
            }
        }
        return overrides;
    }

    private static String sample(String takes) {
        if (takes.startsWith("a text")) {
            return "odd \"name\"";
        }
        return takes.startsWith("a list") ? "[1, 2]" : takes.startsWith("a whole number") ? "3" : "0.5";
    }

    @Test
    void textAndBackGivesAnEqualRecipe() {
        assertTrue(recipes().size() > 40, "too few recipes fit");
        for (Recipe recipe : recipes()) {
            Recipe again = Recipe.parse("text", recipe.toToml(), List.of());
            assertEquals(recipe, again, recipe::toToml);
            assertEquals(recipe.toToml(), again.toToml());
        }
    }

    @Test
    void oddValuesSurvive() {
        Recipe odd = Recipe.parse(
                "test.toml",
                SHORT,
                List.of(
                        "data.kind=cifar10",
                        "data.dir=\"a \\\"quoted\\\" C:\\\\folder\\twith λ\\n\"",
                        "data.split_seed=-9223372036854775808",
                        "training.seeds=[9223372036854775807, -1]",
                        "groups.frozen=[\"é\", \"\"]",
                        "penalty.lambda=1e-300",
                        "penalty.beta=1e300"));
        assertEquals(odd, Recipe.parse("text", odd.toToml(), List.of()));
        assertEquals(List.of(Long.MAX_VALUE, -1L), odd.training().seeds());
        assertEquals(Optional.of(new GroupMcp(1e-300, 1e300)), odd.penaltyInForce());
    }

    @Test
    void textHoldsExactlyTheKeysThatApply() {
        for (Recipe recipe : recipes()) {
            String toml = recipe.toToml();
            for (Section section : Recipe.FORM.sections()) {
                Set<String> applying = section
                        .keys(recipe.settings().section(section).kind())
                        .stream()
                        .map(Key::name)
                        .collect(Collectors.toSet());
                section.kindKey().ifPresent(key -> applying.add(key.name()));
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
        assertEquals(Recipe.FORM.keys().stream().map(Key::path).collect(Collectors.toSet()), seen);
    }

    @Test
    void valuesAreChangedWithoutAText() {
        Recipe recipe = read("training.seeds=[1,2]");
        assertEquals(read("training.seeds=[1,2] penalty.lambda=0.5"), recipe.withLambda(0.5));
        assertEquals(OptionalDouble.of(0.5), recipe.withLambda(0.5).lambda());
        assertEquals(List.of(7L), recipe.withSeed(7).training().seeds());
        assertEquals(
                List.of(7L, 8L), recipe.withSeeds(List.of(7L, 8L)).training().seeds());
        assertEquals(9, recipe.withEpochs(9).training().epochs());
        assertEquals(recipe, recipe.withEpochs(9).withEpochs(6));
        Recipe subgradient = read("method.kind=subgradient method.threshold=0.25");
        assertEquals(0.5, subgradient.withThreshold(0.5).method().threshold());
    }

    @Test
    void whatTheReaderRefusesIsRefusedHereToo() {
        Recipe recipe = read("");
        assertRefused("penalty.lambda = nan", () -> recipe.withLambda(Double.NaN));
        assertRefused(
                "penalty.lambda has no value",
                () -> read("penalty.kind=none method.kind=baseline").withLambda(1));
        assertRefused("method.threshold has no value", () -> recipe.withThreshold(1));
        assertRefused("training.epochs = 0", () -> recipe.withEpochs(0));
        assertRefused("training.seeds = []", () -> recipe.withSeeds(List.of()));
        assertRefused("training.seeds = [1, 1]", () -> recipe.withSeeds(List.of(1L, 1L)));
        assertRefused(
                "schedule.warm_up = 5.0 must be at most training.epochs = 4",
                () -> read("schedule.warm_up=5").withEpochs(4));
        assertRefused(
                "penalty.lambda = 0.0 must be above 0",
                () -> read("target.kind=flops target.share=0.5").withLambda(0));
    }

    private static void assertRefused(String words, Runnable making) {
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class, making::run, words);
        assertTrue(String.valueOf(refusal.getMessage()).contains(words), refusal::getMessage);
    }

    @Test
    void onlyWhatDecidesTheOutcomeBindsARun() {
        Settings before = read("").settings();
        assertEquals(
                List.of(),
                read("checkpoint.every=3 checkpoint.keep=9 data.loaders=5")
                        .settings()
                        .changesSince(before));
        assertEquals(
                List.of("optimizer.rate was 1.0, and is 0.5 now"),
                read("optimizer.rate=0.5").settings().changesSince(before));
        Settings elsewhere = read("data.kind=cifar10 data.dir=a model.kind=onnx model.file=b")
                .settings();
        assertEquals(
                List.of(),
                read("data.kind=cifar10 data.dir=c model.kind=onnx model.file=d")
                        .settings()
                        .changesSince(elsewhere));
    }

    @Test
    void schedulesCountEpochsInSteps() {
        assertEquals(new LearningRate.Constant(1), learningRate("schedule.kind=constant"));
        assertEquals(
                new LearningRate.StepDecay(1, 0.5, 400),
                learningRate("schedule.kind=step schedule.factor=0.5 schedule.every=40"));
        assertEquals(
                new LearningRate.MultiStep(1, 0.1, List.of(20L, 30L)),
                learningRate("schedule.kind=multi-step schedule.milestones=[2,3]"));
        assertEquals(new LearningRate.LinearToZero(1, 60), learningRate("schedule.kind=linear"));
        assertEquals(
                new LearningRate.WarmUp(5, new LearningRate.Cosine(1, 0.25, 60)),
                learningRate("schedule.kind=cosine schedule.last=0.25 schedule.warm_up=0.5"));
        assertEquals(new LearningRate.Constant(1), learningRate("schedule.kind=constant schedule.warm_up=0.01"));
        assertThrows(IllegalArgumentException.class, () -> read("").schedule().learningRate(1, 1, 0));
    }

    private static LearningRate learningRate(String overrides) {
        return read(overrides).schedule().learningRate(1, 6, 10);
    }

    @Test
    void aBaselineKeepsThePenaltyButDoesNotApplyIt() {
        Recipe sparse = read("method.non_finite=skip");
        Recipe dense = sparse.asBaseline();
        assertEquals(Optional.of(new GroupMcp(1e-3, 100)), sparse.penaltyInForce());
        assertEquals(sparse.penalty(1), dense.penalty(1));
        assertEquals(sparse.lambda(), dense.lambda());
        assertEquals(Optional.empty(), dense.penaltyInForce());
        assertNull(dense.trainingPlan(10).penalty());
        assertEquals(Method.BASELINE, dense.method().kind());
        assertEquals(StepOptions.NonFinite.SKIP, dense.method().nonFinite());
        assertNotEquals(sparse, dense);
        assertEquals(sparse, dense.with("method.kind=proximal"));
    }

    @Test
    void aBaselineTrainsAsLongInOnePhaseAndWithoutATarget() {
        Recipe dense = read("phases.warm_up_epochs=2 phases.heal_epochs=3 target.kind=groups target.share=0.5")
                .asBaseline();
        assertEquals(11, dense.totalEpochs());
        assertEquals(11, dense.training().epochs());
        assertEquals(read("").phases(), dense.phases());
        assertEquals(Optional.empty(), dense.target());
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
        Recipe lasso = read("penalty.kind=group-lasso penalty.group_weight=none");
        assertEquals(Optional.of(new GroupLasso(0.25, GroupWeight.NONE)), lasso.penalty(0.25));
        assertEquals(lasso.penaltyInForce(), lasso.penalty(1e-3));
        assertEquals(Optional.of(new GroupMcp(0, 100)), read("").penalty(0));
        assertEquals(
                Optional.of(new NestedLasso(0, 0.75)),
                read("penalty.kind=nested-lasso penalty.share=0.75").penalty(0));
        assertEquals(
                Optional.of(new SparseGroupLasso(2, 0.75)),
                read("penalty.kind=sparse-group-lasso penalty.share=0.75").penalty(2));
        assertEquals(
                Optional.empty(), read("penalty.kind=none method.kind=baseline").penalty(1));
    }

    /** A penalty that somebody else wrote is a kind with its own keys, and no line of ours knows it. */
    @Test
    void everyFamilyOfPenaltiesIsAKind() {
        record Bent(double lambda, double bend, GroupWeight weight) implements Penalty {
            @Override
            public double strength(long size) {
                return weight.strength(lambda, size);
            }

            @Override
            public Profile profile(double strength) {
                return Profile.norm(strength);
            }
        }
        PenaltyFamily bent = new PenaltyFamily() {
            private final Parameter bend = Parameter.positive("bend", "how much it bends");

            @Override
            public String name() {
                return "bent";
            }

            @Override
            public String meaning() {
                return "a penalty of somebody else";
            }

            @Override
            public List<Parameter> parameters() {
                return List.of(bend);
            }

            @Override
            public Penalty member(double lambda, GroupWeight weight, Map<String, Double> values) {
                return new Bent(lambda, bend.of(values), weight);
            }
        };
        Kinds<PenaltyKind> kinds = PenaltyKind.kinds(List.of(bent));
        Section section = Section.of("penalty", "which", kinds, Optional.of("none"), List.of());
        Form form = new Form("recipe", List.of(section), List.of());
        Values values = form.parse("test.toml", "", List.of("penalty.kind=bent", "penalty.lambda=2", "penalty.bend=3"))
                .section(section);
        assertEquals(
                Optional.of(new Bent(5, 3, GroupWeight.SQRT_SIZE)),
                kinds.of(values).member(values, 5));
        assertEquals(
                List.of(
                        "penalty.kind",
                        "penalty.lambda",
                        "penalty.bend",
                        "penalty.group_weight",
                        "penalty.cost",
                        "penalty.pilot",
                        "penalty.pilot_power"),
                List.copyOf(values.texts().keySet()));
        SettingsException refusal = assertThrows(
                SettingsException.class,
                () -> form.parse("test.toml", "", List.of("penalty.kind=bent", "penalty.lambda=2", "penalty.bend=0")));
        assertTrue(
                String.valueOf(refusal.getMessage())
                        .contains("penalty.bend = 0 is not possible: it must be a number, finite and above 0"),
                refusal::getMessage);
    }

    @Test
    void thePlanHasTheRecipesPenaltyRateAndDecay() {
        Recipe recipe = read("optimizer.weight_decay=0.2");
        TrainingPlan plan = recipe.trainingPlan(10);
        assertEquals(new GroupMcp(1e-3, 100), plan.penalty());
        assertEquals(recipe.learningRate(10), plan.learningRate());
        assertEquals(0.2, plan.weightDecay());
    }

    @Test
    void methodsBecomeStepOptions() {
        assertEquals(StepOptions.DEFAULT, read("method.kind=baseline").stepOptions());
        assertEquals(
                StepOptions.DEFAULT
                        .withNonFinite(StepOptions.NonFinite.SKIP)
                        .withTolerance(new ToleranceSchedule(1e-6, 0)),
                read("method.tolerance=1e-6 method.non_finite=skip").stepOptions());
        assertEquals(
                StepOptions.Method.SUBGRADIENT,
                read("method.kind=subgradient method.threshold=1").stepOptions().method());
        assertEquals(
                StepOptions.Method.SUBGRADIENT,
                read("method.kind=half-space").stepOptions().method());
        assertEquals(
                StepOptions.DEFAULT.withMetricFloor(0.05),
                read("optimizer.metric_floor=0.05").stepOptions());
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
        return new GroupRecipe(rules, include, exclude, GroupRecipe.Join.NONE, false, false, false, List.of());
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

    @Test
    void dimensionsOfHeadsGoBeforeHeads() {
        Graph graph = Bert.questionAnswering(
                new BertConfig(40, 16, 1, 2, 24, 12, 2, 1e-12, 0, 0, BertConfig.Activation.GELU), Weights.seeded(1));
        for (boolean heads : List.of(false, true)) {
            ModelGroups groups = new GroupRecipe(
                            GroupRecipe.Rules.PAPER,
                            List.of(),
                            List.of(),
                            GroupRecipe.Join.NONE,
                            heads,
                            true,
                            false,
                            List.of())
                    .groupRules(PaperRules.BERT)
                    .derive(graph);
            // Query with key and value with output, the two feed-forward layers, and the model's head.
            assertEquals(16 + 16 + 16 + 24 + 16, groups.count());
        }
    }

    private static ModelGroups derive(Graph graph, GroupRecipe.Join join, boolean heads) {
        return new GroupRecipe(GroupRecipe.Rules.PAPER, List.of(), List.of(), join, heads, false, false, List.of())
                .groupRules(PaperRules.BERT)
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

    /** What does not change can neither become zero nor be counted for it. */
    @Test
    void whatIsFrozenHasNoGroups() {
        Graph graph = Bert.questionAnswering(
                new BertConfig(40, 16, 1, 2, 24, 12, 2, 1e-12, 0, 0, BertConfig.Activation.GELU), Weights.seeded(1));
        for (GroupRecipe.Join join : GroupRecipe.Join.values()) {
            int all = derive(graph, join, false).count();
            GroupRecipe frozen = new GroupRecipe(
                    GroupRecipe.Rules.ALL, List.of(), List.of(), join, false, false, false, List.of("qa_outputs\\..*"));
            assertEquals(all - 16, count(graph, frozen));
        }
    }

    private static int trained(Graph graph, GroupRecipe.Rules rules, List<String> frozen) {
        GroupRecipe groups =
                new GroupRecipe(rules, List.of(), List.of(), GroupRecipe.Join.NONE, false, false, false, frozen);
        return TrainingPlan.dense(LearningRate.constant(1))
                .withFrozen(groups.frozenParameters(PaperRules.BERT))
                .parameterSets(graph, groups.groupRules(PaperRules.BERT).derive(graph))
                .stream()
                .filter(set -> !set.frozen())
                .mapToInt(set -> set.parameters().size())
                .sum();
    }

    private static int count(Graph graph, GroupRecipe groups) {
        return groups.groupRules(PaperRules.BERT).derive(graph).count();
    }
}
