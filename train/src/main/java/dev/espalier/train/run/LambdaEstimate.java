package dev.espalier.train.run;

import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.train.run.StepView.GroupProblem;
import dev.espalier.train.run.StepView.PenalisedSet;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.function.IntToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * Where λ starts from if nobody says: the λ at which a share of all groups would become zero on the way that training is about
 * to go, in the metric that it has reached. Many small steps that pull a group the same way are about one large step,
 *
 * <pre>{@code
 * λ*_g = the smallest λ with argmin_z ½ Σ d_i (z_i − x_i)² + A h_λ(z) = 0,        A = Σ_t α_t
 * }</pre>
 *
 * <p>for ℓ1/ℓ2 {@code ‖D x‖ / (A √|g|)}. Symbols: x, what the next step makes of the group without a penalty; d, the diagonal of D; α_t,
 * the learning rates of the steps to come. What holds against the penalty later, the gradients to come, is not known yet: that
 * is left to {@link LambdaController}.
 *
 * @param view the step that is about to be done
 * @param penalty the penalty of every group, by λ
 * @param way A
 * @param factor what λ is multiplied by for each of the sets that bear a penalty, in their order; a set of factor c reaches at λ what it
 *     would reach at c·λ with a factor of 1
 */
record LambdaEstimate(StepView view, DoubleFunction<Penalty> penalty, double way, IntToDoubleFunction factor) {
    /** How often λ is doubled or halved in search of a group's, at most. */
    private static final int OCTAVES = 64;

    /** How exactly λ is found, as a ratio. */
    private static final double EXACTLY = 1.02;

    /**
     * The λ that fits.
     *
     * @param left the share of groups that shall be left, from 0 to 1
     * @return λ ≥ 0; not finite if no λ does, and not a number if gradients are not
     */
    double lambda(double left) {
        List<PenalisedSet> sets = view.penalised();
        double[] thresholds = IntStream.range(0, sets.size())
                .boxed()
                .flatMapToDouble(
                        i -> thresholds(sets.get(i)).map(threshold -> scaled(threshold, factor.applyAsDouble(i))))
                .sorted()
                .toArray();
        if (thresholds.length == 0) {
            return 0;
        }
        int zeroed = (int) Math.round((1 - left) * thresholds.length);
        return thresholds[Math.clamp(zeroed - 1L, 0, thresholds.length - 1)];
    }

    /** What is zero already takes no λ at all, and what bears no penalty none that there is. */
    private static double scaled(double threshold, double factor) {
        return threshold == 0 ? 0 : threshold / factor;
    }

    /** In the order of the groups, however many threads look at them. */
    private DoubleStream thresholds(PenalisedSet set) {
        double[] thresholds = new double[set.regularizer().groups().count()];
        IntStream.range(0, thresholds.length)
                .parallel()
                .forEach(group -> thresholds[group] =
                        threshold(set.regularizer(), group, set.problem().apply(group)));
        return DoubleStream.of(thresholds);
    }

    /** λ*_g, by bisection between a λ that leaves the group and one that does not. */
    private double threshold(Regularizer regularizer, int group, GroupProblem problem) {
        double[] x = problem.candidate();
        double square = 0;
        for (double u : problem.u()) {
            square += u * u;
        }
        if (!(square > 0 && square < Double.POSITIVE_INFINITY)) {
            return square; // zero already, or nothing that can be said
        }
        double high = Math.sqrt(square / x.length) / way;
        double low = high;
        for (int i = 0; !isZero(regularizer, group, x, problem.d(), high); i++) {
            if (i == OCTAVES) {
                return Double.POSITIVE_INFINITY;
            }
            low = high;
            high *= 2;
        }
        for (int i = 0; i < OCTAVES && isZero(regularizer, group, x, problem.d(), low); i++) {
            high = low;
            low /= 2;
        }
        while (high > EXACTLY * low) {
            double between = Math.sqrt(low * high);
            if (isZero(regularizer, group, x, problem.d(), between)) {
                high = between;
            } else {
                low = between;
            }
        }
        return high;
    }

    private boolean isZero(Regularizer regularizer, int group, double[] x, double[] d, double lambda) {
        NestedProfile whole = regularizer.withPenalty(penalty.apply(lambda)).whole(group);
        return WeightedProx.EXACT
                        .apply(whole, x, d, way, Double.NaN, new double[x.length])
                        .branch()
                == Branch.ZEROED;
    }
}
