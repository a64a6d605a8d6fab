package dev.espalier.graph.prune;

import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.ConvTranspose;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.prune.Rule.Contraction;
import dev.espalier.graph.prune.Rule.Layer;
import dev.espalier.graph.prune.Rule.Product;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Layers with weights, at whose outputs channels begin, and products of activations. */
final class LayerRules {
    private LayerRules() {}

    static Rule conv(Site site, Conv conv) {
        boolean padded = conv.windows().pads().stream().anyMatch(pad -> pad != 0);
        Channels input = Channels.along(site.shape(0), 1);
        Channels output = Channels.along(site.outputShape(), 1);
        Layer layer = new Layer(1, 1, true, (groups, biased) -> new Conv(conv.windows(), groups));
        return constantWeights(site)
                ? product(site, input, output, 1, 0, (int) conv.groups(), padded, layer)
                : site.opaque();
    }

    private static boolean constantWeights(Site site) {
        return site.isWeight(1) && (!site.node().has(2) || site.isWeight(2));
    }

    /** Elements of the output get more or fewer terms than their neighbours, so that of constants only zero stays one. */
    static Rule convTranspose(Site site, ConvTranspose conv) {
        Channels input = Channels.along(site.shape(0), 1);
        Channels output = Channels.along(site.outputShape(), 1);
        Layer layer =
                new Layer(1, 1, true, (groups, biased) -> new ConvTranspose(conv.windows(), conv.added(), groups));
        return constantWeights(site)
                ? product(site, input, output, 0, 1, (int) conv.groups(), true, layer)
                : site.opaque();
    }

    static Rule gemm(Site site, Gemm gemm) {
        boolean bias = !site.node().has(2) || (site.isWeight(2) && site.shape(2).rank() <= 1);
        if (!site.isWeight(1) || !bias || gemm.transposeA()) {
            return site.opaque();
        }
        Gemm asIs = new Gemm(gemm.alpha(), 1, gemm.transposeA(), gemm.transposeB());
        Layer layer = new Layer(gemm.alpha(), gemm.beta(), true, (groups, biased) -> biased ? asIs : gemm);
        return linear(site, gemm.transposeB() ? 1 : 0, layer);
    }

    static Rule matMul(Site site, MatMul product) {
        if (site.isWeight(1) && site.shape(1).rank() == 2) {
            return linear(site, 0, new Layer(1, 1, false, (groups, biased) -> product));
        }
        Rule contraction = site.isWeight(0) || site.isWeight(1) ? null : contraction(site);
        return contraction == null ? site.opaque() : contraction;
    }

    private static Rule linear(Site site, int inAxis, Layer layer) {
        Channels input = Channels.along(site.shape(0), -1);
        Channels output = Channels.along(site.outputShape(), -1);
        return product(site, input, output, inAxis, 1 - inAxis, 1, false, layer);
    }

    /**
     * A layer whose number of inputs is only known at run time, or that has no weights at all, stays as it is; so does one of
     * whole numbers, whose sums wrap around.
     */
    private static Rule product(
            Site site,
            Channels input,
            Channels output,
            int inAxis,
            int outAxis,
            int groups,
            boolean padded,
            Layer layer) {
        boolean empty = site.shape(1).size().is(0);
        boolean whole = !site.graph().fact(site.node().output()).data().isFloat();
        if (input.none() || output.none() || empty || whole) {
            return site.opaque();
        }
        List<Channels> inputs = new ArrayList<>(List.of(input));
        while (inputs.size() < site.inputs()) {
            inputs.add(Channels.NONE);
        }
        return new Product(inputs, List.of(output), inAxis, outAxis, groups, padded, layer);
    }

    private static @Nullable Rule contraction(Site site) {
        int leftRank = site.shape(0).rank();
        int rightRank = site.shape(1).rank();
        Channels left = site.channels(0);
        Channels right = site.channels(1);
        if (leftRank != rightRank || leftRank < 3 || left.axes().contains(leftRank - 2)) {
            return null;
        }
        boolean leftInner = left.axes().contains(leftRank - 1);
        boolean rightInner = right.axes().contains(rightRank - 2);
        boolean rightOuter = right.axes().contains(rightRank - 1);
        List<Integer> heads = new ArrayList<>(new TreeSet<>(left.axes()));
        heads.removeIf(axis -> axis >= leftRank - 2);
        List<Integer> leftAxes = new ArrayList<>(heads);
        List<Integer> rightAxes = new ArrayList<>(heads);
        List<Integer> outAxes = new ArrayList<>(heads);
        if (leftInner && rightInner) {
            leftAxes.add(leftRank - 1);
            rightAxes.add(rightRank - 2);
        }
        if (rightOuter) {
            rightAxes.add(rightRank - 1);
            outAxes.add(leftRank - 1);
        }
        boolean fits = leftInner == rightInner
                && !(rightInner && rightOuter)
                && !heads.isEmpty()
                && left.axes().equals(leftAxes)
                && right.axes().equals(rightAxes)
                && heads.stream()
                        .allMatch(axis ->
                                site.shape(0).get(axis).equals(site.shape(1).get(axis)));
        Channels output = Channels.along(site.outputShape(), outAxes);
        return fits && !output.none() ? new Contraction(List.of(left, right), List.of(output), leftInner) : null;
    }
}
