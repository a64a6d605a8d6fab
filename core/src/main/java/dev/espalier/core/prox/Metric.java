package dev.espalier.core.prox;

import dev.espalier.core.check.Check;
import dev.espalier.core.tensor.TensorView;
import java.util.List;

/**
 * The metric of one optimizer step: the diagonal D of the preconditioner and the step size α.
 *
 * <p>The two travel together, so that the gradient step and the proximal operator can never disagree about the step
 * size.
 *
 * @param diagonal D, one tensor for every tensor of weights
 * @param stepSize α ≥ 0
 */
public record Metric(List<TensorView> diagonal, double stepSize) {

    /** Checks α; the diagonal is checked when it is read. */
    public Metric {
        diagonal = List.copyOf(diagonal);
        Check.notNegative("stepSize (alpha)", stepSize);
    }
}
