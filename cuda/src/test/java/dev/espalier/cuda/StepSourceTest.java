package dev.espalier.cuda;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.espalier.core.group.AxisGroups;
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
    private static final Tiling.Room LARGE = new Tiling.Room(132, 228 << 10);
    private static final Tiling.Room SMALL = new Tiling.Room(40, 100 << 10);
    private static final Tiling USUAL = tiling(new AxisGroups(512, 512, 1), LARGE);
    private static final List<Tiling> TILINGS = List.of(
            USUAL,
            tiling(new AxisGroups(512, 512, 9), LARGE),
            tiling(new AxisGroups(512, 512, 1), SMALL),
            tiling(new AxisGroups(512, 512, 9), SMALL));

    private static Tiling tiling(AxisGroups groups, Tiling.Room room) {
        return new Tiling(List.of(groups), room);
    }

    private static byte[] compile(String source, Tiling tiling, Set<Kind> kinds, boolean strided, String architecture) {
        List<String> options = new ArrayList<>(StepProgram.compilerOptions(tiling, kinds, strided, strided));
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
    @ValueSource(strings = {"sm_80", "sm_86", "sm_90"})
    void everythingAtOnceCompiles(String architecture) {
        for (Tiling tiling : TILINGS) {
            byte[] code = compile(StepProgram.source(), tiling, EnumSet.allOf(Kind.class), true, architecture);
            assertTrue(code.length > 1000);
        }
    }

    @Test
    void aModelWithoutPenaltiesCompiles() {
        assertTrue(compile(StepProgram.source(), USUAL, EnumSet.of(Kind.PLAIN), false, "sm_90").length > 1000);
    }

    @Test
    void aMistakeIsToldInTheCompilersWords() {
        compiler();
        CudaException thrown = assertThrows(
                CudaException.class,
                () -> compile(StepProgram.source() + "mistake;", USUAL, EnumSet.of(Kind.PLAIN), false, "sm_90"));
        assertTrue(String.valueOf(thrown.getMessage()).contains("mistake"), thrown::toString);
    }
}
