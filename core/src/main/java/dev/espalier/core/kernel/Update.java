package dev.espalier.core.kernel;

import dev.espalier.core.rule.Coefficients;

/**
 * One step of an update rule on a tensor, in the numbers of the inner loops. With {@link Coefficients} for m and v,
 *
 * <pre>{@code
 * d = max(√(scaleSecond·v + innerEpsilon) + outerEpsilon, metricFloor)
 * x ← x − (decay·x + step·m/d)             without a penalty
 * u = d·x − (d·decay·x + step·m)           with one: the proximal operator goes on from u and d
 * }</pre>
 *
 * <p>Nothing is rounded to the precision of x or u but x and u themselves: {@code 1 − decay} in float would be 1, or off by a
 * fifth, where the decay is small.
 *
 * @param keepFirst share of the old first moment
 * @param addFirst share of the gradient in the first moment
 * @param step step size α times the first moment's bias correction
 * @param keepSecond share of the old second moment
 * @param addSecond share of the squared gradient in the second moment
 * @param scaleSecond the second moment's bias correction
 * @param innerEpsilon ε under the root
 * @param outerEpsilon ε beside the root
 * @param decay α times the decoupled weight decay
 * @param metricFloor what no entry of the metric is below; 0 for none
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
        float decay,
        float metricFloor) {

    private static final float ROUNDING = 1e-8f;

    /**
     * The first moment of a weight after the step.
     *
     * @param first the one before
     * @param gradient the gradient
     * @return m
     */
    public float first(float first, float gradient) {
        return Math.fma(keepFirst, first, addFirst * gradient);
    }

    /**
     * The second moment of a weight after the step.
     *
     * @param second the one before
     * @param gradient the gradient
     * @return v
     */
    public float second(float second, float gradient) {
        return Math.fma(keepSecond, second, addSecond * gradient * gradient);
    }

    /**
     * The metric's entry d of a weight.
     *
     * @param second its second moment v
     * @return d
     */
    public float metric(float second) {
        float d = (float) Math.sqrt(Math.fma(scaleSecond, second, innerEpsilon)) + outerEpsilon;
        return d < metricFloor ? metricFloor : d;
    }

    /**
     * Whether a second moment tells of a gradient: {@code scaleSecond·v} is above {@link #unseen}.
     *
     * @param second the second moment v
     * @return true if it does
     */
    public boolean sees(float second) {
        return scaleSecond * second > unseen();
    }

    /**
     * The square of the largest gradient that is taken for none: {@code min(√innerEpsilon + outerEpsilon, 1e-8)²}. Of what is not
     * above its ε the rule says so itself, and of a loss about one, float32 leaves nothing below 1e-8 but rounding.
     *
     * @return the square
     */
    public float unseen() {
        float largest = Math.min((float) Math.sqrt(innerEpsilon) + outerEpsilon, ROUNDING);
        return largest * largest;
    }

    /**
     * {@code u = d·x − (d·decay·x + step·m)} of a weight.
     *
     * @param d the metric's entry
     * @param x the weight
     * @param first its first moment m
     * @return u
     */
    public float preconditioned(float d, float x, float first) {
        return Math.fma(d, x, Math.fma(-decay * x, d, -step * first));
    }

    /**
     * {@code x − (decay·x + step·m/d)} of a weight.
     *
     * @param d the metric's entry
     * @param x the weight
     * @param first its first moment m
     * @return the weight after the step
     */
    public float stepped(float d, float x, float first) {
        return x + Math.fma(-decay, x, -step * first / d);
    }

    /**
     * {@return a step in these numbers, without a floor of the metric}
     *
     * @param rule the rule's numbers
     * @param stepSize α
     * @param weightDecay decoupled weight decay
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
                (float) (stepSize * weightDecay),
                0);
    }

    /**
     * {@return the same with a floor of the metric}
     *
     * @param floor what no entry is below; 0 for none
     */
    public Update withMetricFloor(float floor) {
        return new Update(
                keepFirst,
                addFirst,
                step,
                keepSecond,
                addSecond,
                scaleSecond,
                innerEpsilon,
                outerEpsilon,
                decay,
                floor);
    }
}
