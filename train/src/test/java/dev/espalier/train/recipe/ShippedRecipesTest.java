package dev.espalier.recipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.penalty.GroupLasso;
import dev.espalier.penalty.GroupMcp;
import dev.espalier.penalty.NestedLasso;
import dev.espalier.penalty.Penalty;
import dev.espalier.rule.UpdateRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The recipes in the repository's folder {@code recipes}, and the hyperparameters of the paper's tables. */
final class ShippedRecipesTest {
    private static final Path FOLDER = Repository.file("recipes");

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
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.map(file -> file.getFileName().toString().replace(".toml", ""))
                    .sorted()
                    .toList();
        }
    }

    private static Recipe read(String name) throws IOException {
        return RecipeReader.read(FOLDER.resolve(name + ".toml"), List.of());
    }

    @TestFactory
    Stream<DynamicTest> everyRecipeIsReadAndSurvivesItsOwnText() throws IOException {
        return names().stream()
                .map(name -> DynamicTest.dynamicTest(name, () -> {
                    Recipe recipe = read(name);
                    assertEquals(recipe, RecipeReader.parse(name, recipe.toToml(), List.of()));
                }));
    }

    @Test
    void everyRowOfThePapersTablesHasARecipe() throws IOException {
        assertEquals(
                PENALTIES.keySet(),
                names().stream().filter(name -> name.contains("-")).collect(Collectors.toSet()));
    }

    @TestFactory
    Stream<DynamicTest> penaltiesAndMethodsAreThePapers() {
        return PENALTIES.entrySet().stream()
                .map(row -> DynamicTest.dynamicTest(row.getKey(), () -> {
                    Recipe recipe = read(row.getKey());
                    assertEquals(row.getValue(), recipe.penaltyInForce());
                    boolean subgradient = row.getKey().endsWith("subgradient");
                    assertEquals(subgradient, recipe.method().kind() == MethodRecipe.Kind.SUBGRADIENT);
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
            switch (recipe.model()) {
                case ModelRecipe.Vgg16 _ -> {
                    assertEquals(List.of(1e-3, 5e-3), List.of(optimizer.rate(), optimizer.weightDecay()), name);
                    assertEquals(
                            new ScheduleRecipe.Step(0.1, 40), recipe.schedule().shape(), name);
                    assertEquals(100, recipe.training().epochs(), name);
                    assertEquals(3, recipe.training().seeds().size(), name);
                }
                case ModelRecipe.ResNet34 _ -> {
                    assertEquals(List.of(1e-3, 5e-4), List.of(optimizer.rate(), optimizer.weightDecay()), name);
                    assertEquals(
                            new ScheduleRecipe.MultiStep(0.1, List.of(150)),
                            recipe.schedule().shape(),
                            name);
                    assertEquals(200, recipe.training().epochs(), name);
                }
                case ModelRecipe.Bert _ -> {
                    assertEquals(List.of(5e-5, 0.0), List.of(optimizer.rate(), optimizer.weightDecay()), name);
                    assertEquals(new ScheduleRecipe.Linear(), recipe.schedule().shape(), name);
                    assertEquals(3, recipe.training().epochs(), name);
                }
                case ModelRecipe.SmallCnn _, ModelRecipe.Mlp _, ModelRecipe.Onnx _, ModelRecipe.Own _ ->
                    throw new AssertionError(name + " is not in the paper");
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
                    assertEquals(
                            baseline,
                            new Recipe(
                                    row.data(),
                                    row.model(),
                                    baseline.method(),
                                    baseline.penalty(),
                                    row.groups(),
                                    row.optimizer(),
                                    row.schedule(),
                                    row.phases(),
                                    row.target(),
                                    row.training(),
                                    row.evaluation(),
                                    row.checkpoint(),
                                    row.divergence()),
                            name);
                }
            }
        }
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
        assertTrue(recipe.model() instanceof ModelRecipe.SmallCnn);
        assertTrue(recipe.penaltyInForce().orElseThrow() instanceof GroupMcp);
    }
}
