package dev.espalier.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

final class TensorsTest {
    @Test
    void channelsLastMovesMemoryAndNothingElse() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
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

    /** As the weights of convolutions are laid out on a GPU. */
    @Test
    void gradientsPassWhatMovesMemory() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            float[][] gradients = new float[2][];
            for (int way = 0; way < 2; way++) {
                PtNDArray images = (PtNDArray) manager.arange(75f).sin().reshape(new Shape(1, 3, 5, 5));
                PtNDArray weight = (PtNDArray) manager.arange(54f).cos().reshape(new Shape(2, 3, 3, 3));
                weight.setRequiresGradient(true);
                JniUtils.setGradMode(true);
                try {
                    PtNDArray used = way == 0 ? weight : Tensors.channelsLast(weight);
                    PtNDArray made = JniUtils.convolution(
                            images, used, null, Tensors.shape(1, 1), Tensors.shape(1, 1), Tensors.shape(1, 1), 1);
                    JniUtils.backward(made, JniUtils.square(made), false, false);
                } finally {
                    JniUtils.setGradMode(false);
                }
                gradients[way] = weight.getGradient().toFloatArray();
            }
            assertArrayEquals(gradients[0], gradients[1], 1e-3f);
        }
    }
}
