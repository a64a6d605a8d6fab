package dev.espalier.prox;

import dev.espalier.check.Check;
import dev.espalier.group.Groups;
import dev.espalier.numeric.Norm;
import dev.espalier.penalty.Penalty;
import dev.espalier.tensor.TensorView;
import java.util.List;

/**
 * A penalty laid over the groups of one or more tensors: {@code h(x) = Σ_g h_g(‖x_g‖)}.
 *
 * <p>Because the groups are disjoint, everything about it is done group by group. Weights in no group are free.
 *
 * @param penalty the penalty of each group
 * @param groups the groups
 */
public record Regularizer(Penalty penalty, Groups groups) {

    /**
     * The same groups with another penalty.
     *
     * @param other the penalty of each group
     * @return the regularizer
     */
    public Regularizer withPenalty(Penalty other) {
        return new Regularizer(other, groups);
    }

    /**
     * The penalty's value.
     *
     * @param weights the tensors that the groups lie in
     * @return {@code h(x)}
     */
    public double value(List<TensorView> weights) {
        groups.requireFit("weights", weights);
        double value = 0;
        for (int group = 0; group < groups.count(); group++) {
            value += penalty.value(groups.gather(group, weights));
        }
        return value;
    }

    /**
     * Adds a subgradient to the gradient, as the subgradient method does.
     *
     * @param weights the tensors that the groups lie in
     * @param gradients receives the sum; free weights keep their gradient
     */
    public void addSubgradient(List<TensorView> weights, List<TensorView> gradients) {
        groups.requireFit("weights", weights);
        groups.requireFit("gradients", gradients);
        for (int group = 0; group < groups.count(); group++) {
            double[] sum = groups.gather(group, gradients);
            double[] subgradient = penalty.subgradient(groups.gather(group, weights));
            for (int i = 0; i < sum.length; i++) {
                sum[i] += subgradient[i];
            }
            groups.scatter(group, sum, gradients);
        }
    }

    /**
     * The squared distance of zero to the subdifferential of {@code f + h} over all groups: the quantity that the
     * convergence theorem bounds. Free weights are not counted: theirs is the squared norm of their gradient.
     *
     * @param weights the tensors that the groups lie in
     * @param gradients the gradients of {@code f}
     * @return {@code Σ_g dist(0, ∂F_g(x))²}
     */
    public double squaredStationarityDistance(List<TensorView> weights, List<TensorView> gradients) {
        groups.requireFit("weights", weights);
        groups.requireFit("gradients", gradients);
        double sum = 0;
        for (int group = 0; group < groups.count(); group++) {
            double distance =
                    penalty.stationarityDistance(groups.gather(group, weights), groups.gather(group, gradients));
            sum += distance * distance;
        }
        return sum;
    }

    /**
     * Number of groups that are not exactly zero.
     *
     * @param weights the tensors that the groups lie in
     * @return their number; divided by {@code groups().count()} it is the paper's group sparsity
     */
    public int nonZeroGroups(List<TensorView> weights) {
        groups.requireFit("weights", weights);
        int count = 0;
        for (int group = 0; group < groups.count(); group++) {
            boolean[] nonZero = {false};
            groups.forEach(
                    group, (tensor, index) -> nonZero[0] |= weights.get(tensor).get(index) != 0);
            count += nonZero[0] ? 1 : 0;
        }
        return count;
    }

    /**
     * Sets every group to zero whose norm is small, {@code ‖x_g‖ ≤ t·√|g|}: the post-processing that the subgradient method
     * needs. Unlike the proximal operator this changes the function that a network computes.
     *
     * @param threshold t ≥ 0
     * @param weights the tensors that the groups lie in
     * @return number of groups that are zero afterwards
     */
    public int threshold(double threshold, List<TensorView> weights) {
        Check.notNegative("threshold", threshold);
        groups.requireFit("weights", weights);
        int zero = 0;
        for (int group = 0; group < groups.count(); group++) {
            double[] x = groups.gather(group, weights);
            if (Norm.of(x) <= threshold * Math.sqrt(x.length)) {
                groups.scatter(group, new double[x.length], weights);
                zero++;
            }
        }
        return zero;
    }

    /**
     * Applies the weighted proximal operator to every group, in place. Nothing is written unless all input is legal.
     *
     * @param prox the operator
     * @param weights the tensors that the groups lie in; overwritten by the minimiser
     * @param metric D and α
     * @return what was done
     */
    public Summary apply(WeightedProx prox, List<TensorView> weights, Metric metric) {
        groups.requireFit("weights", weights);
        groups.requireFit("metric", metric.diagonal());
        for (int group = 0; group < groups.count(); group++) {
            Check.allFinite("weights of group " + group, groups.gather(group, weights));
            Check.allPositive("metric of group " + group, groups.gather(group, metric.diagonal()));
        }
        Summary summary = Summary.EMPTY;
        for (int group = 0; group < groups.count(); group++) {
            double[] x = groups.gather(group, weights);
            double[] d = groups.gather(group, metric.diagonal());
            Outcome outcome = prox.apply(penalty.profileOfSize(x.length), x, d, metric.stepSize(), x);
            groups.scatter(group, x, weights);
            summary = summary.plus(outcome);
        }
        return summary;
    }
}
