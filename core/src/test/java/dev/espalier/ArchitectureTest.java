package dev.espalier;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Holds the code to the arrows that {@code docs/architecture.md} draws, so that neither can drift from the other. */
final class ArchitectureTest {
    private static final String ROOT = "dev.espalier";
    private static final Path DOCUMENT = Path.of("docs", "architecture.md");

    /** The one package that may know the Vector API. */
    private static final String KERNEL = "kernel";

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(ROOT);

    @TestFactory
    Stream<DynamicTest> everyPackageKnowsOnlyWhatItsArrowsName() throws IOException {
        return arrows().entrySet().stream()
                .map(arrow -> DynamicTest.dynamicTest(
                        arrow.getKey(), () -> assertKnowsOnly(arrow.getKey(), arrow.getValue())));
    }

    @Test
    void documentAndCodeNameTheSamePackages() throws IOException {
        Set<String> inCode =
                CLASSES.stream().map(ArchitectureTest::packageOf).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(
                arrows().keySet(),
                inCode,
                () -> "The packages in the block ```arrows of " + DOCUMENT + " and the packages of " + ROOT
                        + " differ: add or remove the line `package -> what, it, may, know`");
    }

    @Test
    void packagesHaveNoCycle() {
        slices().matching(ROOT + ".(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void drawnArrowsHaveNoCycle() throws IOException {
        Map<String, Set<String>> arrows = arrows();
        Set<String> settled = new TreeSet<>();
        while (arrows.entrySet().stream()
                .anyMatch(arrow -> settled.containsAll(arrow.getValue()) && settled.add(arrow.getKey()))) {}
        assertEquals(arrows.keySet(), settled, () -> DOCUMENT + " draws a cycle through the packages missing here");
    }

    @Test
    void malformedArrowsAreRefused() {
        assertEquals(Map.of("a", Set.of(), "b", Set.of("a")), parse(List.of("```arrows", "a ->", "b -> a", "```")));
        for (List<String> lines : List.of(
                List.of("no block"),
                List.of("```arrows", "a ->"),
                List.of("```arrows", "a", "```"),
                List.of("```arrows", "a ->", "a ->", "```"),
                List.of("```arrows", "a -> b", "```"))) {
            assertThrows(IllegalStateException.class, () -> parse(lines), lines::toString);
        }
    }

    private static void assertKnowsOnly(String name, Set<String> targets) {
        List<String> allowed = new ArrayList<>(List.of("java..", "org.jspecify..", ROOT + "." + name + ".."));
        targets.forEach(target -> allowed.add(ROOT + "." + target + ".."));
        if (name.equals(KERNEL)) {
            allowed.add("jdk.incubator.vector..");
        }
        classes()
                .that()
                .resideInAPackage(ROOT + "." + name + "..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(allowed.toArray(String[]::new))
                .because(DOCUMENT + " draws no other arrow from " + name)
                .check(CLASSES);
    }

    private static String packageOf(JavaClass type) {
        String path = type.getPackageName().substring(ROOT.length());
        return path.isEmpty() ? ROOT : path.split("\\.", -1)[1];
    }

    private static Map<String, Set<String>> arrows() throws IOException {
        Path here = Path.of("").toAbsolutePath();
        for (Path folder = here; folder != null; folder = folder.getParent()) {
            if (Files.exists(folder.resolve(DOCUMENT))) {
                return parse(Files.readAllLines(folder.resolve(DOCUMENT)));
            }
        }
        throw new IllegalStateException("found no " + DOCUMENT + " in " + here + " or above it");
    }

    private static Map<String, Set<String>> parse(List<String> lines) {
        int start = lines.indexOf("```arrows") + 1;
        int length = lines.subList(start, lines.size()).indexOf("```");
        require(start > 0 && length >= 0, "no block that starts with ```arrows and ends with ```");
        Map<String, Set<String>> arrows = new TreeMap<>();
        for (String line : lines.subList(start, start + length)) {
            String[] sides = line.split("->", -1);
            require(sides.length == 2, "not of the form `package -> what, it, may, know`: " + line);
            Set<String> targets = Arrays.stream(sides[1].split(",", -1))
                    .map(String::strip)
                    .filter(target -> !target.isEmpty())
                    .collect(Collectors.toCollection(TreeSet::new));
            require(arrows.put(sides[0].strip(), targets) == null, "a second line for the package of: " + line);
        }
        arrows.forEach((name, targets) -> require(
                arrows.keySet().containsAll(targets), name + " -> " + targets + " names a package without a line"));
        return arrows;
    }

    private static void require(boolean holds, String problem) {
        if (!holds) {
            throw new IllegalStateException(DOCUMENT + ": " + problem);
        }
    }
}
