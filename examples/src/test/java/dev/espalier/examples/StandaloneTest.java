package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Our libraries as other people's projects get them. {@code examples/standalone} is built and run by a Maven of its own, whose
 * local repository has our POMs and JARs as {@code mvn install} would put them there. Everybody else's it finds in the repository
 * of the build that this test is part of, which it takes for the only remote one: so it needs no network, and writes nothing there.
 */
final class StandaloneTest {
    private static final Pattern VERSION = Pattern.compile("<version>(.+?)</version>");
    private static final Pattern MANAGED = Pattern.compile("<artifactId>espalier-(\\w+)</artifactId>\\s+<version>");

    /** Stays between builds, for the sake of other people's JARs. */
    private static final Path REPOSITORY = Documentation.ROOT
            .resolve("examples")
            .resolve("target")
            .resolve("standalone")
            .resolve("repository");

    /** What Maven tells of itself, {@code examples/pom.xml} passes on. */
    private static String fromMaven(String property) {
        Optional<String> value = Optional.ofNullable(System.getProperty(property));
        assumeTrue(value.isPresent(), () -> "Maven runs this test, and says where it is itself: no " + property);
        return value.orElseThrow();
    }

    private static String pom(Path folder) throws IOException {
        return Files.readString(folder.resolve("pom.xml"));
    }

    /** All folders with a POM: the root and its modules. */
    private static List<Path> projects() throws IOException {
        try (Stream<Path> folders = Files.list(Documentation.ROOT)) {
            return Stream.concat(Stream.of(Documentation.ROOT), folders)
                    .filter(folder -> Files.exists(folder.resolve("pom.xml")))
                    .toList();
        }
    }

    private static void install() throws IOException {
        MatchResult version = VERSION.matcher(pom(Documentation.ROOT)).results().findFirst().orElseThrow();
        for (Path project : projects()) {
            String artifact =
                    project.equals(Documentation.ROOT) ? "espalier" : "espalier-" + project.getFileName();
            Path place = REPOSITORY
                    .resolve("dev")
                    .resolve("espalier")
                    .resolve(artifact)
                    .resolve(version.group(1));
            String name = artifact + "-" + version.group(1);
            Files.createDirectories(place);
            Files.copy(
                    project.resolve("pom.xml"),
                    place.resolve(name + ".pom"),
                    StandardCopyOption.REPLACE_EXISTING);
            Optional<Path> built = onClassPath(project);
            if (built.isPresent()) {
                copyAsJar(built.orElseThrow(), place.resolve(name + ".jar"));
            }
        }
    }

    /** What was built of a project: a JAR if the build goes as far as that, else its classes. */
    private static Optional<Path> onClassPath(Path project) {
        Path target = project.resolve("target");
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(Path::of)
                .filter(entry -> entry.startsWith(target) && !entry.endsWith("test-classes"))
                .findFirst();
    }

    private static void copyAsJar(Path built, Path jar) throws IOException {
        if (Files.isDirectory(built)) {
            int exitStatus = ToolProvider.findFirst("jar")
                    .orElseThrow()
                    .run(System.out, System.err, "--create", "--file=" + jar, "-C", built.toString(), ".");
            assertEquals(0, exitStatus, () -> "jar of " + built);
        } else {
            Files.copy(built, jar, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    @Test
    void aProjectOutsideTheBuildIsBuiltAndRun(@TempDir Path folder) throws IOException, InterruptedException {
        Path maven = Path.of(fromMaven("espalier.maven.home"), "bin", "mvn");
        Path others = Path.of(fromMaven("espalier.maven.repository"));
        assumeTrue(Files.isExecutable(maven), () -> "there is no " + maven);
        install();
        Path settings = Files.writeString(folder.resolve("settings.xml"), """
                <settings>
                  <localRepository>%s</localRepository>
                  <mirrors>
                    <mirror><id>others</id><mirrorOf>*</mirrorOf><url>%s</url></mirror>
                  </mirrors>
                </settings>
                """.formatted(REPOSITORY, others.toUri()));
        Path project = copy(Documentation.ROOT.resolve("examples").resolve("standalone"), folder.resolve("project"));
        ProcessBuilder builder = new ProcessBuilder(
                        maven.toString(),
                        "--batch-mode",
                        "--no-transfer-progress",
                        "--settings",
                        settings.toString(),
                        "compile",
                        "exec:exec")
                .directory(project.toFile())
                .redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        // What the Maven around this one was told is not meant for this one.
        builder.environment().keySet().removeAll(Set.of("MAVEN_OPTS", "MAVEN_ARGS", "JAVA_TOOL_OPTIONS"));
        Process process = builder.start();
        process.getOutputStream().close();
        try (BufferedReader reader = process.inputReader()) {
            String output = reader.readAllAsString();
            assertEquals(0, process.waitFor(), output);
            assertTrue(
                    output.matches("(?s).*\naccuracy 0\\.9\\d\\d with \\d,\\d{3} of 4,810 parameters: .*\n.*"), output);
        }
    }

    /** The sample without what somebody may have built in it. */
    private static Path copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(Files::isRegularFile)
                    .filter(file -> !file.startsWith(from.resolve("target")))
                    .toList()) {
                Path copy = to.resolve(from.relativize(file).toString());
                Files.createDirectories(Optional.ofNullable(copy.getParent()).orElse(to));
                Files.copy(file, copy);
            }
        }
        return to;
    }

    @Test
    void theBomHasEveryLibraryAndNothingElse() throws IOException {
        Set<String> libraries = projects().stream()
                .filter(project -> Files.exists(project.resolve("src/main/java/module-info.java")))
                .map(project -> String.valueOf(project.getFileName()))
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> managed = MANAGED.matcher(pom(Documentation.ROOT.resolve("bom")))
                .results()
                .map((MatchResult match) -> match.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(libraries, managed);
    }
}
