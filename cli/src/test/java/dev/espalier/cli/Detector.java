package dev.espalier.cli;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Windows;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/**
 * A detector of the form of those for faces: boxes, and probabilities of background and object, for 4,096 anchors that are nearly all background.
 * Its weights are written by hand to find bright squares.
 */
final class Detector {
    private static final int SIDE = 64;
    private static final int WIDTH = 12;
    private static final int ANCHORS = 4;

    private Detector() {}

    static Graph graph() {
        SplittableRandom random = new SplittableRandom(1);
        GraphBuilder graph = new GraphBuilder("detector");
        Value image = graph.input("input", DataType.FLOAT32, "batch", 3, SIDE, SIDE);
        Value base = convolution(graph, "base", image, 3, WIDTH, 2, random);
        Value features = graph.add("features", new Unary(Unary.Function.RELU), base);
        Value scores = head(graph, "classification_head", features, 2);
        return graph.outputs(
                graph.add("scores", new Softmax(-1, false), scores), head(graph, "regression_head", features, 4));
    }

    /** Every channel answers to brightness, and a little to something else. */
    private static Value convolution(
            GraphBuilder graph, String name, Value input, int from, int to, int stride, SplittableRandom random) {
        Tensor weight = Tensor.compute(
                DataType.FLOAT32, new long[] {to, from, 3, 3}, i -> (1 + 0.3 * random.nextGaussian()) / (9 * from));
        return graph.add(
                name,
                new Conv(Windows.square(stride, 1), 1),
                input,
                graph.parameter(name + ".weight", weight),
                graph.parameter(name + ".bias", Tensor.of(new float[to], to)));
    }

    /** For each anchor some numbers: of classes, the second is the larger one where it is bright. */
    private static Value head(GraphBuilder graph, String name, Value features, int numbers) {
        int channels = ANCHORS * numbers;
        SplittableRandom random = new SplittableRandom(numbers);
        Tensor weight = Tensor.compute(
                DataType.FLOAT32,
                new long[] {channels, WIDTH, 3, 3},
                i -> (numbers == 2 && i / (9 * WIDTH) % 2 == 0 ? 0 : 8.0 + random.nextGaussian()) / (9 * WIDTH));
        float[] bias = new float[channels];
        for (int i = 0; i < channels && numbers == 2; i += 2) {
            bias[i] = 5 + (float) i / 4;
        }
        Value raw = graph.add(
                name,
                new Conv(Windows.square(1, 1), 1),
                features,
                graph.parameter(name + ".weight", weight),
                graph.parameter(name + ".bias", Tensor.of(bias, channels)));
        Value last = graph.add(name + ".last", new Transpose(List.of(0L, 2L, 3L, 1L)), raw);
        Value shape = graph.constant(name + ".shape", Tensor.of(new long[] {0, SIDE * SIDE / 4 * ANCHORS, numbers}));
        return graph.add(numbers == 2 ? "logits" : "boxes", Reshape.DEFAULT, last, shape);
    }

    /** The same model with zeros in place of some weights; what is added afterwards stays. */
    static Graph blinded(Graph detector, Predicate<String> weights) {
        Map<String, Tensor> zeros = new HashMap<>();
        detector.tensors(Kind.PARAMETER).forEach((name, tensor) -> {
            if (weights.test(name) && tensor.rank() > 1) {
                zeros.put(name, Tensor.compute(tensor.type(), tensor.shape(), i -> 0));
            }
        });
        return detector.withTensors(zeros);
    }

    /** Dark images, each with some bright squares. */
    static Path images(Path file, int count) throws IOException {
        SplittableRandom random = new SplittableRandom(7);
        float[] pixels = new float[count * 3 * SIDE * SIDE];
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = 0.2f * random.nextFloat();
        }
        for (int image = 0; image < count; image++) {
            for (int square = 0; square <= random.nextInt(3); square++) {
                int top = random.nextInt(SIDE - 8);
                int left = random.nextInt(SIDE - 8);
                for (int i = 0; i < 3 * 8 * 8; i++) {
                    pixels[((image * 3 + i / 64) * SIDE + top + i / 8 % 8) * SIDE + left + i % 8] = 1;
                }
            }
        }
        String header =
                "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 3, %d, %d), }\n".formatted(count, SIDE, SIDE);
        ByteBuffer bytes =
                ByteBuffer.allocate(10 + header.length() + 4 * pixels.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put((byte) 0x93)
                .put("NUMPY".getBytes(StandardCharsets.US_ASCII))
                .put((byte) 1)
                .put((byte) 0);
        bytes.putShort((short) header.length()).put(header.getBytes(StandardCharsets.US_ASCII));
        bytes.asFloatBuffer().put(pixels);
        return Files.write(file, bytes.array());
    }
}
