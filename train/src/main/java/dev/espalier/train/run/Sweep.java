package dev.espalier.train.run;

import dev.espalier.core.check.Check;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.task.RawInputs;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A recipe carried out with one λ after the other: how much accuracy goes for how much size.
 *
 * @param recipe how to train; its λ is not used
 * @param task what is learned
 * @param lambdas the λs, in the order in which they are tried
 * @param start what each run starts from
 * @param folder where everything is written: a run's folder for each λ
 * @param options what does not change the outcome
 */
public record Sweep(Recipe recipe, Task task, List<Double> lambdas, Start start, RunFolder folder, RunOptions options) {

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

    /**
     * Loads what a recipe asks for.
     *
     * @param recipe how to train
     * @param lambdas the λs
     * @param start what each run starts from
     * @param folder where everything is written
     * @param options what does not change the outcome
     * @return the sweep, not begun yet
     * @throws IOException if the data or the model cannot be read
     */
    public static Sweep of(Recipe recipe, List<Double> lambdas, Start start, RunFolder folder, RunOptions options)
            throws IOException {
        return new Sweep(recipe, Tasks.of(recipe), lambdas, start, folder, options);
    }

    /**
     * Numbers whose ratios are all the same.
     *
     * @param first the first, above 0
     * @param last the last, above 0
     * @param count how many, the ends included
     * @return the numbers, with three digits
     */
    public static List<Double> geometric(double first, double last, int count) {
        Check.positive("first", first);
        Check.positive("last", last);
        Check.atLeast("count", count, 1);
        List<Double> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            double value = count == 1 ? first : first * Math.pow(last / first, (double) i / (count - 1));
            values.add(Double.parseDouble(String.format(Locale.ROOT, "%.2e", value)));
        }
        return values;
    }

    /**
     * Trains with each λ. Runs that are finished already are taken as they are, and one that was
     * stopped goes on. A λ that a training was given up with is told to the listener and left out.
     *
     * @return a point for each λ that something came out of; empty if it was stopped, and can be run again
     * @throws IOException if something cannot be read or written; what was written before stays
     * @throws DivergedException if nothing came out of any λ
     */
    public Optional<List<Point>> run() throws IOException {
        List<Point> points = new ArrayList<>();
        Experiment before = null;
        for (double lambda : lambdas) {
            options.listener().onNote("λ = " + label(lambda));
            Experiment experiment = experiment(lambda, before);
            try {
                Optional<List<RunResult>> results = experiment.resume();
                if (results.isEmpty()) {
                    return Optional.empty();
                }
                points.add(new Point(lambda, experiment.folder(), results.get()));
                before = experiment;
            } catch (DivergedException nowhere) {
                options.listener().onNote("λ = " + label(lambda) + " is left out: " + nowhere.getMessage());
            }
        }
        if (points.isEmpty()) {
            throw new DivergedException("nothing came out of any λ: choose smaller ones, or see what each run said");
        }
        return Optional.of(points);
    }

    /**
     * A λ as people write it: 0.01, 5e-4.
     *
     * @param lambda the λ
     * @return a number that reads back as the same
     */
    public static String label(double lambda) {
        return Double.toString(lambda).replaceFirst("\\.0(?=E|$)", "").replace('E', 'e');
    }

    private Experiment experiment(double lambda, @Nullable Experiment before) {
        Recipe stronger = recipe.withLambda(lambda);
        RunFolder place = folder.lambda(label(lambda));
        return start == Start.INDEPENDENT || before == null
                ? new Experiment(stronger, task, place, options)
                : new Experiment(
                        stronger,
                        task,
                        seed -> RawInputs.without(
                                OnnxReader.read(before.place(seed).model()).graph()),
                        place,
                        options);
    }
}
