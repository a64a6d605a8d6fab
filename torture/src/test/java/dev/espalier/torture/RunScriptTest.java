package dev.espalier.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code torture/run}, in a checkout whose build takes what was built here already. */
final class RunScriptTest {
    private static final Path HERE = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path checkout;

    /** Something in Maven's place that cannot be there twice at a time, and takes long enough for another to come. */
    private Path maven() throws IOException {
        Path classPath = Files.writeString(checkout.resolve("known"), System.getProperty("java.class.path"));
        Path script = Files.write(
                checkout.resolve("mvn"),
                List.of(
                        "#!/bin/sh",
                        "mkdir busy || exit 1",
                        "echo built >>builds",
                        "sleep 1",
                        "cp '" + classPath + "' torture/target/class-path",
                        "rmdir busy"));
        assertTrue(script.toFile().setExecutable(true));
        return script;
    }

    @Test
    void ofTwoCampaignsThatStartAtOnceOneBuilds() throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/bin/sh")), "it is a shell script");
        Files.createDirectories(checkout.resolve("torture/src/main"));
        Files.createDirectories(checkout.resolve(".ci"));
        for (String file : List.of("torture/run", ".ci/jdk.sh", ".ci/lock.sh")) {
            Files.copy(HERE.resolve(file), checkout.resolve(file));
        }
        Files.createFile(checkout.resolve("pom.xml"));
        Files.createFile(checkout.resolve("torture/pom.xml"));
        String maven = maven().toString();
        List<Process> both = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            ProcessBuilder builder = new ProcessBuilder(
                            "/bin/sh", checkout.resolve("torture/run").toString(), "--help")
                    .redirectErrorStream(true)
                    .redirectOutput(checkout.resolve("said-" + i).toFile());
            Map<String, String> environment = builder.environment();
            environment.put("ESPALIER_JAVA_HOME", System.getProperty("java.home"));
            environment.put("ESPALIER_MAVEN", maven);
            both.add(builder.start());
        }
        for (int i = 0; i < both.size(); i++) {
            assertEquals(0, both.get(i).waitFor(), Files.readString(checkout.resolve("said-" + i)));
        }
        assertEquals(List.of("built"), Files.readAllLines(checkout.resolve("builds")));
    }
}
