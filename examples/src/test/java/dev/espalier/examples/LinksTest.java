package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The pages hang together: every link leads somewhere, and every page can be reached from the README. */
final class LinksTest {
    private static final Pattern FENCED = Pattern.compile("^( *)```.*?^\\1```", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern TITLE = Pattern.compile("^#+ (.*)$", Pattern.MULTILINE);

    private static List<String> links(String text) {
        return LINK.matcher(FENCED.matcher(text).replaceAll(""))
                .results()
                .map((MatchResult match) -> match.group(1))
                .filter(link -> !link.startsWith("http"))
                .toList();
    }

    /** What is wrong with a link of a page; empty if nothing is. */
    private static String problem(Path page, String link) throws IOException {
        String[] parts = link.split("#", 2);
        Path file = parts[0].isEmpty() ? page : target(page, parts[0]);
        if (!Files.exists(Documentation.ROOT.resolve(file))) {
            return page + " links to " + link + ", but there is no " + file;
        }
        boolean found = parts.length == 1
                || TITLE.matcher(FENCED.matcher(Documentation.text(file)).replaceAll(""))
                        .results()
                        .anyMatch(title -> anchor(title.group(1)).equals(parts[1]));
        return found ? "" : page + " links to " + link + ", but " + file + " has no such title";
    }

    private static Path target(Path page, String link) {
        Path folder = page.getParent();
        return (folder == null ? Path.of(link) : folder.resolve(link)).normalize();
    }

    /** The anchor that a title has on GitHub. */
    private static String anchor(String title) {
        return title.toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}\\p{M} _-]", "")
                .replace(' ', '-');
    }

    @Test
    void everyLinkLeadsSomewhere() throws IOException {
        List<String> problems = new ArrayList<>();
        for (Path page : Documentation.pages()) {
            for (String link : links(Documentation.text(page))) {
                String problem = problem(page, link);
                if (!problem.isEmpty()) {
                    problems.add(problem);
                }
            }
        }
        assertEquals(List.of(), problems);
    }

    @Test
    void aBrokenLinkIsNoticed() throws IOException {
        Path page = Path.of("README.md");
        assertFalse(problem(page, "docs/nowhere.md").isEmpty());
        assertFalse(problem(page, "docs/training.md#nowhere").isEmpty());
        assertTrue(problem(page, "docs/training.md#λ-that-is-not-guessed").isEmpty());
    }

    @Test
    void everyPageIsReachedFromTheReadme() throws IOException {
        Set<Path> reached = new TreeSet<>();
        Deque<Path> open = new ArrayDeque<>(List.of(Path.of("README.md")));
        while (!open.isEmpty()) {
            Path page = open.remove();
            if (page.toString().endsWith(".md") && reached.add(page)) {
                links(Documentation.text(page)).forEach(link -> {
                    String file = link.split("#", 2)[0];
                    if (!file.isEmpty()) {
                        open.add(target(page, file));
                    }
                });
            }
        }
        Set<Path> missed = new TreeSet<>(Documentation.pages());
        missed.removeAll(reached);
        assertEquals(Set.of(), missed);
    }
}
