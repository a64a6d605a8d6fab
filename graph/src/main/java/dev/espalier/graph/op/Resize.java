package dev.espalier.graph.op;

import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.List;
import java.util.stream.LongStream;

/**
 * A tensor made longer or shorter along some axes, each on its own. Inputs: the tensor and, where no scales are given, the new
 * lengths.
 *
 * @param sampling where elements come from
 * @param axes which axes; empty for all
 * @param scales what each length is multiplied with; empty if the lengths are an input
 */
public record Resize(Sampling sampling, List<Long> axes, List<Double> scales) implements Operator {

    /** Checks the scales. */
    public Resize {
        axes = List.copyOf(axes);
        scales = List.copyOf(scales);
        Operands.require(
                scales.stream().allMatch(scale -> scale > 0 && Double.isFinite(scale)),
                "scales " + scales + " must be above 0");
        Operands.require(
                scales.isEmpty() || axes.isEmpty() || scales.size() == axes.size(),
                "scales " + scales + " must be one for each of the axes " + axes);
    }

    @Override
    public int leastInputs() {
        return scales.isEmpty() ? 2 : 1;
    }

    @Override
    public List<Fact> infer(Operands inputs) {
        Shape input = inputs.shape(0);
        List<Long> resized = axes(input);
        Shape shape = input;
        List<Dimension> lengths = scales.isEmpty() ? inputs.elements(1) : null;
        int given = scales.isEmpty() ? (lengths == null ? resized.size() : lengths.size()) : scales.size();
        Operands.require(
                given == resized.size(),
                "%d scales or lengths for %d axes of %s".formatted(given, resized.size(), input));
        for (int i = 0; i < resized.size(); i++) {
            int axis = input.axis(resized.get(i));
            Dimension before = input.get(axis);
            Dimension after = !scales.isEmpty()
                    ? scaled(before, scales.get(i).floatValue(), inputs, axis)
                    : lengths == null ? inputs.unknown("length" + axis) : lengths.get(i);
            Operands.require(
                    !before.is(0) || after.is(0), "axis " + axis + " of " + input + " has no element to take from");
            shape = shape.with(axis, after);
        }
        return List.of(Fact.of(inputs.data(0), shape));
    }

    /** The length times the scale, rounded down. */
    private static Dimension scaled(Dimension length, float scale, Operands inputs, int axis) {
        if (length.isKnown()) {
            return Dimension.of((long) (scale * length.value()));
        }
        float part = 1 / scale;
        if (scale == Math.rint(scale)) {
            return length.times((long) scale);
        }
        return part == Math.rint(part) && 1 / part == scale
                ? length.dividedBy((long) part)
                : inputs.unknown("length" + axis);
    }

    private List<Long> axes(Shape input) {
        return axes.isEmpty() ? LongStream.range(0, input.rank()).boxed().toList() : axes;
    }

    /**
     * Where the given number of an axis stands among the scales or the new lengths.
     *
     * @param axis which axis, from the front
     * @param input the shape before
     * @return its place; −1 if the axis stays as it is
     */
    public int place(int axis, Shape input) {
        return axes(input).stream().map(input::axis).toList().indexOf(axis);
    }

    /**
     * Whether an axis is taken as it is.
     *
     * @param axis which axis, from the front
     * @param before the shape before
     * @param after the shape after
     * @return false if it is resized, or if only run time tells
     */
    public boolean keeps(int axis, Shape before, Shape after) {
        int place = place(axis, before);
        return place < 0 || (before.get(axis).equals(after.get(axis)) && (scales.isEmpty() || scales.get(place) == 1));
    }

    /**
     * {@return what every position along an axis is made of}
     *
     * @param axis which axis, from the front
     * @param before the shape before, of known lengths
     * @param after the shape after
     */
    public Sampling.Taps[] taps(int axis, Shape before, Shape after) {
        long from = before.get(axis).value();
        long to = after.get(axis).value();
        int place = place(axis, before);
        float scale = scales.isEmpty() || place < 0
                ? (float) to / from
                : scales.get(place).floatValue();
        return sampling.taps(from, to, scale);
    }

    /** Products and sums along one axis after the other. */
    @Override
    public Dimension flops(Operands inputs, List<Fact> outputs) {
        Shape before = inputs.shape(0);
        Shape after = outputs.getFirst().shape();
        long resized = LongStream.range(0, before.rank())
                .filter(axis -> !keeps((int) axis, before, after))
                .count();
        long perAxis = switch (sampling.mode()) {
            case NEAREST -> 0;
            case LINEAR -> 4;
            case CUBIC -> 8;
        };
        return after.size().times(resized * perAxis);
    }
}
