package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.train.recipe.Recipe;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What is done with each block of a page. There is no block without a treatment: a language that is not listed here fails.
 *
 * <p>A block whose first line is a comment with the name of a file is saved under that name, so that the commands that follow
 * find it. A block under the comment {@code output} shows lines that the sample before it prints, in their order; under
 * {@code output, numbers vary} only the words are compared.
 */
final class Samples {
    /** What is no code, but looks like it: it would not be run. */
    private static final Pattern LOOKS_LIKE_CODE =
            Pattern.compile("^(\\./espalier|mvn|import|python|pip|\\[\\w+\\]$|.*;$)", Pattern.MULTILINE);

    private static final Pattern ORIGIN = Pattern.compile("from (\\S+)");
    private static final Pattern NUMBER = Pattern.compile("[\\d][\\d.,:e+-]*");
    private static final String OUTPUT = "output";
    private static final String OUTPUT_THAT_VARIES = "output, numbers vary";

    private final ShellSamples shell = new ShellSamples();

    /** What the sample before printed. */
    private String printed = "";

    /** The exceptions from running that some sample made use of. */
    Set<String> exceptionsUsed() {
        return shell.used();
    }

    void check(Block block) throws Exception {
        block.save();
        switch (block.language()) {
            case "java" -> {
                printed = "";
                printed = JavaSamples.run(block);
            }
            case "sh" -> {
                printed = "";
                printed = shell.run(block);
            }
            case "xml" -> requireQuote(block);
            case "toml" -> Recipe.parse(block.place(), block.text(), List.of());
            case "python" -> Python.check(block);
            case "json" -> compare(block);
            case "text", "" -> {
                if (block.note().startsWith(OUTPUT)) {
                    compare(block);
                } else {
                    requireProse(block);
                }
            }
            case "arrows", "libraries", "public" -> {} // ArchitectureTest and WallsTest read them
            case "bibtex" -> {}
            default ->
                throw new AssertionError(
                        block.place() + " is of a language that no treatment is known for: " + block.language());
        }
    }

    /** Where the lines begin may differ by an indent. */
    private static void requireQuote(Block block) throws IOException {
        Matcher origin = ORIGIN.matcher(block.note());
        assertTrue(
                origin.matches(),
                () -> block.place() + ": the comment <!-- from FILE --> above it must name a file that is tested");
        String file = Files.readString(Documentation.ROOT.resolve(origin.group(1)));
        assertTrue(
                file.contains(block.text().indent(2).replaceAll("(?m)^ +$", "")),
                () -> block.place() + " is not in " + origin.group(1));
    }

    private static void requireProse(Block block) {
        // The recipe with mistakes in docs/recipes.md: RecipePageTest holds it to what the reader says.
        boolean wrongRecipe = block.text().startsWith("# mine.toml\n");
        assertTrue(
                wrongRecipe || !LOOKS_LIKE_CODE.matcher(block.text()).find(),
                () -> block.place() + " looks like code: name its language, so that it is run");
    }

    private void compare(Block block) {
        boolean varies = block.note().equals(OUTPUT_THAT_VARIES);
        assertTrue(
                varies || block.note().equals(OUTPUT),
                () -> block.place() + " is no sample: the comment <!-- " + OUTPUT + " --> above it says that the sample"
                        + " before it prints it");
        Iterator<String> lines =
                printed.lines().map(line -> comparable(line, varies)).iterator();
        for (String expected : block.text().lines().toList()) {
            boolean found = false;
            while (!found && lines.hasNext()) {
                found = lines.next().equals(comparable(expected, varies));
            }
            assertTrue(found, () -> block.place() + ": the sample does not print\n" + expected + "\nbut\n" + printed);
        }
    }

    private static String comparable(String line, boolean varies) {
        String words = line.strip();
        return varies ? NUMBER.matcher(words).replaceAll("#").replaceAll("\\s+", " ") : words;
    }
}
