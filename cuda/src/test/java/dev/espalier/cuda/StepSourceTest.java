package dev.espalier.cuda;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.espalier.cuda.driver.CudaException;
import dev.espalier.cuda.driver.Nvrtc;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The source compiles for every kind of model. That takes the compiler, but no GPU; without it, skipped with the reason. */
class StepSourceTest {
    private static byte[] compile(String source, int threads, Set<Kind> kinds, boolean strided, String architecture) {
        List<String> options = new ArrayList<>(StepProgram.compilerOptions(threads, kinds, strided, strided));
        options.add("--gpu-architecture=" + architecture);
        return compiler().compile("step.cu", source, options);
    }

    private static Nvrtc compiler() {
        try {
            return new Nvrtc();
        } catch (CudaException e) {
            return abort(e.getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sm_80", "sm_90"})
    void everythingAtOnceCompiles(String architecture) {
        for (int threads : new int[] {256, 288}) {
            byte[] code = compile(StepProgram.source(), threads, EnumSet.allOf(Kind.class), true, architecture);
            assertTrue(code.length > 1000);
        }
    }

    @Test
    void aModelWithoutPenaltiesCompiles() {
        assertTrue(compile(StepProgram.source(), 256, EnumSet.of(Kind.PLAIN), false, "sm_90").length > 1000);
    }

    @Test
    void aMistakeIsToldInTheCompilersWords() {
        compiler();
        CudaException thrown = assertThrows(
                CudaException.class,
                () -> compile(StepProgram.source() + "mistake;", 256, EnumSet.of(Kind.PLAIN), false, "sm_90"));
        assertTrue(String.valueOf(thrown.getMessage()).contains("mistake"), thrown::toString);
    }
}
