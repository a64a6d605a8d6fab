package dev.espalier.graph.onnx;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.Graph;
import dev.espalier.graph.type.Tensor;
import java.util.Objects;

/** Small questions that several tests ask. */
final class Checks {
    private Checks() {}

    /** A message must name what is wrong. */
    static void assertExplains(Throwable problem, String part) {
        String message = String.valueOf(problem.getMessage());
        assertTrue(message.contains(part), message);
    }

    /** The contents of an initializer, which must exist. */
    static Tensor contents(Graph graph, String name) {
        return Objects.requireNonNull(graph.tensor(name), name);
    }
}
