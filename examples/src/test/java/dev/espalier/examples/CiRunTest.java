package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code .ci/run} runs the build that the README names, and both build on the threads of {@code .mvn/maven.config}. */
final class CiRunTest {
    private static final Pattern BUILD = Pattern.compile("^(mvn .*?verify)\\s+#", Pattern.MULTILINE);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static String commandOfReadme() throws IOException {
        Matcher build = BUILD.matcher(Documentation.text(Path.of("README.md")));
        assertTrue(build.find(), "README.md names no build");
        return build.group(1);
    }

    /** A program in Maven's place, which writes down its arguments. */
    private Path recorder(Path arguments) throws IOException {
        Path script =
                Files.write(folder.resolve("mvn"), List.of("#!/bin/sh", "printf 'mvn %s' \"$*\" >'" + arguments + "'"));
        assertTrue(script.toFile().setExecutable(true));
        return script;
    }

    /** Also where the JARs of Spark are not at hand. */
    @Test
    void theCommandOfTheReadmeIsRunForAllModules() throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/bin/sh")), "it is a shell script");
        Path arguments = folder.resolve("arguments");
        Path maven = recorder(arguments);
        ProcessBuilder builder =
                new ProcessBuilder(Documentation.ROOT.resolve(".ci/run").toString()).redirectErrorStream(true);
        Map<String, String> environment = builder.environment();
        environment.put("PATH", maven.getParent() + File.pathSeparator + environment.get("PATH"));
        environment.put("MAVEN_REPOSITORY", folder.resolve("nothing").toString());
        environment.put("ESPALIER_CHROMIUM", "/some/browser");
        Process run = builder.start();
        String output;
        try (BufferedReader reader = run.inputReader()) {
            output = reader.readAllAsString();
        }
        assertEquals(0, run.waitFor(), output);
        assertEquals(commandOfReadme(), Files.readString(arguments));
    }

    @Test
    void theNumberOfThreadsIsThatOfEveryBuild() throws IOException {
        List<String> options = Files.readAllLines(Documentation.ROOT.resolve(".mvn/maven.config"));
        assertEquals("-T2", options.getFirst());
    }
}
