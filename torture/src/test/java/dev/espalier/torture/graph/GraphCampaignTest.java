package dev.espalier.torture.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Operator;
import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class GraphCampaignTest {
    @Test
    void aFewModelsAgreeWithOnnxRuntime(@TempDir Path folder) throws IOException, InterruptedException {
        Effort effort = new Effort(Effort.Limits.ofCases(25, 8), folder, new PrintWriter(Writer.nullWriter()));
        Figures figures = new GraphCampaign().run(effort);
        assertTrue(figures.sound(), () -> String.join("\n", figures.told()));
        Map<String, Double> numbers = figures.numbers();
        for (String party : new String[] {"evaluator", "engine", "training", "pruner"}) {
            assertTrue(numbers.getOrDefault(party + ": agreed", 0.0) > 12, numbers::toString);
        }
        for (String other : new String[] {"permuted", "split", "dead branch"}) {
            assertTrue(numbers.getOrDefault(other + ": agreed", 0.0) > 0, numbers::toString);
        }
    }

    @Test
    void everyOperatorIsDrawn() {
        Set<Class<?>> drawn = IntStream.range(0, 1500)
                .mapToObj(seed -> RandomGraph.of(new SplittableRandom(seed)).graph())
                .flatMap(graph -> graph.nodes().stream())
                .map(node -> node.operator().getClass())
                .collect(Collectors.toSet());
        assertEquals(OperatorSteps.operators(Operator.class).collect(Collectors.toSet()), drawn);
    }

    @Test
    void everyFunctionIsDrawn() {
        Set<Unary.Function> drawn = IntStream.range(0, 1500)
                .mapToObj(seed -> RandomGraph.of(new SplittableRandom(seed)).graph())
                .flatMap(graph -> graph.nodes().stream())
                .flatMap(node -> node.operator() instanceof Unary(Unary.Function function)
                        ? Stream.of(function)
                        : Stream.empty())
                .collect(Collectors.toSet());
        assertEquals(Set.of(Unary.Function.values()), drawn);
    }
}
