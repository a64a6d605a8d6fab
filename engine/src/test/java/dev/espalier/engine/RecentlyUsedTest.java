package dev.espalier.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecentlyUsedTest {
    private final List<String> evicted = new ArrayList<>();
    private final RecentlyUsed<Integer, String> table = new RecentlyUsed<>(2, evicted::add);

    @Test
    void leastRecentlyUsedEntryIsEvicted() {
        table.get(1, () -> "one");
        table.get(2, () -> "two");
        assertEquals("one", table.get(1, () -> fail("it is there")));
        table.get(3, () -> "three");
        assertEquals(List.of("two"), evicted);
        assertEquals("one", table.find(1));
        assertNull(table.find(2));
    }

    @Test
    void neverHoldsMoreThanItsCapacity() {
        for (int key = 0; key < 100; key++) {
            int entry = key;
            table.get(key, () -> "entry " + entry);
            assertEquals(Math.min(key + 1, 2), table.size());
        }
        assertEquals(98, evicted.size());
    }

    @Test
    void whatIsRemovedIsEvictedOnce() {
        table.get(1, () -> "one");
        table.get(2, () -> "two");
        table.remove(1);
        table.remove(1);
        table.clear();
        table.clear();
        assertEquals(List.of("one", "two"), evicted);
        assertEquals(0, table.size());
    }
}
