package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CheckpointsTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private final long[] number = {0};
    private final List<String> notes = new ArrayList<>();

    private SequencedMap<String, MemorySegment> state() {
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        state.put("number", MemorySegment.ofArray(number));
        return state;
    }

    private Checkpoints saved(int keep, long... steps) throws IOException {
        Checkpoints checkpoints = new Checkpoints(folder, keep);
        for (long step : steps) {
            number[0] = step;
            checkpoints.save(step, state());
        }
        return checkpoints;
    }

    @Test
    void oneOfWhichADiskHasKeptNothingIsNotKept() throws IOException {
        Checkpoints checkpoints = saved(3, 10, 20, 30);
        Files.write(checkpoints.file(20), new byte[0]);
        number[0] = 0;
        assertEquals(Optional.of(checkpoints.file(30)), checkpoints.load(state(), notes::add));
        assertEquals(30, number[0]);
        assertEquals(List.of(10L, 30L), checkpoints.steps());
        saved(3, 40);
        assertEquals(List.of(10L, 30L, 40L), checkpoints.steps());
    }

    @Test
    void anOlderOneIsTakenWhereTheNewestIsCutOff() throws IOException {
        Checkpoints checkpoints = saved(2, 10, 20, 30);
        assertEquals(List.of(20L, 30L), checkpoints.steps());
        byte[] whole = Files.readAllBytes(checkpoints.file(30));
        Files.write(checkpoints.file(30), Arrays.copyOf(whole, whole.length - 1));
        assertEquals(Optional.of(checkpoints.file(20)), checkpoints.load(state(), notes::add));
        assertEquals(20, number[0]);
        assertTrue(notes.getFirst().contains("step-0000000030.state is damaged"), notes::toString);
    }
}
