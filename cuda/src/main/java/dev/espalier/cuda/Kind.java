package dev.espalier.cuda;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.kernel.PenaltyTerms;
import dev.espalier.core.kernel.StepKernel.SetPlan;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Regularizer;
import java.util.List;

/** How a set is stepped. */
enum Kind {
    /** Without a penalty. */
    PLAIN(0),
    /** Every weight a group of its own. */
    SINGLE(1),
    /** Groups along an axis of one or more tensors. */
    GROUPED(2),
    /** The same, each tensor's share a group too. */
    NESTING(3),
    /** Groups along an axis, whose penalty acts through its subgradient. */
    SUBGRADIENTS(4),
    /** Not on the GPU: its weights are copied to the processor, stepped there, and copied back. */
    ON_THE_HOST(-1);

    /** What {@code step.cu} has room for. */
    static final int MOST_PARTS = 8;

    static final int MOST_PIECES = 8;

    /** Pieces of the slopes that {@code solver.cu} solves for: a line, and nothing. */
    private static final int FAST_PIECES = 2;

    private final int code;

    Kind(int code) {
        this.code = code;
    }

    /** Its number in {@code step.cu}. */
    int code() {
        return code;
    }

    /** Whether its jobs are tiles of groups. */
    boolean tiles() {
        return this == GROUPED || this == NESTING || this == SUBGRADIENTS;
    }

    /** Whether its jobs are left to a launch of their own. */
    boolean rare() {
        return this == SINGLE || this == NESTING || this == SUBGRADIENTS;
    }

    static Kind of(SetPlan plan) {
        Regularizer regularizer = plan.regularizer();
        if (regularizer == null) {
            return PLAIN;
        }
        Penalty penalty = regularizer.penalty();
        Groups groups = regularizer.groups();
        boolean roomy = pieces(regularizer) <= MOST_PIECES;
        return switch (groups) {
            case AxisGroups _, JointGroups _
            when !roomy || !regularizer.factors().isEmpty() -> ON_THE_HOST;
            // The mean of a metric is taken before the step, and a GPU adds subgradients within it.
            case AxisGroups _, JointGroups _ when !plan.proximal() && plan.metricFloor() > 0 -> ON_THE_HOST;
            case AxisGroups _, JointGroups _ when !plan.proximal() -> SUBGRADIENTS;
            case AxisGroups axis when axis.size(0) == 1 -> SINGLE;
            case AxisGroups _, JointGroups _ -> isFast(penalty, groups.size(0)) ? GROUPED : ON_THE_HOST;
            case NestedGroups(JointGroups joint, NestedGroups.Inner.Parts _)
            when plan.proximal()
                    && penalty instanceof NestedLasso
                    && joint.parts().size() <= MOST_PARTS -> NESTING;
            case NestedGroups _, IndexGroups _ -> ON_THE_HOST;
        };
    }

    private static int pieces(Regularizer regularizer) {
        return regularizer
                .penalty()
                .profileOfSize(regularizer.groups().size(0))
                .pieces()
                .size();
    }

    /**
     * Requires that a set of this kind can be stepped with another penalty: what a GPU steps stays there, and its table holds so
     * many pieces.
     *
     * @param regularizer the penalty, and the groups as they were
     * @return the same
     */
    Regularizer requireRoom(Regularizer regularizer) {
        if (this != ON_THE_HOST && pieces(regularizer) > MOST_PIECES) {
            throw new IllegalArgumentException(
                    "penalty = %s has %d pieces, but a GPU that steps with one penalty can change to one of at most %d pieces: make an optimizer with this penalty and copy the state of the old one to it"
                            .formatted(regularizer.penalty(), pieces(regularizer), MOST_PIECES));
        }
        return regularizer;
    }

    private static boolean isFast(Penalty penalty, int size) {
        PenaltyTerms terms = PenaltyTerms.of(penalty, size, 1);
        return isFast(terms) || terms.idle();
    }

    /** Whether the GPU has a fast path for a penalty: unlike the processor, only for slopes of one line. */
    static boolean isFast(PenaltyTerms terms) {
        return terms.fast() && terms.profile().pieces().size() <= FAST_PIECES;
    }

    /** The shares of tensors that make up the groups of a set. */
    static List<AxisGroups> parts(Groups groups) {
        return switch (groups) {
            case AxisGroups axis -> List.of(axis);
            case JointGroups joint -> joint.parts();
            case NestedGroups nested -> parts(nested.outer());
            case IndexGroups index -> throw new IllegalArgumentException(index + " have no axis");
        };
    }
}
