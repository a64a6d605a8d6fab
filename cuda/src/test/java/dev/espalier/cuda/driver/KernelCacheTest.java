package dev.espalier.cuda.driver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelCacheTest {
    private static final byte[] CODE = {1, 2, 3};

    @TempDir
    private Path folder = Path.of("");

    @Test
    void aKernelIsFoundAgainBySourceAndOptionsOnly() throws IOException {
        KernelCache cache = new KernelCache(folder.resolve("new"));
        assertEquals(Optional.empty(), cache.get("source", List.of("-DA=1")));
        cache.put("source", List.of("-DA=1"), CODE);
        assertArrayEquals(CODE, cache.get("source", List.of("-DA=1")).orElseThrow());
        assertEquals(Optional.empty(), cache.get("other", List.of("-DA=1")));
        assertEquals(Optional.empty(), cache.get("source", List.of("-DA=2")));
        try (Stream<Path> files = Files.list(folder.resolve("new"))) {
            assertEquals(1, files.count(), "nothing is left over");
        }
    }

    @Test
    void aFolderThatCannotBeWrittenIsNoCacheAndNothingWorse() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "not a folder");
        KernelCache cache = new KernelCache(file);
        cache.put("source", List.of(), CODE);
        assertEquals(Optional.empty(), cache.get("source", List.of()));
    }

    @Test
    void theEnvironmentSaysWhereItIs() {
        assertEquals(
                Path.of("/here"),
                KernelCache.ofUser(Map.of("ESPALIER_CACHE", "/here")).folder());
    }

    @Test
    void theCompilerIsLookedForWhereTheEnvironmentSaysAndBesidePyTorch() throws IOException {
        Path torch = Files.createDirectories(folder.resolve("site/torch/lib"));
        Path beside =
                Files.createDirectories(folder.resolve("site/nvidia/cu13/lib")).resolve("libnvrtc.so.13");
        Files.writeString(beside, "");
        Path home = Files.createDirectories(folder.resolve("cuda/lib64")).resolve("libnvrtc.so.12");
        Files.writeString(home, "");
        List<String> candidates = Nvrtc.candidates(Map.of(
                "ESPALIER_NVRTC", "/named.so",
                "CUDA_HOME", folder.resolve("cuda").toString(),
                "PYTORCH_LIBRARY_PATH", torch.toString()));
        assertEquals("/named.so", candidates.getFirst());
        assertTrue(candidates.contains("libnvrtc.so.13"), candidates::toString);
        assertTrue(candidates.contains(beside.toString()), candidates::toString);
        assertTrue(candidates.contains(home.toString()), candidates::toString);
    }
}
