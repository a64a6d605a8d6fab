package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.settings.Key;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.study.Experiment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RecipeChangesTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    /** Keys of one path are told apart by the section's kind, of which {@link Recipe#settings} knows nothing. */
    @Test
    void keysOfOnePathMayChangeAllOrNone() {
        Recipe.FORM.keys().stream()
                .collect(Collectors.groupingBy(Key::path, Collectors.mapping(Key::isChangeable, Collectors.toSet())))
                .forEach((path, flags) -> assertEquals(1, flags.size(), path));
    }

    /** Whatever says where files lie is free to change; what a kind is called never is. */
    @Test
    void filesMayMoveAndKindsStay() {
        for (Key<?> key : Recipe.FORM.keys()) {
            if (Set.of("dir", "path", "checkpoint", "file").contains(key.name())) {
                assertTrue(key.isChangeable(), key.path());
            }
            if (Set.of("kind", "seeds", "epochs", "batch_size", "rate", "lambda")
                    .contains(key.name())) {
                assertFalse(key.isChangeable(), key.path());
            }
        }
    }

    @Test
    void aRunGoesOnAfterItsTableHasMoved() throws IOException {
        Path table = folder.resolve("table.csv");
        StringBuilder rows = new StringBuilder("a,b,label\n");
        for (int i = 0; i < 60; i++) {
            rows.append(i % 7)
                    .append(',')
                    .append(i % 5)
                    .append(',')
                    .append(i % 7 > 3 ? "big" : "small")
                    .append('\n');
        }
        Files.writeString(table, rows);
        RunFolder run = new RunFolder(folder.resolve("run"));
        AtomicLong steps = new AtomicLong();
        RunOptions stopping = RunOptions.DEFAULT.withStop(() -> steps.incrementAndGet() == 3);
        assertTrue(Experiment.of(recipe(table), run, stopping).begin().isEmpty());
        Path moved = Files.move(table, folder.resolve("moved.csv"));
        assertTrue(
                Experiment.of(recipe(moved), run, RunOptions.DEFAULT).resume().isPresent());
    }

    private static Recipe recipe(Path table) {
        return Recipe.parse("table.toml", """
                data.kind = "csv"
                model = { kind = "mlp", hidden = [8] }
                penalty = { kind = "group-lasso", lambda = 1e-4 }
                optimizer.rate = 1e-2
                training = { epochs = 4, batch_size = 16 }
                divergence.chance_epochs = 0
                """, List.of("data.path=" + table));
    }
}
