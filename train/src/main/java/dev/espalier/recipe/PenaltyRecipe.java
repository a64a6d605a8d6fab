package dev.espalier.recipe;

import dev.espalier.penalty.GroupLasso;
import dev.espalier.penalty.GroupMcp;
import dev.espalier.penalty.GroupWeight;
import dev.espalier.penalty.Penalty;
import java.util.Optional;

/** The penalty of every group. */
public sealed interface PenaltyRecipe {

    /** Kinds of penalties. */
    enum Kind {
        /** No penalty. */
        NONE,
        /** The mixed ℓ1/ℓ2 norm. */
        GROUP_LASSO,
        /** The group minimax concave penalty. */
        GROUP_MCP
    }

    /**
     * How strong it is.
     *
     * @return λ; 0 for none
     */
    double lambda();

    /**
     * The penalty at another strength.
     *
     * @param strength λ ≥ 0
     * @return the penalty; empty for none
     */
    Optional<Penalty> penalty(double strength);

    /**
     * The penalty itself.
     *
     * @return the penalty; empty for none
     */
    default Optional<Penalty> penalty() {
        return penalty(lambda());
    }

    /** No penalty. */
    record None() implements PenaltyRecipe {
        @Override
        public double lambda() {
            return 0;
        }

        @Override
        public Optional<Penalty> penalty(double strength) {
            return Optional.empty();
        }
    }

    /**
     * The mixed ℓ1/ℓ2 norm.
     *
     * @param lambda strength λ
     * @param groupWeight how λ_g depends on the group's size
     */
    record Lasso(double lambda, GroupWeight groupWeight) implements PenaltyRecipe {
        /** Checks λ. */
        public Lasso {
            PenaltyKeys.LAMBDA.require(lambda);
        }

        @Override
        public Optional<Penalty> penalty(double strength) {
            return Optional.of(new GroupLasso(strength, groupWeight));
        }
    }

    /**
     * The group minimax concave penalty.
     *
     * @param lambda strength λ
     * @param beta β; the knee is at {@code βλ_g}
     * @param groupWeight how λ_g depends on the group's size
     */
    record Mcp(double lambda, double beta, GroupWeight groupWeight) implements PenaltyRecipe {
        /** Checks λ and β. */
        public Mcp {
            PenaltyKeys.LAMBDA.require(lambda);
            PenaltyKeys.BETA.require(beta);
        }

        @Override
        public Optional<Penalty> penalty(double strength) {
            return Optional.of(new GroupMcp(strength, beta, groupWeight));
        }
    }
}
