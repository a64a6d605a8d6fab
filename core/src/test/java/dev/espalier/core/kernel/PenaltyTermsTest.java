package dev.espalier.core.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.LassoAndMcp;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.penalty.Profile.Piece;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.step.TestModel;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Which penalties the fast path serves, and the numbers that it works with. */
class PenaltyTermsTest {
    private static final double ALPHA = 0.1;

    private static PenaltyTerms terms(Penalty penalty) {
        return PenaltyTerms.of(penalty, 4, ALPHA);
    }

    @Test
    void slopesThatFallEverFasterToZeroAreFast() {
        assertTrue(terms(new GroupLasso(0.3)).fast());
        assertTrue(terms(new GroupMcp(0.3, 2)).fast());
        assertTrue(terms(new GroupScad(0.3, 2, 0.4)).fast());
        assertTrue(terms(GroupScad.classical(0.3, 3.7, GroupWeight.NONE)).fast());
        assertFalse(terms(new LassoAndMcp(0.3, 2, 0.1, GroupWeight.NONE)).fast());
        assertTrue(of(new Piece(0, 4, 0), new Piece(1, 5, 1), new Piece(2, 7, 2), new Piece(3.5, 0, 0))
                .fallsToZero());
        assertFalse(
                of(new Piece(0, 4, 2), new Piece(1, 3, 1), new Piece(3, 0, 0)).fallsToZero(), "ever more slowly");
        assertFalse(
                of(new Piece(0, 1, -1), new Piece(1, 3, 1), new Piece(3, 0, 0)).fallsToZero(), "rises first");
    }

    private static Profile of(Piece... pieces) {
        return Profile.of(pieces);
    }

    @Test
    void thePullIsTheSlopeTimesTheStepAndKappaItsFall() {
        for (Penalty penalty :
                List.of(new GroupLasso(0.3), new GroupMcp(0.3, 2), new GroupScad(0.3, 2, 0.4))) { // knee at 1.2
            PenaltyTerms terms = terms(penalty);
            Profile profile = penalty.profileOfSize(4);
            for (double norm : new double[] {1e-3, 0.2, 0.47, 0.49, 0.7, 1.1, 1.19}) {
                assertEquals(ALPHA * profile.slope(norm), terms.pull(norm), 1e-15, () -> penalty + " at " + norm);
                double fall = (terms.pull(norm - 1e-4) - terms.pull(norm)) / 1e-4;
                assertEquals(fall, terms.kappa(norm), 1e-9, () -> penalty + " at " + norm);
            }
            assertEquals(terms.threshold(), terms.pull(0));
        }
        PenaltyTerms scad = terms(new GroupScad(0.3, 2, 0.4));
        assertEquals(1.2, scad.knee(), 1e-15);
        assertEquals(0, scad.pull(scad.knee()));
        assertTrue(scad.kappa(scad.knee()) > 0, "of the piece that ends there");
        assertTrue(scad.samePiece(0.1, 0.4) && scad.samePiece(0.5, 1.2));
        assertFalse(scad.samePiece(0.4, 0.5));
    }

    /** Warm norms leave about one evaluation a group; a group that went to the exact operator would need some more. */
    @Test
    void aStepUnderScadIsAsShortAsOneUnderMcp() {
        double scad = evaluationsPerGroup(new GroupScad(0.02, 40, 0.4));
        double mcp = evaluationsPerGroup(new GroupMcp(0.02, 40));
        assertTrue(scad > 0.5 && scad < mcp + 0.2, scad + " evaluations a group, group MCP " + mcp);
    }

    private static double evaluationsPerGroup(Penalty penalty) {
        AxisGroups groups = new AxisGroups(40, 50, 3);
        ParameterSet set = ParameterSet.of(LearningRate.constant(1e-3), new Parameter("w", 6000))
                .withRegularizer(new Regularizer(penalty, groups));
        SplittableRandom random = new SplittableRandom(1);
        try (TestModel model = new TestModel(List.of(set));
                Optimizer optimizer = new Optimizer(
                        new UpdateRule.Adam(), List.of(set), StepOptions.DEFAULT.withThreads(1), LaneChoice.BEST)) {
            for (int group = 0; group < groups.count(); group++) {
                double scale =
                        0.2 * (1 + group) / groups.count(); // norms up to 2.2, the knee is at 8.8 and its break at 3.5
                double[] x = random.doubles(groups.size(group), -scale, scale).toArray();
                groups.scatter(group, x, List.copyOf(model.weights().values()));
            }
            long evaluations = 0;
            for (int step = 0; step < 30; step++) {
                TestModel.fill(model.gradients(), random, 1);
                var summary = optimizer.step(model.weights(), model.gradients()).summary();
                evaluations += step < 10 ? 0 : summary.iterations();
            }
            return evaluations / 20.0 / groups.count();
        }
    }
}
