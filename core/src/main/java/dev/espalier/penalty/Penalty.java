package dev.espalier.penalty;

import dev.espalier.check.Check;
import dev.espalier.numeric.Norm;

/**
 * A sparsity-inducing penalty of one group of weights: {@code h(x_g)} depends on the group's Euclidean norm alone.
 *
 * <p>A penalty says how strong it is on a group of a given size and which {@link Profile} it has at that strength.
 * Everything else — value, subgradient, stationarity, closed-form and weighted proximal operator — follows from the
 * profile, in one place each. To add a penalty, write these two methods.
 *
 * <p>On groups of one weight, {@link GroupLasso} is the ℓ1 penalty and {@link GroupMcp} the MCP.
 */
public interface Penalty {

    /**
     * The strength λ_g of the penalty on a group.
     *
     * @param size number of weights |g|
     * @return λ_g
     */
    double strength(long size);

    /**
     * The penalty of a group as a function of its norm.
     *
     * @param strength λ_g
     * @return the profile
     */
    Profile profile(double strength);

    /**
     * The profile of a group of a given size.
     *
     * @param size number of weights |g|
     * @return {@code profile(strength(size))}
     */
    default Profile profileOfSize(long size) {
        return profile(strength(size));
    }

    /**
     * The penalty's value {@code h(x)}.
     *
     * @param x one group of weights
     * @return the value
     */
    default double value(double[] x) {
        return profileOfSize(x.length).value(Norm.of(x));
    }

    /**
     * A subgradient: {@code h'(‖x‖) x/‖x‖}, and zero at zero.
     *
     * @param x one group of weights
     * @return the subgradient
     */
    default double[] subgradient(double[] x) {
        double norm = Norm.of(x);
        double slope = norm == 0 ? 0 : profileOfSize(x.length).slope(norm);
        double[] subgradient = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            subgradient[i] = norm == 0 ? 0 : slope * (x[i] / norm);
        }
        return subgradient;
    }

    /**
     * Distance of zero to the subdifferential of {@code f + h}: the certificate of optimality.
     *
     * <p>{@code ‖∇f + h'(‖x‖) x/‖x‖‖} for {@code x ≠ 0}, and {@code max(0, ‖∇f‖ − h'(0))} for {@code x = 0}.
     *
     * @param x one group of weights
     * @param gradient the gradient of the smooth part {@code f} there
     * @return the distance; zero means stationary
     */
    default double stationarityDistance(double[] x, double[] gradient) {
        Check.sameSize("gradient", gradient.length, "x", x.length);
        if (Norm.of(x) == 0) {
            return Math.max(0, Norm.of(gradient) - profileOfSize(x.length).slope(0));
        }
        double[] sum = subgradient(x);
        for (int i = 0; i < sum.length; i++) {
            sum[i] += gradient[i];
        }
        return Norm.of(sum);
    }
}
