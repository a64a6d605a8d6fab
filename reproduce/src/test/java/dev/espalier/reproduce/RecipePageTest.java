package dev.espalier.reproduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.settings.Section;
import dev.espalier.settings.SettingsException;
import dev.espalier.train.recipe.Recipe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Holds {@code docs/recipes.md} to the keys of the code, those of all kinds but `table`, which is on the class path only if it is wanted. */
final class RecipePageTest {
    private static final Path PAGE = Path.of("..", "docs", "recipes.md");
    private static final String HEADER = "| key | for | takes | default | meaning |\n|---|---|---|---|---|\n";

    /** The section of the page that lists the keys, as the code has them. */
    private static String reference() {
        return Recipe.FORM.sections().stream()
                .map(section -> "### `[" + section.name() + "]`\n\n" + HEADER + rows(section))
                .collect(Collectors.joining("\n"));
    }

    private static String rows(Section section) {
        return section.keys().stream()
                .map(key -> "| `%s` | %s | %s | %s | %s |\n"
                        .formatted(
                                key.name(),
                                String.join(", ", section.owners(key)),
                                key.takes(),
                                key.defaultText().map(text -> "`" + text + "`").orElse("required"),
                                key.meaning() + (key.isChangeable() ? "; may change on `--resume`" : "")))
                .collect(Collectors.joining());
    }

    @Test
    void thePageListsTheKeysOfTheCode() throws IOException {
        String page = Files.readString(PAGE);
        String title = "## Keys\n\n";
        assertTrue(page.contains(title), () -> PAGE + " has no section Keys");
        String listed = page.substring(page.indexOf(title) + title.length());
        assertEquals(reference(), listed, () -> "the section Keys, last in " + PAGE + ", must be:\n\n" + reference());
    }

    @Test
    void theErrorOnThePageIsTheReaders() throws IOException {
        String page = Files.readString(PAGE);
        Matched wrong = Matched.of(page);
        String message = "";
        try {
            Recipe.parse("mine.toml", wrong.toml(), List.of("optimizer.rte=0.01"));
        } catch (SettingsException exception) {
            message = String.valueOf(exception.getMessage());
        }
        assertEquals(wrong.message(), message);
    }

    /** The wrong recipe on the page, and what the page says that the reader says. */
    private record Matched(String toml, String message) {
        private static final Pattern WRONG =
                Pattern.compile("```text\n# mine.toml\n(.*?)```.*?```text\n(mine.toml has.*?)\n```", Pattern.DOTALL);

        static Matched of(String page) {
            MatchResult match = WRONG.matcher(page).results().findFirst().orElseThrow();
            return new Matched("# mine.toml\n" + match.group(1), match.group(2));
        }
    }
}
