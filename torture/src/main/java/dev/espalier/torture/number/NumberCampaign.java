package dev.espalier.torture.number;

import dev.espalier.core.group.Groups;
import dev.espalier.core.kernel.LaneChoice;
import dev.espalier.core.kernel.Update;
import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.NaiveProx;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.cuda.CudaSteps;
import dev.espalier.torture.Campaign;
import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/** Random groups with adverse numbers through the kernels in float32, held against the operator in double precision. */
public final class NumberCampaign implements Campaign {
    /** Error of a weight, relative to the largest of the group's before the penalty. */
    private static final double PRECISION = 1e-5;

    /** Share of the objective up to which two minima are equally good, for float32. */
    private static final double TIE = 1e-6;

    /** Two units in the last place of a float32. */
    private static final double LAST_DIGITS = 0x1p-22;

    /** Groups of a case, about. */
    private static final int GROUPS = 1000;

    private final ReentrantLock gpu = new ReentrantLock();
    private final boolean hasGpu = CudaSteps.whyNot().isEmpty();

    /** Made by the service loader. */
    public NumberCampaign() {}

    @Override
    public String name() {
        return "numbers";
    }

    @Override
    public String description() {
        return "random groups with adverse numbers: kernels in float32, on vectors, one by one and on the GPU, against double precision";
    }

    @Override
    public Figures run(Effort effort) throws IOException, InterruptedException {
        Figures figures = effort.figures();
        figures.add("groups", 0);
        effort.forEach((number, random) -> new Trial(number, figures).run(random));
        return figures;
    }

    /** What went one way in a case. */
    private static final class Way {
        long groups;
        double worst;
    }

    /** One batch. */
    private final class Trial {
        private final long number;
        private final Figures figures;
        private final Map<Branch, Way> ways = new EnumMap<>(Branch.class);
        private long ties;

        Trial(long number, Figures figures) {
            this.number = number;
            this.figures = figures;
            for (Branch branch : Branch.values()) {
                ways.put(branch, new Way());
            }
        }

        void run(RandomGenerator random) {
            List<Family> families = List.copyOf(EnumSet.allOf(Family.class));
            Family family = families.get(random.nextInt(families.size()));
            Batch batch = Batch.of(family, random.nextInt(1, 2 * GROUPS), random);
            String name = family.name().toLowerCase(Locale.ROOT).replace('_', ' ');
            try {
                Kernel.Result scalar = Kernel.onHost(batch, LaneChoice.SCALAR);
                Kernel.Result vector = Kernel.onHost(batch, LaneChoice.VECTOR);
                requireSameBits(name, scalar, vector);
                compare(name, batch, scalar);
                if (hasGpu && gpu.tryLock()) {
                    try {
                        compareGpu(name, batch, scalar, Kernel.onGpu(batch));
                    } finally {
                        gpu.unlock();
                    }
                }
            } catch (RuntimeException failure) {
                fail(name, failure + " at " + List.of(failure.getStackTrace()).subList(0, 4));
            }
        }

        private void fail(String name, String what) {
            figures.fail("case " + number + ", " + name + ": " + what);
        }

        private void requireSameBits(String name, Kernel.Result scalar, Kernel.Result vector) {
            for (int tensor = 0; tensor < scalar.weights().size(); tensor++) {
                int place =
                        mismatch(scalar.weights().get(tensor), vector.weights().get(tensor));
                if (place >= 0) {
                    figures.add("cases where vectors differ from single numbers", 1);
                    fail(
                            name,
                            "weight %d of tensor %d is %s on one lane, %s on vectors"
                                    .formatted(
                                            place,
                                            tensor,
                                            scalar.weights().get(tensor)[place],
                                            vector.weights().get(tensor)[place]));
                    return;
                }
            }
            int place = mismatch(scalar.norms(), vector.norms());
            if (place >= 0) {
                figures.add("cases where vectors differ from single numbers", 1);
                fail(name, "norm " + place + " is " + scalar.norms()[place] + " and " + vector.norms()[place]);
            }
        }

        /** To the last bit, which tells zeros apart. */
        private static int mismatch(float[] one, float[] other) {
            for (int i = 0; i < one.length; i++) {
                if (Float.floatToRawIntBits(one[i]) != Float.floatToRawIntBits(other[i])) {
                    return i;
                }
            }
            return -1;
        }

        private void compare(String name, Batch batch, Kernel.Result found) {
            Groups groups = batch.regularizer().groups();
            for (int group = 0; group < groups.count(); group++) {
                Problem problem = Problem.of(batch, group);
                double[] exact = problem.exact();
                check(name, problem, exact, problem.gather(found.weights()), "the processor");
            }
            figures.add("groups", groups.count());
            ways.forEach((branch, way) -> {
                String where = name + ", " + branch.name().toLowerCase(Locale.ROOT);
                figures.add(where + ": groups", (double) way.groups);
                figures.worst(where + ": worst error", way.worst);
            });
            figures.add(name + ": of two equally good minima the other", (double) ties);
        }

        private void check(String name, Problem problem, double[] exact, double[] z, String who) {
            for (double value : z) {
                if (!Double.isFinite(value)) {
                    fail(name, "on " + who + " a weight is " + value + ": " + problem);
                    return;
                }
            }
            double error = problem.error(exact, z);
            Way way = Objects.requireNonNull(ways.get(problem.branch(exact)));
            way.groups++;
            if (error <= PRECISION) {
                way.worst = Math.max(way.worst, error);
            } else if (problem.isTie(exact, z)) {
                ties++;
            } else if (problem.objective(z) < problem.objective(exact)) {
                figures.add(name + ": better in float32 than in double precision", 1);
                fail(
                        name,
                        "the operator in double precision, " + problem.objective(exact) + ", is worse than " + who
                                + ", " + problem.objective(z) + ": " + problem);
            } else {
                way.worst = Math.max(way.worst, error);
                fail(
                        name,
                        "on " + who + " an error of " + error + ", " + problem.branch(exact) + ", objectives "
                                + problem.objective(z) + " and " + problem.objective(exact) + ": "
                                + Arrays.toString(z) + " for " + Arrays.toString(exact) + " of " + problem);
            }
        }

        private void compareGpu(String name, Batch batch, Kernel.Result host, Kernel.Result device) {
            Groups groups = batch.regularizer().groups();
            long different = 0;
            double worst = 0;
            for (int group = 0; group < groups.count(); group++) {
                Problem problem = Problem.of(batch, group);
                double[] expected = problem.gather(host.weights());
                double[] actual = problem.gather(device.weights());
                if (Arrays.equals(expected, actual)) {
                    continue;
                }
                different++;
                double error = problem.error(expected, actual);
                if (error <= PRECISION) {
                    worst = Math.max(worst, error);
                } else if (!problem.isTie(expected, actual)) {
                    worst = Math.max(worst, error);
                    fail(
                            name,
                            "the GPU has " + Arrays.toString(actual) + " for " + Arrays.toString(expected) + " of "
                                    + problem);
                }
            }
            figures.add(name + ", GPU: groups", groups.count());
            figures.add(name + ", GPU: groups with another last bit than on the processor", (double) different);
            figures.worst(name + ", GPU: worst difference from the processor", worst);
        }
    }

    /** The operator of one group, in double precision from the very numbers that a kernel has. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Problem(Batch batch, int group, NestedProfile penalty, double[] x, double[] d) {

        static Problem of(Batch batch, int group) {
            Groups groups = batch.regularizer().groups();
            Update update = batch.update();
            double[] x = new double[groups.size(group)];
            double[] d = new double[x.length];
            int[] next = {0};
            groups.forEach(group, (tensor, index) -> {
                int i = next[0]++;
                int at = (int) index;
                float metric = update.metric(batch.moments().get(tensor)[at]);
                float gradient = update.first(0, batch.gradients().get(tensor)[at]);
                d[i] = metric;
                x[i] = update.preconditioned(metric, batch.weights().get(tensor)[at], gradient) / d[i];
            });
            return new Problem(batch, group, batch.regularizer().whole(group), x, d);
        }

        double[] gather(List<float[]> tensors) {
            double[] values = new double[x.length];
            int[] next = {0};
            batch.regularizer()
                    .groups()
                    .forEach(group, (tensor, index) -> values[next[0]++] = tensors.get(tensor)[(int) index]);
            return values;
        }

        double[] exact() {
            double[] z = new double[x.length];
            WeightedProx.EXACT.apply(penalty, x, d, batch.stepSize(), Double.NaN, z);
            return z;
        }

        Branch branch(double[] z) {
            return Norm.of(z) == 0 ? Branch.ZEROED : Arrays.equals(z, x) ? Branch.UNTOUCHED : Branch.SHRUNK;
        }

        /**
         * The largest error of a weight, but for what underflow leaves: float32 has no digits below its smallest normal number, not
         * even of the product of the norm and a weight times its metric, less what single weights are charged.
         */
        double error(double[] wanted, double[] found) {
            double difference = 0;
            double single = batch.stepSize() * batch.regularizer().penalty().singleStrength();
            for (int i = 0; i < x.length; i++) {
                double u = Math.max(d[i] * Math.abs(x[i]) - single, Float.MIN_NORMAL);
                double lost = Float.MIN_NORMAL + 2 * Float.MIN_VALUE / u;
                difference = Math.max(difference, Math.abs(wanted[i] - found[i]) - lost);
            }
            return difference == 0 ? 0 : difference / Norm.largest(x);
        }

        boolean isTie(double[] one, double[] other) {
            double left = objective(one);
            double right = objective(other);
            return Math.abs(left - right) <= TIE * Math.max(left, right);
        }

        /** What a last digit of a weight costs is no part of it: under a large metric that would be more than all else. */
        private double objective(double[] z) {
            double[] near = new double[z.length];
            Arrays.setAll(near, i -> Math.abs(z[i] - x[i]) <= LAST_DIGITS * Math.abs(x[i]) ? x[i] : z[i]);
            return NaiveProx.objective(penalty, x, d, batch.stepSize(), near);
        }

        @Override
        public String toString() {
            return batch.regularizer().penalty() + ", x = " + Arrays.toString(x) + ", d = " + Arrays.toString(d)
                    + ", alpha = " + batch.stepSize();
        }
    }
}
