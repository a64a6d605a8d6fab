package dev.espalier.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.kernel.StepKernel.SetPlan;
import dev.espalier.core.kernel.StepKernel.SetStep;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.Profile;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.Coefficients;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.cuda.Struct.Row;
import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is stepped where, and what a table of a GPU has room for. */
class KindTest {

    /** A slope that falls to zero in as many straight pieces as one likes, the last of them flat. */
    record Staircase(double lambda, int pieces) implements Penalty {
        @Override
        public double strength(long size) {
            return lambda * Math.sqrt((double) size);
        }

        @Override
        public Profile profile(double strength) {
            Profile.Piece[] all = new Profile.Piece[pieces];
            double from = 0;
            double slope = strength;
            for (int i = 0; i < pieces - 1; i++) {
                double bend = i + 1 == pieces - 1 ? slope / (strength / 8) : i % 2 == 0 ? 0.25 : 0.5;
                all[i] = new Profile.Piece(from, slope + bend * from, bend);
                from += strength / 8;
                slope -= bend * strength / 8;
            }
            all[pieces - 1] = new Profile.Piece(from, 0, 0);
            return Profile.of(all);
        }
    }

    private static Kind kind(Penalty penalty, AxisGroups groups, boolean proximal) {
        return Kind.of(new SetPlan(List.of("w"), groups.tensorSizes(), new Regularizer(penalty, groups), proximal));
    }

    @Test
    void aProfileOfMorePiecesThanTheTableHoldsIsSteppedOnTheHost() {
        AxisGroups groups = new AxisGroups(3, 4, 5);
        assertEquals(Kind.SUBGRADIENTS, kind(new Staircase(1, 8), groups, false));
        assertEquals(Kind.ON_THE_HOST, kind(new Staircase(1, 9), groups, false));
        assertEquals(Kind.SINGLE, kind(new Staircase(1, 8), AxisGroups.single(9), true));
        assertEquals(Kind.ON_THE_HOST, kind(new Staircase(1, 9), AxisGroups.single(9), true));
    }

    @Test
    void aSlopeOfMoreThanOneLineIsSteppedOnTheHost() {
        AxisGroups groups = new AxisGroups(3, 4, 5);
        assertEquals(Kind.GROUPED, kind(new GroupScad(1, 2, 0), groups, true));
        assertEquals(Kind.ON_THE_HOST, kind(new GroupScad(1, 2, 0.5), groups, true));
        assertEquals(Kind.SUBGRADIENTS, kind(new GroupScad(1, 2, 0.5), groups, false));
    }

    /** Its mean would have to be taken after subgradients have been added, and those are within the step. */
    @Test
    void aFloorOfAMetricThatSeesSubgradientsIsFoundOnTheHost() {
        AxisGroups groups = new AxisGroups(3, 4, 5);
        Regularizer regularizer = new Regularizer(new GroupLasso(1), groups);
        for (boolean proximal : new boolean[] {false, true}) {
            SetPlan plan = new SetPlan(List.of("w"), groups.tensorSizes(), regularizer, proximal, 0.1);
            assertEquals(proximal ? Kind.GROUPED : Kind.ON_THE_HOST, Kind.of(plan));
        }
    }

    @Test
    void whatAGpuStepsTakesNoPenaltyThatItsTableHasNoRoomFor() {
        AxisGroups groups = new AxisGroups(3, 4, 5);
        Regularizer eight = new Regularizer(new Staircase(1, 8), groups);
        Regularizer nine = new Regularizer(new Staircase(1, 9), groups);
        for (Kind kind : List.of(Kind.SINGLE, Kind.GROUPED, Kind.SUBGRADIENTS)) {
            assertEquals(eight, kind.requireRoom(eight));
            String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> kind.requireRoom(nine))
                    .getMessage());
            assertTrue(message.contains("has 9 pieces") && message.contains("at most 8"), message);
        }
        assertEquals(nine, Kind.ON_THE_HOST.requireRoom(nine));
    }

    /** The largest that a table takes fills it, and no more. */
    @Test
    void aSetFitsItsPlaceInTheTable() {
        AxisGroups groups = new AxisGroups(3, 4, 5);
        SetStep step = new SetStep(List.of(), List.of(), 0.1, 0);
        Coefficients rule = new UpdateRule.Adam().at(1);
        try (Arena arena = Arena.ofConfined()) {
            for (Penalty penalty : List.of(new GroupLasso(1), new Staircase(1, 8))) {
                Row row = Structs.SET.row(arena.allocate(Structs.SET.layout()), 0);
                Regularizer regularizer = new Regularizer(penalty, groups);
                SetPlan plan = new SetPlan(List.of("w"), groups.tensorSizes(), regularizer, false);
                Tables.set(row, Kind.SUBGRADIENTS, plan, regularizer, new int[2], step, rule, 1e-3, true, 64);
            }
        }
    }
}
