package dev.espalier.reproduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Holds {@code docs/paper.md} to the paper's numbering, to the files and headings it links, and to the tests it names. */
final class PaperPageTest {
    private static final Path DOCS = Path.of("..", "docs");
    private static final Path ROOT = Path.of("..");
    private static final Pattern LINK = Pattern.compile("]\\(([^)#\\s]*)(?:#([^)\\s]+))?\\)");
    private static final Pattern TEST = Pattern.compile("`(\\w+Test)(?:#(\\w+))?`");
    private static final Pattern COMMAND = Pattern.compile("reproduce ([a-z][a-z0-9-]*)(?: --rows ([a-z0-9,-]+))?");

    private static String page() throws IOException {
        return Files.readString(DOCS.resolve("paper.md"));
    }

    private static List<MatchResult> find(Pattern pattern) throws IOException {
        List<MatchResult> found = pattern.matcher(page()).results().toList();
        assertTrue(found.size() > 10, () -> found.size() + " of " + pattern);
        return found;
    }

    /** GitHub's names of headings. */
    private static List<String> anchors(Path page) throws IOException {
        return Files.readString(page)
                .lines()
                .filter(line -> line.startsWith("#"))
                .map(line -> line.replaceFirst("^#+ ", "")
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-'))
                .toList();
    }

    @Test
    void everyItemOfThePaperHasARow() throws IOException {
        Map<String, Integer> numbered =
                Map.of("Theorem", 3, "Proposition", 6, "Assumption", 2, "Algorithm", 3, "Table", 4, "Figure", 6);
        List<String> expected = new ArrayList<>(List.of("Lemma 1", "Corollary 1", "Definition 1"));
        numbered.forEach(
                (kind, count) -> IntStream.rangeClosed(1, count).forEach(number -> expected.add(kind + " " + number)));
        List<String> rows = page().lines()
                .filter(line -> line.startsWith("| "))
                .map(line -> line.substring(2))
                .toList();
        for (String item : expected) {
            assertEquals(
                    1, rows.stream().filter(row -> row.startsWith(item + ":")).count(), "rows of " + item);
        }
        for (String text : List.of("3 %", "48 %", "4 %, 919k", "1.65", "three times slower", "Edge of the threshold")) {
            assertTrue(rows.stream().anyMatch(row -> row.contains(text)), text);
        }
    }

    @Test
    void everyRowHasAllFiveColumns() throws IOException {
        int columns = 0;
        for (String line : page().lines().toList()) {
            if (!line.startsWith("|")) {
                columns = 0;
            } else {
                int here = line.replace("\\|", "").split("\\|", -1).length - 2;
                assertTrue(columns == 0 || here == columns, line);
                columns = here;
                for (String cell : line.substring(1).split("\\|", -1)) {
                    assertFalse(cell.isBlank() && !cell.isEmpty(), line);
                }
            }
        }
    }

    @Test
    void everyLinkLeadsSomewhere() throws IOException {
        for (MatchResult link : find(LINK)) {
            Path file = link.group(1).isEmpty() ? DOCS.resolve("paper.md") : DOCS.resolve(link.group(1));
            assertTrue(Files.exists(file), link.group());
            if (link.group(2) != null) {
                assertTrue(anchors(file).contains(link.group(2)), link.group() + " among " + anchors(file));
            }
        }
    }

    @Test
    void everyTestThatIsNamedExists() throws IOException {
        Map<String, Path> tests = new TreeMap<>();
        for (String module : List.of("core", "graph", "train", "reproduce")) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/test/java"))) {
                files.filter(file -> file.toString().endsWith("Test.java"))
                        .forEach(file -> tests.put(file.getFileName().toString().replace(".java", ""), file));
            }
        }
        for (MatchResult named : find(TEST)) {
            Path file = tests.get(named.group(1));
            assertTrue(file != null, named.group());
            String method = named.group(2);
            assertTrue(
                    file == null || method == null || Files.readString(file).contains("void " + method + "("),
                    named.group());
        }
    }

    @Test
    void everyCommandIsThere() throws IOException {
        for (MatchResult command : find(COMMAND)) {
            Item item = Items.of(command.group(1));
            if (command.group(2) != null) {
                assertTrue(item.rows().containsAll(List.of(command.group(2).split(","))), command.group());
            }
        }
    }
}
