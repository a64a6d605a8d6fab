package dev.espalier.reproduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.train.recipe.GroupRecipe;
import dev.espalier.train.recipe.Method;
import dev.espalier.train.recipe.OptimizerRecipe;
import dev.espalier.train.recipe.Phase;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.recipe.TargetRecipe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The recipes in the repository's folder {@code recipes}, and the hyperparameters of the paper's tables. */
final class ShippedRecipesTest {
    private static final Path FOLDER = Path.of("..", "recipes");

    private static final Map<String, Optional<Penalty>> PENALTIES = Map.ofEntries(
            Map.entry("vgg16-cifar10-baseline", Optional.empty()),
            Map.entry("vgg16-cifar10-lasso-subgradient", Optional.of(new GroupLasso(2e-5))),
            Map.entry("vgg16-cifar10-lasso-proximal", Optional.of(new GroupLasso(2e-5))),
            Map.entry("vgg16-cifar10-mcp-subgradient", Optional.of(new GroupMcp(2e-5, 5e3))),
            Map.entry("vgg16-cifar10-mcp-proximal", Optional.of(new GroupMcp(2e-5, 5e3))),
            Map.entry("resnet34-cifar10-baseline", Optional.empty()),
            Map.entry("resnet34-cifar10-lasso", Optional.of(new GroupLasso(1e-6))),
            Map.entry("resnet34-cifar10-mcp", Optional.of(new GroupMcp(1e-5, 1e3))),
            Map.entry("bert-squad-baseline", Optional.empty()),
            Map.entry("bert-squad-lasso-1e-5", Optional.of(new GroupLasso(1e-5))),
            Map.entry("bert-squad-lasso-2e-5", Optional.of(new GroupLasso(2e-5))),
            Map.entry("bert-squad-mcp-5e-5", Optional.of(new GroupMcp(5e-5, 8e2))),
            Map.entry("bert-squad-mcp-1e-4", Optional.of(new GroupMcp(1e-4, 4e2))));

    private static List<String> names() throws IOException {
        return names(FOLDER);
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(".toml"))
                    .map(file -> file.replace(".toml", ""))
                    .sorted()
                    .toList();
        }
    }

    private static Recipe read(String name) throws IOException {
        return Recipe.read(FOLDER.resolve(name + ".toml"), List.of());
    }

    @TestFactory
    Stream<DynamicTest> everyRecipeIsReadAndSurvivesItsOwnText() throws IOException {
        return Stream.concat(
                        names().stream(),
                        names(FOLDER.resolve("program")).stream().map(name -> "program/" + name))
                .map(name -> DynamicTest.dynamicTest(name, () -> {
                    Recipe recipe = read(name);
                    assertEquals(recipe, Recipe.parse(name, recipe.toToml(), List.of()));
                }));
    }

    @Test
    void everyRowOfThePapersTablesHasARecipe() throws IOException {
        assertEquals(
                PENALTIES.keySet(),
                names().stream()
                        .filter(name -> name.contains("-") && !name.endsWith("-best"))
                        .collect(Collectors.toSet()));
    }

    /** What the program does is the text's row with switches; the values of subgradient rows weigh in two ways. */
    @Test
    void programRecipesDifferFromTheTextsInSwitchesOnly() throws IOException {
        Set<String> rows = new TreeSet<>();
        for (String name : names(FOLDER.resolve("program"))) {
            String row = name.replaceAll("-(inverse-)?groups$", "");
            rows.add(row);
            Recipe text = read(row);
            Recipe program = read("program/" + name);
            Set<String> switches = new TreeSet<>(program.differences(text).keySet());
            Set<String> expected = new TreeSet<>();
            if (row.startsWith("bert")) {
                expected.addAll(List.of("training.batch_size", "training.clip_norm"));
            } else {
                expected.addAll(List.of("model.initialization", "optimizer.decayed", "optimizer.epsilon"));
            }
            if (row.startsWith("resnet34")) { // only there does decay within the gradient come near the paper
                expected.addAll(List.of("optimizer.gradient_decay", "optimizer.weight_decay"));
                assertEquals(text.optimizer().weightDecay(), program.optimizer().gradientDecay(), name);
            }
            if (text.method().kind().equals(Method.PROXIMAL)) {
                expected.add("method.metric");
            }
            if (text.method().kind().equals(Method.SUBGRADIENT)) {
                expected.add("method.value_weight");
            }
            if (row.startsWith("vgg16")) {
                expected.add("training.seeds");
            }
            assertEquals(expected, switches, name);
        }
        assertEquals(PENALTIES.keySet(), rows);
    }

    @TestFactory
    Stream<DynamicTest> ourBestStartDenseChooseAndHeal() {
        return Stream.of("vgg16-cifar10-best", "resnet34-cifar10-best", "bert-squad-best")
                .map(name -> DynamicTest.dynamicTest(name, () -> {
                    Recipe recipe = read(name);
                    assertEquals(
                            TargetRecipe.By.CHOICE,
                            recipe.target().orElseThrow().by());
                    assertEquals(
                            List.of(Phase.Kind.WARM_UP, Phase.Kind.SPARSIFY, Phase.Kind.HEAL),
                            recipe.phases(10).stream().map(Phase::kind).toList());
                }));
    }

    @TestFactory
    Stream<DynamicTest> penaltiesAndMethodsAreThePapers() {
        return PENALTIES.entrySet().stream()
                .map(row -> DynamicTest.dynamicTest(row.getKey(), () -> {
                    Recipe recipe = read(row.getKey());
                    assertEquals(row.getValue(), recipe.penaltyInForce());
                    boolean subgradient = row.getKey().endsWith("subgradient");
                    assertEquals(subgradient, recipe.method().kind().equals(Method.SUBGRADIENT));
                    assertEquals(subgradient ? 2.5e-3 : 0, recipe.method().threshold());
                    assertEquals(GroupRecipe.Rules.PAPER, recipe.groups().rules());
                    assertEquals(GroupRecipe.Join.NONE, recipe.groups().join());
                    assertFalse(recipe.groups().heads());
                    assertEquals(new UpdateRule.Adam(), recipe.optimizer().rule());
                }));
    }

    @Test
    void trainingIsThePapers() throws IOException {
        for (String name : PENALTIES.keySet()) {
            Recipe recipe = read(name);
            OptimizerRecipe optimizer = recipe.optimizer();
            LearningRate rate =
                    recipe.schedule().learningRate(1, recipe.training().epochs(), 10);
            switch (recipe.model().kind()) {
                case "vgg16" -> {
                    assertEquals(List.of(1e-3, 5e-3), List.of(optimizer.rate(), optimizer.weightDecay()), name);
                    assertEquals(new LearningRate.StepDecay(1, 0.1, 400), rate, name);
                    assertEquals(100, recipe.training().epochs(), name);
                    assertEquals(3, recipe.training().seeds().size(), name);
                }
                case "resnet34" -> {
                    assertEquals(List.of(1e-3, 5e-4), List.of(optimizer.rate(), optimizer.weightDecay()), name);
                    assertEquals(new LearningRate.MultiStep(1, 0.1, List.of(1500L)), rate, name);
                    assertEquals(200, recipe.training().epochs(), name);
                }
                case "bert" -> {
                    assertEquals(List.of(5e-5, 0.0), List.of(optimizer.rate(), optimizer.weightDecay()), name);
                    assertEquals(new LearningRate.LinearToZero(1, 30), rate, name);
                    assertEquals(3, recipe.training().epochs(), name);
                }
                default -> throw new AssertionError(name + " is not in the paper");
            }
        }
    }

    @Test
    void rowsOfOneTableDifferInMethodAndPenaltyOnly() throws IOException {
        for (String table : List.of("vgg16-cifar10", "resnet34-cifar10", "bert-squad")) {
            Recipe baseline = read(table + "-baseline");
            for (String name : PENALTIES.keySet()) {
                if (name.startsWith(table)) {
                    Recipe row = read(name);
                    assertEquals(withoutMethod(baseline), withoutMethod(row), name);
                }
            }
        }
    }

    private static Map<String, String> withoutMethod(Recipe recipe) {
        Map<String, String> texts = new LinkedHashMap<>(recipe.settings().texts());
        texts.keySet().removeIf(path -> path.startsWith("method.") || path.startsWith("penalty."));
        return texts;
    }

    @Test
    void aRowWithAnotherPenaltyTakesTheGroupsThatThePaperLeavesOpen() throws IOException {
        Recipe nested = read("bert-squad-lasso-1e-5")
                .with("groups.join=nested", "penalty.kind=nested-lasso", "penalty.share=0.5", "groups.heads=true");
        assertEquals(Optional.of(new NestedLasso(1e-5, 0.5)), nested.penaltyInForce());
        assertEquals(GroupRecipe.Join.NESTED, nested.groups().join());
        assertTrue(nested.groups().heads());
    }

    @Test
    void digitsIsASparseConvolutionalNetwork() throws IOException {
        Recipe recipe = read("digits");
        assertEquals("small-cnn", recipe.model().kind());
        assertTrue(recipe.penaltyInForce().orElseThrow() instanceof GroupMcp);
    }
}
