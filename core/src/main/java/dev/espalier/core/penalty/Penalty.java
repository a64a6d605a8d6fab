package dev.espalier.core.penalty;

/**
 * A sparsity-inducing penalty of one group of weights: {@code h(x_g)} depends on the group's Euclidean norm, and, if the
 * penalty says so, on the magnitudes of its single weights.
 *
 * <p>A penalty says how strong it is on a group of a given size and which {@link Profile} it has at that strength.
 * Everything else — value, subgradient, stationarity, closed-form and weighted proximal operator — follows from the
 * profile, in one place each. To add a penalty, write these two methods. One that wants zeros inside of groups as well
 * ({@link SparseGroupLasso}) also says how strong it is on a single weight.
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
     * {@return the penalty of a group as a function of its norm}
     *
     * @param strength λ_g
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
     * The profile of a group of a given size whose λ_g has a factor.
     *
     * @param size number of weights |g|
     * @param factor what λ_g is multiplied by
     * @return {@code profile(factor·strength(size))}
     */
    default Profile profileOfSize(long size, double factor) {
        return factor == 1 ? profileOfSize(size) : profile(factor * strength(size));
    }

    /**
     * The strength λ₁ of an ℓ1 penalty that every single weight of a group bears besides.
     *
     * @return λ₁ ≥ 0; zero, as for most penalties, for none
     */
    default double singleStrength() {
        return 0;
    }

    /**
     * All of the penalty of a group: its profile, and that of its single weights.
     *
     * @param size number of weights |g|
     * @return {@code profileOfSize(size)} above as many single weights of {@code singleStrength()}
     */
    default NestedProfile wholeOfSize(int size) {
        return singleStrength() == 0
                ? NestedProfile.flat(profileOfSize(size), size)
                : NestedProfile.ofSingles(profileOfSize(size), Profile.norm(singleStrength()), size);
    }

    /**
     * {@return the penalty's value {@code h(x)}}
     *
     * @param x one group of weights
     */
    default double value(double[] x) {
        return wholeOfSize(x.length).value(x);
    }

    /**
     * A subgradient: {@code h'(‖x‖) x/‖x‖}, and zero at zero; plus {@code λ₁ sign(x_i)}.
     *
     * @param x one group of weights
     * @return the subgradient
     */
    default double[] subgradient(double[] x) {
        return wholeOfSize(x.length).subgradient(x);
    }

    /**
     * Distance of zero to the subdifferential of {@code f + h}: the certificate of optimality.
     *
     * @param x one group of weights
     * @param gradient the gradient of the smooth part {@code f} there
     * @return the distance; zero means stationary
     * @see NestedProfile#stationarityDistance
     */
    default double stationarityDistance(double[] x, double[] gradient) {
        return wholeOfSize(x.length).stationarityDistance(x, gradient);
    }
}
