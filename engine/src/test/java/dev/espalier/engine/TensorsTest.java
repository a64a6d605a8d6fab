package dev.espalier.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

final class TensorsTest {
    @Test
    void channelsLastMovesMemoryAndNothingElse() {
        try (NDManager manager = NDManager.newBaseManager(Device.cpu(), "PyTorch")) {
            PtNDArray images = (PtNDArray) manager.arange(24f).reshape(new Shape(1, 2, 3, 4));

            PtNDArray moved = Tensors.channelsLast(images);

            assertEquals(images.getShape(), moved.getShape());
            assertArrayEquals(
                    images.toFloatArray(), JniUtils.flatten(moved, 0, -1).toFloatArray());
            // the two channels of the first pixel, then those of the second
            assertArrayEquals(
                    new float[] {0, 12, 1, 13},
                    Tensors.memory(moved).asSlice(0, 4 * Float.BYTES).toArray(ValueLayout.JAVA_FLOAT));
        }
    }
}
