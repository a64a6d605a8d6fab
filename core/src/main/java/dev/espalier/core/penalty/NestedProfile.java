package dev.espalier.core.penalty;

import dev.espalier.core.check.Check;
import dev.espalier.core.numeric.Norm;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * All of the penalty of one group: a profile of its norm, and profiles of the norms of disjoint groups within it, if there
 * are any,
 *
 * <pre>{@code
 * h(x) = H(‖x‖) + Σ_c λ_c ‖x_c‖
 * }</pre>
 *
 * <p>Inner groups have norms for profiles. Those of one weight can lie below any profile H; larger ones only below a norm,
 * {@code H(r) = λ_g r}. That is what the weighted proximal operator is exact for.
 */
public final class NestedProfile {
    /** The owner of a weight that is in no inner group. */
    public static final int NONE = -1;

    private final Profile outer;
    private final int[] owners;
    private final List<Profile> inner;

    private NestedProfile(Profile outer, int[] owners, List<Profile> inner) {
        this.outer = outer;
        this.owners = owners;
        this.inner = inner;
    }

    /**
     * {@return a penalty of the group's norm alone}
     *
     * @param outer the profile
     * @param size number of weights
     */
    public static NestedProfile flat(Profile outer, int size) {
        int[] owners = new int[size];
        Arrays.fill(owners, NONE);
        return new NestedProfile(outer, owners, List.of());
    }

    /**
     * {@return a penalty of the group and of every single weight}
     *
     * @param outer the group's profile
     * @param single a weight's profile, a norm
     * @param size number of weights
     */
    public static NestedProfile ofSingles(Profile outer, Profile single, int size) {
        int[] owners = new int[size];
        Arrays.setAll(owners, i -> i);
        return of(outer, owners, Collections.nCopies(size, single));
    }

    /**
     * {@return a penalty of a group and of groups within it}
     *
     * @param outer the group's profile
     * @param owners for every weight the number of the inner group that it is in, or {@link #NONE}
     * @param inner the profile of every inner group, a norm
     * @throws IllegalArgumentException if the two levels do not nest
     */
    public static NestedProfile of(Profile outer, int[] owners, List<Profile> inner) {
        int[] sizes = new int[inner.size()];
        for (int owner : owners) {
            if (owner < NONE || owner >= sizes.length) {
                throw new IllegalArgumentException("owner = %d is out of range: it must be −1 to %d, the inner groups"
                        .formatted(owner, sizes.length - 1));
            }
            if (owner != NONE) {
                sizes[owner]++;
            }
        }
        for (int child = 0; child < sizes.length; child++) {
            Check.atLeast("size of inner group " + child, sizes[child], 1);
            requireNorm("inner group " + child, inner.get(child));
            if (sizes[child] > 1) {
                requireNorm("a group with inner groups of more than one weight", outer);
            }
        }
        return new NestedProfile(outer, owners.clone(), List.copyOf(inner));
    }

    private static void requireNorm(String what, Profile profile) {
        if (!profile.isNorm()) {
            throw new IllegalArgumentException(
                    "the penalty of %s is %s: it must be a norm (ℓ1/ℓ2), ".formatted(what, profile)
                            + "since the operator of a tree is exact for no other; use NestedLasso, or groups that do not nest");
        }
    }

    /** {@return the penalty of the whole group's norm} */
    public Profile outer() {
        return outer;
    }

    /**
     * The penalties of the inner groups' norms.
     *
     * @return a profile each; empty if there are none
     */
    public List<Profile> inner() {
        return inner;
    }

    /**
     * The inner group that a weight is in.
     *
     * @param weight which weight, from 0
     * @return which inner group, from 0; {@link #NONE} if it is in none
     */
    public int owner(int weight) {
        return owners[weight];
    }

    /**
     * Number of weights.
     *
     * @return the size of the group
     */
    public int size() {
        return owners.length;
    }

    /**
     * The norm of every inner group.
     *
     * @param x the group
     * @return {@code ‖x_c‖}
     */
    public double[] innerNorms(double[] x) {
        Check.sameSize("x", x.length, "the group", size());
        int[] fill = new int[inner.size()];
        for (int owner : owners) {
            if (owner != NONE) {
                fill[owner]++;
            }
        }
        double[][] parts = new double[fill.length][];
        Arrays.setAll(parts, child -> new double[fill[child]]);
        for (int i = 0; i < x.length; i++) {
            if (owners[i] != NONE) {
                parts[owners[i]][--fill[owners[i]]] = x[i];
            }
        }
        return Arrays.stream(parts).mapToDouble(Norm::of).toArray();
    }

    /**
     * The penalty's value.
     *
     * @param x the group
     * @return {@code h(x)}
     */
    public double value(double[] x) {
        double[] norms = innerNorms(x);
        double value = outer.value(Norm.of(x));
        for (int child = 0; child < norms.length; child++) {
            value += inner.get(child).value(norms[child]);
        }
        return value;
    }

    /**
     * A subgradient: {@code H'(‖x‖) x/‖x‖ + λ_c x_c/‖x_c‖}, where a term is zero if its norm is.
     *
     * @param x the group
     * @return the subgradient
     */
    public double[] subgradient(double[] x) {
        double[] norms = innerNorms(x);
        double norm = Norm.of(x);
        double slope = norm == 0 ? 0 : outer.slope(norm);
        double[] subgradient = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            if (x[i] != 0) {
                subgradient[i] = slope * (x[i] / norm);
                if (owners[i] != NONE) {
                    double innerNorm = norms[owners[i]];
                    subgradient[i] += inner.get(owners[i]).slope(innerNorm) * (x[i] / innerNorm);
                }
            }
        }
        return subgradient;
    }

    /**
     * Distance of zero to the subdifferential of {@code f + h}: the certificate of optimality.
     *
     * <p>An inner group that is zero takes up to λ_c off its gradient, whatever the direction; a whole group that is zero takes
     * {@code H'(0)} off what is left. Where {@code x} is not zero the penalty has a gradient. For a group without inner groups
     * that is {@code ‖∇f + H'(‖x‖) x/‖x‖‖} for {@code x ≠ 0}, and {@code max(0, ‖∇f‖ − H'(0))} for {@code x = 0}.
     *
     * @param x the group
     * @param gradient the gradient of the smooth part {@code f} there
     * @return the distance; zero means stationary
     */
    public double stationarityDistance(double[] x, double[] gradient) {
        Check.sameSize("gradient", gradient.length, "x", x.length);
        double[] sum = subgradient(x);
        for (int i = 0; i < sum.length; i++) {
            sum[i] += gradient[i];
        }
        double[] norms = innerNorms(x);
        double[] distances = innerNorms(sum);
        for (int i = 0; i < sum.length; i++) {
            int owner = owners[i];
            if (owner != NONE && norms[owner] == 0 && distances[owner] > 0) {
                double left = Math.max(0, distances[owner] - inner.get(owner).slope(0));
                sum[i] *= left / distances[owner];
            }
        }
        double distance = Norm.of(sum);
        return Norm.of(x) == 0 ? Math.max(0, distance - outer.slope(0)) : distance;
    }
}
