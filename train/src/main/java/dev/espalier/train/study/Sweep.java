package dev.espalier.train.study;

import dev.espalier.core.check.Check;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.run.DivergedException;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.study.Plan.Branch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A study of one axis, the strength λ of the penalty: how much accuracy goes for how much size.
 *
 * @param recipe how to train; its λ is not used
 * @param lambdas the λs, in the order in which they are tried
 * @param start what each run starts from
 * @param baseline whether the same is also trained without a penalty
 * @param folder where everything is written: a run's folder for each λ
 */
public record Sweep(Recipe recipe, List<Double> lambdas, Start start, boolean baseline, RunFolder folder) {

    /** What a run of a sweep starts from. */
    public enum Start {
        /** From fresh weights, the same for all. */
        INDEPENDENT,
        /** From where the run before it ended. */
        WARM
    }

    /**
     * One λ, and what came out.
     *
     * @param lambda the λ
     * @param folder the run's folder
     * @param results what came out, seed by seed
     */
    public record Point(double lambda, RunFolder folder, List<RunResult> results) {}

    /** Checks that the recipe leaves λ to the sweep. */
    public Sweep {
        lambdas = List.copyOf(lambdas);
        Check.atLeast("number of λs", lambdas.size(), 1);
        if (recipe.penaltyInForce().isEmpty()) {
            throw new IllegalArgumentException(
                    "the recipe has no penalty, so there is no λ to vary: set penalty.kind and method.kind = \"proximal\"");
        }
        if (recipe.target().isPresent()) {
            throw new IllegalArgumentException(
                    "the recipe adapts λ to a target, so there is no λ to vary: set target.kind = \"none\"");
        }
    }

    /** {@return a branch for each λ, in a folder {@code lambda-…} of its own, and one for the baseline} */
    public Plan plan() {
        List<Branch> branches = new ArrayList<>();
        String root = folder.path().toString();
        for (double lambda : lambdas) {
            Branch fresh = Branch.of(
                    root,
                    "lambda-" + Axis.number(lambda),
                    recipe.withLambda(lambda),
                    new LinkedHashMap<>(Map.of("penalty.lambda", Axis.number(lambda))),
                    false);
            branches.add(
                    start == Start.INDEPENDENT || branches.isEmpty() ? fresh : fresh.startingFrom(branches.getLast()));
        }
        if (baseline) {
            long seed = recipe.training().seeds().getFirst();
            branches.add(Branch.of(
                    root,
                    folder.baseline().path().getFileName().toString(),
                    recipe.asBaseline().withSeed(seed),
                    new LinkedHashMap<>(),
                    false));
        }
        return new Plan(root, branches, Optional.empty());
    }

    /**
     * What came out of the λs. One that a training was given up with, or that failed, is left out.
     *
     * @param result what came out of the {@link #plan}
     * @return a point for each λ that something came out of
     * @throws IOException if a result cannot be read
     * @throws DivergedException if nothing came out of any λ
     */
    public List<Point> points(StudyResult result) throws IOException {
        List<Point> points = new ArrayList<>();
        for (int i = 0; i < lambdas.size(); i++) {
            Branch branch = result.plan().branches().get(i);
            boolean whole = branch.trials().stream()
                    .allMatch(trial -> result.of(trial).map(Outcome::end).orElse(End.STOPPED) == End.FINISHED);
            if (whole) {
                points.add(new Point(
                        lambdas.get(i), new RunFolder(folder.path().resolve(branch.name())), result.results(branch)));
            }
        }
        if (points.isEmpty()) {
            throw new DivergedException("nothing came out of any λ: choose smaller ones, or see what each run said");
        }
        return points;
    }
}
