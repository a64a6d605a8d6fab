package dev.espalier.torture.number;

import dev.espalier.core.group.Groups;
import dev.espalier.core.kernel.Update;
import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.Coefficients;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Groups that one step is made on, with all that it starts from. The metric's entries are chosen freely: the second moments are, and
 * no gradient is added to them.
 *
 * @param family what is laid on them
 * @param regularizer the penalty and its groups
 * @param stepSize α
 * @param rule how second moments become the metric
 * @param weights x of each tensor
 * @param gradients g of each tensor
 * @param moments v of each tensor
 * @param starts seed of the norms where root finding begins
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Batch(
        Family family,
        Regularizer regularizer,
        double stepSize,
        Coefficients rule,
        List<float[]> weights,
        List<float[]> gradients,
        List<float[]> moments,
        long starts) {

    /** ε beside the root: what a weight that never saw a gradient has for a metric. */
    private static final List<Double> EPSILONS = List.of(1e-38, 1e-30, 1e-20, 1e-10, 1e-8, 1e-8, 1e-8, 1.0, 1e8, 1e30);

    /** Of the metric's entries that gradients made; squared they must be a float32. */
    private static final double LEAST_METRIC = 1e-22;

    private static final double MOST_METRIC = 1e18;

    /** No product of a group's norm with a metric, a weight, or both is larger: it must be a float32. */
    private static final double MOST = 1e36;

    /** How many orders of magnitude the metrics of a group are apart. */
    private static final List<Integer> SPREADS = List.of(0, 1, 3, 8, 40);

    /** What is special about a group. */
    private enum Style {
        ORDINARY,
        DEAD_WEIGHTS,
        AT_THRESHOLD,
        AT_KNEE,
        SUBNORMAL,
        ZERO
    }

    static Batch of(Family family, int count, RandomGenerator random) {
        Groups groups = family.groups(count, random);
        double epsilon = EPSILONS.get(random.nextInt(EPSILONS.size()));
        double level = Math.max(logUniform(random, 1e-12, 1e12), epsilon);
        double scale = logUniform(random, 1e-6, 1e3);
        double stepSize = logUniform(random, 1e-6, 10);
        boolean fitting = random.nextInt(4) > 0;
        double strength = fitting ? level * scale / stepSize : logUniform(random, 1e-12, 1e6);
        double knee = scale * logUniform(random, 0.1, 100);
        Penalty penalty = family.penalty(strength, knee, random);
        Coefficients rule = new Coefficients(0, 1, 1, 1, 0, 1, 0, epsilon);
        Batch batch = new Batch(
                family,
                new Regularizer(penalty, groups),
                stepSize,
                rule,
                tensors(groups),
                tensors(groups),
                tensors(groups),
                random.nextLong());
        for (int group = 0; group < groups.count(); group++) {
            batch.fill(group, level, random);
        }
        return batch;
    }

    static double logUniform(RandomGenerator random, double low, double high) {
        return Math.exp(random.nextDouble(Math.log(low), Math.log(high)));
    }

    private static List<float[]> tensors(Groups groups) {
        return groups.tensorSizes().stream()
                .map(size -> new float[Math.toIntExact(size)])
                .toList();
    }

    /** The update in the numbers of the inner loops. */
    Update update() {
        return Update.of(rule, stepSize, 0);
    }

    private void fill(int group, double level, RandomGenerator random) {
        int size = regularizer.groups().size(group);
        Style style = Style.values()[random.nextInt(random.nextInt(20) == 0 ? 6 : 4)];
        int spread = SPREADS.get(random.nextInt(SPREADS.size()));
        double power = random.nextInt(3) / 2.0;
        float[] v = new float[size];
        double[] d = new double[size];
        double[] u = new double[size];
        Update update = update();
        for (int i = 0; i < size; i++) {
            double entry =
                    Math.clamp(level * Math.pow(10, spread * (random.nextDouble() - 0.5)), LEAST_METRIC, MOST_METRIC);
            boolean dead = style == Style.DEAD_WEIGHTS && random.nextInt(3) == 0;
            v[i] = dead ? 0 : (float) (entry * entry);
            d[i] = update.metric(v[i]);
            boolean none = style == Style.ZERO || (dead && random.nextBoolean());
            u[i] = none ? 0 : (random.nextDouble() - 0.5) * Math.pow(d[i] / level, power);
        }
        double factor = factor(style, u, d, random);
        float[] x = new float[size];
        for (int i = 0; i < size; i++) {
            x[i] = (float) (factor * u[i] / d[i]);
        }
        boolean moved = random.nextInt(8) == 0;
        int[] next = {0};
        regularizer.groups().forEach(group, (tensor, index) -> {
            int i = next[0]++;
            weights.get(tensor)[(int) index] = x[i];
            moments.get(tensor)[(int) index] = v[i];
            // A gradient about as large as it takes to move the weight by itself.
            double gradient = moved ? random.nextDouble(-1, 1) * d[i] * x[i] / stepSize : 0;
            gradients.get(tensor)[(int) index] = (float) Math.clamp(gradient, -1e14, 1e14);
        });
    }

    /** What u is multiplied with to be where something happens, as far as float32 goes. */
    private double factor(Style style, double[] u, double[] d, RandomGenerator random) {
        if (Norm.of(u) == 0) {
            return 0;
        }
        double[] x = new double[u.length];
        Arrays.setAll(x, i -> u[i] / d[i]);
        double length = Norm.of(x);
        double most = Math.min(
                MOST / Math.max(length * Math.max(1, Norm.largest(d)), Norm.largest(u)),
                Math.sqrt(MOST / (length * Norm.largest(u))));
        return Math.min(wanted(style, u, x, random), most);
    }

    private double wanted(Style style, double[] u, double[] x, RandomGenerator random) {
        double norm = Norm.of(u);
        Profile outer = regularizer.whole(0).outer();
        double threshold = stepSize * outer.slope(0);
        double near = 1 + random.nextInt(-4, 5) * 0x1p-24;
        return switch (style) {
            case ORDINARY, DEAD_WEIGHTS, ZERO -> threshold / norm * logUniform(random, 1e-3, 1e3);
            case AT_THRESHOLD -> threshold / norm * near;
            case AT_KNEE -> {
                List<Double> knees = new ArrayList<>(
                        outer.pieces().stream().map(Profile.Piece::from).toList());
                double knee = knees.get(random.nextInt(knees.size()));
                yield knee == 0 ? threshold / norm * 1.01 : knee / Norm.of(x) * near;
            }
            case SUBNORMAL -> logUniform(random, 1e-44, 1e-38) / Norm.largest(x);
        };
    }
}
