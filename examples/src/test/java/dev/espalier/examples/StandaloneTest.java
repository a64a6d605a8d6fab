package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Our libraries as other people's projects get them. */
final class StandaloneTest {
    private static final Pattern MANAGED = Pattern.compile("<artifactId>espalier-(\\w+)</artifactId>\\s+<version>\\$");

    /** What Maven Central wants to know of everything; the BOM has no parent that would say it. */
    private static final Pattern PARTICULARS = Pattern.compile(
            "  <(url|licenses|developers)>.+?</\\1>\n|<(connection|developerConnection)>.+?</\\2>", Pattern.DOTALL);

    private static String pom(String folder) throws IOException {
        return Files.readString(Documentation.ROOT.resolve(folder).resolve("pom.xml"));
    }

    private static Set<String> particulars(String pom) {
        return PARTICULARS
                .matcher(pom)
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static boolean isModule(Path project) {
        return Files.exists(project.resolve("src/main/java/module-info.java"));
    }

    @Test
    void aProjectOutsideTheBuildIsBuiltAndRun(@TempDir Path folder) throws IOException, InterruptedException {
        String output = OwnProject.copied("standalone", folder).withOurs().run();
        assertTrue(output.matches("(?s).*\naccuracy 0\\.9\\d\\d with \\d,\\d{3} of 4,810 parameters: .*\n.*"), output);
    }

    @Test
    void theBomHasEveryLibraryAndNothingElse() throws IOException {
        Set<String> libraries = OwnProject.projects().stream()
                .filter(StandaloneTest::isModule)
                .map(project -> String.valueOf(project.getFileName()))
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> managed = MANAGED.matcher(pom("bom"))
                .results()
                .map((MatchResult match) -> match.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(libraries, managed);
    }

    @Test
    void theBomSaysOfItselfWhatTheRootSays() throws IOException {
        assertEquals(6, particulars(pom("bom")).size());
        assertEquals(particulars(pom("")), particulars(pom("bom")));
    }

    @Test
    void theVersionIsTheSameEverywhere() throws IOException {
        String version = "<version>" + OwnProject.version() + "</version>";
        for (Path project : OwnProject.projects()) {
            assertTrue(Files.readString(project.resolve("pom.xml")).contains(version), project::toString);
        }
        assertTrue(pom("examples/standalone").contains(version));
    }

    /** A JAR without a descriptor would be called after its file, which somebody may rename. */
    @Test
    void whatIsNoModuleHasTheNameOfOne() throws IOException {
        for (Path project : OwnProject.projects()) {
            if (Files.isDirectory(project.resolve("src")) && !isModule(project)) {
                String name = "<Automatic-Module-Name>dev.espalier.%s</Automatic-Module-Name>"
                        .formatted(project.getFileName());
                assertTrue(
                        Files.readString(project.resolve("pom.xml")).contains(name),
                        () -> project + "/pom.xml must have " + name);
            }
        }
    }
}
