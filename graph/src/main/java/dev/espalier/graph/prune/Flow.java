package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.ArgReduce;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Concat;
import dev.espalier.graph.op.ConstantOfShape;
import dev.espalier.graph.op.Conv;
import dev.espalier.graph.op.ConvTranspose;
import dev.espalier.graph.op.CumSum;
import dev.espalier.graph.op.Elementwise;
import dev.espalier.graph.op.Expand;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Foreign;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.GatherElements;
import dev.espalier.graph.op.Gemm;
import dev.espalier.graph.op.GlobalPool;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Pad;
import dev.espalier.graph.op.Pool;
import dev.espalier.graph.op.Range;
import dev.espalier.graph.op.Recurrent;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Resize;
import dev.espalier.graph.op.ScatterElements;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Size;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Tile;
import dev.espalier.graph.op.TopK;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Trilu;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.op.Variadic;
import dev.espalier.graph.op.Where;
import dev.espalier.graph.prune.Rule.Recurrence;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * From front to back: which tensors have channels, along which axes, and how every node passes them on. Channels begin at
 * the output of a convolution, a linear layer, an embedding or a normalisation.
 */
final class Flow {
    private final Graph graph;
    private final Map<String, Channels> channels = new HashMap<>();
    private final Map<Node, Rule> rules = new HashMap<>();

    /**
     * The flow through a graph.
     *
     * @param graph the graph
     * @param whole nodes that take and make tensors as a whole, whatever they could do
     */
    Flow(Graph graph, Set<Node> whole) {
        this.graph = graph;
        for (Node node : graph.nodes()) {
            Site site = new Site(graph, node, this::channels);
            Rule found = whole.contains(node) ? site.opaque() : rule(site);
            Rule rule = isFollowable(node, found) ? found : unfollowed(site, found);
            for (int i = 0; i < node.outputs().size(); i++) {
                channels.put(node.outputs().get(i), rule.outputs().get(i));
            }
            rules.put(node, rule);
        }
    }

    /** The channels of a tensor; none for inputs of the graph, which stay as they are. */
    Channels channels(String tensor) {
        return channels.getOrDefault(tensor, Channels.NONE);
    }

    Rule ruleOf(Node node) {
        Rule rule = rules.get(node);
        if (rule == null) {
            throw new IllegalStateException("no rule for " + node);
        }
        return rule;
    }

    /** What a node does where nobody can take a part of what it makes. */
    private static Rule unfollowed(Site site, Rule found) {
        return found instanceof Recurrence recurrence ? recurrence.whole() : site.opaque();
    }

    private static Rule rule(Site site) {
        return switch (site.node().operator()) {
            case Elementwise _, Variadic _, Where _ -> AlignedRules.elements(site);
            case Binary(Binary.Function function) -> AlignedRules.binary(site, function);
            case BatchNorm norm -> AxisRules.batchNorm(site, norm);
            case LayerNorm norm -> AxisRules.layerNorm(site, norm);
            case Pool pool -> AxisRules.pool(site, pool);
            case GlobalPool _ -> AxisRules.globalPool(site);
            case Softmax softmax -> AxisRules.softmax(site, softmax);
            case CumSum sum -> AxisRules.cumSum(site, sum);
            case Reduce reduce -> AxisRules.reduce(site, reduce);
            case Expand _ -> AxisRules.expand(site);
            case Transpose transpose -> ReshapeRules.transpose(site, transpose);
            case Reshape _ -> ReshapeRules.reshape(site);
            case Flatten _ -> ReshapeRules.flatten(site);
            case Squeeze squeeze -> ReshapeRules.squeeze(site, squeeze);
            case Unsqueeze _ -> ReshapeRules.unsqueeze(site);
            case Concat concat -> PieceRules.concat(site, concat);
            case Split split -> PieceRules.split(site, split);
            case Slice _ -> PieceRules.slice(site);
            case Gather gather -> PieceRules.gather(site, gather);
            case Pad pad -> PieceRules.pad(site, pad);
            case Resize resize -> ResizeRule.of(site, resize);
            case Conv conv -> LayerRules.conv(site, conv);
            case ConvTranspose conv -> LayerRules.convTranspose(site, conv);
            case Gemm gemm -> LayerRules.gemm(site, gemm);
            case MatMul product -> LayerRules.matMul(site, product);
            case Recurrent recurrent -> RecurrentRule.of(site, recurrent);
            case ShapeOf _, Size _ -> site.shapeOnly();
            case ArgReduce _,
                    GatherElements _,
                    ScatterElements _,
                    TopK _,
                    Tile _,
                    ConstantOfShape _,
                    Range _,
                    Trilu _,
                    Foreign _ -> site.opaque();
        };
    }

    /** A tensor with channels along several axes has no cut that suits two readers at once. */
    private boolean isFollowable(Node node, Rule rule) {
        for (int i = 0; i < node.outputs().size(); i++) {
            String output = node.outputs().get(i);
            boolean several = rule.outputs().get(i).axes().size() > 1;
            if (several && (graph.isOutput(output) || graph.readers(output).size() > 1)) {
                return false;
            }
        }
        return true;
    }
}
