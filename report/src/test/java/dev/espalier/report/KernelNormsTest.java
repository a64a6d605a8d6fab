package dev.espalier.report;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Base64;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

final class KernelNormsTest {
    private static BufferedImage decode(String url) throws IOException {
        return ImageIO.read(
                new ByteArrayInputStream(Base64.getDecoder().decode(url.substring("data:image/png;base64,".length()))));
    }

    private static int alpha(BufferedImage image, int x, int y) {
        return image.getRGB(x, y) >>> 24;
    }

    @Test
    void kernelsOfAConvolutionBecomeTheirNorms() {
        // [2 outputs, 3 inputs, 1, 2]
        Tensor weight = Tensor.of(new float[] {3, 4, 0, 0, 1, 0, 0, 2, 0, 0, 6, 8}, 2, 3, 1, 2);
        KernelNorms norms = KernelNorms.of(weight, 1);
        assertEquals(2, norms.rows());
        assertEquals(3, norms.columns());
        assertArrayEquals(new float[] {5, 0, 1, 2, 0, 10}, norms.norms());
    }

    @Test
    void aTransposedWeightHasItsInputsInColumnsToo() {
        Tensor weight = Tensor.of(new float[] {1, 2, 0, 0, 5, 6}, 3, 2);
        KernelNorms norms = KernelNorms.of(weight, 0);
        assertEquals(2, norms.rows());
        assertArrayEquals(new float[] {1, 0, 5, 2, 0, 6}, norms.norms());
    }

    @Test
    void aVectorIsOneRow() {
        KernelNorms norms = KernelNorms.of(Tensor.of(new float[] {1, 0, -3}, 3), 0);
        assertEquals(1, norms.rows());
        assertArrayEquals(new float[] {1, 0, 3}, norms.norms());
    }

    @Test
    void zeroIsTransparentAndLargeIsOpaque() throws IOException {
        BufferedImage image = decode(new KernelNorms(1, 3, new float[] {0, 0.001f, 7}).picture(16));
        assertEquals(3, image.getWidth());
        assertEquals(0, alpha(image, 0, 0));
        assertTrue(alpha(image, 1, 0) > 0 && alpha(image, 1, 0) < 128);
        assertEquals(255, alpha(image, 2, 0));
    }

    @Test
    void alwaysZeroIsAnEmptyPicture() throws IOException {
        BufferedImage image = decode(new KernelNorms(2, 2, new float[4]).picture(16));
        assertEquals(0, alpha(image, 1, 1));
    }

    @Test
    void aLargeWeightIsScaledDownAndStaysZeroWhereAllIsZero() throws IOException {
        Tensor weight = Tensor.compute(
                DataType.FLOAT32, new long[] {40, 1000}, i -> i % 1000 < 500 ? 0 : 1); // the first inputs are zero
        BufferedImage image = decode(KernelNorms.of(weight, 1).picture(10));
        assertEquals(10, image.getWidth());
        assertEquals(10, image.getHeight());
        for (int x = 0; x < 10; x++) {
            assertEquals(x < 5 ? 0 : 255, alpha(image, x, 3), "column " + x);
        }
    }
}
