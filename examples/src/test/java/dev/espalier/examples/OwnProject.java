package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/**
 * A sample that is a Maven project of its own, no part of this build. It is built and run by a Maven of its own, whose local
 * repository has our POMs and JARs as {@code mvn install} would put them there. Everybody else's it finds in the repository of the
 * build that this test is part of, which it takes for the only remote one: so it needs no network, and writes nothing there.
 */
final class OwnProject {
    private static final Path EXAMPLES = Documentation.ROOT.resolve("examples");

    /** Stays between builds, for the sake of other people's JARs. */
    private static final Path REPOSITORY = EXAMPLES.resolve("target").resolve("standalone-repository");

    private final Path maven;
    private final Path settings;
    private final Path project;

    private OwnProject(Path maven, Path settings, Path project) {
        this.maven = maven;
        this.settings = settings;
        this.project = project;
    }

    /** A copy of a sample, ready to be built; skips the test if it is not Maven that runs it. */
    static OwnProject copied(String name, Path folder) throws IOException {
        Path maven = Path.of(fromMaven("espalier.maven.home"), "bin", "mvn");
        assumeTrue(Files.isExecutable(maven), () -> "there is no " + maven);
        Path others = Path.of(fromMaven("espalier.maven.repository"));
        Path settings = Files.writeString(folder.resolve("settings.xml"), """
                <settings>
                  <localRepository>%s</localRepository>
                  <mirrors>
                    <mirror><id>others</id><mirrorOf>*</mirrorOf><url>%s</url></mirror>
                  </mirrors>
                </settings>
                """.formatted(REPOSITORY, others.toUri()));
        return new OwnProject(maven, settings, copy(EXAMPLES.resolve(name), folder.resolve(name)));
    }

    /** What Maven tells of itself, {@code examples/pom.xml} passes on. */
    private static String fromMaven(String property) {
        Optional<String> value = Optional.ofNullable(System.getProperty(property));
        assumeTrue(
                value.isPresent(),
                () -> "it takes Maven, which says where it is when it runs this test: no " + property);
        return value.orElseThrow();
    }

    /** The sample without what somebody may have built in it. */
    private static Path copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(file -> !file.startsWith(from.resolve("target")))
                    .toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
        return to;
    }

    /** Puts what this build made of our projects where this one finds it. */
    OwnProject withOurs() throws IOException {
        for (Path ours : projects()) {
            String artifact = ours.equals(Documentation.ROOT) ? "espalier" : "espalier-" + ours.getFileName();
            Path place = REPOSITORY
                    .resolve("dev")
                    .resolve("espalier")
                    .resolve(artifact)
                    .resolve(version());
            String name = artifact + "-" + version();
            Files.createDirectories(place);
            Files.copy(ours.resolve("pom.xml"), place.resolve(name + ".pom"), StandardCopyOption.REPLACE_EXISTING);
            Optional<Path> built = onClassPath(ours);
            if (built.isPresent()) {
                copyAsJar(built.orElseThrow(), place.resolve(name + ".jar"));
            }
        }
        return this;
    }

    /** All folders with a POM: the root and its modules. */
    static List<Path> projects() throws IOException {
        try (Stream<Path> folders = Files.list(Documentation.ROOT)) {
            return Stream.concat(Stream.of(Documentation.ROOT), folders)
                    .filter(folder -> Files.exists(folder.resolve("pom.xml")))
                    .toList();
        }
    }

    /** The version of all our projects. */
    static String version() throws IOException {
        String pom = Files.readString(Documentation.ROOT.resolve("pom.xml"));
        int start = pom.indexOf("<version>") + "<version>".length();
        return pom.substring(start, pom.indexOf("</version>", start));
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

    /** Compiles and runs the project as its {@code pom.xml} says, and returns what was printed, by Maven too. */
    String run(String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                maven.toString(),
                "--batch-mode",
                "--no-transfer-progress",
                "--settings",
                settings.toString(),
                "compile",
                "exec:exec"));
        command.addAll(List.of(options));
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(project.toFile()).redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        // What the Maven around this one was told is not meant for this one, which is not at work long enough to be
        // optimized.
        builder.environment().keySet().removeAll(Set.of("MAVEN_ARGS", "JAVA_TOOL_OPTIONS"));
        builder.environment().put("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
        Process process = builder.start();
        process.getOutputStream().close();
        try (BufferedReader reader = process.inputReader()) {
            String output = reader.readAllAsString();
            assertEquals(0, process.waitFor(), output);
            return output;
        }
    }
}
