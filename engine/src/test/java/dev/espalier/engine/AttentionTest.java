package dev.espalier.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Dropout;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Attention as a whole and node by node come to the same, gradients included; on a GPU, if there is one. */
class AttentionTest {
    private static final Binary ADD = new Binary(Binary.Function.ADD);
    private static final Binary MULTIPLY = new Binary(Binary.Function.MULTIPLY);
    private static final Binary DIVIDE = new Binary(Binary.Function.DIVIDE);
    private static final double TOLERANCE = 2e-5;

    /** Attention that somebody wrote out in his own way. */
    private record Written(String name, boolean masked, boolean maskFirst, Operator scaling, double dropped) {
        private static final long[] MASK = {2, 1, 1, 7};

        /** One of the tensors on the way may go out as well. */
        Graph graph(String... seen) {
            GraphBuilder graph = new GraphBuilder(name);
            SplittableRandom random = new SplittableRandom(5);
            Value query = graph.parameter("query", normal(random, 2, 3, 5, 4));
            Value key = graph.parameter("key", normal(random, 2, 3, 7, 4));
            Value value = graph.parameter("value", normal(random, 2, 3, 7, 6));
            List<Value> way = new ArrayList<>();
            way.add(graph.add("turned", new Transpose(List.of(0L, 1L, 3L, 2L)), key));
            way.add(graph.add("scores", new MatMul(), query, way.getLast()));
            if (!scaling.equals(ADD)) {
                Value number = graph.constant("number", Tensor.scalar(DataType.FLOAT32, 0.6));
                way.add(graph.add("scaled", scaling, way.getLast(), number));
            }
            if (masked) {
                Value mask = graph.parameter("mask", normal(random, MASK));
                Value scores = way.getLast();
                way.add(maskFirst ? graph.add("masked", ADD, mask, scores) : graph.add("masked", ADD, scores, mask));
            }
            way.add(graph.add("shares", new Softmax(-1, false), way.getLast()));
            if (dropped > 0) {
                way.add(graph.add("dropped", new Dropout(dropped), way.getLast()));
            }
            Value context = graph.add("context", new MatMul(), way.getLast(), value);
            Stream<Value> others = way.stream().filter(tensor -> List.of(seen).contains(tensor.name()));
            return graph.outputs(Stream.concat(Stream.of(context), others).toArray(Value[]::new));
        }

        private static Tensor normal(SplittableRandom random, long... shape) {
            return Tensor.compute(DataType.FLOAT32, shape, i -> random.nextGaussian());
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static List<Written> ways() {
        return List.of(
                new Written("scaled and masked", true, false, MULTIPLY, 0),
                new Written("divided, mask first", true, true, DIVIDE, 0),
                new Written("no mask", false, false, MULTIPLY, 0),
                new Written("no scale", true, false, ADD, 0),
                new Written("plain", false, false, ADD, 0));
    }

    /** What came out, and the gradients of the sum of its squares. */
    private static Map<String, float[]> run(Graph graph, boolean fused, Mode mode) {
        try (PtNDManager manager = (PtNDManager) NDManager.newBaseManager("PyTorch")) {
            Map<String, PtNDArray> arrays = new HashMap<>();
            graph.initializers().forEach((name, initializer) -> {
                if (initializer.kind() == Initializer.Kind.PARAMETER) {
                    PtNDArray array = Tensors.upload(manager, initializer.tensor());
                    array.setRequiresGradient(true);
                    arrays.put(name, array);
                }
            });
            Plan plan = Compiler.compile(graph, (PtNDManager) manager.newSubManager(), arrays::get, fused);
            Map<String, float[]> results = new HashMap<>();
            try (Pass pass = Pass.run(plan, Map.of(), mode, manager, () -> {})) {
                NDArray context = pass.output("context");
                results.put("context", context.toFloatArray());
                pass.backward(context.square().sum(), 1);
            }
            arrays.forEach(
                    (name, array) -> results.put(name, array.getGradient().toFloatArray()));
            return results;
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void bothWaysComeToTheSame(Written written) {
        Graph graph = written.graph();
        assertEquals(1, Attention.in(graph).size());
        Map<String, float[]> whole = run(graph, true, Mode.REHEARSAL);
        Map<String, float[]> single = run(graph, false, Mode.REHEARSAL);
        assertEquals(single.keySet(), whole.keySet());
        single.forEach((name, expected) -> {
            float[] found = Objects.requireNonNull(whole.get(name));
            for (int i = 0; i < expected.length; i++) {
                assertEquals(expected[i], found[i], TOLERANCE * Math.max(1, Math.abs(expected[i])), name + " " + i);
            }
        });
    }

    @Test
    void whatIsDroppedIsDroppedInTrainingAlone() {
        Graph graph = new Written("dropping", true, false, MULTIPLY, 0.5).graph();
        assertEquals(0.5, Attention.in(graph).values().iterator().next().dropped());
        float[] kept = run(graph, true, Mode.REHEARSAL).get("context");
        assertTrue(Arrays.equals(run(graph, true, Mode.REHEARSAL).get("context"), kept));
        assertNotEquals(
                Arrays.toString(kept),
                Arrays.toString(run(graph, true, Mode.TRAINING).get("context")));
    }

    /** Scores that somebody else reads have to be there. */
    @Test
    void whatIsReadElsewhereStays() {
        Written written = new Written("read", true, false, MULTIPLY, 0.1);
        for (String tensor : List.of("scores", "scaled", "masked", "shares", "dropped")) {
            assertEquals(Map.of(), Attention.in(written.graph(tensor)), tensor);
        }
        List<Node> within =
                Attention.in(written.graph()).values().iterator().next().within();
        assertEquals(
                List.of("dropped", "shares", "masked", "scaled", "scores"),
                within.stream().map(Node::output).toList());
    }
}
