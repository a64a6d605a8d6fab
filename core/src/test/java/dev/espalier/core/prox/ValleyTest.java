package dev.espalier.core.prox;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.Profile;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The secular equation has a valley that stays above one, and an evaluation falls next to its bottom: there is no root, however small
 * the steps of the iteration are there, and the group is left as it is.
 */
class ValleyTest {

    static Stream<double[]> groups() {
        return Stream.of(
                new double[] {0.94, 1.21, 7.995, 0.362},
                new double[] {1.42, 0.51, 5.703, 0.095},
                new double[] {0.93, 1.31, 0.183, 4.921},
                new double[] {1.45, 0.71, 17.563, 0.191},
                new double[] {0.66, 1.40, 0.223, 1.681});
    }

    @ParameterizedTest
    @MethodSource("groups")
    void theBottomOfAValleyIsNoRoot(double[] group) {
        Profile profile = new GroupMcp(1, 1.5, GroupWeight.NONE).profileOfSize(2);
        double[] x = {group[0], group[1]};
        double[] d = {group[2], group[3]};
        double[] z = new double[2];
        Outcome outcome = WeightedProx.EXACT.apply(profile, x, d, 1, z);
        assertEquals(Branch.UNTOUCHED, outcome.branch(), outcome::toString);
        assertArrayEquals(x, z);
    }
}
