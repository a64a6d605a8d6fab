package dev.espalier.core.penalty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.penalty.PenaltyFamily.Parameter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Penalties by their names, and one that somebody else registered: the tests have one. */
final class PenaltyFamilyTest {
    private static PenaltyFamily family(String name) {
        return PenaltyFamily.all().stream()
                .filter(family -> family.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void everyPenaltyIsFoundAndSoIsOneOfSomebodyElse() {
        List<String> names =
                PenaltyFamily.all().stream().map(PenaltyFamily::name).toList();
        for (String name : List.of(
                "group-lasso", "group-mcp", "group-scad", "nested-lasso", "sparse-group-lasso", "lasso-and-mcp")) {
            assertTrue(names.contains(name), names::toString);
        }
        assertEquals(names.stream().distinct().toList(), names);
    }

    @Test
    void membersHaveTheNumbersThatTheyWereGiven() {
        GroupWeight weight = GroupWeight.NONE;
        assertEquals(new GroupLasso(2, weight), family("group-lasso").member(2, weight, Map.of()));
        assertEquals(new GroupMcp(2, 3, weight), family("group-mcp").member(2, weight, Map.of("beta", 3.0)));
        assertEquals(new NestedLasso(2, 0.25, weight), family("nested-lasso").member(2, weight, Map.of("share", 0.25)));
        assertEquals(
                new SparseGroupLasso(2, 0.25, weight),
                family("sparse-group-lasso").member(2, weight, Map.of("share", 0.25)));
        assertEquals(
                new GroupScad(2, 3, 0.5, weight),
                family("group-scad").member(2, weight, Map.of("beta", 3.0, "flat", 0.5)));
        assertEquals(
                new LassoAndMcp(2, 3, 0.25, weight),
                family("lasso-and-mcp").member(2, weight, Map.of("beta", 3.0, "share", 0.25)));
    }

    /** A family is what recipes and commands know of a penalty: what it takes for legal must be legal. */
    @Test
    void legalNumbersMakeAPenaltyAndOthersAreRefused() {
        double[] samples = {-1, 0, 1e-300, 0.5, 1, 1.5, 1e300, Double.POSITIVE_INFINITY, Double.NaN};
        for (PenaltyFamily family : PenaltyFamily.all()) {
            Map<String, Double> sound = new LinkedHashMap<>();
            for (Parameter parameter : family.parameters()) {
                for (double sample : samples) {
                    if (parameter.legal().test(sample)) {
                        sound.put(parameter.name(), sample);
                    }
                }
            }
            Penalty member = family.member(1, GroupWeight.SQRT_SIZE, sound);
            assertTrue(member.strength(4) >= 0, family::name);
            for (Parameter parameter : family.parameters()) {
                for (double sample : samples) {
                    Map<String, Double> changed = new LinkedHashMap<>(sound);
                    changed.put(parameter.name(), sample);
                    if (parameter.legal().test(sample)) {
                        family.member(1, GroupWeight.SQRT_SIZE, changed);
                    } else {
                        assertRefused(
                                parameter.name() + " = " + sample,
                                () -> family.member(1, GroupWeight.SQRT_SIZE, changed));
                    }
                }
                Map<String, Double> without = new LinkedHashMap<>(sound);
                without.remove(parameter.name());
                assertRefused(parameter.name() + " is missing", () -> family.member(1, GroupWeight.SQRT_SIZE, without));
            }
        }
    }

    private static void assertRefused(String words, Runnable making) {
        String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, making::run, words).getMessage());
        assertTrue(message.contains(words), message);
    }

    @Test
    void onlyNormsNest() {
        List<String> nesting = PenaltyFamily.all().stream()
                .filter(PenaltyFamily::nests)
                .map(PenaltyFamily::name)
                .toList();
        assertEquals(List.of("nested-lasso"), nesting);
    }
}
