package dev.espalier.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class SettingsTest {
    private static final Settings FREE = Garden.read("[tree]\nheight = 2\n");
    private static final Settings FAN = FREE.with("shape.kind=fan", "shape.angle=20");

    private static void assertRefused(String words, Runnable making) {
        String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, making::run, words).getMessage());
        assertTrue(message.contains(words), message);
    }

    @Test
    void textAndBackGivesEqualSettings() {
        Settings odd =
                FAN.with("water.can=\"a \\\"quoted\\\" C:\\\\folder\\twith λ\"", "water.days=[-9223372036854775808]");
        for (Settings settings : List.of(FREE, FAN, odd)) {
            Settings again = Garden.read(settings.toToml());
            assertEquals(settings, again);
            assertEquals(settings.hashCode(), again.hashCode());
            assertEquals(settings.toToml(), again.toToml());
        }
        assertEquals("""
                [tree]
                height = 2.0
                evergreen = false

                [shape]
                kind = "fan"
                arms = 7
                angle = 20.0
                wall = "house"

                [water]
                helpers = []
                every = 2
                can = "shed"
                days = []
                """, FAN.toToml());
    }

    @Test
    void onlyPlacesAreMoved() {
        Key<String> shed = Key.location("tools.shed", "where tools are").withDefault("");
        Key<String> spare = Key.location("tools.spare", "where others are").withDefault("");
        Key<String> label = Key.text("tools.label", "what is written on them").withDefault("shed");
        Form form = new Form("garden", List.of(Section.of("tools", List.of(shed, spare, label))), List.of());
        Settings tools = form.parse("tools.toml", "tools.shed = \"shed\"", List.of());
        Settings moved = tools.relocated(place -> "/far/" + place);
        assertEquals("/far/shed", moved.of(shed));
        assertEquals("", moved.of(spare));
        assertEquals("shed", moved.of(label));
        assertEquals(tools, tools.relocated(place -> place));
    }

    @Test
    void anOpenSectionIsReadAsItIs() {
        Form form = new Form("garden", List.of(Garden.TREE), List.of(), List.of("beds"));
        String toml = """
                tree.height = 2
                [beds]
                roses.red = [1, 2.5, "three"]
                roses.white = { from = 1e-4, to = 1 }
                leeks = "long"
                """;
        Settings settings = form.parse("beds.toml", toml, List.of("beds.roses.red=[7]"));
        assertEquals(
                "{roses.red=[7], roses.white.from=[1.0e-4], roses.white.to=[1], leeks=[\"long\"]}",
                settings.open("beds").toString());
        assertEquals(settings, form.parse("again.toml", settings.toToml(), List.of()));
        assertRefused("[flowers] is no section", () -> form.parse("x.toml", toml + "[flowers]\na = 1\n", List.of()));
        assertRefused("has no open section", () -> settings.open("tree"));
    }

    @Test
    void aValueIsChangedAndEverythingElseIsKept() {
        Settings changed = FAN.with(Garden.EVERY, 5);
        assertEquals(5, changed.of(Garden.EVERY));
        assertEquals(2, FAN.of(Garden.EVERY));
        assertEquals(FAN, changed.with(Garden.EVERY, 2));
        assertEquals(FAN.with("water.every=5"), changed);
        assertNotEquals(FAN, changed);
    }

    @Test
    void whatTheReaderRefusesIsRefusedHereToo() {
        assertRefused(
                "water.every = 0 is not possible: it must be a whole number, at least 1",
                () -> FREE.with(Garden.EVERY, 0));
        assertRefused("must be at most 180", () -> FAN.with(Garden.FAN_ARMS, 10));
        assertRefused("no wall is that high", () -> FAN.with(Garden.HEIGHT, 5.0));
        assertEquals(5, FREE.with(Garden.HEIGHT, 5.0).of(Garden.HEIGHT));
        assertRefused("shape.angle has no value", () -> FREE.with(Garden.ANGLE, 3.0));
        assertRefused("shape.angle has no value", () -> FREE.of(Garden.ANGLE));
        assertRefused("no key cellar.door", () -> FREE.of(Key.flag("cellar.door", "whether it is open")));
        assertRefused("no section [cellar]", () -> FREE.section(Section.of("cellar", List.of())));
    }

    /** Two keys of one path are two keys. */
    @Test
    void aKeyOfAnotherKindHasNoValue() {
        assertTrue(FAN.has(Garden.FAN_ARMS));
        assertFalse(FAN.has(Garden.ARMS));
        assertRefused("shape.arms has no value", () -> FAN.of(Garden.ARMS));
    }

    @Test
    void severalSectionsAreChangedAtOnce() {
        Values high = FREE.section(Garden.TREE).with(Garden.HEIGHT, 5.0);
        Values fan = FAN.section(Garden.SHAPE);
        assertRefused("no wall is that high", () -> FREE.with(List.of(high, fan)));
        Settings free = FAN.with(List.of(high, fan.withKind("free")));
        assertEquals(5.0, free.of(Garden.HEIGHT));
        assertEquals("free", free.section(Garden.SHAPE).kind());
    }

    @Test
    void anotherKindKeepsWhatBothHave() {
        Values barn = FAN.with("shape.wall=barn").section(Garden.SHAPE);
        Values cordon = barn.withKind("cordon");
        assertEquals("\"barn\"", cordon.texts().get("shape.wall"));
        // arms is a key of either, but not the same: a fan's seven would be no cordon's.
        assertEquals(3, cordon.of(Garden.ARMS));
        assertRefused("shape.angle has no default", () -> cordon.withKind("fan"));
        assertRefused("shape.kind = \"ball\" is not possible", () -> cordon.withKind("ball"));
        assertRefused("has no kinds", () -> FREE.section(Garden.TREE).withKind("oak"));
    }

    @Test
    void defaultsAreWhatHoldsIfNobodySays() {
        assertEquals(FREE.section(Garden.WATER), Values.defaults(Garden.WATER, ""));
        assertEquals(FREE.section(Garden.SHAPE), Values.defaults(Garden.SHAPE, "free"));
        assertRefused("tree.height has no default", () -> Values.defaults(Garden.TREE, ""));
        assertRefused("shape.kind", () -> Values.defaults(Garden.SHAPE, "ball"));
    }

    @Test
    void onlyWhatIsBindingCountsAsAChange() {
        assertEquals(List.of(), FREE.changesSince(FREE));
        assertEquals(List.of(), FREE.with(Garden.CAN, "kitchen").changesSince(FREE));
        assertEquals(
                List.of("water.every was 2, and is 5 now"),
                FREE.with(Garden.EVERY, 5).changesSince(FREE));
        assertEquals(
                List.of(
                        "shape.kind was \"free\", and is \"fan\" now",
                        "shape.arms was unset, and is 7 now",
                        "shape.angle was unset, and is 20.0 now"),
                FAN.changesSince(FREE));
    }

    @Test
    void aVariantMakesSomethingOfItsValues() {
        Kinds<Variant<Integer>> kinds = Kinds.of(List.of(Garden.FREE, Garden.CORDON));
        Values cordon = FREE.with("shape.kind=cordon", "shape.arms=4").section(Garden.SHAPE);
        assertEquals(8, kinds.of(cordon).make(cordon));
        assertEquals(List.of("free", "cordon"), kinds.names());
        assertEquals(Optional.empty(), kinds.find("fan"));
        assertRefused("which is none of [free, cordon]", () -> kinds.of(FAN.section(Garden.SHAPE)));
    }

    @Test
    void keysAndKindsHaveNamesOfTheirOwn() {
        assertRefused("both", () -> Kinds.of(List.of(Garden.FREE, Garden.FREE)));
        assertRefused("twice", () -> Section.of("tree", List.of(Garden.HEIGHT, Garden.HEIGHT)));
        assertRefused("tree.height is no key of section shape", () -> Section.of("shape", List.of(Garden.HEIGHT)));
        assertRefused("section.name", () -> Key.text("Tree", "no path"));
    }

    @Test
    void ownersOfAKeyAreTheKindsThatHaveIt() {
        assertEquals(List.of("cordon"), Garden.SHAPE.owners(Garden.ARMS));
        assertEquals(List.of("fan"), Garden.SHAPE.owners(Garden.ANGLE));
        assertEquals(List.of(), Garden.TREE.owners(Garden.HEIGHT));
        assertEquals(
                List.of("shape.kind", "shape.arms", "shape.arms", "shape.angle", "shape.wall"),
                Garden.SHAPE.keys().stream().map(Key::path).toList());
    }
}
