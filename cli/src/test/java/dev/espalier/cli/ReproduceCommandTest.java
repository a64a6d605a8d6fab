package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.reproduce.Item;
import dev.espalier.reproduce.Items;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code espalier reproduce}. */
final class ReproduceCommandTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void withoutAnItemAllAreListed() {
        Answer answer = Answer.to("reproduce");
        assertEquals(0, answer.exitStatus(), answer.err());
        for (Item item : Items.ALL) {
            assertTrue(answer.out().contains(item.name() + " "), item.name());
            assertTrue(answer.out().contains(item.title()), item.name());
        }
    }

    @Test
    void anUnknownItemIsRefusedWithThoseThereAre() {
        Answer answer = Answer.to("reproduce", "table9", "--out", folder.resolve("none"));
        assertEquals(2, answer.exitStatus());
        assertTrue(answer.err().contains("there is no item table9 to reproduce: choose one of "), answer.err());
        assertTrue(answer.err().contains("penalties"), answer.err());
        assertFalse(Files.exists(folder.resolve("none")));
    }

    @Test
    void anItemIsPrintedAndWritten() throws IOException {
        Path out = folder.resolve("out");
        Answer answer =
                Answer.to("reproduce", "penalties", "--out", out, "--seeds", 2, "--scale", "SMALL", "--device", "cpu");
        assertEquals(0, answer.exitStatus(), answer.err());
        assertTrue(answer.out().contains("MCP, paper   MCP, ours"), answer.out());
        assertTrue(answer.out().contains(out.resolve("penalties.html").toString()), answer.out());
        String json = Files.readString(out.resolve("penalties.json"));
        assertTrue(json.contains("espalier reproduce penalties --scale small --device cpu --seeds 2"), json);
        assertTrue(Files.exists(out.resolve("penalties.provenance.json")));
    }

    @Test
    void whatFailsBeforeTheWorkLeavesNoFolder() throws IOException {
        Path data = Files.createDirectory(folder.resolve("data"));
        Path out = folder.resolve("out");
        Answer answer = Answer.to("reproduce", "table1", "--scale", "full", "--data", data, "--out", out);
        assertTrue(answer.exitStatus() != 0, answer.out());
        assertTrue(answer.err().contains(data.toString()), answer.err());
        assertFalse(Files.exists(out), answer.err());
        Answer nowhere = Answer.to("reproduce", "penalties", "--out", Files.createFile(folder.resolve("file")));
        assertEquals(1, nowhere.exitStatus());
        assertTrue(nowhere.err().contains("it is no folder"), nowhere.err());
    }

    @Test
    void seedsAreCountedOrNamed() throws IOException {
        Path out = folder.resolve("out");
        assertEquals(
                0,
                Answer.to("reproduce", "penalties", "--out", out, "--seed", "2,4..6")
                        .exitStatus());
        String json = Files.readString(out.resolve("penalties.json"));
        assertTrue(json.contains("--seed 2,4,5,6"), json);
        for (String wrong : new String[] {"two", "3..1", "1..2..3"}) {
            Answer answer = Answer.to("reproduce", "penalties", "--out", out, "--seed", wrong);
            assertEquals(2, answer.exitStatus());
            assertTrue(answer.err().contains("--seed " + wrong + " is no seed"), answer.err());
        }
        Answer both = Answer.to("reproduce", "penalties", "--out", out, "--seed", 2, "--seeds", 2);
        assertEquals(2, both.exitStatus());
        assertTrue(both.err().contains("give one of the two"), both.err());
    }

    @Test
    void rowsChangesAndPagesAreForWhatHasThem() throws IOException {
        Answer rows = Answer.to("reproduce", "table1", "--rows", "ridge", "--out", folder.resolve("none"));
        assertEquals(2, rows.exitStatus());
        assertTrue(rows.err().contains("choose some of baseline, lasso-subgradient, lasso-proximal"), rows.err());
        Answer set = Answer.to("reproduce", "penalties", "--set", "training.epochs=1", "--out", folder.resolve("none"));
        assertEquals(2, set.exitStatus());
        assertTrue(set.err().contains("trains nothing"), set.err());
        Answer from = Answer.to("reproduce", "--from", folder);
        assertEquals(2, from.exitStatus());
        assertTrue(from.err().contains("--page docs"), from.err());
        Path docs = Files.createDirectory(folder.resolve("docs"));
        Files.writeString(docs.resolve("results.md"), "nothing\n");
        Answer page = Answer.to("reproduce", "--page", docs);
        assertEquals(0, page.exitStatus(), page.err());
        assertTrue(page.out().contains("the page is as it should be"), page.out());
        assertFalse(Files.exists(folder.resolve("none")));
    }

    @Test
    void wrongOptionsAreRefused() {
        Answer noSeeds = Answer.to("reproduce", "penalties", "--seeds", 0, "--out", folder.resolve("none"));
        assertEquals(2, noSeeds.exitStatus());
        assertTrue(noSeeds.err().contains("seeds = 0 is out of range"), noSeeds.err());
        Answer noScale = Answer.to("reproduce", "penalties", "--scale", "tiny");
        assertEquals(2, noScale.exitStatus());
        assertFalse(Files.exists(folder.resolve("none")));
    }
}
