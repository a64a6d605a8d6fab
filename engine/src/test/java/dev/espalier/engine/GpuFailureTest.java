package dev.espalier.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.engine.EngineException;
import dev.espalier.cuda.CudaSteps;
import dev.espalier.cuda.driver.CudaException;
import dev.espalier.torch.Torch;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What drivers and libtorch say of a GPU, and what becomes of it; there is none here. */
final class GpuFailureTest {
    private static String told(RuntimeException failure) {
        return String.valueOf(GpuFailure.in(failure).orElseThrow().getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 139.81 GiB of which 5.06 MiB is free."
                        + " Process 7 has 139.80 GiB memory in use. If reserved but unallocated memory is large try setting"
                        + " PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\nException raised from malloc at CUDACachingAllocator.cpp:1",
                "CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported at some other API call",
                "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
                "cuMemAlloc of 4096 bytes failed: CUDA_ERROR_OUT_OF_MEMORY, out of memory"
            })
    void memoryThatIsLackingIsToldWithTheMend(String said) {
        for (RuntimeException failure : new RuntimeException[] {new EngineException(said), new CudaException(said)}) {
            String message = told(new IllegalStateException("while it was recorded", failure));
            assertTrue(message.startsWith("the GPU has no memory left (" + said.substring(0, 10)), message);
            assertTrue(message.contains("training.batch_size"), message);
            assertFalse(message.matches("(?s).*(\\n|PYTORCH_|Exception raised|kernel errors).*"), message);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be asynchronously reported",
                "CUDA error: unspecified launch failure\nException raised from c10_cuda_check_implementation",
                "cuEventSynchronize failed: CUDA_ERROR_ILLEGAL_INSTRUCTION, an illegal instruction was encountered",
                "cuStreamSynchronize failed: CUDA_ERROR_LAUNCH_FAILED, unspecified launch failure"
            })
    void aLostGpuIsToldWithTheMend(String said) {
        String message = told(new EngineException(said));
        assertTrue(message.startsWith("the GPU was lost (" + said.substring(0, 10)), message);
        assertTrue(message.contains("start again"), message);
        assertFalse(message.contains("\n"), message);
        assertTrue(told(GpuFailure.in(new CudaException(said)).orElseThrow().with("go on"))
                .endsWith("another --device; go on"));
    }

    @Test
    void otherFailuresAreLeftAlone() {
        assertEquals(
                Optional.empty(), GpuFailure.in(new EngineException("shape '[3]' is invalid for input of size 4")));
        assertEquals(
                Optional.empty(),
                GpuFailure.in(new CudaException("cuLaunchKernel failed: CUDA_ERROR_INVALID_VALUE, x")));
        // Nothing but a code, and no GPU that could tell more.
        assumeTrue(CudaSteps.gpus() == 0);
        assertEquals(Optional.empty(), GpuFailure.in(new EngineException("aten::add " + Torch.FAILED + " 1: above")));
    }

    @Test
    void wordsThatSomebodyQuotesAreNoFailure() {
        assertEquals(Optional.empty(), GpuFailure.in(new IllegalArgumentException("CUDA out of memory")));
    }
}
