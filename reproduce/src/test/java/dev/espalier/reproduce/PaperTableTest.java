package dev.espalier.reproduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.report.Unit;
import dev.espalier.train.journal.Provenance;
import dev.espalier.train.journal.Spread;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.RunOptions;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the tables are trained by, without training. */
final class PaperTableTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private Setting full(Optional<Path> data) {
        return new Setting(Scale.FULL, data, 1, folder.resolve("out"), RunOptions.DEFAULT);
    }

    private static Setting small(Path folder) {
        return Small.setting(folder);
    }

    /** What the recipe says of the paper in its first lines. */
    private static String comment(PaperRow row) throws IOException {
        String file = row.recipe() + ".toml";
        try (InputStream resource = PaperTable.class.getResourceAsStream(file)) {
            return new String(Objects.requireNonNull(resource, file).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @ParameterizedTest
    @EnumSource
    void rowsQuoteWhatTheirRecipesQuote(PaperTable table) throws IOException {
        for (PaperRow row : table.rows()) {
            String comment = comment(row);
            for (Map.Entry<PaperRow.Figure, Spread> quote : row.paper().entrySet()) {
                String number = Unit.SHARE.write(quote.getValue());
                String expected = switch (quote.getKey()) {
                    case GROUP_SPARSITY, GROUP_SPARSITY_WITH_EMBEDDINGS -> "non-zero groups " + number;
                    case ACCURACY -> "test accuracy " + number;
                    case EXACT_MATCH -> "EM " + number.replace(" %", "");
                    case F1 -> "F1 " + number.replace(" %", "");
                };
                assertTrue(comment.contains(expected), row.name() + ": no " + expected + " in\n" + comment);
            }
            assertTrue(row.paper().containsKey(table.figures().getLast()), row.name());
        }
    }

    @ParameterizedTest
    @EnumSource
    void fullScaleIsTheRecipeButForTheFolders(PaperTable table) throws IOException {
        Trainings trainings = new Trainings(full(Optional.of(folder)));
        for (PaperRow row : table.rows()) {
            Map<String, String> shipped =
                    ShippedRecipe.of(row.recipe(), List.of()).settings().texts();
            Map<String, String> run = trainings.recipe(table, row).settings().texts();
            Set<String> changed = new HashSet<>(shipped.keySet());
            changed.addAll(run.keySet());
            changed.removeIf(key -> Objects.equals(shipped.get(key), run.get(key)));
            assertEquals(
                    table.asksQuestions() ? Set.of("data.dir", "model.checkpoint") : Set.of("data.dir"),
                    changed,
                    row.name());
        }
    }

    @ParameterizedTest
    @EnumSource
    void atSmallScaleMethodPenaltyAndOptimizerStayWhatTheyAre(PaperTable table) throws IOException {
        Trainings trainings = new Trainings(small(folder));
        for (PaperRow row : table.rows()) {
            Recipe shipped = ShippedRecipe.of(row.recipe(), List.of());
            Recipe run = trainings.recipe(table, row);
            assertEquals(shipped.method().kind(), run.method().kind(), row.name());
            for (String kind : List.of("penalty.kind", "schedule.kind")) {
                assertEquals(
                        shipped.settings().texts().get(kind),
                        run.settings().texts().get(kind),
                        row.name());
            }
            assertEquals(shipped.optimizer().rule(), run.optimizer().rule(), row.name());
            assertEquals(shipped.optimizer().weightDecay(), run.optimizer().weightDecay(), row.name());
            assertTrue(run.training().epochs() <= 20, row.name());
        }
    }

    /** The paper counts 86k groups: ours and the dimensions of three tables of embeddings, which are frozen. */
    @Test
    void bertsGroupsAreCountedWithEmbeddingsToo() {
        assertEquals(1, PaperRow.Figure.GROUP_SPARSITY_WITH_EMBEDDINGS.of(bert(1, 83_712)), 1e-12);
        assertEquals(2304.0 / 86_016, PaperRow.Figure.GROUP_SPARSITY_WITH_EMBEDDINGS.of(bert(0, 83_712)), 1e-12);
        assertEquals(
                (41_856.0 + 2304) / 86_016,
                PaperRow.Figure.GROUP_SPARSITY_WITH_EMBEDDINGS.of(bert(0.5, 83_712)),
                1e-12);
        assertTrue(Double.isNaN(PaperRow.Figure.GROUP_SPARSITY_WITH_EMBEDDINGS.of(bert(0.5, 240))), "of another BERT");
    }

    private static RowResult bert(double groupsLeft, long groups) {
        RowResult.Change none = RowResult.Change.UNKNOWN;
        return new RowResult(
                "bert-squad-mcp-1e-4",
                new LinkedHashMap<>(),
                1,
                "tf32",
                false,
                0,
                new LinkedHashMap<>(),
                new LinkedHashMap<>(),
                groupsLeft,
                groups,
                none,
                none,
                none,
                Double.NaN,
                1,
                1,
                1,
                new Provenance("", "", "", 1, "", "", "", 1, "", "", ""),
                new RowResult.Course(List.of(), List.of(), List.of(), List.of(), new LinkedHashMap<>()),
                "");
    }

    @Test
    void seedsAreThoseOfTheRecipes() {
        assertEquals(3, Items.of("table1").seeds());
        assertEquals(1, Items.of("table2").seeds());
        assertEquals(1, Items.of("table4").seeds());
    }

    @Test
    void cifarMayLieInTheFolderOrInOneOfItsFolders() throws IOException {
        PaperRow row = PaperTable.VGG16.rows().getFirst();
        Trainings trainings = new Trainings(full(Optional.of(folder)));
        String key = "data.dir";
        assertEquals(
                "\"" + folder + "\"",
                trainings.recipe(PaperTable.VGG16, row).settings().texts().get(key));
        Files.createDirectory(folder.resolve("cifar10"));
        assertEquals(
                "\"" + folder.resolve("cifar10") + "\"",
                trainings.recipe(PaperTable.VGG16, row).settings().texts().get(key));
    }

    @Test
    void withoutTheRealDataNothingIsBegun() {
        for (String name : List.of("table1", "table2", "table4", "pruned-layers", "threshold")) {
            IllegalArgumentException problem = assertThrows(
                    IllegalArgumentException.class,
                    () -> Reproduction.of(Items.of(name), full(Optional.empty()), ""),
                    name);
            assertTrue(String.valueOf(problem.getMessage()).contains("--data DIR"), problem.getMessage());
        }
        assertFalse(Files.exists(folder.resolve("out")));
    }
}
