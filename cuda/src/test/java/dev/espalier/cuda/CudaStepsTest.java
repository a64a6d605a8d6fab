package dev.espalier.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.espalier.core.kernel.LaneChoice;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.cuda.driver.CudaException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a machine without a GPU, or without its compiler, gets. */
class CudaStepsTest {

    @Test
    void withoutAGpuTheProcessorServesAndTheReasonNamesWhatIsMissing() {
        Optional<String> reason = CudaSteps.whyNot();
        assumeTrue(reason.isPresent(), "there is a GPU here");
        assertTrue(reason.get().matches("(?s).*(CUDA|GPU|NVRTC|cuInit).*"), reason.get());
        assertSame(LaneChoice.BEST, CudaSteps.orHost());
    }

    @Test
    void whoInsistsOnAGpuGetsTheReasonToo() {
        Optional<String> reason = CudaSteps.whyNot();
        assumeTrue(reason.isPresent(), "there is a GPU here");
        CudaException thrown = assertThrows(
                CudaException.class, () -> CudaSteps.onFirstGpu().create(new UpdateRule.Adam(), List.of(), 1));
        assertEquals(reason.get(), thrown.getMessage());
    }
}
