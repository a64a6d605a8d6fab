package dev.espalier.train.run;

import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.recipe.TargetRecipe;
import java.util.List;
import java.util.Optional;

/**
 * How much of a model was requested, and how much is left.
 *
 * @param kind what is counted, as {@code target.kind} calls it
 * @param requested the share that was to be left
 * @param reached the share that is left, in the mean over all runs
 */
public record RequestedSize(String kind, double requested, double reached) {
    /** What is not further away than this is what was requested. */
    private static final double NEAR = 0.01;

    /**
     * Compares a recipe with what came out.
     *
     * @param recipe how it was trained
     * @param results what came out, at least one
     * @return both shares; empty if nothing was requested
     */
    public static Optional<RequestedSize> of(Recipe recipe, List<RunResult> results) {
        return recipe.target().map(target -> of(target, results));
    }

    /**
     * Compares a target with what came out.
     *
     * @param target what was requested
     * @param results what came out, at least one
     * @return both shares
     */
    public static RequestedSize of(TargetRecipe target, List<RunResult> results) {
        double reached = results.stream()
                .mapToDouble(result -> target.counted().applyAsDouble(new Measured(result)))
                .average()
                .orElseThrow();
        return new RequestedSize(target.kind(), target.share(), reached);
    }

    /** {@return what is counted, for people} */
    public String words() {
        return words(kind);
    }

    /**
     * {@return what a target counts, for people}
     *
     * @param target the target
     */
    public static String words(TargetRecipe target) {
        return words(target.kind());
    }

    private static String words(String kind) {
        return kind.equals("flops") ? "FLOPs" : kind;
    }

    /** {@return whether what is left is what was requested, to one percentage point} */
    public boolean isMet() {
        return Math.abs(reached - requested) <= NEAR;
    }

    /** {@return the same, as a result has it} */
    RunResult.Size written() {
        return new RunResult.Size(kind, requested, reached);
    }

    /** What was measured of both files. */
    private record Measured(RunResult result) implements TargetRecipe.Left {
        @Override
        public double groups() {
            return result.groupsLeft();
        }

        @Override
        public double parameters() {
            return result.parametersLeft();
        }

        @Override
        public double flops() {
            return result.flopsLeft();
        }

        @Override
        public double latency() {
            return 1 / result.speedUp();
        }
    }
}
