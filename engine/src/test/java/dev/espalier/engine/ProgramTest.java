package dev.espalier.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import ai.djl.ndarray.NDManager;
import ai.djl.pytorch.engine.PtEngine;
import ai.djl.pytorch.engine.PtNDManager;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProgramTest {
    /** A mean whose windows hang over the border: its plans have a constant of their own. */
    private static Graph smoothing() {
        GraphBuilder graph = new GraphBuilder("smoothing");
        Value x = graph.input("x", DataType.FLOAT32, 1, 1, "height", "width");
        Pool mean = new Pool(Pool.Function.AVERAGE, List.of(3L, 3L), Windows.square(1, 1), false, false);
        return graph.outputs(graph.add("y", mean, x));
    }

    private static Map<String, Tensor> ones(long side) {
        return Map.of("x", Tensor.compute(DataType.FLOAT32, new long[] {1, 1, side, side}, _ -> 1));
    }

    private static void callWithManyShapes(Program program) {
        for (int side = 10; side < 10 + Program.MAX_PLANS; side++) {
            program.call(ones(side)).close();
        }
    }

    @Test
    void planThatIsEvictedWhileInUseStillRuns() {
        try (PtNDManager manager = (PtNDManager) NDManager.newBaseManager(PtEngine.ENGINE_NAME)) {
            Program program = new Program(smoothing(), manager, _ -> null, new SharedConstants(manager));
            try (Program.Call call = program.call(ones(4))) {
                callWithManyShapes(program);
                try (Pass pass = Pass.run(call, Mode.INFERENCE, manager, () -> {})) {
                    float[] expected = new float[16];
                    Arrays.fill(expected, 1);
                    assertArrayEquals(expected, Tensors.tensor(pass.output("y")).toFloats(), 1e-6f);
                }
            }
        }
    }

    @Test
    void evictedPlansAreClosedWithTheirLastUse() {
        try (PtNDManager manager = (PtNDManager) NDManager.newBaseManager(PtEngine.ENGINE_NAME)) {
            Program program = new Program(smoothing(), manager, _ -> null, new SharedConstants(manager));
            try (Program.Call call = program.call(ones(4))) {
                try (Program.Call same = program.call(ones(4))) {
                    assertSame(call.plan(), same.plan());
                }
                callWithManyShapes(program);
                try (Program.Call other = program.call(ones(4))) {
                    assertNotSame(call.plan(), other.plan());
                }
            }
            // One manager for each plan that is left: all others were closed.
            assertEquals(Program.MAX_PLANS, manager.getManagedArrays().size());
        }
    }
}
