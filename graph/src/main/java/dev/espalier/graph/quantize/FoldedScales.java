package dev.espalier.graph.quantize;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What scales and shifts the channels behind a convolution becomes part of its weights and its bias. ONNX Runtime does the same, but
 * not any more once the weights are codes.
 */
final class FoldedScales {
    private final Graph graph;
    private final Rewriting rewriting;
    private final Set<Node> absorbed = new HashSet<>();

    private FoldedScales(Graph graph) {
        this.graph = graph;
        this.rewriting = new Rewriting(graph);
    }

    static Graph fold(Graph graph) {
        return new FoldedScales(graph).run();
    }

    /** A product and a sum for every channel. */
    private static final class Affine {
        private final double[] factor;
        private final double[] shift;

        Affine(int channels, @Nullable Tensor bias) {
            factor = new double[channels];
            Arrays.fill(factor, 1);
            shift = new double[channels];
            if (bias != null) {
                Arrays.setAll(shift, bias::getDouble);
            }
        }

        void multiply(int channel, double by) {
            factor[channel] *= by;
            shift[channel] *= by;
        }

        void add(int channel, double more) {
            shift[channel] += more;
        }
    }

    private Graph run() {
        for (Node node : graph.nodes()) {
            if (absorbed.contains(node)) {
                continue;
            }
            Tensor weight = node.operator() instanceof Conv ? graph.tensor(node.input(1)) : null;
            Tensor bias = graph.tensor(node.input(2));
            if (weight == null || weight.type() != DataType.FLOAT32 || (node.has(2) && bias == null)) {
                rewriting.keep(node);
            } else {
                fold(node, weight, bias);
            }
        }
        return rewriting.finish();
    }

    private void fold(Node conv, Tensor weight, @Nullable Tensor bias) {
        int channels = Math.toIntExact(weight.shape()[0]);
        Affine affine = new Affine(channels, bias);
        Node last = conv;
        for (Node next = onlyReader(conv);
                next != null && absorb(affine, next, last.output());
                next = onlyReader(next)) {
            absorbed.add(next);
            last = next;
        }
        if (last.equals(conv)) {
            rewriting.keep(conv);
            return;
        }
        long each = weight.size() / channels;
        String folded = rewriting.store(
                conv.input(1) + "/folded",
                Tensor.compute(
                        DataType.FLOAT32, weight.shape(), i -> weight.getDouble(i) * affine.factor[(int) (i / each)]));
        String shift = rewriting.store(
                conv.name() + "/bias",
                Tensor.compute(DataType.FLOAT32, new long[] {channels}, i -> affine.shift[(int) i]));
        rewriting.keep(new Node(conv.name(), conv.operator(), List.of(conv.input(0), folded, shift), last.outputs()));
    }

    private @Nullable Node onlyReader(Node node) {
        List<Use> uses = graph.uses(node.output());
        return uses.size() == 1 && !graph.isOutput(node.output())
                ? uses.getFirst().node()
                : null;
    }

    /** Takes a node in, if all it does is scale and shift channels by constants. */
    private boolean absorb(Affine affine, Node node, String tensor) {
        int channels = affine.factor.length;
        if (node.operator() instanceof BatchNorm norm && node.input(0).equals(tensor)) {
            List<Tensor> constants = new ArrayList<>();
            for (int i = 1; i < 5; i++) {
                Tensor constant = graph.tensor(node.input(i));
                if (constant == null) {
                    return false;
                }
                constants.add(constant);
            }
            for (int channel = 0; channel < channels; channel++) {
                affine.add(channel, -constants.get(2).getDouble(channel));
                affine.multiply(
                        channel,
                        constants.get(0).getDouble(channel)
                                / Math.sqrt(constants.get(3).getDouble(channel) + norm.epsilon()));
                affine.add(channel, constants.get(1).getDouble(channel));
            }
            return true;
        }
        if (!(node.operator() instanceof Binary(Binary.Function function))
                || !(function == Binary.Function.MULTIPLY || function == Binary.Function.ADD)) {
            return false;
        }
        Tensor constant = graph.tensor(node.input(node.input(0).equals(tensor) ? 1 : 0));
        if (constant == null
                || !isPerChannel(constant, channels, graph.shape(tensor).rank())) {
            return false;
        }
        for (int channel = 0; channel < channels; channel++) {
            double value = constant.getDouble(constant.size() == 1 ? 0 : channel);
            if (function == Binary.Function.ADD) {
                affine.add(channel, value);
            } else {
                affine.multiply(channel, value);
            }
        }
        return true;
    }

    /** One number for all, or one for each place along the second axis. */
    private static boolean isPerChannel(Tensor constant, int channels, int rank) {
        if (constant.rank() > rank) {
            return false;
        }
        long[] shape = constant.shape();
        int axis = constant.rank() - rank + 1;
        return constant.size() == 1 || (axis >= 0 && constant.size() == channels && shape[axis] == channels);
    }
}
