package dev.espalier.train.recipe;

import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.Profile;

/**
 * Weight of a group's norm in the value of the penalty that the subgradient method differentiates: {@code h(w ‖x_g‖; λ)}.
 *
 * <p>The paper has {@code w = √|g|} everywhere. The paper's program has it in its operators only; its values weigh by the
 * number of groups of the tensor, in two versions. The other choices exist to compare with them, and for nothing else.
 */
public enum ValueWeight {
    /** {@code w = √|g|} by way of {@code λ_g}, as the operator has it and the recipe says. */
    SIZE {
        @Override
        Penalty scaled(Penalty penalty, double root) {
            return penalty;
        }
    },
    /** {@code w = √(number of groups)}: the program's second version. */
    GROUPS {
        @Override
        Penalty scaled(Penalty penalty, double root) {
            return new OfWeightedNorm(penalty, root);
        }
    },
    /** {@code w = 1/√(number of groups)}: the program's first version. */
    INVERSE_GROUPS {
        @Override
        Penalty scaled(Penalty penalty, double root) {
            return new OfWeightedNorm(penalty, 1 / root);
        }
    };

    abstract Penalty scaled(Penalty penalty, double root);

    /**
     * {@return the penalty of the weighted norm}
     *
     * @param penalty the penalty as the recipe has it
     * @param groups how many groups the tensor has
     */
    public Penalty of(Penalty penalty, int groups) {
        return scaled(penalty, Math.sqrt(groups));
    }

    /**
     * The penalty {@code H(r) = h(w r; λ)}, whatever the group's size. Its slope is {@code w h'(w r; λ)}: for group MCP the
     * knee is at {@code βλ/w}, where {@code λ_g = wλ} alone would put it at {@code βλw}.
     *
     * @param penalty {@code h}
     * @param weight w > 0
     */
    private record OfWeightedNorm(Penalty penalty, double weight) implements Penalty {
        @Override
        public double strength(long size) {
            return weight * penalty.strength(1);
        }

        @Override
        public Profile profile(double strength) {
            return new Profile(penalty.profile(strength / weight).pieces().stream()
                    .map(piece -> new Profile.Piece(
                            piece.from() / weight, piece.height() * weight, piece.bend() * weight * weight))
                    .toList());
        }
    }
}
