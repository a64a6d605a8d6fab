package dev.espalier.graph.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.SmallCnn;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.op.BatchNorm;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ServedTest {
    private static Tensor numbers(double from, long... shape) {
        return Tensor.compute(DataType.FLOAT32, shape, i -> from + Math.sin(3.0 * i) / 2);
    }

    private static void assertServed(Graph model, int nodes) {
        Graph served = Served.of(model);
        assertTrue(served.nodes().stream().noneMatch(node -> node.operator() instanceof BatchNorm));
        assertEquals(
                nodes,
                served.nodes().size(),
                () -> served.nodes().stream().map(Node::toString).toList().toString());
        Equivalence.measure(model, served, SampleInputs.DEFAULT.draw(model), Evaluator::run)
                .requireEqual(1e-5);
        assertSame(served, Served.of(served));
    }

    /** The statistics of a fresh model are those that change nothing: they are made others first. */
    private static Graph trained(Graph model) {
        Map<String, Tensor> changed = new HashMap<>();
        model.initializers().forEach((name, initializer) -> {
            if (initializer.tensor().shape().length == 1) {
                changed.put(name, numbers(1, initializer.tensor().shape()));
            }
        });
        return model.withTensors(changed);
    }

    @Test
    void whatIsBehindAConvolutionLeavesItsWeights() {
        Graph model = trained(SmallCnn.build(new ImageOptions(4, 1, 8), List.of(3, 5), true, Weights.seeded(3)));
        long norms = model.nodes().stream()
                .filter(node -> node.operator() instanceof BatchNorm)
                .count();
        assertTrue(norms > 0);
        assertServed(model, model.nodes().size() + (int) norms);
        Graph served = Served.of(model);
        model.tensors(Kind.PARAMETER).forEach((name, tensor) -> {
            if (name.endsWith("conv.weight")) {
                assertSame(tensor, served.tensor(name), name);
            }
        });
    }

    @Test
    void aNormIsAFactorAndAShift() {
        GraphBuilder builder = new GraphBuilder("norm");
        Value x = builder.input("x", DataType.FLOAT32, "batch", 3, 2, 2);
        Graph model = builder.outputs(builder.add(
                "norm",
                new BatchNorm(1e-5, 0.9),
                x,
                builder.parameter("scale", numbers(1, 3)),
                builder.parameter("shift", numbers(0, 3)),
                builder.buffer("mean", numbers(2, 3)),
                builder.buffer("variance", numbers(1, 3))));
        assertServed(model, 2);
        assertEquals(
                List.of("norm/factor", "norm/shift"),
                List.copyOf(Served.of(model).initializers().keySet()));
    }

    @Test
    void nothingIsDroppedOut() {
        BertConfig config = new BertConfig(40, 16, 1, 2, 24, 32, 2, 1e-12, 0.1, 0.2, BertConfig.Activation.GELU);
        Graph model = Bert.encoder(config, Weights.seeded(1));
        assertTrue(model.nodes().stream().anyMatch(node -> node.operator() instanceof Dropout));
        Graph served = Served.of(model);
        assertTrue(served.nodes().stream().noneMatch(node -> node.operator() instanceof Dropout));
        Equivalence.measure(model, served, SampleInputs.DEFAULT.draw(model), Evaluator::run)
                .requireEqual(0);
    }
}
