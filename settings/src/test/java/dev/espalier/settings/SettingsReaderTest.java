package dev.espalier.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SettingsReaderTest {
    private static final String TREE = "[tree]\nheight = 2\n";

    private static List<String> problems(String toml, String... overrides) {
        SettingsException exception = assertThrows(SettingsException.class, () -> Garden.read(toml, overrides));
        for (Problem problem : exception.problems()) {
            assertTrue(String.valueOf(exception.getMessage()).contains(problem.toString()), exception::getMessage);
        }
        return exception.problems().stream().map(Problem::toString).toList();
    }

    private static void assertProblem(String expected, String toml, String... overrides) {
        assertEquals(List.of(expected), problems(toml, overrides));
    }

    /** As a part of a file's name it would end in an exception of the JDK's. */
    @Test
    void noTextHasTheCharacterThatNoPathHas() {
        assertProblem(
                "line 4: water.can = \"shed\\u0000\" is not possible: it must be a text, without the character U+0000",
                TREE + "[water]\ncan = \"shed\\u0000\"\n");
    }

    @Test
    void silenceMeansTheDefaults() {
        Settings garden = Garden.read(TREE);
        assertEquals(2.0, garden.of(Garden.HEIGHT));
        assertEquals(false, garden.of(Garden.EVERGREEN));
        assertEquals("free", garden.section(Garden.SHAPE).kind());
        assertEquals("shed", garden.of(Garden.CAN));
    }

    @Test
    void nothingIsNestedSoDeeplyThatTheParserGivesIn() {
        String brackets = "[".repeat(20_000);
        assertProblem(
                "line 3: more than 32 brackets are open: nothing here is nested so deeply",
                TREE + "evergreen = " + brackets);
        assertProblem(
                "line 3: more than 32 dots in a key: nothing here is nested so deeply",
                TREE + "a.".repeat(20_000) + "a = 1");
        // Brackets in texts and remarks are none.
        String text = "[.".repeat(40);
        Settings garden =
                Garden.read("[tree] # " + text + "\nheight = 2\n[water]\ncan = \"\\\"" + text + "\" # '" + text + "\n");
        assertEquals("\"" + text, garden.of(Garden.CAN));
    }

    @Test
    void whatTheParserThrowsIsAProblemOfItsLine() {
        assertProblem("line 3: Invalid escape sequence '\\0'", TREE + "[\"\\0\n");
    }

    /** Comparing it with what is known takes memory by the length of both. */
    @Test
    void aKeyOfAnyLengthIsToldApart() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        String key = "a".repeat(100_000);
        assertTrue(problems(TREE + key + " = 1").getFirst().contains("is no key of a garden"));
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(allocated < 20 << 20, allocated + " bytes");
    }

    @Test
    void everyProblemIsToldAtOnceInTheOrderOfTheFile() {
        String toml = """
                [tree]
                heigth = 2
                evergreen = "yes"
                [shape]
                kind = "cordon"
                angle = 30
                arms = 0
                [watre]
                every = 3
                """;
        assertEquals(
                List.of(
                        "line 1: tree.height is missing: how high it is, in metres (a number, finite and above 0)",
                        "line 2: tree.heigth is no key of a garden; the nearest is tree.height",
                        "line 3: tree.evergreen = \"yes\" is not possible: it must be true or false",
                        "line 6: shape.angle is no key of shape.kind = cordon; it belongs to fan",
                        "line 7: shape.arms = 0 is not possible: it must be a whole number, at least 1",
                        "line 8: [watre] is no section of a garden; the nearest is [water]",
                        "override: water.evry is no key of a garden; the nearest is water.every"),
                problems(toml, "water.evry=3"));
    }

    @Test
    void whatIsNothingLikeAKeyHasNoNearest() {
        assertProblem(
                "override: foo is no key of a garden; a key is SECTION.KEY, and the sections are tree, shape, water",
                TREE,
                "foo=1");
        assertProblem("override: tree.foo is no key of a garden; [tree] has height, evergreen", TREE, "tree.foo=1");
        assertProblem("line 3: [zzzzz] is no section of a garden; there are tree, shape, water", TREE + "[zzzzz]\n");
    }

    @Test
    void aKeyHasTheDefaultAndTheRangeOfItsKind() {
        assertEquals(3, Garden.read(TREE, "shape.kind=cordon").of(Garden.ARMS));
        assertEquals(7, Garden.read(TREE, "shape.kind=fan", "shape.angle=10").of(Garden.FAN_ARMS));
        assertEquals(1, Garden.read(TREE, "shape.kind=cordon", "shape.arms=1").of(Garden.ARMS));
        assertProblem(
                "override: shape.arms = 1 is not possible: it must be a whole number, at least 2",
                TREE,
                "shape.kind=fan",
                "shape.angle=10",
                "shape.arms=1");
        assertProblem(
                "override: shape.arms is no key of shape.kind = free; it belongs to cordon, fan", TREE, "shape.arms=3");
    }

    @Test
    void anUnknownKindStillLetsTheOtherKeysBeChecked() {
        assertEquals(
                List.of(
                        "line 4: shape.kind = \"ball\" is not possible: it must be one of \"free\", \"cordon\", \"fan\"",
                        "line 5: shape.wall = \"\" is not possible: it must be a text, not empty",
                        "line 6: shape.angle = \"wide\" is not possible: it must be a number"),
                problems(TREE + "[shape]\nkind = \"ball\"\nwall = \"\"\nangle = \"wide\"\n"));
    }

    @Test
    void anOverriddenKindTakesTheFilesKeysOfTheOldKindWithIt() {
        String fan = TREE + "[shape]\nkind = \"fan\"\nangle = 20\nwall = \"barn\"\n";
        Settings cordon = Garden.read(fan, "shape.kind=cordon");
        assertEquals(
                List.of("shape.kind", "shape.arms", "shape.wall"),
                List.copyOf(cordon.section(Garden.SHAPE).texts().keySet()));
        assertEquals("\"barn\"", cordon.texts().get("shape.wall"));
        assertProblem(
                "override: shape.angle is no key of shape.kind = cordon; it belongs to fan",
                fan,
                "shape.kind=cordon",
                "shape.angle=3");
    }

    @Test
    void whatDoesNotFitIsToldOnItsLineBesideOtherProblems() {
        String fan = "[shape]\nkind = \"fan\"\nangle = 20\n[tree]\nheight = 5\n";
        assertEquals(
                List.of(
                        "line 5: tree.height = 5.0 and shape.kind = fan do not fit: no wall is that high",
                        "override: water.every = 0 is not possible: it must be a whole number, at least 1"),
                problems(fan, "water.every=0"));
        // A section that is wrong by itself is in no conflict.
        assertProblem("line 1: shape.arms = 10 times shape.angle = 20.0 must be at most 180", fan, "shape.arms=10");
    }

    @Test
    void textsOfOverridesNeedNoQuotes() {
        for (String can : List.of("2024", "true", "/some folder", "C:\\can", "1979-05-27", "a=b", "[x]")) {
            assertEquals(can, Garden.read(TREE, "water.can=" + can).of(Garden.CAN));
        }
        assertEquals("a b", Garden.read(TREE, "water.can=\"a b\"").of(Garden.CAN));
        assertEquals(
                List.of("a", "b"),
                Garden.read(TREE, "water.helpers=[\"a\", \"b\"]").of(Garden.HELPERS));
    }

    @Test
    void wrongTypesAreRefused() {
        for (String override : List.of(
                "water.every=2.5",
                "water.every=many",
                "water.every=99999999999",
                "water.days=1",
                "water.days=[1, 2.0]",
                "water.helpers=[1]",
                "tree.evergreen=1",
                "tree.height=true",
                "tree.height=nan",
                "tree.height=inf",
                "tree.height=",
                "shape.kind=2")) {
            List<String> problems = problems(TREE, override);
            assertEquals(1, problems.size(), problems::toString);
            String key = override.substring(0, override.indexOf('='));
            assertTrue(problems.getFirst().startsWith("override: " + key + " = "), problems::toString);
        }
        assertEquals(
                List.of(99999999999L),
                Garden.read(TREE, "water.days=[99999999999]").of(Garden.DAYS));
    }

    @Test
    void overridesThatAreNoneAreRefused() {
        String message = " must be of the form section.key=value";
        assertProblem("the override tree.height" + message, TREE, "tree.height");
        assertProblem("the override =3" + message, TREE, "=3");
    }

    @Test
    void malformedTomlIsToldWithItsLines() {
        List<String> problems = problems("[tree]\nheight = \n[shape]\nkind = \"fan\n");
        assertTrue(problems.getFirst().startsWith("line 2: "), problems::toString);
        assertTrue(problems.getLast().startsWith("line 4: "), problems::toString);
        assertTrue(problems.size() <= 3, problems::toString);
    }

    @Test
    void sectionsMustBeSections() {
        assertEquals(
                "line 1: tree is a section: write [tree] and its keys below",
                problems("tree = 3\n").getFirst());
    }

    @Test
    void filesAreReadAsUtf8(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("garden.toml");
        Files.writeString(file, "# Bäume\n" + TREE);
        assertEquals(Garden.read(TREE), Garden.FORM.read(file, List.of()));
        Files.write(file, new byte[] {'#', (byte) 0xff});
        SettingsException exception = assertThrows(SettingsException.class, () -> Garden.FORM.read(file, List.of()));
        assertTrue(
                String.valueOf(exception.getMessage()).contains("no text in UTF-8, as a garden must be"),
                exception::getMessage);
        assertThrows(NoSuchFileException.class, () -> Garden.FORM.read(folder.resolve("none"), List.of()));
    }

    @Test
    void editsCountSwapsAsOne() {
        assertEquals(0, Nearest.edits("Weight-Decay", "weight_decay"));
        assertEquals(1, Nearest.edits("raet", "rate"));
        assertEquals(3, Nearest.edits("kitten", "sitting"));
        assertEquals(4, Nearest.edits("", "rate"));
    }
}
