package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.BatchPosition;
import dev.espalier.train.task.Example;
import dev.espalier.train.task.Examples;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LookAheadTest {
    private static final int COUNT = 5;

    /** Examples with 0, 1 … samples; the last one cannot be loaded. */
    private static Examples examples() {
        int[] next = {0};
        List<Example> all = IntStream.range(0, COUNT)
                .mapToObj(size -> new Example(Map.of(), Map.of(), size))
                .toList();
        return new Examples() {
            @Override
            public boolean hasNext() {
                return next[0] < COUNT;
            }

            @Override
            public Example next() {
                int now = next[0]++;
                if (now == COUNT - 1) {
                    throw new IllegalStateException("the last one is damaged");
                }
                return all.get(now);
            }

            @Override
            public BatchPosition position() {
                return new BatchPosition(0, next[0]);
            }

            @Override
            public void close() {}
        };
    }

    @Test
    void lookingAheadChangesNeitherWhatComesNorWhereItStands() {
        try (Examples plain = examples();
                Examples ahead = new LookAhead(examples())) {
            List<Integer> sizes = new ArrayList<>();
            for (int i = 0; i < COUNT - 1; i++) {
                assertEquals(plain.position(), ahead.position());
                if (i % 2 == 0) {
                    Example seen = ahead.peek().orElseThrow();
                    assertSame(seen, ahead.peek().orElseThrow());
                    assertEquals(plain.position(), ahead.position());
                    assertTrue(ahead.hasNext());
                    assertSame(seen, ahead.next());
                    sizes.add(seen.size());
                } else {
                    sizes.add(ahead.next().size());
                }
                assertEquals(i, plain.next().size());
            }
            assertEquals(List.of(0, 1, 2, 3), sizes);
        }
    }

    @Test
    void whatCannotBeHadIsSaidWhenItIsItsTurn() {
        try (Examples ahead = new LookAhead(examples())) {
            IntStream.range(0, COUNT - 1).forEach(_ -> ahead.next());
            BatchPosition position = ahead.position();
            assertEquals(Optional.empty(), ahead.peek());
            assertEquals(Optional.empty(), ahead.peek());
            assertEquals(position, ahead.position());
            assertTrue(ahead.hasNext());
            assertThrows(IllegalStateException.class, ahead::next);
            assertFalse(ahead.hasNext());
        }
    }
}
