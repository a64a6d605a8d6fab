package dev.espalier.graph.onnx;

import dev.espalier.graph.op.Resize;
import dev.espalier.graph.op.Sampling;
import dev.espalier.graph.op.Sampling.Coordinates;
import dev.espalier.graph.op.Sampling.Mode;
import dev.espalier.graph.op.Sampling.Rounding;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;

/** How a Resize is written: its inputs are the tensor, a region, scales and lengths, of which all but the first may be left out. */
final class ResizeReading {
    private static final int SCALES = 2;
    private static final int LENGTHS = 3;

    private ResizeReading() {}

    /** The tensor and, if there are any, the lengths. */
    static List<String> inputs(List<String> inputs) {
        boolean lengths = inputs.size() > LENGTHS && !inputs.get(LENGTHS).isEmpty();
        return lengths
                ? List.of(inputs.getFirst(), inputs.get(LENGTHS))
                : inputs.subList(0, Math.min(inputs.size(), 1));
    }

    static Resize read(NodeReading node) {
        node.require(!node.flag("antialias", false), "antialias 1 is not supported");
        String policy = node.text("keep_aspect_ratio_policy", "stretch");
        node.require(policy.equals("stretch"), "keep_aspect_ratio_policy " + policy + " must be stretch");
        Sampling sampling = new Sampling(
                named(node, "mode", "nearest", Mode.values()),
                named(node, "coordinate_transformation_mode", "half_pixel", Coordinates.values()),
                named(node, "nearest_mode", "round_prefer_floor", Rounding.values()),
                node.number("cubic_coeff_a", -0.75),
                node.flag("exclude_outside", false));
        return new Resize(sampling, node.longs("axes", List.of()), node.has(LENGTHS) ? List.of() : scales(node));
    }

    private static List<Double> scales(NodeReading node) {
        node.require(node.has(SCALES), "neither scales (input 2) nor lengths (input 3) are given");
        Tensor scales = node.constant(SCALES, "scales");
        node.require(scales.size() > 0, "scales (input 2) are empty, and no lengths (input 3) are given");
        return LongStream.range(0, scales.size()).mapToObj(scales::getDouble).toList();
    }

    private static <T extends Enum<T>> T named(NodeReading node, String key, String otherwise, T[] values) {
        String given = node.text(key, otherwise);
        return Arrays.stream(values)
                .filter(value -> name(value).equals(given))
                .findFirst()
                .orElseThrow(() -> node.problem(key + " " + given + " must be one of "
                        + String.join(
                                ", ",
                                Arrays.stream(values).map(ResizeReading::name).toList())));
    }

    private static String name(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    static int since(Resize resize) {
        boolean symmetric = resize.sampling().coordinates() == Coordinates.HALF_PIXEL_SYMMETRIC;
        return symmetric ? 19 : resize.axes().isEmpty() ? Opsets.LEAST : 18;
    }

    static void write(Resize resize, NodeWriting node) {
        Sampling sampling = resize.sampling();
        node.text("mode", name(sampling.mode())).text("coordinate_transformation_mode", name(sampling.coordinates()));
        switch (sampling.mode()) {
            case NEAREST -> node.text("nearest_mode", name(sampling.rounding()));
            case LINEAR -> {}
            case CUBIC ->
                node.number("cubic_coeff_a", sampling.cubic()).flag("exclude_outside", sampling.excludesOutside());
        }
        if (!resize.axes().isEmpty()) {
            node.longs("axes", resize.axes());
        }
        List<String> inputs = new ArrayList<>(List.of(node.input(0), ""));
        if (resize.scales().isEmpty()) {
            inputs.addAll(List.of("", node.input(1)));
        }
        node.become("Resize", inputs.toArray(String[]::new));
        if (!resize.scales().isEmpty()) {
            long[] shape = {resize.scales().size()};
            node.constant(
                    "scales",
                    Tensor.compute(DataType.FLOAT32, shape, i -> resize.scales().get((int) i)));
        }
    }
}
