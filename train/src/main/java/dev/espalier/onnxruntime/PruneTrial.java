package dev.espalier.onnxruntime;

import dev.espalier.graph.Graph;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.PruneReport;
import dev.espalier.graph.type.Tensor;
import java.util.Map;

/**
 * A pruned model that has been run beside the model it came from.
 *
 * @param smaller the pruned model
 * @param report what pruning did, with the difference of the outputs and the latencies
 * @param proof how far the pruned model is from the one that it must be equal to
 */
public record PruneTrial(Graph smaller, PruneReport report, Equivalence proof) {
    private static final int ROUNDS = 21;

    /**
     * Prunes, compares and measures.
     *
     * @param model the model
     * @param plan what to prune
     * @param inputs what both models are fed with
     * @param dimensions a length for every free dimension of the model, to count operations
     * @param runner what runs them
     * @return the pruned model; refused if it computes something else
     */
    public static PruneTrial of(
            Graph model,
            PrunePlan plan,
            Map<String, Tensor> inputs,
            Map<String, Long> dimensions,
            OnnxRuntimeRunner runner) {
        Graph smaller = plan.apply();
        Equivalence proof = Equivalence.measure(plan.reference(), smaller, inputs, runner);
        proof.requireEqual(Equivalence.TOLERANCE);
        Equivalence difference = Equivalence.measure(model, smaller, inputs, runner);
        OnnxRuntimeRunner.Latency latency = runner.latency(model, smaller, inputs, ROUNDS);
        PruneReport report = PruneReport.of(plan, dimensions)
                .withDifference(difference.absolute())
                .withLatency(latency.before(), latency.after());
        return new PruneTrial(smaller, report, proof);
    }
}
