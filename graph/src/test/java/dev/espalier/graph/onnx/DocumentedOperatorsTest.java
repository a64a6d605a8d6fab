package dev.espalier.graph.onnx;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Holds the page that lists the operators to the table that knows them. */
final class DocumentedOperatorsTest {
    private static final Path PAGE = Path.of("docs", "operators.md");
    private static final Pattern OPERATOR = Pattern.compile("\\b[A-Z][A-Za-z0-9]+\\b");

    @Test
    void thePageListsWhatCanBeRead() throws IOException {
        TreeSet<String> listed = Files.readAllLines(page()).stream()
                .filter(line -> line.startsWith("| ") && !line.startsWith("| kind"))
                .map(line -> line.split("\\|", -1)[2].replaceAll("\\([^)]*\\)|which together are a Split", ""))
                .flatMap(cell -> OPERATOR.matcher(cell).results().map(MatchResult::group))
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(new TreeSet<>(OperatorTable.names()), listed);
    }

    private static Path page() {
        Path here = Path.of("").toAbsolutePath();
        for (Path folder = here; folder != null; folder = folder.getParent()) {
            if (Files.exists(folder.resolve(PAGE))) {
                return folder.resolve(PAGE);
            }
        }
        throw new IllegalStateException("found no " + PAGE + " in " + here + " or above it");
    }
}
