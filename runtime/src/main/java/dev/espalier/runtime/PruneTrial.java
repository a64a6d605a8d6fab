package dev.espalier.runtime;

import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.PruneReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A pruned model that has been run beside the original.
 *
 * @param smaller the pruned model
 * @param plan what was cut out in the end: the plan that was given, or one of other widths that is faster
 * @param report what pruning did, with the difference of the outputs and the latencies
 * @param proof how far the pruned model is from what it must be equal to: the original, or where a threshold was asked for,
 *     what was read of that with zeros in the small groups
 * @param tried all widths that were run, the best first
 */
public record PruneTrial(Graph smaller, PrunePlan plan, PruneReport report, Equivalence proof, List<Tried> tried) {

    /**
     * Widths that were run.
     *
     * @param plan what was cut out
     * @param milliseconds how long a run took
     */
    public record Tried(PrunePlan plan, double milliseconds) {}

    /** Takes a copy. */
    public PruneTrial {
        tried = List.copyOf(tried);
    }

    /**
     * A model of the size that was requested, and one that is faster though it is wider.
     *
     * @param smallest without all that can go
     * @param faster with the widths that are fastest; empty if no wider ones are faster, or nothing was tried
     */
    public record Requested(PruneTrial smallest, Optional<PruneTrial> faster) {}

    /**
     * Prunes the inner part of a model to the size that a plan says, however fast that is, and looks for wider ones that are faster.
     *
     * @param judge the original
     * @param read what was read of the original
     * @param plan what to prune of its inner part
     * @param whole puts around the inner part what was around it
     * @param dimensions a length for every free dimension of the model, to count operations
     * @param timing whether other widths are tried, and how long may be measured
     * @return both; the smallest is another one only where ONNX Runtime breaks it
     * @throws GraphException if a pruned model computes something else, or the original was misread
     * @throws OptimizerException if ONNX Runtime breaks all that is cut
     */
    public static Requested requested(
            Judge judge,
            Graph read,
            PrunePlan plan,
            UnaryOperator<Graph> whole,
            Map<String, Long> dimensions,
            Timing timing) {
        if (!plan.isExact()) {
            judge.requireRead(read, OnnxWriter.Options.DEFAULT);
        }
        if (timing.seconds() == 0) {
            return new Requested(proven(judge, read, plan, whole, dimensions), Optional.empty());
        }
        try (WidthSearch search = new WidthSearch(judge, whole, timing)) {
            List<Tried> tried = search.find(plan);
            List<Tried> bySize = tried.stream()
                    .sorted(Comparator.comparingLong(
                            one -> Cost.parameters(one.plan().apply())))
                    .toList();
            PruneTrial smallest = timed(firstEqual(judge, read, bySize, whole, dimensions), tried, search);
            List<Tried> faster = tried.stream()
                    .takeWhile(one -> one.plan() != smallest.plan())
                    .filter(one -> one.plan().changes())
                    .toList();
            return new Requested(
                    smallest,
                    faster.isEmpty()
                            ? Optional.empty()
                            : Optional.of(timed(firstEqual(judge, read, faster, whole, dimensions), tried, search)));
        }
    }

    /** With the latencies of a search. */
    private static PruneTrial timed(PruneTrial trial, List<Tried> tried, WidthSearch search) {
        double milliseconds = tried.stream()
                .filter(one -> one.plan() == trial.plan())
                .findFirst()
                .orElseThrow()
                .milliseconds();
        return new PruneTrial(
                trial.smaller(),
                trial.plan(),
                trial.report().withLatency(search.originalMilliseconds(), milliseconds),
                trial.proof(),
                tried);
    }

    /**
     * Prunes for latency, compares and measures.
     *
     * @param judge the original
     * @param read what was read of the original
     * @param plan what to prune of that
     * @param dimensions a length for every free dimension of the model, to count operations
     * @return the pruned model
     * @throws GraphException if the pruned model computes something else, or the original was misread
     * @throws OptimizerException if ONNX Runtime breaks all that is cut
     */
    public static PruneTrial of(Judge judge, Graph read, PrunePlan plan, Map<String, Long> dimensions) {
        return of(judge, read, plan, UnaryOperator.identity(), dimensions, Timing.DEFAULT);
    }

    /**
     * Prunes the inner part of a model, compares and measures the whole.
     *
     * @param judge the original
     * @param read what was read of the original
     * @param plan what to prune of its inner part
     * @param whole puts around the inner part what was around it
     * @param dimensions a length for every free dimension of the model, to count operations
     * @param timing what for, and how long may be measured
     * @return the pruned model, whole
     * @throws GraphException if the pruned model computes something else, or the original was misread
     * @throws OptimizerException if ONNX Runtime breaks all that is cut
     */
    public static PruneTrial of(
            Judge judge,
            Graph read,
            PrunePlan plan,
            UnaryOperator<Graph> whole,
            Map<String, Long> dimensions,
            Timing timing) {
        if (!plan.isExact()) {
            judge.requireRead(read, OnnxWriter.Options.DEFAULT);
        }
        if (timing.seconds() == 0) {
            return proven(judge, read, plan, whole, dimensions);
        }
        try (WidthSearch search = new WidthSearch(judge, whole, timing)) {
            List<Tried> tried = search.find(plan);
            return timed(firstEqual(judge, read, tried, whole, dimensions), tried, search);
        }
    }

    /** The best that computes the same. If nothing that is cut does, that is not for what is not cut to hide. */
    private static PruneTrial firstEqual(
            Judge judge, Graph read, List<Tried> tried, UnaryOperator<Graph> whole, Map<String, Long> dimensions) {
        List<IllegalArgumentException> faults = new ArrayList<>();
        for (Tried next : tried) {
            if (next.plan().changes() || faults.isEmpty()) {
                try {
                    return proven(judge, read, next.plan(), whole, dimensions);
                } catch (GraphException | OptimizerException different) {
                    faults.add(different);
                }
            }
        }
        throw faults.getFirst();
    }

    private static PruneTrial proven(
            Judge judge, Graph read, PrunePlan plan, UnaryOperator<Graph> whole, Map<String, Long> dimensions) {
        Graph smaller = whole.apply(plan.apply());
        OnnxRuntimeModel after = judge.load(smaller, plan.isExact());
        try (after) {
            Equivalence difference = judge.compare(after);
            Equivalence proof = plan.isExact()
                    ? judge.doubted(difference, read)
                    : afterThreshold(judge, whole.apply(plan.reference()), after);
            proof.requireEqual(Equivalence.tolerance(read));
            PruneReport report = PruneReport.of(plan, dimensions).withDifference(difference.absolute());
            return new PruneTrial(smaller, plan, report, proof, List.of());
        } catch (GraphException different) {
            if (plan.isExact()) {
                judge.requireRead(read, OnnxWriter.Options.DEFAULT);
            }
            throw new GraphException("pruning changed what the model computes: " + different.getMessage()
                    + ". No smaller model was written. Please report the model, or leave the layer at fault alone with"
                    + " --keep NAME");
        }
    }

    /** No file computes what the model is with zeros in its small groups: but what was read of the original is proven itself. */
    private static Equivalence afterThreshold(Judge judge, Graph reference, OnnxRuntimeModel after) {
        try (Judge zeroed = judge.against(reference)) {
            return zeroed.doubted(zeroed.compare(after), reference);
        }
    }
}
