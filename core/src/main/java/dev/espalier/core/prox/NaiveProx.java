package dev.espalier.core.prox;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.penalty.Profile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The slow, obvious twin of {@link WeightedProx}: what every fast result is compared with.
 *
 * <p>It knows nothing of pieces, bounds or convexity. It looks for sign changes of {@code ‖z(θ)‖ − θ} on a fine grid over
 * {@code (0, ‖x‖]}, bisects each to the last bit, adds zero and {@code x}, and takes the candidate with the lowest
 * objective. Inputs must be of ordinary size.
 */
public final class NaiveProx {
    private static final int GRID = 4000;
    private static final double DECADES = 16;

    private NaiveProx() {}

    /**
     * Evaluates the operator by brute force.
     *
     * @param profile the penalty at the group's strength
     * @param x the group
     * @param d the metric's diagonal
     * @param stepSize α
     * @return the global minimiser
     */
    public static double[] apply(Profile profile, double[] x, double[] d, double stepSize) {
        List<double[]> candidates = new ArrayList<>(List.of(new double[x.length], x.clone()));
        double norm = Norm.of(x);
        double left = 0;
        for (int i = 0; i <= 2 * GRID; i++) {
            // half of the grid is geometric, for roots near zero, half is even
            double right = i < GRID
                    ? norm * Math.pow(10, DECADES * ((double) i / GRID - 1) - 2)
                    : norm * Math.max(0.01, (double) (i - GRID) / GRID);
            if (excess(profile, x, d, stepSize, left) > 0 && excess(profile, x, d, stepSize, right) <= 0) {
                candidates.add(point(profile, x, d, stepSize, bisect(profile, x, d, stepSize, left, right)));
            }
            left = right;
        }
        double[] best = candidates.getFirst();
        for (double[] candidate : candidates) {
            if (objective(profile, x, d, stepSize, candidate) < objective(profile, x, d, stepSize, best)) {
                best = candidate;
            }
        }
        return best;
    }

    /**
     * The objective that the operator minimises.
     *
     * @param profile the penalty at the group's strength
     * @param x the group
     * @param d the metric's diagonal
     * @param stepSize α
     * @param z any point
     * @return {@code ½ Σ d_i (z_i − x_i)² + α h(‖z‖)}
     */
    public static double objective(Profile profile, double[] x, double[] d, double stepSize, double[] z) {
        double distance = 0;
        for (int i = 0; i < x.length; i++) {
            distance += d[i] * (z[i] - x[i]) * (z[i] - x[i]) / 2;
        }
        return distance + stepSize * profile.value(Norm.of(z));
    }

    private static double bisect(Profile profile, double[] x, double[] d, double stepSize, double left, double right) {
        double low = left;
        double high = right;
        while (true) {
            double middle = low + (high - low) / 2;
            if (middle <= low || middle >= high) {
                return high;
            }
            if (excess(profile, x, d, stepSize, middle) > 0) {
                low = middle;
            } else {
                high = middle;
            }
        }
    }

    /** {@code ‖z(θ)‖ − θ}, divided by θ so that it has a limit at zero. */
    private static double excess(Profile profile, double[] x, double[] d, double stepSize, double theta) {
        double slope = stepSize * profile.slope(theta);
        double sum = 0;
        for (int i = 0; i < x.length; i++) {
            double ratio = x[i] == 0 ? 0 : d[i] * x[i] / (d[i] * theta + slope);
            sum += ratio * ratio;
        }
        return Math.sqrt(sum) - 1;
    }

    private static double[] point(Profile profile, double[] x, double[] d, double stepSize, double theta) {
        double slope = stepSize * profile.slope(theta);
        double[] z = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            z[i] = theta * d[i] * x[i] / (d[i] * theta + slope);
        }
        return z;
    }

    /**
     * Evaluates the operator of a group with groups within it, where all penalties are norms. It knows nothing of trees: it
     * gets the operator of a sum from the operators of its terms, each that of one norm by itself, by going round and round
     * (Dykstra's algorithm; Bauschke and Combettes, 2008). Groups must be small and metrics not too spread.
     *
     * @param penalty all of the group's penalty
     * @param x the group
     * @param d the metric's diagonal
     * @param stepSize α
     * @param rounds how often to go round
     * @return the minimiser, but for what so many rounds leave
     */
    public static double[] apply(NestedProfile penalty, double[] x, double[] d, double stepSize, int rounds) {
        double[] point = x.clone();
        double[] outerRest = new double[x.length];
        double[] innerRest = new double[x.length];
        for (int round = 0; round < rounds; round++) {
            double[] before = plus(point, outerRest);
            double[] middle = norm(penalty.outer(), before, d, stepSize);
            outerRest = minus(before, middle);
            before = plus(middle, innerRest);
            point = innerNorms(penalty, before, d, stepSize);
            innerRest = minus(before, point);
        }
        return point;
    }

    /**
     * The objective that the operator of a group with groups within it minimises.
     *
     * @param penalty all of the group's penalty
     * @param x the group
     * @param d the metric's diagonal
     * @param stepSize α
     * @param z any point
     * @return {@code ½ Σ d_i (z_i − x_i)² + α h(z)}
     */
    public static double objective(NestedProfile penalty, double[] x, double[] d, double stepSize, double[] z) {
        double distance = 0;
        for (int i = 0; i < x.length; i++) {
            distance += d[i] * (z[i] - x[i]) * (z[i] - x[i]) / 2;
        }
        return distance + stepSize * penalty.value(z);
    }

    /** The operators of all inner groups. */
    private static double[] innerNorms(NestedProfile penalty, double[] x, double[] d, double stepSize) {
        double[] result = x.clone();
        for (int child = 0; child < penalty.inner().size(); child++) {
            int here = child;
            int[] members = IntStream.range(0, x.length)
                    .filter(i -> penalty.owner(i) == here)
                    .toArray();
            double[] part = Arrays.stream(members).mapToDouble(i -> x[i]).toArray();
            double[] metric = Arrays.stream(members).mapToDouble(i -> d[i]).toArray();
            double[] solution = norm(penalty.inner().get(child), part, metric, stepSize);
            for (int i = 0; i < members.length; i++) {
                result[members[i]] = solution[i];
            }
        }
        return result;
    }

    /** The operator of one norm: the one sign change of {@code ‖z(θ)‖ − θ}. */
    private static double[] norm(Profile profile, double[] x, double[] d, double stepSize) {
        if (stepSize * profile.slope(0) == 0) {
            return x.clone();
        }
        double norm = Norm.of(x);
        return norm == 0 || excess(profile, x, d, stepSize, 0) <= 0
                ? new double[x.length]
                : point(profile, x, d, stepSize, bisect(profile, x, d, stepSize, 0, norm));
    }

    private static double[] plus(double[] left, double[] right) {
        return IntStream.range(0, left.length)
                .mapToDouble(i -> left[i] + right[i])
                .toArray();
    }

    private static double[] minus(double[] left, double[] right) {
        return IntStream.range(0, left.length)
                .mapToDouble(i -> left[i] - right[i])
                .toArray();
    }
}
