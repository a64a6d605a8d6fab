package dev.espalier.train.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.settings.SettingsException;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.recipe.TrainingRecipe.PruneFor;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StudyTest {
    private static final String RECIPE = """
            data.kind = "digits"
            model = { kind = "mlp", hidden = [16] }
            penalty = { kind = "group-mcp", lambda = 1e-2, beta = 10 }
            optimizer.rate = 1e-2
            training = { epochs = 9, batch_size = 40, seeds = [7] }
            """;
    private static final String STUDY = """
            [study]
            recipe = "digits.toml"
            """;

    private static Plan plan(String... lines) {
        return Study.parse(STUDY + String.join("\n", lines), RECIPE).plan("root");
    }

    private static List<String> names(Plan plan) {
        return plan.trials().stream().map(Trial::name).toList();
    }

    private static String refusal(String... lines) {
        return String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> plan(lines)).getMessage());
    }

    @Test
    void withoutAxesItIsTheRecipe() {
        Plan plan = plan();
        assertEquals(List.of(""), names(plan));
        Trial only = plan.trials().getFirst();
        Recipe recipe = Recipe.parse("digits.toml", RECIPE, List.of("training.prune_for=size"));
        assertEquals(recipe, only.parsed());
        assertEquals(1, only.threads());
    }

    @Test
    void everyCombinationIsATrialForEachSeed() {
        Plan plan = plan(
                "seeds = [1, 2]",
                "set = [\"training.epochs=3\"]",
                "[axes]",
                "penalty.lambda = { from = 1e-4, to = 1e-2, count = 3, scale = \"log\" }",
                "penalty.kind = [\"group-lasso\", \"group-mcp\"]");
        assertEquals(12, plan.trials().size());
        assertEquals("lambda-1e-4,kind-group-lasso/seed-1", names(plan).getFirst());
        assertEquals("lambda-0.01,kind-group-mcp/seed-2", names(plan).getLast());
        Recipe last = plan.trials().getLast().parsed();
        assertEquals(1e-2, last.lambda().orElseThrow());
        assertEquals(List.of(2L), last.training().seeds());
        assertEquals(3, last.training().epochs());
        assertEquals(PruneFor.SIZE, last.training().pruneFor());
    }

    @Test
    void whereTwoAxesShareANameTheSectionTellsThemApart() {
        Plan plan = plan("[axes]", "penalty.kind = [\"group-lasso\"]", "optimizer.kind = [\"adam\"]");
        assertEquals(List.of("penalty.kind-group-lasso,optimizer.kind-adam"), names(plan));
    }

    @Test
    void aChainStartsEachFromTheOneBeforeAlongItsAxis() {
        Plan plan = plan(
                "seeds = [1, 2]",
                "[axes]",
                "penalty.lambda = [1e-3, 1e-2]",
                "optimizer.rate = [1e-3, 2e-3]",
                "[chain]",
                "along = \"penalty.lambda\"");
        assertEquals(
                List.of("-", "-", "-", "-"),
                plan.trials().subList(0, 4).stream().map(Trial::start).toList());
        assertEquals(
                List.of("lambda-0.001,rate-0.001/seed-1", "lambda-0.001,rate-0.001/seed-2"),
                plan.trials().subList(4, 6).stream().map(Trial::start).toList());
    }

    @Test
    void seedsOfARecipeThatNeedsPricesTakeThoseOfTheFirst() {
        Plan plan = plan("seeds = [1, 2]", "set = [\"penalty.cost=latency\"]");
        assertEquals(
                List.of(List.of(), List.of("seed-1")),
                plan.trials().stream().map(Trial::needs).toList());
    }

    @Test
    void aBudgetTakesTheFirst() {
        Plan plan = plan("seeds = [1, 2]", "[axes]", "penalty.lambda = [1e-3, 1e-2]", "[budget]", "trials = 3");
        assertEquals(List.of("lambda-0.001/seed-1", "lambda-0.001/seed-2", "lambda-0.01/seed-1"), names(plan));
    }

    @Test
    void whatCannotBeFollowedIsToldWithTheMend() {
        assertTrue(refusal("[axes]", "penalty.lamda = [1]").contains("the nearest is penalty.lambda"));
        assertTrue(refusal("[axes]", "penalty.lambda = { from = 1, to = 2, count = 3 }")
                .contains("scale is missing"));
        assertTrue(refusal("[axes]", "penalty.lambda = { from = 0, to = 2, count = 3, scale = \"log\" }")
                .contains("above 0"));
        assertTrue(refusal("[axes]", "penalty.lambda = []").contains("has no values"));
        assertTrue(refusal("[axes]", "penalty.lambda.from = []").contains("must be a list of values, or a range"));
        assertTrue(refusal("[axes]", "penalty.lambda = [0.01, 1e-2]").contains("two trials are called"));
        assertTrue(refusal("[axes]", "penalty.lambda = { from = 1, to = 2, count = 2000000000, scale = \"log\" }")
                .contains("at most 100000"));
        String many = "{ from = 1, to = 2, count = 1000, scale = \"linear\" }";
        assertTrue(refusal("[axes]", "penalty.lambda = " + many, "optimizer.rate = " + many)
                .contains("more than 100,000 points"));
        assertTrue(refusal("[chain]", "along = \"penalty.lambda\"").contains("is no axis"));
        assertTrue(refusal(
                        "[axes]",
                        "penalty.lambda = [1e-3, 1e-2]",
                        "[chain]",
                        "along = \"penalty.lambda\"",
                        "[halving]",
                        "first = 1")
                .contains("[halving]"));
        assertThrows(SettingsException.class, () -> plan("[axis]", "a = 1"));
    }

    @Test
    void ranges() {
        assertEquals(
                List.of("16", "32", "64", "128"),
                Axis.range("k", new BigDecimal(16), new BigDecimal(128), 4, "log")
                        .values());
        assertEquals(
                List.of("0", "0.25", "0.5"),
                Axis.range("k", BigDecimal.ZERO, new BigDecimal("0.5"), 3, "linear")
                        .values());
        assertEquals(
                List.of("1e-4", "0.001", "0.01"),
                Axis.range("k", new BigDecimal("1e-4"), new BigDecimal("1e-2"), 3, "log")
                        .values());
        assertEquals(
                List.of("5"),
                Axis.range("k", new BigDecimal(5), new BigDecimal(9), 1, "linear")
                        .values());
    }

    @Test
    void aStudyReadsBack(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("study.toml");
        Files.writeString(folder.resolve("digits.toml"), RECIPE);
        Files.writeString(
                file, STUDY + "[axes]\npenalty.lambda = { from = 1e-4, to = 1e-2, count = 3, scale = \"log\" }\n");
        Study study = Study.read(file, List.of("axes.optimizer.rate=[1e-3, 1e-2]", "halving.first=3"));
        assertEquals(6, study.plan("root").branches().size());
        Files.writeString(file, study.toToml());
        assertEquals(
                names(study.plan("root")), names(Study.read(file, List.of()).plan("root")));
    }

    @Test
    void trialsTravelAsText() throws IOException {
        for (Trial trial : plan("seeds = [1, 2]", "[axes]", "penalty.lambda = [1e-3, 1e-2]")
                .trials()) {
            assertEquals(trial, Trial.parse(trial.toJson()));
        }
        Outcome outcome = new Outcome("a", Outcome.End.FAILED, "it said \"no\"\n");
        assertEquals(outcome, Outcome.parse(outcome.toJson()));
    }

    @Test
    void halvingLeavesOne() {
        Halving halving = new Halving(1, 3);
        assertEquals(List.of(1, 3, 9), halving.rungs(27, 27));
        assertEquals(List.of(1, 3), halving.rungs(9, 27));
        assertEquals(List.of(1), halving.rungs(27, 3));
        assertEquals(List.of(), halving.rungs(27, 1));
        assertEquals(9, halving.survivors(27));
        assertEquals(1, halving.survivors(2));
    }
}
