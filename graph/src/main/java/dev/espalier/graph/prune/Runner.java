package dev.espalier.graph.prune;

import dev.espalier.graph.Graph;
import dev.espalier.graph.type.Tensor;
import java.util.Map;

/** Somebody who can run a model: the naive evaluator ({@code Evaluator::run}), or an engine. */
@FunctionalInterface
public interface Runner {

    /**
     * Runs a model once.
     *
     * @param graph the model
     * @param inputs what is fed in, by name
     * @return what comes out, by name
     */
    Map<String, Tensor> run(Graph graph, Map<String, Tensor> inputs);
}
