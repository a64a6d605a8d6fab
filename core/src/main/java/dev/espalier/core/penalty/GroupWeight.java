package dev.espalier.core.penalty;

/**
 * The one rule that makes a group's strength λ_g out of λ and the group's size.
 *
 * <p>Value, subgradient, threshold, proximal operator and stationarity all go through {@link Penalty#strength}, and that
 * goes through here.
 */
public enum GroupWeight {
    /** {@code λ_g = λ √|g|}: groups of different sizes are penalised alike. */
    SQRT_SIZE {
        @Override
        public double strength(double lambda, long size) {
            return lambda * Math.sqrt((double) size);
        }
    },
    /** {@code λ_g = λ}. */
    NONE {
        @Override
        public double strength(double lambda, long size) {
            return lambda;
        }
    };

    /**
     * The strength of a group.
     *
     * @param lambda the penalty's λ
     * @param size the group's number of weights
     * @return its λ_g
     */
    public abstract double strength(double lambda, long size);
}
