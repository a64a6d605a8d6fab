package dev.espalier.graph.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.ShapeOf;
import dev.espalier.graph.op.Size;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.prune.NarrowingGroups;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class KeyBiasesTest {
    private static final BertConfig CONFIG =
            new BertConfig(20, 8, 2, 2, 12, 16, 2, 1e-12, 0, 0, BertConfig.Activation.GELU);

    private static Tensor numbers(long... shape) {
        return Tensor.compute(DataType.FLOAT32, shape, i -> Math.sin(3.0 * i + 1));
    }

    /** Biases of a fresh model are zero: they are made others first. */
    private static Graph trained(Graph model) {
        Map<String, Tensor> changed = new HashMap<>();
        model.initializers().forEach((name, initializer) -> {
            if (name.endsWith("bias")) {
                changed.put(name, numbers(initializer.tensor().shape()));
            }
        });
        return model.withTensors(changed);
    }

    private static void assertSameAnswers(Graph model, Graph other) {
        Equivalence.measure(model, other, SampleInputs.DEFAULT.draw(model), Evaluator::run)
                .requireEqual(1e-5);
    }

    private static long narrowing(Graph model) {
        return NarrowingGroups.of(
                        model, GroupRules.everything().groupHeadDimensions().derive(model))
                .stream()
                .filter(layer -> layer.name().contains("query"))
                .count();
    }

    @Test
    void aTransformerDoesNotMissThem() {
        Graph model = trained(Bert.encoder(CONFIG, Weights.seeded(1)));
        Graph without = KeyBiases.remove(model);
        assertSameAnswers(model, without);
        assertEquals(
                model.initializers().keySet().stream()
                        .filter(name -> !name.contains("key") || !name.endsWith("bias"))
                        .toList(),
                List.copyOf(without.initializers().keySet()));
        assertSame(without, KeyBiases.remove(without));
        // What is zero can be cut out now: a dimension of all keys that is a number could not.
        assertEquals(0, narrowing(model));
        assertEquals(2, narrowing(without));
    }

    @Test
    void askingForTheSizeOfKeysDoesNotKeepTheirBias() {
        Graph model = attention(List.of(1L, 0L), false);
        List<Node> nodes = new ArrayList<>(model.nodes());
        nodes.add(new Node("size", new Size(), List.of("keys"), List.of("size")));
        nodes.add(new Node("shape", ShapeOf.ALL, List.of("keys"), List.of("shape")));
        Graph asking = model.with(model.initializers(), nodes);
        assertFalse(KeyBiases.remove(asking).initializers().containsKey("bias"));
    }

    private static Graph attention(List<Long> permutation, boolean read) {
        GraphBuilder builder = new GraphBuilder("attention");
        Value x = builder.input("x", DataType.FLOAT32, 4, 4);
        Value product = builder.add("product", new MatMul(), x, builder.parameter("weight", numbers(4, 4)));
        Value keys =
                builder.add("keys", new Binary(Binary.Function.ADD), product, builder.parameter("bias", numbers(4)));
        Value turned = builder.add("turned", new Transpose(permutation), keys);
        Value scores = builder.add("scores", new MatMul(), x, turned);
        Value shares = builder.add("shares", new Softmax(-1, false), scores);
        return read ? builder.outputs(shares, keys) : builder.outputs(shares);
    }

    @Test
    void whatIsSeenStays() {
        Graph known = attention(List.of(1L, 0L), false);
        assertEquals(known.nodes().size() - 1, KeyBiases.remove(known).nodes().size());
        assertSameAnswers(known, KeyBiases.remove(known));
        // The bias differs along what the softmax adds up.
        Graph across = attention(List.of(0L, 1L), false);
        assertSame(across, KeyBiases.remove(across));
        // Somebody else reads the keys.
        Graph shown = attention(List.of(1L, 0L), true);
        assertSame(shown, KeyBiases.remove(shown));
    }
}
