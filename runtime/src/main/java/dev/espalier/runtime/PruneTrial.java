package dev.espalier.runtime;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.PruneReport;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * A pruned model that has been run beside the original.
 *
 * @param smaller the pruned model
 * @param report what pruning did, with the difference of the outputs and the latencies
 * @param proof how far the pruned model is from what it must be equal to: the original, or where a threshold was asked for,
 *     what was read of that with zeros in the small groups
 */
public record PruneTrial(Graph smaller, PruneReport report, Equivalence proof) {
    private static final int ROUNDS = 21;

    /**
     * Prunes, compares and measures.
     *
     * @param judge the original
     * @param read what was read of the original
     * @param plan what to prune of that
     * @param dimensions a length for every free dimension of the model, to count operations
     * @return the pruned model
     * @throws GraphException if the pruned model computes something else, or the original was misread
     */
    public static PruneTrial of(Judge judge, Graph read, PrunePlan plan, Map<String, Long> dimensions) {
        return of(judge, read, plan, UnaryOperator.identity(), dimensions);
    }

    /**
     * Prunes the inner part of a model, compares and measures the whole.
     *
     * @param judge the original
     * @param read what was read of the original
     * @param plan what to prune of its inner part
     * @param whole puts around the inner part what was around it
     * @param dimensions a length for every free dimension of the model, to count operations
     * @return the pruned model, whole
     * @throws GraphException if the pruned model computes something else, or the original was misread
     */
    public static PruneTrial of(
            Judge judge, Graph read, PrunePlan plan, UnaryOperator<Graph> whole, Map<String, Long> dimensions) {
        if (!plan.isExact()) {
            judge.requireRead(read, OnnxWriter.Options.DEFAULT);
        }
        Graph smaller = whole.apply(plan.apply());
        try (OnnxRuntimeModel after = OnnxRuntimeModel.of(smaller, judge.threads())) {
            Equivalence difference = judge.compare(after);
            Equivalence proof =
                    plan.isExact() ? difference : afterThreshold(judge, whole.apply(plan.reference()), after);
            proof.requireEqual(Equivalence.tolerance(read));
            List<Double> latencies = judge.latencies(after, ROUNDS);
            PruneReport report = PruneReport.of(plan, dimensions)
                    .withDifference(difference.absolute())
                    .withLatency(latencies.getFirst(), latencies.getLast());
            return new PruneTrial(smaller, report, proof);
        } catch (GraphException different) {
            if (plan.isExact()) {
                judge.requireRead(read, OnnxWriter.Options.DEFAULT);
            }
            throw new GraphException("pruning changed what the model computes: " + different.getMessage()
                    + ". Nothing was written. Please report the model, or leave the layer at fault alone with --keep"
                    + " NAME");
        }
    }

    /** No file computes what the model is with zeros in its small groups: but what was read of the original is proven itself. */
    private static Equivalence afterThreshold(Judge judge, Graph reference, OnnxRuntimeModel after) {
        try (Judge zeroed = judge.against(reference)) {
            return zeroed.compare(after);
        }
    }
}
