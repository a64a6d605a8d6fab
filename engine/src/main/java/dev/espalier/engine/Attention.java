package dev.espalier.engine;

import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torch.Torch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Attention that a graph has written out: {@code dropout(softmax(scale · query · key + mask)) · value}. As a whole it is one kernel, which on a
 * GPU never has all scores in its memory; node by node it reads and writes them a dozen times.
 *
 * @param within the nodes that it takes the place of, the last one excepted
 * @param inputs query, transposed key, value and, if there is one, mask
 * @param scale what products are multiplied with
 * @param dropped the share of scores that is dropped in training
 */
record Attention(List<Node> within, List<String> inputs, double scale, double dropped) {
    private static final int RANK = 4;

    /** {@return all that a graph has, by the last node} */
    static Map<Node, Attention> in(Graph graph) {
        Map<Node, Attention> found = new HashMap<>();
        for (Node node : graph.nodes()) {
            Attention attention = node.operator() instanceof MatMul ? new Search(graph).endingIn(node) : null;
            if (attention != null) {
                found.put(node, attention);
            }
        }
        return found;
    }

    Kernel kernel() {
        return Kernel.ofFeed(feed -> {
            PtNDArray key = JniUtils.transpose(feed.get(1), RANK - 1, RANK - 2);
            PtNDArray mask = feed.optional(RANK - 1);
            return (PtNDArray) Torch.attention(feed.get(0), key, feed.get(2), mask, feed.drops() ? dropped : 0, scale);
        });
    }

    /** Goes from the last node to the first; what it passes is read by nobody else. */
    private static final class Search {
        private final Graph graph;
        private final List<Node> passed = new ArrayList<>();

        Search(Graph graph) {
            this.graph = graph;
        }

        @Nullable
        Attention endingIn(Node product) {
            if (!isMatrices(product.input(0)) || !isMatrices(product.input(1))) {
                return null;
            }
            String value = product.input(1);
            double dropped = 0;
            Node node = before(product.input(0));
            if (node != null && node.operator() instanceof Dropout(double ratio)) {
                dropped = ratio;
                node = before(node.input(0));
            }
            if (node == null
                    || !(node.operator() instanceof Softmax(long axis, boolean logarithm))
                    || logarithm
                    || Shape.axis(axis, RANK) != RANK - 1) {
                return null;
            }
            node = before(node.input(0));
            String mask = null;
            if (node != null && isBinary(node, Binary.Function.ADD)) {
                int scores = isScores(node.input(0)) ? 0 : 1;
                mask = node.input(1 - scores);
                if (!isMask(mask, graph.shape(node.input(scores)))) {
                    return null;
                }
                node = before(node.input(scores));
            }
            double scale = 1;
            if (node != null && isBinary(node, Binary.Function.MULTIPLY, Binary.Function.DIVIDE)) {
                Double factor = number(node.input(1));
                if (factor == null) {
                    return null;
                }
                scale = isBinary(node, Binary.Function.DIVIDE) ? 1 / factor : factor;
                node = before(node.input(0));
            }
            if (node == null
                    || !(node.operator() instanceof MatMul)
                    || !isMatrices(node.input(0))
                    || !isMatrices(node.input(1))
                    || !sameHeads(node.input(0), node.input(1), value)) {
                return null;
            }
            List<String> inputs = new ArrayList<>(List.of(node.input(0), node.input(1), value));
            if (mask != null) {
                inputs.add(mask);
            }
            return new Attention(List.copyOf(passed), List.copyOf(inputs), scale, dropped);
        }

        /** The node that makes a tensor, if only one other reads that. */
        private @Nullable Node before(String tensor) {
            Node producer = graph.producer(tensor);
            if (producer == null || graph.uses(tensor).size() != 1 || graph.isOutput(tensor)) {
                return null;
            }
            passed.add(producer);
            return producer;
        }

        private boolean isMatrices(String tensor) {
            return graph.shape(tensor).isKnown()
                    && graph.shape(tensor).rank() == RANK
                    && graph.fact(tensor).data() == DataType.FLOAT32;
        }

        private boolean sameHeads(String query, String key, String value) {
            long[] shape = graph.shape(query).lengths();
            for (String other : List.of(key, value)) {
                long[] lengths = graph.shape(other).lengths();
                if (lengths[0] != shape[0] || lengths[1] != shape[1]) {
                    return false;
                }
            }
            return true;
        }

        /** Whether a tensor is what the scores come from, and not what is added to them. */
        private boolean isScores(String tensor) {
            Node producer = graph.producer(tensor);
            if (producer != null && isBinary(producer, Binary.Function.MULTIPLY, Binary.Function.DIVIDE)) {
                producer = graph.producer(producer.input(0));
            }
            return producer != null && producer.operator() instanceof MatMul;
        }

        private boolean isMask(String tensor, Shape scores) {
            if (!isMatrices(tensor)) {
                return false;
            }
            long[] lengths = graph.shape(tensor).lengths();
            return IntStream.range(0, RANK).allMatch(i -> lengths[i] == 1 || lengths[i] == scores.lengths()[i]);
        }

        private static boolean isBinary(Node node, Binary.Function... functions) {
            return node.operator() instanceof Binary(Binary.Function function)
                    && List.of(functions).contains(function);
        }

        private @Nullable Double number(String tensor) {
            Tensor constant = Site.constant(graph, tensor);
            return constant != null && constant.size() == 1 ? constant.getDouble(0) : null;
        }
    }
}
