package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.espalier.cuda.CudaSteps;
import dev.espalier.torch.CudaLibTorch;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** In processes of their own: what is installed is kept in a folder that the environment names, and libtorch is loaded once. */
@Tag("processes")
class GpuCommandTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path folder;

    /** What the program answers; standard error comes with standard output. */
    private record Said(int exitStatus, String text) {}

    private Said espalier(List<String> options, Object... arguments) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(ThisProgram.command(
                        options, Stream.of(arguments).map(Object::toString).toList()))
                .redirectErrorStream(true);
        builder.environment().put("ESPALIER_CACHE", cache().toString());
        builder.environment().put("ESPALIER_MAVEN", folder.resolve("no-maven").toString());
        builder.environment().remove(CudaLibTorch.PATH_VARIABLE);
        Process process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Said(process.onExit().join().exitValue(), text);
    }

    private Path cache() {
        return folder.resolve("cache");
    }

    private void assertNothingIsKept() throws IOException {
        if (Files.exists(cache())) {
            try (Stream<Path> kept = Files.list(cache())) {
                assertEquals(List.of(), kept.toList());
            }
        }
    }

    private static void assumeNoDriver() {
        assumeTrue(CudaSteps.whyNoGpu().isPresent(), "there is a GPU here");
    }

    /** What looks like a libtorch for CUDA, and is empty. */
    private Path hollow(String version) throws IOException {
        Path torch = Files.createDirectories(folder.resolve("torch-" + version));
        Path lib = Files.createDirectories(torch.resolve("lib"));
        for (String name : List.of("c10", "c10_cuda", "torch", "torch_cpu", "torch_cuda")) {
            Files.writeString(lib.resolve(System.mapLibraryName(name)), "");
        }
        Files.writeString(torch.resolve("version.py"), "__version__ = '" + version + "'\n");
        return torch;
    }

    @Test
    void withoutAnythingItSaysAllThatIsMissingAndHowToGetIt() throws IOException {
        assumeNoDriver();
        Said said = espalier(List.of(), "gpu");
        assertEquals(0, said.exitStatus(), said::text);
        List<String> lines = said.text().lines().toList();
        assertTrue(lines.stream().anyMatch(line -> line.matches("driver +none")), said::text);
        assertTrue(lines.stream().anyMatch(line -> line.matches("libtorch +2\\.7\\.1.*, for the CPU, .*")), said::text);
        assertTrue(said.text().contains("training runs on the CPU"), said::text);
        assertTrue(
                lines.stream().anyMatch(line -> line.startsWith("- ") && line.contains("install NVIDIA's driver")),
                said::text);
        assertTrue(
                lines.stream().anyMatch(line -> line.startsWith("- ") && line.contains("gpu --install FROM")),
                said::text);
        assertNothingIsKept();
    }

    @Test
    void whatIsInstalledIsFoundFromThenOnAndUsedForGpusAlone() throws IOException {
        assumeNoDriver();
        Path torch = hollow("2.7.1+cu128");
        Said installed = espalier(List.of(), "gpu", "--install", torch);
        assertEquals(0, installed.exitStatus(), installed::text);
        assertTrue(
                installed.text().contains("installed: libtorch 2.7.1+cu128 in " + torch.resolve("lib")),
                installed::text);
        Said found = espalier(List.of(), "gpu");
        assertTrue(
                found.text().lines().anyMatch(line -> line.matches("libtorch +2\\.7\\.1\\+cu128, for CUDA, .*")),
                found::text);
        assertFalse(found.text().contains("gpu --install"), found::text);
        // It could not be loaded, and need not: this machine trains on the CPU.
        Path recipe = Files.writeString(folder.resolve("small.toml"), """
                data = { kind = "digits", train_limit = 300 }
                model = { kind = "mlp", hidden = [8] }
                penalty = { kind = "group-mcp", lambda = 1e-3, beta = 10 }
                optimizer.rate = 1e-3
                training = { epochs = 1, batch_size = 50, prune_for = "size" }
                divergence.chance_epochs = 0
                """);
        Said trained = espalier(List.of(), "train", recipe, "--run-dir", folder.resolve("run"));
        assertEquals(0, trained.exitStatus(), trained::text);
        assertEquals("cpu", new RunFolder(folder.resolve("run")).provenance().device());
    }

    @Test
    void whatDoesNotFitIsNotInstalled() throws IOException {
        for (Path from : List.of(hollow("2.6.0+cu124"), folder.resolve("nowhere"), folder)) {
            Said said = espalier(List.of(), "gpu", "--install", from);
            assertEquals(2, said.exitStatus(), said::text);
            assertTrue(said.text().contains(from.toString()), said::text);
            assertNothingIsKept();
        }
    }

    @Test
    void withoutANetworkItSaysHowToDoWithout() throws IOException {
        assumeTrue(CudaLibTorch.whyNever().isEmpty(), "DJL has nothing for CUDA here");
        // Nobody listens there, so that nothing is fetched wherever this test is run.
        Said said = espalier(List.of("-Dhttps.proxyHost=127.0.0.1", "-Dhttps.proxyPort=1"), "gpu", "--install");
        assertEquals(1, said.exitStatus(), said::text);
        assertTrue(said.text().contains("several GB"), said::text);
        assertTrue(said.text().contains("Connection refused"), said::text);
        assertNoWayByMaven(said);
    }

    @Test
    void whoAsksForMavenIsNotSentToDjl() throws IOException {
        assumeTrue(CudaLibTorch.whyNever().isEmpty(), "DJL has nothing for CUDA here");
        Said said = espalier(List.of(), "gpu", "--install", "maven");
        assertEquals(1, said.exitStatus(), said::text);
        assertFalse(said.text().contains("DJL fetches"), said::text);
        assertNoWayByMaven(said);
    }

    /** It says how much there is to fetch, and what to do as it cannot be. */
    private void assertNoWayByMaven(Said said) throws IOException {
        assertTrue(said.text().contains("2.8 GB, which become 3.5 GB"), said::text);
        assertTrue(said.text().contains("no-maven") && said.text().contains("in ESPALIER_MAVEN"), said::text);
        assertTrue(said.text().contains("espalier gpu --install FROM"), said::text);
        assertNothingIsKept();
    }
}
