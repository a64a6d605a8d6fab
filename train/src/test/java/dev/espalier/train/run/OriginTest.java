package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which commit a run says it comes from: a checkout's, or what the script {@code .ci/commit} stamped the build with. */
class OriginTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path folder;

    @BeforeEach
    void copyScript() throws IOException {
        Files.createDirectory(folder.resolve(".ci"));
        Files.copy(Path.of("../.ci/commit"), folder.resolve(".ci/commit"));
    }

    private String say(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .redirectInput(new File("/dev/null"))
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        assertEquals(0, process.waitFor(), () -> List.of(command).toString());
        return said;
    }

    private String git(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("git", "-c", "user.name=A", "-c", "user.email=a@example.org"));
        command.addAll(List.of(arguments));
        return say(command.toArray(String[]::new));
    }

    /** Makes the folder a checkout, and names its commit. */
    private String checkOut() throws IOException, InterruptedException {
        assumeTrue(hasGit(), "there is no git");
        git("init", "--quiet");
        git("add", ".ci");
        git("commit", "--quiet", "--message=first");
        return git("rev-parse", "HEAD");
    }

    private static boolean hasGit() {
        for (String place : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            if (Files.isExecutable(Path.of(place, "git"))) {
                return true;
            }
        }
        return false;
    }

    private String stamped() throws IOException, InterruptedException {
        say("sh", ".ci/commit", "target/classes/stamp");
        return Files.readString(folder.resolve("target/classes/stamp")).strip();
    }

    @Test
    void whereThereIsNoCheckoutTheStampCounts() {
        assertEquals("stamp", Origin.commit(folder, Optional.of("stamp")));
        assertEquals("unknown", Origin.commit(folder, Optional.empty()));
    }

    @Test
    void aCheckoutCountsMoreThanTheStamp() throws IOException, InterruptedException {
        assertEquals(checkOut(), Origin.commit(folder, Optional.of("stamp")));
    }

    @Test
    void theStampIsTheCommitAndTellsOfChanges() throws IOException, InterruptedException {
        assertEquals("unknown", stamped());
        String commit = checkOut();
        assertEquals(commit, stamped());
        Files.writeString(folder.resolve(".ci/commit"), "\n# changed\n", StandardOpenOption.APPEND);
        assertEquals(commit + "-dirty", stamped());
    }

    @Test
    void aCopyWithinAnotherCheckoutIsNotItsCommit() throws IOException, InterruptedException {
        checkOut();
        Path copy = Files.createDirectories(folder.resolve("copy/.ci"));
        Files.copy(folder.resolve(".ci/commit"), copy.resolve("commit"));
        say("sh", "copy/.ci/commit", "stamp");
        assertEquals("unknown\n", Files.readString(folder.resolve("stamp")));
    }

    @Test
    void mavenStampsThisBuild() throws IOException {
        assumeTrue(System.getProperty("basedir") != null, "somebody else compiled it");
        String stamp = Origin.stamp().orElseThrow();
        assertTrue(stamp.matches("[0-9a-f]{40}(-dirty)?|unknown"), stamp);
    }
}
