package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Builds the API documentation of all modules into {@code examples/target/api}, and wants no warning. */
final class ApiDocsTest {
    private static final Path DOCS =
            Documentation.ROOT.resolve("examples").resolve("target").resolve("api");

    /** javac's own lint has no say here, and javadoc no switch for it. */
    private static final String UNAVOIDABLE = "warning: [incubating] using incubating module(s): jdk.incubator.vector";

    /** What javadoc complains of. */
    private static List<String> complaints(List<Path> folders, Path output) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(
                "-quiet",
                "-Xdoclint:all",
                "-protected",
                "--add-modules",
                "jdk.incubator.vector",
                "-encoding",
                "UTF-8",
                "-windowtitle",
                "Espalier",
                "-d",
                output.toString(),
                "-classpath",
                System.getProperty("java.class.path")));
        for (Path folder : folders) {
            try (Stream<Path> files = Files.walk(folder)) {
                files.map(Path::toString)
                        .filter(file -> file.endsWith(".java") && !file.endsWith("module-info.java"))
                        .forEach(arguments::add);
            }
        }
        StringWriter printed = new StringWriter();
        try (PrintWriter out = new PrintWriter(printed)) {
            ToolProvider.findFirst("javadoc").orElseThrow().run(out, out, arguments.toArray(String[]::new));
        }
        return printed.toString()
                .lines()
                .filter(line -> !line.equals(UNAVOIDABLE) && !line.matches("\\d+ warnings?"))
                .toList();
    }

    /** All on one page, those too that are no module: so no module may describe itself. The classes of Spark and of torture are not here to be looked up. */
    private static List<Path> sources() throws IOException {
        try (Stream<Path> modules = Files.list(Documentation.ROOT)) {
            return modules.filter(module -> !module.endsWith("spark") && !module.endsWith("torture"))
                    .map(module -> module.resolve("src").resolve("main").resolve("java"))
                    .filter(Files::isDirectory)
                    .sorted()
                    .toList();
        }
    }

    @Test
    void theDocumentationBuildsWithoutWarnings() throws IOException {
        assertEquals(List.of(), complaints(sources(), DOCS));
        assertTrue(Files.exists(DOCS.resolve("dev/espalier/core/step/Optimizer.html")));
        assertTrue(Files.exists(DOCS.resolve("dev/espalier/train/run/TrainingRun.html")));
    }

    @Test
    void aBrokenReferenceIsNoticed(@TempDir Path folder) throws IOException {
        Path source = folder.resolve("dev/espalier/broken/Broken.java");
        Files.createDirectories(source.getParent());
        Files.writeString(
                source, "package dev.espalier.broken;\n/** See {@link Nowhere}. */\npublic class Broken {}\n");
        List<String> complaints = complaints(List.of(folder), folder.resolve("out"));
        assertTrue(complaints.stream().anyMatch(line -> line.contains("reference not found")), complaints::toString);
    }
}
