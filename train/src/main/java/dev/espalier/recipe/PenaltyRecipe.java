package dev.espalier.recipe;

import dev.espalier.penalty.GroupLasso;
import dev.espalier.penalty.GroupMcp;
import dev.espalier.penalty.GroupWeight;
import dev.espalier.penalty.NestedLasso;
import dev.espalier.penalty.Penalty;
import dev.espalier.penalty.SparseGroupLasso;
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
        GROUP_MCP,
        /** The mixed ℓ1/ℓ2 norm of groups and of groups within them. */
        NESTED_LASSO,
        /** The mixed ℓ1/ℓ2 norm of groups and the ℓ1 norm of single weights. */
        SPARSE_GROUP_LASSO
    }

    /**
     * Which penalty it is.
     *
     * @return its kind
     */
    Kind kind();

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
        public Kind kind() {
            return Kind.NONE;
        }

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
        public Kind kind() {
            return Kind.GROUP_LASSO;
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
        public Kind kind() {
            return Kind.GROUP_MCP;
        }

        @Override
        public Optional<Penalty> penalty(double strength) {
            return Optional.of(new GroupMcp(strength, beta, groupWeight));
        }
    }

    /**
     * The mixed ℓ1/ℓ2 norm of groups and of groups within them. Groups with none within have the plain norm.
     *
     * @param lambda strength λ
     * @param share ρ, the inner groups' share of it
     * @param groupWeight how λ_g depends on the group's size
     */
    record Nested(double lambda, double share, GroupWeight groupWeight) implements PenaltyRecipe {
        /** Checks λ and ρ. */
        public Nested {
            PenaltyKeys.LAMBDA.require(lambda);
            PenaltyKeys.SHARE.require(share);
        }

        @Override
        public Kind kind() {
            return Kind.NESTED_LASSO;
        }

        @Override
        public Optional<Penalty> penalty(double strength) {
            return Optional.of(new NestedLasso(strength, share, groupWeight));
        }
    }

    /**
     * The mixed ℓ1/ℓ2 norm of groups and the ℓ1 norm of single weights.
     *
     * @param lambda strength λ
     * @param share ρ, the single weights' share of it
     * @param groupWeight how λ_g depends on the group's size
     */
    record SparseGroup(double lambda, double share, GroupWeight groupWeight) implements PenaltyRecipe {
        /** Checks λ and ρ. */
        public SparseGroup {
            PenaltyKeys.LAMBDA.require(lambda);
            PenaltyKeys.SHARE.require(share);
        }

        @Override
        public Kind kind() {
            return Kind.SPARSE_GROUP_LASSO;
        }

        @Override
        public Optional<Penalty> penalty(double strength) {
            return Optional.of(new SparseGroupLasso(strength, share, groupWeight));
        }
    }
}
