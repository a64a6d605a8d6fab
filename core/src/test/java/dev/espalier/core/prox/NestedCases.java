package dev.espalier.core.prox;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.penalty.Profile;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** Random proximal problems of one group with groups within it, made from a seed as those of {@link Cases}. */
final class NestedCases {
    private NestedCases() {}

    /** {@code argmin_z ½ Σ d_i (z_i − x_i)² + α h(z)}. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Problem(long seed, NestedProfile penalty, double[] x, double[] d, double stepSize) {

        Cases.Solution solve(Solver solver, double start) {
            double[] z = new double[x.length];
            return new Cases.Solution(z, new WeightedProx(solver).apply(penalty, x, d, stepSize, start, z));
        }

        double[] solve() {
            return solve(Solver.DEFAULT, Double.NaN).z();
        }

        double[] u() {
            return Cases.times(d, x);
        }

        /** The distance of zero to the subdifferential of the objective at a point, divided by α, and the size of its terms. */
        double relativeDistance(double[] z) {
            double[] gradient = new double[z.length];
            Arrays.setAll(gradient, i -> d[i] * (z[i] - x[i]) / stepSize);
            return penalty.stationarityDistance(z, gradient) / (Norm.of(u()) / stepSize);
        }

        double objective(double[] z) {
            return NaiveProx.objective(penalty, x, d, stepSize, z);
        }

        Problem with(NestedProfile other) {
            return new Problem(seed, other, x, d, stepSize);
        }

        int[] owners() {
            return IntStream.range(0, x.length).map(penalty::owner).toArray();
        }

        @Override
        public String toString() {
            return "%s over %s, owners %s, x = %s, d = %s, alpha = %s"
                    .formatted(
                            penalty.inner(),
                            penalty.outer(),
                            Arrays.toString(owners()),
                            Arrays.toString(x),
                            Arrays.toString(d),
                            stepSize);
        }
    }

    /** Checks a property of many problems whose metrics are spread over up to so many orders of magnitude. */
    static void check(int count, double orders, Consumer<Problem> property) {
        for (long seed : Cases.seeds(count)) {
            Problem problem = make(seed, orders);
            try {
                property.accept(problem);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(
                        "replay with -Despalier.seed=%d: %s; %s".formatted(seed, e.getMessage(), problem), e);
            }
        }
    }

    private static Problem make(long seed, double orders) {
        SplittableRandom random = new SplittableRandom(seed);
        int n = (int) Cases.logUniform(random, 2, 40);
        double[] d = Cases.metric(random, n, random.nextInt(4) == 0 ? 0 : orders * random.nextDouble());
        double[] x = Cases.normal(random, n);
        for (int i = 0; i < n; i++) {
            x[i] = random.nextInt(8) == 0 ? 0 : x[i] * Cases.logUniform(random, 0.1, 1);
        }
        x[0] = x[0] == 0 ? 1 : x[0];
        int children = random.nextInt(1, Math.min(n, 5) + 1);
        int[] owners = new int[n];
        boolean covered = random.nextBoolean();
        for (int i = 0; i < n; i++) {
            owners[i] = i < children ? i : random.nextInt(covered ? 0 : -1, children);
        }
        double stepSize = Cases.logUniform(random, 1e-4, 1e1);
        double[] u = Cases.times(d, x);
        double strength = Norm.of(u) / stepSize;
        Profile[] inner = new Profile[children];
        Arrays.setAll(inner, child -> Profile.norm(strength * Cases.logUniform(random, 1e-3, 1)));
        inner[0] = random.nextInt(5) == 0 ? Profile.norm(0) : inner[0];
        Profile outer = Profile.norm(random.nextInt(10) == 0 ? 0 : strength * Cases.logUniform(random, 1e-3, 1.2));
        return new Problem(seed, NestedProfile.of(outer, owners, Arrays.asList(inner)), x, d, stepSize);
    }
}
