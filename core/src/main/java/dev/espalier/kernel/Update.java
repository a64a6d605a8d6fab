package dev.espalier.kernel;

import dev.espalier.rule.Coefficients;

/**
 * One step of an update rule on a tensor, in the numbers of the inner loops. With {@link Coefficients} for m and v,
 *
 * <pre>{@code
 * d = √(scaleSecond·v + innerEpsilon) + outerEpsilon
 * x ← shrink·x − step·m/d                  without a penalty
 * u = d·(shrink·x) − step·m                with one: the proximal operator goes on from u and d
 * }</pre>
 *
 * @param keepFirst share of the old first moment
 * @param addFirst share of the gradient in the first moment
 * @param step step size α times the first moment's bias correction
 * @param keepSecond share of the old second moment
 * @param addSecond share of the squared gradient in the second moment
 * @param scaleSecond the second moment's bias correction
 * @param innerEpsilon ε under the root
 * @param outerEpsilon ε beside the root
 * @param shrink {@code 1 − α·decay}
 */
public record Update(
        float keepFirst,
        float addFirst,
        float step,
        float keepSecond,
        float addSecond,
        float scaleSecond,
        float innerEpsilon,
        float outerEpsilon,
        float shrink) {

    /**
     * The metric's entry d of a weight.
     *
     * @param second its second moment v
     * @return d
     */
    public float metric(float second) {
        return (float) Math.sqrt(Math.fma(scaleSecond, second, innerEpsilon)) + outerEpsilon;
    }

    /**
     * {@code u = d·(shrink·x) − step·m} of a weight.
     *
     * @param d the metric's entry
     * @param x the weight
     * @param first its first moment m
     * @return u
     */
    public float preconditioned(float d, float x, float first) {
        return Math.fma(d, shrink * x, -step * first);
    }

    /**
     * A step in these numbers.
     *
     * @param rule the rule's numbers
     * @param stepSize α
     * @param weightDecay decoupled weight decay
     * @return the step
     */
    public static Update of(Coefficients rule, double stepSize, double weightDecay) {
        return new Update(
                (float) rule.keepFirst(),
                (float) rule.addFirst(),
                (float) (stepSize * rule.scaleFirst()),
                (float) rule.keepSecond(),
                (float) rule.addSecond(),
                (float) rule.scaleSecond(),
                (float) rule.innerEpsilon(),
                (float) rule.outerEpsilon(),
                (float) (1 - stepSize * weightDecay));
    }
}
