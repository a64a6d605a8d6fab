package dev.espalier.djl;

import dev.espalier.core.rule.UpdateRule;

/**
 * Entry points for the proximal optimizers, one for every update rule with its default numbers. Other numbers go through
 * {@link #of}.
 */
public final class Proximal {
    private Proximal() {}

    /**
     * Any rule.
     *
     * @param rule the update rule
     * @return a builder
     */
    public static ProximalOptimizer.Builder of(UpdateRule rule) {
        return new ProximalOptimizer.Builder(rule);
    }

    /**
     * Adam.
     *
     * @return a builder
     */
    public static ProximalOptimizer.Builder adam() {
        return of(new UpdateRule.Adam());
    }

    /**
     * Stochastic gradient descent.
     *
     * @return a builder
     */
    public static ProximalOptimizer.Builder sgd() {
        return of(new UpdateRule.Sgd());
    }

    /**
     * Momentum.
     *
     * @return a builder
     */
    public static ProximalOptimizer.Builder momentum() {
        return of(new UpdateRule.Momentum());
    }

    /**
     * RMSprop.
     *
     * @return a builder
     */
    public static ProximalOptimizer.Builder rmsProp() {
        return of(new UpdateRule.RmsProp());
    }

    /**
     * AdaGrad.
     *
     * @return a builder
     */
    public static ProximalOptimizer.Builder adaGrad() {
        return of(new UpdateRule.AdaGrad());
    }
}
