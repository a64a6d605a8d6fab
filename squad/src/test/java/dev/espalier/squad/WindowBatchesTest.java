package dev.espalier.squad;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.BatchPosition;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class WindowBatchesTest {
    private static final int QUESTIONS = 203;
    private static final int BATCH_SIZE = 4;
    private static final Windows WINDOWS = new Windows(
            new Squad(IntStream.range(0, QUESTIONS)
                    .mapToObj(i -> new Paragraph(
                            "",
                            "sea " + "ship ".repeat(i * 37 % 199),
                            List.of(new Question("q" + i, "old", List.of(new Answer(i == 7 ? "moon" : "sea", 0))))))
                    .toList()),
            Tiny.TOKENIZER,
            new WindowPlan(300, 10, 10));

    private static List<List<Window>> all(long seed, BatchPosition first, long epochs) {
        List<List<Window>> batches = new ArrayList<>();
        WindowBatches source = new WindowBatches(WINDOWS, BATCH_SIZE, seed, first, epochs);
        while (source.hasNext()) {
            batches.add(source.next().windows());
        }
        assertThrows(NoSuchElementException.class, source::next);
        return batches;
    }

    @Test
    void everyEpochHoldsEveryWindowThatHasALabelOnce() {
        List<List<Window>> batches = all(1, BatchPosition.START, 2);
        assertEquals(51, WindowBatches.batchesPerEpoch(WINDOWS, BATCH_SIZE));
        assertEquals(102, batches.size());
        for (List<List<Window>> epoch : List.of(batches.subList(0, 51), batches.subList(51, 102))) {
            List<Window> windows = epoch.stream()
                    .flatMap(List::stream)
                    .sorted(Comparator.comparingInt(Window::question))
                    .toList();
            assertEquals(WINDOWS.labelled(), windows);
            assertEquals(1, epoch.stream().filter(batch -> batch.size() == 2).count());
        }
        assertEquals(QUESTIONS - 1, WINDOWS.labelled().size());
        assertNotEquals(batches.subList(0, 51), batches.subList(51, 102));
    }

    @Test
    void theSeedDecidesTheOrder() {
        assertEquals(all(1, BatchPosition.START, 2), all(1, BatchPosition.START, 2));
        Set<List<List<Window>>> orders = new HashSet<>();
        for (long seed = 0; seed < 10; seed++) {
            orders.add(all(seed, BatchPosition.START, 1));
        }
        assertEquals(10, orders.size());
    }

    @Test
    void aResumedIterationGoesOnAsTheFirstWould() {
        List<List<Window>> expected = all(5, BatchPosition.START, 3);
        WindowBatches source = new WindowBatches(WINDOWS, BATCH_SIZE, 5, BatchPosition.START, 3);
        for (int number = 0; number < expected.size(); number++) {
            BatchPosition position = source.position();
            assertEquals(new BatchPosition(number / 51, number % 51), position);
            assertEquals(expected.subList(number, expected.size()), all(5, position, 3));
            assertEquals(expected.get(number), source.next().windows());
        }
        assertEquals(List.of(), all(5, source.position(), 3));
        assertEquals(expected.subList(51, 153), all(5, new BatchPosition(0, 51), 3));
    }

    @Test
    void windowsOfABatchAreOfNearlyTheSameLength() {
        List<List<Window>> batches = all(1, BatchPosition.START, 1);
        int own = 0;
        int padded = 0;
        List<Integer> longest = new ArrayList<>();
        for (List<Window> batch : batches) {
            longest.add(batch.stream().mapToInt(Window::length).max().orElseThrow());
            own += batch.stream().mapToInt(Window::length).sum();
            padded += longest.getLast() * batch.size();
        }
        // In the order of the data it would be about 0.6.
        assertTrue(own > 0.95 * padded, own + " of " + padded);
        assertNotEquals(longest.stream().sorted().toList(), longest, "short batches come first");
    }

    @Test
    void whatCannotBeIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new WindowBatches(WINDOWS, 0, 1, BatchPosition.START, 1));
        assertThrows(
                IllegalArgumentException.class,
                () -> new WindowBatches(WINDOWS, BATCH_SIZE, 1, new BatchPosition(0, 52), 1));
        assertThrows(IllegalArgumentException.class, () -> new WindowBatches(WINDOWS, 4, 1, BatchPosition.START, -1));
        Windows hopeless =
                new Windows(Tiny.ask("sea", "old", new Answer("moon", 0)), Tiny.TOKENIZER, new WindowPlan(20, 4, 4));
        IllegalArgumentException error = assertThrows(
                IllegalArgumentException.class, () -> new WindowBatches(hopeless, 4, 1, BatchPosition.START, 1));
        assertTrue(String.valueOf(error.getMessage()).contains("1 answers not found"), error::getMessage);
    }
}
