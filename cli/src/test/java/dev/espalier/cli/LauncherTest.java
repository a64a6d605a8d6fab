package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code espalier}, in a checkout whose build takes what was built here already. */
final class LauncherTest {
    private static final Path HERE = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path temporary;

    @SuppressWarnings("NullAway.Init") // set before each test
    private Path checkout;

    /** What a run of the launcher said. */
    private record Said(int exitStatus, String out, String err) {}

    @BeforeEach
    void checkOut() throws IOException {
        assumeTrue(Files.isExecutable(Path.of("/bin/sh")), "the launcher is a shell script");
        checkout = Files.createDirectories(temporary.resolve("check out"));
        Files.createDirectories(checkout.resolve("cli/src/main"));
        Files.createDirectories(checkout.resolve(".ci"));
        Files.copy(HERE.resolve("espalier"), checkout.resolve("espalier"));
        for (String script : List.of("jdk.sh", "lock.sh")) {
            Files.copy(
                    HERE.resolve(".ci").resolve(script), checkout.resolve(".ci").resolve(script));
        }
        Files.createFile(checkout.resolve("pom.xml"));
        Files.createFile(checkout.resolve("cli/pom.xml"));
        writeJar(classPath().stream().map(entry -> entry.toUri().toString()));
    }

    private static List<Path> classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of)
                .toList();
    }

    /** A class path as an executable jar, which the build takes for its own. */
    private void writeJar(Stream<String> classPath) throws IOException {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(Attributes.Name.MAIN_CLASS, Main.class.getName());
        attributes.put(Attributes.Name.CLASS_PATH, classPath.collect(Collectors.joining(" ")));
        try (OutputStream out = Files.newOutputStream(temporary.resolve("espalier-cli.jar"));
                JarOutputStream jar = new JarOutputStream(out, manifest)) {
            jar.flush();
        }
    }

    /** Something in Maven's place. */
    private String maven(String... lines) throws IOException {
        Path script = temporary.resolve("mvn");
        List<String> all = new ArrayList<>(List.of("#!/bin/sh"));
        all.addAll(List.of(lines));
        Files.write(script, all);
        assertTrue(script.toFile().setExecutable(true));
        return script.toString();
    }

    private String building() throws IOException {
        return maven(
                "echo '[INFO] Scanning for projects...'",
                "for i in $(seq 120); do",
                "    echo \"Downloading from central: https://example.org/a/b-$i.jar\"",
                "    echo \"Downloaded from central: https://example.org/a/b-$i.jar (1.0 kB at 1.0 kB/s)\"",
                "done",
                "echo '[INFO] Building Espalier core 1.0                                  [2/7]'",
                "echo '[INFO] Building jar: /somewhere/core.jar'",
                "mkdir -p cli/target/lib",
                "cp '" + temporary.resolve("espalier-cli.jar") + "' cli/target/",
                "cp '" + temporary.resolve("espalier-cli.jar") + "' cli/target/lib/other.jar");
    }

    private ProcessBuilder launcher(Path place, String maven, String... arguments) {
        List<String> command =
                new ArrayList<>(List.of("/bin/sh", place.resolve("espalier").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        Map<String, String> environment = builder.environment();
        environment.put("ESPALIER_JAVA_HOME", System.getProperty("java.home"));
        environment.put("ESPALIER_MAVEN", maven);
        environment.remove("ESPALIER_JAVA_OPTS");
        environment.remove("JAVA_TOOL_OPTIONS");
        return builder;
    }

    private static Said run(ProcessBuilder builder) throws IOException, InterruptedException {
        Process process = builder.start();
        process.getOutputStream().close();
        try (BufferedReader out = process.inputReader();
                BufferedReader err = process.errorReader()) {
            // Neither fills a pipe.
            return new Said(process.waitFor(), out.readAllAsString(), err.readAllAsString());
        }
    }

    /** What a JVM says that does not get far may come a moment after its end, when Java has closed the pipe: a file stays open. */
    private void assertLate(String words, ProcessBuilder builder) throws IOException, InterruptedException {
        Path said = temporary.resolve("said");
        assertEquals(1, builder.redirectError(said.toFile()).start().waitFor());
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!Files.readString(said).contains(words)) {
            assertTrue(System.nanoTime() < end, Files.readString(said));
            Thread.sleep(10);
        }
    }

    private Said run(String... arguments) throws IOException, InterruptedException {
        return run(launcher(checkout, building(), arguments));
    }

    @Test
    void aBuildTellsWhatItBuildsAndFetchesAndNothingElseIsSaid() throws IOException, InterruptedException {
        Said first = run("--version");
        assertEquals(0, first.exitStatus(), first.err());
        assertTrue(first.out().startsWith("espalier "), first.out());
        assertEquals("""
                espalier: building; the first time, libraries are fetched as well, which takes minutes
                espalier: getting ready, 50 files fetched
                espalier: getting ready, 100 files fetched
                espalier: building Espalier core 1.0 (2 of 7)
                """, first.err());
        Said second = run("--version");
        assertEquals(first.out(), second.out());
        assertEquals("", second.err());
    }

    /** The last that Maven says, that colours are off again, has no line break behind it. */
    @Test
    void aBuildThatFailsShowsWhy() throws IOException, InterruptedException {
        String maven = maven(
                "echo '[INFO] Building Espalier core 1.0  [2/7]'",
                "echo '[ERROR] a mistake'",
                "printf '\\033[0m'",
                "exit 1");
        Said said = run(launcher(checkout, maven, "--version"));
        assertEquals(1, said.exitStatus());
        assertTrue(said.err().contains("(2 of 7)\n[ERROR] a mistake\n"), said.err());
        assertTrue(said.err().contains("\nespalier: the build failed; mend"), said.err());
        assertEquals("", said.out());
    }

    /**
     * The class path as JARs beside the launcher's: a JVM keeps nothing of folders, whose classes may change. Without the large ones,
     * of native code, which no answer takes.
     */
    private void writeJars() throws IOException {
        ToolProvider tool = ToolProvider.findFirst("jar").orElseThrow();
        Path folder = Files.createDirectories(checkout.resolve("cli/target/lib"));
        List<String> names = new ArrayList<>();
        for (Path entry : classPath()) {
            Path jar = folder.resolve(names.size() + ".jar");
            if (Files.isDirectory(entry)) {
                assertEquals(
                        0, tool.run(System.out, System.err, "-c", "-f", jar.toString(), "-C", entry.toString(), "."));
                names.add(String.valueOf(jar.getFileName()));
            } else if (Files.exists(entry) && Files.size(entry) < 4_000_000) {
                Files.copy(entry, jar);
                names.add(String.valueOf(jar.getFileName()));
            }
        }
        writeJar(names.stream().map("lib/"::concat));
    }

    @Test
    void aQuestionIsAnsweredFromWhatTheBuildKeptOfItsClasses() throws IOException, InterruptedException {
        writeJars();
        Said first = run("--help");
        assertEquals(0, first.exitStatus(), first.err());
        Path log = temporary.resolve("classes.log");
        ProcessBuilder logged = launcher(checkout, building(), "--help");
        logged.environment().put("JAVA_TOOL_OPTIONS", "-Xlog:class+load:file=" + log);
        assertEquals(first.out(), run(logged).out());
        List<String> classes = Files.readAllLines(log);
        assertTrue(
                classes.stream().anyMatch(line -> line.contains(Main.class.getName() + " source: shared objects file")),
                "the cache was not used");
        assertEquals(
                List.of(),
                classes.stream()
                        .filter(line ->
                                line.matches(".* (com.fasterxml.jackson.databind.ObjectMapper|ai[.]djl[.].*) .*"))
                        .toList(),
                "an answer does not take these");
        Path builds = checkout.resolve("cli/target/run");
        Path cache;
        try (Stream<Path> files = Files.walk(builds)) {
            cache = files.filter(file -> file.endsWith("help.aot")).findFirst().orElseThrow();
        }
        Files.write(cache, Arrays.copyOf(Files.readAllBytes(cache), 100_000));
        assertEquals(new Said(0, first.out(), ""), run("--help"));
        Files.delete(cache);
        assertEquals(new Said(0, first.out(), ""), run("--help"));
    }

    @Test
    void aCopyRunsItsOwnJars() throws IOException, InterruptedException {
        assertEquals(0, run("--version").exitStatus());
        Path copy = temporary.resolve("copy");
        assertEquals(
                0,
                new ProcessBuilder("cp", "-a", checkout.toString(), copy.toString())
                        .start()
                        .waitFor());
        // Where the copy would run the original's, there is nothing to run any more.
        Files.move(checkout, temporary.resolve("moved"));
        Said said = run(launcher(copy, maven("exit 1"), "--version"));
        assertEquals(0, said.exitStatus(), said.err());
        assertEquals("", said.err());
    }

    @Test
    void onlyOneLineIsKeptFromStandardError() throws IOException, InterruptedException {
        assertEquals(0, run("--version").exitStatus());
        Said unknown = run("unheard-of");
        assertEquals(2, unknown.exitStatus());
        assertTrue(unknown.err().startsWith("espalier: Unmatched argument"), unknown.err());
        ProcessBuilder wrong = launcher(checkout, building(), "--version");
        wrong.environment().put("ESPALIER_JAVA_OPTS", "-XX:+UnheardOf");
        assertLate("Unrecognized VM option 'UnheardOf'", wrong);
        ProcessBuilder picked = launcher(checkout, building(), "--version");
        picked.environment().put("JAVA_TOOL_OPTIONS", "-Da=b");
        assertEquals("Picked up JAVA_TOOL_OPTIONS: -Da=b\n", run(picked).err());
    }

    /** Other machines have none of our classes: they are sent the JAR that Maven packs for them. */
    @Test
    void onlyAClusterOfOthersIsSentTheAssembly() throws IOException, InterruptedException {
        assertEquals(0, run("--version").exitStatus());
        String packing = maven(
                "mkdir -p spark/target/lib/jars",
                "cp '" + temporary.resolve("espalier-cli.jar") + "' spark/target/espalier-spark.jar",
                "cp '" + temporary.resolve("espalier-cli.jar") + "' spark/target/lib/jars/spark.jar",
                "case $* in *-Passembly*) touch spark/target/espalier-assembly.jar ;; esac");
        String ready = "espalier: getting Spark ready; the first time, about 220 MB are fetched\n";
        String packed = "espalier: packing the JAR that the cluster is sent\n";
        assertEquals(
                ready,
                run(launcher(checkout, packing, "--version", "--on", "local-cluster[2,1,512]"))
                        .err());
        assertEquals(
                packed,
                run(launcher(checkout, packing, "--version", "--on=spark://host:7077"))
                        .err());
        assertEquals(
                "",
                run(launcher(checkout, packing, "--version", "--on", "yarn")).err());
        assertEquals(
                "",
                run(launcher(checkout, packing, "--version", "--on", "process")).err());
    }

    @Test
    void signalsReachTheProgramAndStandardErrorIsTheUsers() throws IOException, InterruptedException {
        assertEquals(0, run("--version").exitStatus());
        for (Map.Entry<String, Integer> signal :
                Map.of("-INT", 130, "-TERM", 143).entrySet()) {
            Path err = temporary.resolve("err" + signal.getKey());
            Process process = launcher(checkout, building(), "prox")
                    .redirectError(err.toFile())
                    .start();
            try (Writer in = process.outputWriter();
                    BufferedReader out = process.inputReader()) {
                in.write("{}\n");
                in.flush();
                // An answer shows that the program is up.
                assertFalse(String.valueOf(out.readLine()).isEmpty());
                Path descriptor = Path.of("/proc/%d/fd/2".formatted(process.pid()));
                if (Files.exists(descriptor)) {
                    assertEquals(err.toRealPath(), descriptor.toRealPath());
                }
                new ProcessBuilder("kill", signal.getKey(), String.valueOf(process.pid()))
                        .start()
                        .waitFor();
                assertEquals(signal.getValue(), process.waitFor());
            }
            assertEquals("", Files.readString(err));
        }
    }
}
