package dev.espalier.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

final class MainTest {
    @TempDir
    private Path folder;

    private final StringWriter printed = new StringWriter();

    private int run(Object... arguments) {
        PrintWriter out = new PrintWriter(printed, true);
        CommandLine program = Main.commandLine().setOut(out).setErr(out);
        String[] words = new String[arguments.length + 2];
        for (int i = 0; i < arguments.length; i++) {
            words[i] = arguments[i].toString();
        }
        words[arguments.length] = "--out";
        words[arguments.length + 1] = folder.toString();
        return program.execute(words);
    }

    private JsonNode kept() throws IOException {
        return new ObjectMapper().readTree(folder.resolve("dice.json").toFile());
    }

    @Test
    void figuresArePrintedAndKept() throws IOException {
        // No die shows a seven.
        assertEquals(0, run("dice", "--cases", 600, "--seed", 5, "--jobs", 3));
        assertTrue(printed.toString().matches("(?s).*thrown +600\n.*sound after.*seed 5.*"), printed::toString);
        JsonNode kept = kept();
        assertEquals(600, kept.at("/figures/thrown").asLong());
        assertEquals(0, kept.at("/figures/failures").asLong());
        assertEquals(5, kept.at("/seed").asLong());
        assertTrue(kept.at("/sound").asBoolean());
    }

    @Test
    void aFailureIsToldCountedAndReplayed() throws IOException {
        assertEquals(1, run("dice", "--cases", 600, "--seed", Dice.LOADED));
        assertTrue(kept().at("/figures/failures").asLong() > 20);
        String told = kept().at("/failures/0").asText();
        long number = Long.parseLong(told.replaceAll(".*case (\\d+).*", "$1"));
        assertEquals(1, run("dice", "--cases", 1, "--first", number, "--seed", Dice.LOADED));
        assertEquals(told, kept().at("/failures/0").asText());
    }

    @Test
    void whatWasCountedIsKeptBeforeTheEnd() {
        List<Long> kept = new ArrayList<>();
        Effort effort = new Effort(
                new Effort.Limits(0, Long.MAX_VALUE, Duration.ofSeconds(12), 1, 1),
                folder,
                new PrintWriter(printed, true),
                Duration.ofMillis(20),
                soFar -> kept.add(soFar.failures()));
        effort.figures().fail("at once");
        while (kept.isEmpty() && effort.more()) {
            Thread.onSpinWait();
        }
        assertEquals(List.of(1L), kept);
        assertTrue(printed.toString().contains(", 1 failures"), printed::toString);
    }

    @Test
    void timeEndsIt() throws IOException {
        assertEquals(0, run("dice", "--minutes", "0.001"));
        assertTrue(kept().at("/figures/thrown").asLong() > 0);
    }

    @Test
    void wrongWordsAreRefused() {
        assertEquals(2, run("chess"));
        assertTrue(printed.toString().contains("there is no campaign chess: it is one of"), printed::toString);
        assertEquals(2, run("dice", "--jobs", 0));
    }
}
