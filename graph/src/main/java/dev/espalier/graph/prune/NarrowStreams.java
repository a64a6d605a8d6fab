package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.LayerNorm;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.pass.ResidualStream;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;

/**
 * Has residual streams lose dimensions that no layer writes and no layer reads, although layer normalisations count them.
 *
 * <p>Let n be the width of the stream, K the dimensions in use and D the others, which are zero. A layer normalisation subtracts the
 * mean {@code m = Σ_K x / n}, in D too, so that its variance is that of {@code x_K − m} and of |D| times −m. Both are linear in x,
 * as the stream is in the weights that write to it. So these weights write {@code x_K − m} right away, and {@code √|D|·m} to one
 * dimension of D, which nobody reads: the mean of squares is what the variance was, zeros add nothing to it, and the rest of D can go.
 * What is left of the normalisation is {@code x / √(mean of x² + ε) · γ + β}.
 */
final class NarrowStreams {
    private final Graph graph;
    private final SequencedMap<String, Initializer> initializers;
    private final List<Node> nodes;
    private final Set<String> taken = new HashSet<>();

    private NarrowStreams(Graph graph) {
        this.graph = graph;
        initializers = new LinkedHashMap<>(graph.initializers());
        nodes = new ArrayList<>(graph.nodes());
        taken.addAll(graph.initializers().keySet());
        graph.inputs().forEach(input -> taken.add(input.name()));
        graph.nodes().forEach(node -> {
            taken.add(node.name());
            taken.addAll(node.outputs());
        });
    }

    /**
     * Rewrites the layer normalisations of streams that can lose dimensions.
     *
     * @param graph the graph
     * @param idle for a layer normalisation the dimensions that are zero before it and not read behind it
     * @param options which layers are kept
     * @return a graph that computes the same; the very same if there is nothing to be lost
     */
    static Graph apply(Graph graph, Idle idle, PruneOptions options) {
        NarrowStreams pass = new NarrowStreams(graph);
        boolean changed = false;
        for (ResidualStream stream : ResidualStream.in(graph)) {
            if (!stream.norms().isEmpty() && stream.nodes().stream().noneMatch(options::keeps)) {
                BitSet gone = new BitSet();
                gone.set(0, Math.toIntExact(stream.width()));
                stream.norms().forEach(norm -> gone.and(idle.before(norm)));
                // One dimension of them stays, for the mean.
                if (gone.cardinality() > 1) {
                    pass.rewrite(stream, gone);
                    changed = true;
                }
            }
        }
        return changed ? graph.with(pass.initializers, pass.nodes) : graph;
    }

    /** Which dimensions are not in use. */
    @FunctionalInterface
    interface Idle {
        /** Those that are zero before a normalisation and not read behind it. */
        BitSet before(Node norm);
    }

    private void rewrite(ResidualStream stream, BitSet gone) {
        stream.writers().forEach((weight, axis) -> {
            Initializer old = initializer(weight);
            initializers.put(weight, old.with(centred(old.tensor(), axis, gone)));
        });
        stream.norms().forEach(this::rewrite);
    }

    private Initializer initializer(String name) {
        Initializer initializer = initializers.get(name);
        if (initializer == null) {
            throw new IllegalStateException("no initializer " + name);
        }
        return initializer;
    }

    /** {@code x_K − m} in the place of {@code x_K}, {@code √|D|·m} in the first place of D, zeros in the others. */
    private static Tensor centred(Tensor tensor, int axis, BitSet gone) {
        long[] shape = tensor.shape();
        int width = (int) shape[axis];
        int stride = 1;
        for (int i = axis + 1; i < shape.length; i++) {
            stride *= (int) shape[i];
        }
        double[] values = new double[Math.toIntExact(tensor.size())];
        for (int i = 0; i < values.length; i++) {
            values[i] = tensor.getDouble(i);
        }
        double root = Math.sqrt(gone.cardinality());
        int spare = gone.nextSetBit(0);
        for (int outer = 0; outer < values.length; outer += width * stride) {
            for (int start = outer; start < outer + stride; start++) {
                double mean = 0;
                for (int place = gone.nextClearBit(0); place < width; place = gone.nextClearBit(place + 1)) {
                    mean += values[start + place * stride];
                }
                mean /= width;
                for (int place = 0; place < width; place++) {
                    int index = start + place * stride;
                    values[index] = !gone.get(place) ? values[index] - mean : place == spare ? root * mean : 0;
                }
            }
        }
        return Tensor.compute(tensor.type(), shape, i -> values[(int) i]);
    }

    /** In the order that runtimes know for a normalisation by the root mean square. */
    private void rewrite(Node node) {
        if (!(node.operator() instanceof LayerNorm norm)) {
            throw new IllegalStateException(node + " is no layer normalisation");
        }
        String x = node.input(0);
        DataType type = graph.fact(x).data();
        String squares = add(node, "squares", Binary.Function.POWER, x, number(node, "two", Tensor.scalar(type, 2)));
        String mean = fresh(node.output() + ".mean");
        nodes.add(new Node(
                fresh(node.name() + ".mean"),
                new Reduce(Reduce.Function.MEAN, List.of(-1L), true),
                List.of(squares),
                List.of(mean)));
        String epsilon = number(node, "epsilon", Tensor.scalar(type, norm.epsilon()));
        String sum = add(node, "sum", Binary.Function.ADD, mean, epsilon);
        String root = fresh(node.output() + ".root");
        nodes.add(new Node(fresh(node.name() + ".root"), new Unary(Unary.Function.SQRT), List.of(sum), List.of(root)));
        String quotient = add(node, "quotient", Binary.Function.DIVIDE, x, root);
        String scaled = node.has(2) ? add(node, "scaled", Binary.Function.MULTIPLY, quotient, node.input(1)) : quotient;
        nodes.remove(node);
        nodes.add(new Node(
                node.name(),
                new Binary(node.has(2) ? Binary.Function.ADD : Binary.Function.MULTIPLY),
                List.of(scaled, node.input(node.has(2) ? 2 : 1)),
                node.outputs()));
    }

    private String add(Node node, String what, Binary.Function function, String left, String right) {
        String output = fresh(node.output() + "." + what);
        nodes.add(
                new Node(fresh(node.name() + "." + what), new Binary(function), List.of(left, right), List.of(output)));
        return output;
    }

    private String number(Node node, String what, Tensor contents) {
        String name = fresh(node.name() + "." + what);
        initializers.put(name, new Initializer(contents, Initializer.Kind.CONSTANT));
        return name;
    }

    private String fresh(String name) {
        String candidate = name;
        for (int i = 2; !taken.add(candidate); i++) {
            candidate = name + i;
        }
        return candidate;
    }
}
