package dev.espalier.torture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Holds these packages to the arrows that {@code docs/architecture.md} draws; the command line's tests do so for all others. */
final class TortureArchitectureTest {
    private static final Path DOCUMENT = Path.of("..", "docs", "architecture.md");
    private static final String ROOT = "dev.espalier.";

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(ROOT + "torture");

    @Test
    void documentAndCodeNameTheSamePackages() throws IOException {
        Set<String> drawn = new TreeSet<>();
        arrows().forEach(line -> drawn.add(source(line)));
        Set<String> written = new TreeSet<>();
        CLASSES.forEach(type -> written.add(type.getPackageName().substring(ROOT.length())));
        assertEquals(drawn, written);
    }

    @TestFactory
    Stream<DynamicTest> everyPackageKnowsOnlyWhatItsArrowsName() throws IOException {
        List<String> lines = Files.readAllLines(DOCUMENT);
        return arrows().stream()
                .map(line -> DynamicTest.dynamicTest(source(line), () -> {
                    List<String> allowed = new ArrayList<>(List.of("java..", "org.jspecify..", ROOT + source(line)));
                    targets(line).forEach(target -> allowed.add(ROOT + target));
                    lines.stream()
                            .filter(other ->
                                    other.contains(" -> ") && targets(other).anyMatch(source(line)::equals))
                            .forEach(library -> allowed.add(source(library) + ".."));
                    classes()
                            .that()
                            .resideInAPackage(ROOT + source(line))
                            .should()
                            .onlyDependOnClassesThat()
                            .resideInAnyPackage(allowed.toArray(String[]::new))
                            .because(DOCUMENT + " draws no other arrow from " + source(line))
                            .check(CLASSES);
                }));
    }

    private static List<String> arrows() throws IOException {
        return Files.readAllLines(DOCUMENT).stream()
                .filter(line -> line.matches("torture[.a-z]* ->.*"))
                .toList();
    }

    private static String source(String line) {
        return line.substring(0, line.indexOf("->")).strip();
    }

    private static Stream<String> targets(String line) {
        return Stream.of(line.substring(line.indexOf("->") + 2).split(",", -1)).map(String::strip);
    }
}
