package dev.espalier.graph.prune;

import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.prune.Rule.Carried;
import dev.espalier.graph.prune.Rule.Mapping;
import dev.espalier.graph.prune.Rule.Spare;
import dev.espalier.graph.prune.Rule.Written;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Operators whose every element is a function of one element of each input, after broadcasting. */
final class AlignedRules {
    private AlignedRules() {}

    static Rule elements(Site site) {
        return aligned(site, (output, channel, operands) -> site.evaluate(operands), Written.AS_IT_IS);
    }

    static Rule binary(Site site, Binary.Function function) {
        return switch (function) {
            case MULTIPLY -> aligned(site, (output, channel, operands) -> product(site, operands), Written.AS_IT_IS);
            case ADD -> aligned(site, (output, channel, operands) -> site.evaluate(operands), AlignedRules::writeSum);
            case DIVIDE -> aligned(site, (output, channel, operands) -> quotient(site, operands), Written.AS_IT_IS);
            case SUBTRACT, POWER, MODULO, PRELU, EQUAL, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL, AND, OR, XOR ->
                elements(site);
        };
    }

    /** Zero is zero, whatever it is multiplied by. */
    private static double product(Site site, double[] operands) {
        return operands[0] == 0 || operands[1] == 0 ? 0 : site.evaluate(operands);
    }

    /** Zero is zero, whatever it is divided by, unless that may be zero too. */
    private static double quotient(Site site, double[] operands) {
        return operands[0] == 0 && isRootOfPositive(site) ? 0 : site.evaluate(operands);
    }

    /** Whether a divisor is a root of something plus a positive number, as that of a normalisation is. */
    private static boolean isRootOfPositive(Site site) {
        Node root = site.graph().producer(site.node().input(1));
        Node sum = root != null
                        && root.operator() instanceof Unary(Unary.Function function)
                        && function == Unary.Function.SQRT
                ? site.graph().producer(root.input(0))
                : null;
        return sum != null
                && sum.operator() instanceof Binary(Binary.Function function)
                && function == Binary.Function.ADD
                && sum.inputs().stream().map(site.graph()::tensor).anyMatch(AlignedRules::isPositive);
    }

    private static boolean isPositive(@Nullable Tensor tensor) {
        return tensor != null && tensor.size() == 1 && tensor.getDouble(0) > 0;
    }

    private static Rule aligned(Site site, Carried carried, Written written) {
        Shape output = site.outputShape();
        Channels result = Channels.along(output, site.axesOfOutput(output.rank()));
        if (result.none()) {
            return site.opaque();
        }
        List<Channels> inputs = new ArrayList<>();
        int[][][] maps = new int[site.inputs()][1][];
        for (int i = 0; i < site.inputs(); i++) {
            boolean has = site.node().has(i);
            Channels seen = has ? seen(site.shape(i), result, output) : Channels.NONE;
            if (seen == null) {
                return site.opaque();
            }
            inputs.add(seen);
            maps[i][0] = map(
                    result, inputs.get(i), output.rank() - (has ? site.shape(i).rank() : 0));
        }
        return new Mapping(inputs, List.of(result), maps, carried, written, Spare.CONSTANT);
    }

    /** The channels of an input that is not stretched along them; null if only run time tells whether it is. */
    private static @Nullable Channels seen(Shape input, Channels result, Shape output) {
        int shift = output.rank() - input.rank();
        List<Integer> axes = result.axes().stream()
                .map(axis -> axis - shift)
                .filter(axis -> axis >= 0
                        && (!input.get(axis).is(1) || output.get(axis + shift).is(1)))
                .toList();
        Channels seen = Channels.along(input, axes);
        return seen.axes().equals(axes) ? seen : null;
    }

    private static int[] map(Channels result, Channels input, int shift) {
        int[] map = new int[result.count()];
        List<Integer> position = input.axes().stream()
                .map(axis -> result.axes().indexOf(axis + shift))
                .toList();
        for (int channel = 0; channel < map.length; channel++) {
            int[] places = result.places(channel);
            map[channel] =
                    input.channel(position.stream().mapToInt(i -> places[i]).toArray());
        }
        return map;
    }

    /** A sum with zeros is its other operand: so a block whose branch carries nothing is bypassed. */
    private static void writeSum(Rewriter rewriter, Node node, Mapping rule) {
        String untouched = withoutEffect(rewriter, node, rule);
        if (untouched == null) {
            rewriter.keep(node, rule);
        } else {
            rewriter.alias(node.output(), untouched);
        }
    }

    private static @Nullable String withoutEffect(Rewriter rewriter, Node node, Mapping rule) {
        for (int i = 0; i < 2; i++) {
            int other = 1 - i;
            boolean sameShape = rewriter.shape(node.input(other)).equals(rewriter.shape(node.output()));
            if (sameShape && rewriter.isReplaced(node, i) && rewriter.isZero(node, rule, i)) {
                boolean varies = !rewriter.isWeight(node, other) && !rewriter.isReplaced(node, other);
                return varies ? rewriter.input(node, rule, other) : null;
            }
        }
        return null;
    }
}
