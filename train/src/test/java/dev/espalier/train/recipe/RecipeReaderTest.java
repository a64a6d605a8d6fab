package dev.espalier.train.recipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.SparseGroupLasso;
import dev.espalier.core.prox.HalfSpace;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.data.DataSection;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import dev.espalier.settings.Problem;
import dev.espalier.settings.SettingsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RecipeReaderTest {
    /** Nothing but what is required. */
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
            rate = 2e-3
            [training]
            epochs = 3
            batch_size = 64
            """;

    private static Recipe read(String toml, String... overrides) {
        return Recipe.parse("test.toml", toml, List.of(overrides));
    }

    private static List<String> problems(String toml, String... overrides) {
        SettingsException exception = assertThrows(SettingsException.class, () -> read(toml, overrides));
        for (Problem problem : exception.problems()) {
            assertTrue(String.valueOf(exception.getMessage()).contains(problem.toString()), exception::getMessage);
        }
        return exception.problems().stream().map(Problem::toString).toList();
    }

    private static void assertProblem(String toml, String expected, String... overrides) {
        assertEquals(List.of(expected), problems(toml, overrides));
    }

    @Test
    void aBaselineHasOnePhase() {
        assertEquals(
                List.of(
                        "phases.warm_up_epochs = 1 must be 0 for method.kind = baseline: it has no penalty all along;"
                                + " raise training.epochs instead",
                        "phases.heal_epochs = 2 must be 0 for method.kind = baseline: it has no zeros to hold; raise"
                                + " training.epochs instead"),
                problems(SHORT, "method.kind=baseline", "phases.warm_up_epochs=1", "phases.heal_epochs=2"));
        Recipe subgradient = read(SHORT, "method.kind=subgradient", "method.threshold=0.1", "phases.heal_epochs=2");
        assertEquals(2, subgradient.phases().healEpochs());
    }

    @Test
    void oneTeacherThatHasLearnedSomething() {
        assertProblem(
                SHORT,
                "phases.warm_up_epochs = 0 leaves task.start_teaches nothing to teach: the model has not been trained by then;"
                        + " give it some epochs",
                "task.start_teaches=true");
        assertProblem(
                SHORT,
                "task.start_teaches and task.teacher = a.onnx exclude each other: leave one out",
                "task.start_teaches=true",
                "task.teacher=a.onnx",
                "phases.warm_up_epochs=1");
        read(SHORT, "task.start_teaches=true", "phases.warm_up_epochs=1");
    }

    @Test
    void halfSpaceStepsHaveKeysOfTheirOwn() {
        MethodRecipe method = read(SHORT, "method.kind=half-space").method();
        assertEquals(Method.HALF_SPACE, method.kind());
        assertEquals(0.5, method.projectionAfter());
        assertEquals(Optional.of(new HalfSpace(0)), method.halfSpace());
        assertEquals(
                Optional.of(new HalfSpace(0.9)),
                read(SHORT, "method.kind=half-space", "method.epsilon=0.9")
                        .method()
                        .halfSpace());
        assertEquals(Optional.empty(), read(SHORT).method().halfSpace());
        assertEquals(
                List.of(
                        "override: method.epsilon = 1 is not possible: it must be a number, at least 0 and below 1",
                        "override: method.projection_after = -0.1 is not possible: it must be a number, at least 0 and below 1"),
                problems(SHORT, "method.kind=half-space", "method.epsilon=1", "method.projection_after=-0.1"));
        assertProblem(
                SHORT,
                "override: method.threshold is no key of method.kind = half-space; it belongs to subgradient",
                "method.kind=half-space",
                "method.threshold=0.1");
        assertProblem(
                SHORT,
                "override: method.epsilon is no key of method.kind = proximal; it belongs to half-space",
                "method.epsilon=0.5");
        assertProblem(
                SHORT,
                "target.kind = groups and method.kind = half-space do not fit: only proximal makes zeros all"
                        + " through training; set target.kind to none",
                "target.kind=groups",
                "target.share=0.5",
                "method.kind=half-space");
    }

    @Test
    void aTargetNeedsTheProximalMethodAndALambdaToStartFrom() {
        assertProblem(
                SHORT,
                "target.kind = flops and method.kind = subgradient do not fit: only proximal makes zeros all"
                        + " through training; set target.kind to none",
                "target.kind=flops",
                "target.share=0.5",
                "method.kind=subgradient",
                "method.threshold=0.1");
        assertProblem(
                SHORT,
                "penalty.lambda = 0.0 must be above 0 for target.kind = parameters, as it is where λ starts from; or leave it out",
                "target.kind=parameters",
                "target.share=0.5",
                "penalty.lambda=0");
        assertProblem(
                SHORT,
                "penalty.lambda is missing: without a target nothing tells how strong the penalty shall be; set it (to"
                        + " 0.01, say), or say how much shall be left: target.kind and target.share, or train --keep 30%",
                "penalty.lambda=auto");
        assertEquals(
                OptionalDouble.empty(),
                read(SHORT, "penalty.lambda=auto", "target.kind=groups", "target.share=0.5")
                        .lambda());
        assertProblem(
                SHORT,
                "target.share is missing: how much of it shall be left (a number, above 0 and below 1)",
                "target.kind=groups");
        assertEquals(
                0.25,
                read(SHORT, "target.kind=groups", "target.share=0.25")
                        .target()
                        .orElseThrow()
                        .share());
    }

    @Test
    void silenceMeansTheDefaults() {
        Recipe recipe = read(SHORT);
        assertEquals(new UpdateRule.Adam(), recipe.optimizer().rule());
        assertEquals(2e-3, recipe.optimizer().rate());
        assertEquals(Method.PROXIMAL, recipe.method().kind());
        assertEquals(Optional.empty(), recipe.target());
        assertEquals("auto", recipe.task().kind());
        assertEquals(Optional.of(new GroupMcp(1e-3, 100, GroupWeight.SQRT_SIZE)), recipe.penaltyInForce());
        assertEquals(List.of(1L), recipe.training().seeds());
        assertEquals(GroupRecipe.Rules.PAPER, recipe.groups().rules());
        assertEquals(GroupRecipe.Join.NONE, recipe.groups().join());
        assertFalse(recipe.groups().heads());
    }

    @Test
    void everyProblemIsToldAtOnceInTheOrderOfTheFile() {
        String toml = """
                [data]
                kind = "digits"
                flpi = true
                [modle]
                kind = "small-cnn"
                [penalty]
                kind = "group-mcp"
                lambda = -1
                [optimizer]
                rate = "fast"
                beta1 = 1.0
                momentum = 0.9
                [training]
                epochs = 0
                """;
        assertEquals(
                List.of(
                        "line 3: data.flpi is no key of a recipe; the nearest is data.flip",
                        "line 4: [modle] is no section of a recipe; the nearest is [model]",
                        "line 6: penalty.beta is missing: β: groups with a norm above β·λ_g are not shrunk (a number, finite and above 0)",
                        "line 8: penalty.lambda = -1 is not possible: it must be \"auto\", or a number, finite and not below 0",
                        "line 10: optimizer.rate = \"fast\" is not possible: it must be a number, finite and above 0",
                        "line 11: optimizer.beta1 = 1.0 is not possible: it must be a number, at least 0 and below 1",
                        "line 12: optimizer.momentum is no key of optimizer.kind = adam; it belongs to momentum",
                        "line 13: training.batch_size is missing: samples that are computed at once (a whole number, at least 1)",
                        "line 14: training.epochs = 0 is not possible: it must be a whole number, at least 1",
                        "override: optimizer.rte is no key of a recipe; the nearest is optimizer.rate",
                        "model.kind is missing: which model; `own` is one that a Java program makes (one of \"vgg16\", \"resnet34\", \"small-cnn\", \"mlp\", \"bert\", \"onnx\", \"own\")"),
                problems(toml, "optimizer.rte=1"));
    }

    @Test
    void theMessageNamesTheFileAndCounts() {
        SettingsException exception =
                assertThrows(SettingsException.class, () -> read(SHORT, "training.epochs=0", "training.seeds=[]"));
        assertTrue(
                String.valueOf(exception.getMessage()).startsWith("test.toml has 2 problems:\n  "),
                exception::getMessage);
    }

    @Test
    void nearestKeyIsFoundByItsLastPartInAnotherSection() {
        assertProblem("epochs = 3\n" + SHORT, "line 1: epochs is no key of a recipe; the nearest is training.epochs");
        assertProblem(
                SHORT + "[optimizer.adam]\nbeta2 = 0.9\n",
                "line 15: optimizer.adam.beta2 is no key of a recipe; the nearest is optimizer.beta2");
        assertProblem(
                SHORT + "Batch-Siez = 3\n",
                "line 14: training.Batch-Siez is no key of a recipe; the nearest is training.batch_size");
    }

    @Test
    void wrongTypesAreRefused() {
        for (String override : List.of(
                "training.epochs=2.5",
                "training.epochs=many",
                "training.epochs=99999999999",
                "training.seeds=1",
                "training.seeds=[1, 1]",
                "training.seeds=[1, 2.0]",
                "data.flip=1",
                "optimizer.rate=true",
                "optimizer.rate=nan",
                "optimizer.rate=inf",
                "optimizer.rate=",
                "model.channels=[]",
                "model.channels=[0]",
                "groups.exclude=[\"(\"]",
                "groups.exclude=stem",
                "groups.join=true",
                "groups.heads=2",
                "penalty.group_weight=root",
                "method.kind=prox")) {
            List<String> problems = problems(SHORT, override);
            assertEquals(1, problems.size(), problems::toString);
            String key = override.substring(0, override.indexOf('='));
            assertTrue(problems.getFirst().startsWith("override: " + key + " = "), problems::toString);
        }
    }

    @Test
    void anUnknownKindStillLetsTheOtherKeysBeChecked() {
        assertEquals(
                List.of(
                        "line 10: optimizer.rate = 0.0 is not possible: it must be a number, finite and above 0",
                        "line 11: optimizer.kind = \"adamw\" is not possible: it must be one of \"adam\", \"sgd\", \"momentum\", \"adagrad\", \"rmsprop\"",
                        "line 12: optimizer.momentum = 2 is not possible: it must be a number, at least 0 and below 1"),
                problems(SHORT.replace("rate = 2e-3", "rate = 0.0\nkind = \"adamw\"\nmomentum = 2")));
    }

    @Test
    void malformedTomlIsToldWithItsLines() {
        List<String> problems = problems("[data]\nkind = \n[model]\nkind = \"mlp\n");
        assertTrue(problems.getFirst().startsWith("line 2: "), problems::toString);
        assertTrue(problems.getLast().startsWith("line 4: "), problems::toString);
        assertTrue(problems.size() <= 3, problems::toString);
        assertTrue(problems(SHORT + "[training]\n").getFirst().startsWith("line 14: "));
    }

    @Test
    void sectionsMustBeSections() {
        assertEquals(
                "line 1: optimizer is a section: write [optimizer] and its keys below",
                problems("optimizer = 3\n" + SHORT.replace("[optimizer]\nrate = 2e-3\n", ""))
                        .getFirst());
    }

    @Test
    void sectionsThatDoNotFitAreToldBesideOtherProblems() {
        assertEquals(
                List.of(
                        "line 4: model.kind = bert and data.kind = digits do not fit: bert reads texts, such as squad",
                        "line 15: training.epoch is no key of a recipe; the nearest is training.epochs"),
                problems(SHORT.replace("\"small-cnn\"", "\"bert\"\ncheckpoint = \"x\"") + "epoch = 1\n"));
        assertProblem(
                SHORT,
                "model.kind = vgg16 and data.kind = digits do not fit: vgg16 reads images of at least 32×32, such as cifar10",
                "model.kind=vgg16");
        assertProblem(
                SHORT,
                "method.kind = proximal needs a penalty: set penalty.kind to group-lasso or group-mcp or group-scad or"
                        + " nested-lasso or sparse-group-lasso, or method.kind to baseline",
                "penalty.kind=none");
        assertProblem(
                SHORT,
                "line 6: penalty.kind = group-mcp and groups.join = nested do not fit: groups within groups need a penalty"
                        + " that nests; set penalty.kind to nested-lasso, or groups.join to joint",
                "groups.join=nested");
        assertProblem(SHORT, "schedule.warm_up = 4.0 must be at most training.epochs = 3", "schedule.warm_up=4");
        assertProblem(
                SHORT,
                "schedule.warm_up = 3.0 must be at most phases.warm_up_epochs = 2",
                "schedule.warm_up=3",
                "phases.warm_up_epochs=2");
    }

    @Test
    void groupsWithinGroupsTakeThePenaltyThatNestsAndNoOther() {
        Recipe nested = read(
                SHORT,
                "groups.join=nested",
                "penalty.kind=nested-lasso",
                "penalty.share=0.25",
                "phases.warm_up_epochs=1",
                "phases.heal_epochs=2");
        assertEquals(GroupRecipe.Join.NESTED, nested.groups().join());
        assertEquals(Optional.of(new NestedLasso(1e-3, 0.25)), nested.penaltyInForce());
        assertEquals(Optional.empty(), nested.asBaseline().penaltyInForce());
        for (String kind : List.of("group-lasso", "sparse-group-lasso")) {
            List<String> problems = problems(
                    SHORT.replace("beta = 100\n", kind.startsWith("sparse") ? "share = 0.5\n" : "")
                            .replace("group-mcp", kind),
                    "groups.join=nested",
                    "method.kind=subgradient",
                    "method.threshold=0.1");
            assertEquals(1, problems.size(), problems::toString);
            assertTrue(
                    problems.getFirst()
                            .startsWith("line 6: penalty.kind = " + kind + " and groups.join = nested do not"),
                    problems::toString);
        }
        Recipe baseline = read(SHORT, "groups.join=nested", "method.kind=baseline");
        assertEquals(Optional.empty(), baseline.penaltyInForce());
        // Where no groups nest it is the group lasso.
        assertEquals(
                GroupRecipe.Join.NONE,
                read(SHORT, "penalty.kind=nested-lasso", "penalty.share=0.5")
                        .groups()
                        .join());
    }

    @Test
    void theShareBelongsToThePenaltiesOfTwoLevels() {
        assertEquals(
                Optional.of(new SparseGroupLasso(1e-3, 1, GroupWeight.NONE)),
                read(SHORT, "penalty.kind=sparse-group-lasso", "penalty.share=1", "penalty.group_weight=none")
                        .penaltyInForce());
        assertProblem(
                SHORT,
                "line 5: penalty.share is missing: ρ: the share of λ that groups within groups bear (a number, from 0"
                        + " to 1)",
                "penalty.kind=nested-lasso");
        assertProblem(
                SHORT,
                "override: penalty.share = 1.5 is not possible: it must be a number, from 0 to 1",
                "penalty.kind=sparse-group-lasso",
                "penalty.share=1.5");
        assertProblem(
                SHORT,
                "override: penalty.share is no key of penalty.kind = group-mcp; it belongs to nested-lasso,"
                        + " sparse-group-lasso",
                "penalty.share=0.5");
    }

    @Test
    void overridesReplaceWhatTheFileSays() {
        Recipe recipe = read(
                SHORT,
                "optimizer.rate=0.5",
                "training.seeds=[3, 4]",
                "groups.exclude=[\"a\\\\.b\"]",
                "schedule.kind = \"cosine\"",
                "optimizer.rate=0.25");
        assertEquals(0.25, recipe.optimizer().rate());
        assertEquals(List.of(3L, 4L), recipe.training().seeds());
        assertEquals(List.of("a\\.b"), recipe.groups().exclude());
        assertEquals(new LearningRate.Cosine(1, 0, 20), recipe.schedule().withoutWarmUp(1, 2, 10));
    }

    @Test
    void textsOfOverridesNeedNoQuotes() {
        for (String dir : List.of("2024", "true", "/data/some folder", "C:\\data", "1979-05-27", "a=b", "[x]")) {
            assertEquals(
                    dir,
                    read(SHORT, "data.kind=mnist", "data.dir=" + dir).data().of(DataSection.DIR));
        }
        assertEquals(
                "a b", read(SHORT, "data.kind=mnist", "data.dir=\"a b\"").data().of(DataSection.DIR));
    }

    @Test
    void anOverriddenKindTakesTheFilesKeysOfTheOldKindWithIt() {
        assertEquals(
                Optional.of(new GroupLasso(1e-3)),
                read(SHORT, "penalty.kind=group-lasso").penaltyInForce());
        assertProblem(
                SHORT,
                "override: penalty.beta is no key of penalty.kind = group-lasso; it belongs to group-mcp, group-scad",
                "penalty.kind=group-lasso",
                "penalty.beta=3");
        assertProblem(
                SHORT.replace("group-mcp", "group-lasso"),
                "line 8: penalty.beta is no key of penalty.kind = group-lasso; it belongs to group-mcp, group-scad");
    }

    @Test
    void whatIsNothingLikeAKeyHasNoNearest() {
        assertProblem(
                SHORT,
                "override: gibberish is no key of a recipe; a key is SECTION.KEY, and the sections are data, task, model,"
                        + " method, penalty, groups, optimizer, schedule, phases, target, training, evaluation, checkpoint,"
                        + " divergence",
                "gibberish=\n[data]");
        assertProblem(
                SHORT,
                "override: checkpoint.foo is no key of a recipe; [checkpoint] has every, keep",
                "checkpoint.foo=1");
        assertProblem(
                SHORT + "[zzz]\n",
                "line 14: [zzz] is no section of a recipe; there are data, task, model, method,"
                        + " penalty, groups, optimizer, schedule, phases, target, training, evaluation, checkpoint, divergence");
        assertProblem(SHORT, "override: rte is no key of a recipe; the nearest is optimizer.rate", "rte=1");
    }

    @Test
    void aTaskIsAskedForByName() {
        assertEquals(
                "classification", read(SHORT, "task.kind=classification").task().kind());
        List<String> problems = problems(SHORT, "task.kind=guessing");
        assertEquals(1, problems.size(), problems::toString);
        assertTrue(problems.getFirst().contains("one of \"auto\", \"classification\""), problems::toString);
    }

    @Test
    void onlyAdamCanLeaveItsMetricUncorrected() {
        assertEquals(new UpdateRule.Adam(), read(SHORT).updateRule());
        assertEquals(
                new UpdateRule.Adam().withMetric(UpdateRule.Adam.Metric.UNCORRECTED),
                read(SHORT, "method.metric=uncorrected").updateRule());
        assertProblem(
                SHORT,
                "method.metric = uncorrected is for optimizer.kind = adam, not for sgd",
                "method.metric=uncorrected",
                "optimizer.kind=sgd");
    }

    @Test
    void biasesDecayWhereARecipeSaysSo() {
        assertEquals(Set.of(0.0), decayOfBiases("optimizer.weight_decay=0.1"));
        assertEquals(Set.of(0.1), decayOfBiases("optimizer.weight_decay=0.1", "optimizer.decayed=all"));
        assertEquals(Set.of(0.0), decayOfBiases("optimizer.decayed=all"));
    }

    private static Set<Double> decayOfBiases(String... overrides) {
        Recipe recipe = read(SHORT, overrides);
        Graph model = Mlp.ofVectors(2, 3, List.of(4), Weights.seeded(1));
        return recipe.trainingPlan(1).parameterSets(model, recipe.groupRules().derive(model)).stream()
                .filter(set -> set.parameters().getFirst().name().endsWith("bias"))
                .map(ParameterSet::weightDecay)
                .collect(Collectors.toSet());
    }

    @Test
    void epsilonHasTheDefaultOfItsOptimizer() {
        assertEquals(
                new UpdateRule.AdaGrad(),
                read(SHORT, "optimizer.kind=adagrad").optimizer().rule());
        assertEquals(
                new UpdateRule.RmsProp(),
                read(SHORT, "optimizer.kind=rmsprop").optimizer().rule());
        assertEquals(
                new UpdateRule.Momentum(0.5),
                read(SHORT, "optimizer.kind=momentum", "optimizer.momentum=0.5")
                        .optimizer()
                        .rule());
        assertProblem(
                SHORT,
                "override: optimizer.epsilon is no key of optimizer.kind = sgd; it belongs to adam, adagrad, rmsprop",
                "optimizer.kind=sgd",
                "optimizer.epsilon=1e-8");
    }

    @Test
    void filesAreReadAsUtf8(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("recipe.toml");
        Files.writeString(file, "# λ\n" + SHORT);
        assertEquals(read(SHORT), Recipe.read(file, List.of()));
        Files.write(file, new byte[] {'#', (byte) 0xff});
        assertThrows(SettingsException.class, () -> Recipe.read(file, List.of()));
        assertThrows(NoSuchFileException.class, () -> Recipe.read(folder.resolve("none"), List.of()));
    }

    @Test
    void anEmptyFileLacksEveryRequiredKey() {
        List<String> missing =
                problems("").stream().map(problem -> problem.split(" ", 2)[0]).toList();
        assertEquals(
                List.of("data.kind", "model.kind", "optimizer.rate", "training.epochs", "training.batch_size"),
                missing.stream().filter(path -> !path.equals("method.kind")).toList());
        assertEquals(6, missing.size(), () -> Arrays.toString(missing.toArray()));
    }
}
