package dev.espalier.spark;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Holds this package to the arrows that {@code docs/architecture.md} draws; the command line's tests do so for all others. */
final class SparkArchitectureTest {
    private static final Path DOCUMENT = Path.of("..", "docs", "architecture.md");

    @Test
    void knowsOnlyWhatItsArrowsName() throws IOException {
        List<String> lines = Files.readAllLines(DOCUMENT);
        List<String> allowed = new ArrayList<>(List.of("java..", "org.jspecify..", "dev.espalier.spark"));
        lines.stream()
                .filter(line -> line.startsWith("spark -> "))
                .flatMap(SparkArchitectureTest::targets)
                .forEach(target -> allowed.add("dev.espalier." + target));
        lines.stream()
                .filter(line -> line.contains(" -> ") && targets(line).anyMatch("spark"::equals))
                .forEach(line -> allowed.add(line.substring(0, line.indexOf(' ')) + ".."));
        JavaClasses ours = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("dev.espalier.spark");
        assertFalse(ours.isEmpty());
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(allowed.toArray(String[]::new))
                .because(DOCUMENT + " draws no other arrow from spark")
                .check(ours);
    }

    private static Stream<String> targets(String line) {
        return Stream.of(line.substring(line.indexOf("->") + 2).split(",", -1)).map(String::strip);
    }
}
