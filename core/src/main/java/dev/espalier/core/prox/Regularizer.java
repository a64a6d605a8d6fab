package dev.espalier.core.prox;

import dev.espalier.core.check.Check;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.tensor.TensorView;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A penalty laid over the groups of one or more tensors: {@code h(x) = Σ_g h_g(x_g)}. Groups may differ in how strongly
 * they are penalised: then λ_g, the strength that the penalty has on a group of that size, is multiplied by a factor of the group's own.
 *
 * <p>Because the groups are disjoint, everything about it is done group by group, and follows from the penalty of a group,
 * {@link #whole}. Weights in no group are free. Where groups nest, that is the outer groups, with all that is in them.
 *
 * @param penalty the penalty of each group
 * @param groups the groups
 * @param factors what λ_g of each group is multiplied by; empty if all are 1
 */
public record Regularizer(Penalty penalty, Groups groups, List<Double> factors) {

    /** Checks that a penalty of groups that nest is one that can, and that factors fit. */
    public Regularizer {
        factors = List.copyOf(factors);
        factors.forEach(factor -> Check.positive("factor of a group", factor));
        if (!factors.isEmpty()) {
            Check.sameSize("factors", factors.size(), "the groups", groups.count());
            if (groups instanceof NestedGroups || penalty.singleStrength() > 0) {
                throw new IllegalArgumentException("penalty = " + penalty
                        + " cannot have a factor for each group, since it acts within groups too: use GroupLasso,"
                        + " GroupMcp or GroupScad, and groups that do not nest");
            }
        }
        if (groups instanceof NestedGroups && !(penalty instanceof NestedLasso)) {
            throw new IllegalArgumentException("penalty = " + penalty
                    + " cannot be laid over groups that nest, since its operator on a tree is not known to be exact: "
                    + "use NestedLasso, or groups that do not nest");
        }
    }

    /**
     * A penalty that is the same on all groups of a size.
     *
     * @param penalty the penalty of each group
     * @param groups the groups
     */
    public Regularizer(Penalty penalty, Groups groups) {
        this(penalty, groups, List.of());
    }

    /**
     * {@return what λ_g of a group is multiplied by}
     *
     * @param group which group, from 0
     */
    public double factor(int group) {
        return factors.isEmpty() ? 1 : factors.get(group);
    }

    /**
     * {@return the same penalty and groups, each with a factor}
     *
     * @param each what λ_g of each group is multiplied by, above 0; none for 1
     */
    public Regularizer withFactors(List<Double> each) {
        return new Regularizer(penalty, groups, each);
    }

    /**
     * {@return all of the penalty of a group, that of the groups within it included}
     *
     * @param group which group, from 0
     */
    public NestedProfile whole(int group) {
        if (groups instanceof NestedGroups nested && penalty instanceof NestedLasso lasso) {
            return lasso.over(nested.owners(group));
        }
        int size = groups.size(group);
        return factors.isEmpty()
                ? penalty.wholeOfSize(size)
                : NestedProfile.flat(penalty.profileOfSize(size, factor(group)), size);
    }

    /**
     * {@return the same groups with another penalty}
     *
     * @param other the penalty of each group
     */
    public Regularizer withPenalty(Penalty other) {
        return new Regularizer(other, groups, factors);
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
            value += whole(group).value(groups.gather(group, weights));
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
            double[] subgradient = whole(group).subgradient(groups.gather(group, weights));
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
                    whole(group).stationarityDistance(groups.gather(group, weights), groups.gather(group, gradients));
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
     * Number of groups within groups that are exactly zero.
     *
     * @param weights the tensors that the groups lie in
     * @return their number, those of zero groups included; 0 where groups do not nest
     */
    public int zeroWithin(List<TensorView> weights) {
        int count = 0;
        for (int group = 0; groups instanceof NestedGroups && group < groups.count(); group++) {
            count += zeroWithin(whole(group), groups.gather(group, weights));
        }
        return count;
    }

    private static int zeroWithin(NestedProfile whole, double[] x) {
        return (int)
                Arrays.stream(whole.innerNorms(x)).filter(norm -> norm == 0).count();
    }

    /**
     * Sets every group to zero whose norm is small, {@code ‖x_g‖ ≤ t·√|g|}: the post-processing that the subgradient method
     * needs. Unlike the proximal operator this changes the function that a network computes. Groups within groups come first.
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
            if (groups instanceof NestedGroups nested) {
                clearSmall(threshold, nested.owners(group), x);
            }
            if (Norm.of(x) <= threshold * Math.sqrt(x.length)) {
                Arrays.fill(x, 0);
                zero++;
            }
            groups.scatter(group, x, weights);
        }
        return zero;
    }

    private static void clearSmall(double threshold, int[] owners, double[] x) {
        for (int inner = 0; inner <= Arrays.stream(owners).max().orElse(-1); inner++) {
            int here = inner;
            int[] members =
                    IntStream.range(0, x.length).filter(i -> owners[i] == here).toArray();
            double[] part = Arrays.stream(members).mapToDouble(i -> x[i]).toArray();
            if (Norm.of(part) <= threshold * Math.sqrt(part.length)) {
                Arrays.stream(members).forEach(i -> x[i] = 0);
            }
        }
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
            NestedProfile whole = whole(group);
            Outcome outcome = prox.apply(whole, x, d, metric.stepSize(), Double.NaN, x);
            groups.scatter(group, x, weights);
            summary = summary.plus(outcome);
            if (groups instanceof NestedGroups) {
                summary = summary.plusWithin(zeroWithin(whole, x));
            }
        }
        return summary;
    }
}
