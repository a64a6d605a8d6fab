package dev.espalier.cuda.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.espalier.cuda.CudaSteps;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GpuTest {

    @Test
    void anOldGpuSaysWhatIsTheLeast() {
        Gpu.Card card = new Gpu.Card(1, "Tesla V100", 16L << 30, 70);
        assertEquals(Optional.empty(), card.whyNot(70));
        assertEquals(Optional.of("Tesla V100 has compute capability 7.0: it must be at least 8.0"), card.whyNot(80));
    }

    @Test
    void anOldCompilerSaysWhatIsTheLeast() {
        assertEquals(Optional.empty(), new Nvrtc.Version(12, 3).whyTooOld("file"));
        assertEquals(Optional.empty(), new Nvrtc.Version(13, 0).whyTooOld("file"));
        assertTrue(new Nvrtc.Version(11, 8).whyTooOld("file").isPresent());
        String reason =
                new Nvrtc.Version(12, 2).whyTooOld("/lib/libnvrtc.so.12").orElseThrow();
        assertEquals(
                "the CUDA compiler NVRTC in /lib/libnvrtc.so.12 is of CUDA 12.2, and must be of 12.3 or newer: install CUDA's libnvrtc,"
                        + " or name the file in ESPALIER_NVRTC",
                reason);
    }

    @Test
    void withoutADriverEveryQuestionIsAnsweredWithTheMend() {
        assumeTrue(CudaSteps.whyNoGpu().isPresent(), "there is a GPU here");
        assertEquals(0, CudaSteps.gpus());
        String reason = CudaSteps.whyNoGpu().orElseThrow();
        assertEquals(reason, assertThrows(CudaException.class, Gpu::cards).getMessage());
        assertEquals(reason, assertThrows(CudaException.class, Gpu::driver).getMessage());
        assertEquals(Optional.of(reason), CudaSteps.whyNot(1));
        assertTrue(reason.contains("driver") || reason.contains("cuInit"), reason);
    }

    @Test
    void whatTheDriverSaysOfAGpuIsWhatTheGpuSays() {
        assumeTrue(CudaSteps.whyNot().isEmpty(), "there is no GPU here");
        for (Gpu.Card card : Gpu.cards()) {
            try (Gpu gpu = Gpu.open(card.index())) {
                assertEquals(gpu.name(), card.name());
                assertEquals(gpu.capability(), card.capability());
                assertTrue(card.memory() > 1L << 30, card::toString);
            }
        }
        assertTrue(Gpu.driver().contains("CUDA "), Gpu::driver);
        assertTrue(new Nvrtc().version().matches("1\\d\\.\\d+"), () -> new Nvrtc().version());
        assertTrue(new Nvrtc().file().contains("libnvrtc"), () -> new Nvrtc().file());
    }
}
