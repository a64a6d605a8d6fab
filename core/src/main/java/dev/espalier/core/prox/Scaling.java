package dev.espalier.core.prox;

import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.Profile;
import java.util.Arrays;

/**
 * Powers of two that bring the numbers of a problem into a range where neither products nor squares overflow.
 *
 * <p>The minimiser of {@code (2^a x, 2^b d, 2^b α, h scaled by 2^a)} is {@code 2^a} times that of {@code (x, d, α, h)}, so
 * extreme inputs are moved by powers of two, which costs no digit. Ordinary ones are taken as they are.
 *
 * @param length power of two of the weights
 * @param metric power of two of the metric
 */
record Scaling(int length, int metric) {
    /** Inputs between these need no scaling. */
    private static final double SMALL = 0x1p-100;

    private static final double LARGE = 0x1p+100;

    private static final Scaling NONE = new Scaling(0, 0);

    static Scaling of(double[] x, double[] d) {
        double largestX = Norm.largest(x);
        double largestU = 0;
        int exponentOfX = largestX == 0 ? 0 : Math.getExponent(largestX);
        for (int i = 0; i < x.length; i++) {
            largestU = Math.max(largestU, d[i] * Math.scalb(Math.abs(x[i]), -exponentOfX));
        }
        if (largestX == 0 || (inRange(largestX) && inRange(largestU))) {
            return NONE;
        }
        return new Scaling(-exponentOfX, -Math.getExponent(Math.clamp(largestU, Double.MIN_NORMAL, Double.MAX_VALUE)));
    }

    private static boolean inRange(double value) {
        return value >= SMALL && value <= LARGE;
    }

    boolean isNone() {
        return equals(NONE);
    }

    double scaleLength(double value) {
        return Math.scalb(value, length);
    }

    double[] scaleLengths(double[] x) {
        return Arrays.stream(x).map(this::scaleLength).toArray();
    }

    double[] scaleMetric(double[] d) {
        return Arrays.stream(d)
                .map(value -> Math.clamp(Math.scalb(value, metric), Double.MIN_VALUE, 0x1p+400))
                .toArray();
    }

    /** The penalty of the scaled problem, α included. */
    Profile scale(Profile profile, double stepSize) {
        return profile.scaled(stepSize, length, metric);
    }

    /** Turns the solution of the scaled problem into that of the original one. */
    Outcome back(Outcome outcome, double[] scaled, double[] original, double[] z) {
        for (int i = 0; i < z.length; i++) {
            double value = Math.min(Math.abs(Math.scalb(scaled[i], -length)), Math.abs(original[i]));
            z[i] = outcome.branch() == Branch.UNTOUCHED ? original[i] : Math.copySign(value, original[i]);
        }
        return new Outcome(
                outcome.branch(),
                Math.min(Math.scalb(outcome.theta(), -length), Double.MAX_VALUE),
                outcome.iterations(),
                outcome.residual(),
                outcome.converged());
    }
}
