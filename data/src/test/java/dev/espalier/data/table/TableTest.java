package dev.espalier.data.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

final class TableTest {
    @Test
    void whatComesAgainHasANumberBehindIt() {
        assertEquals(
                List.of("a", "a (2)", "b", "a (3)", "a (4)", "b (2)"),
                Table.unique(List.of("a", "a (2)", "b", "a", "a", "b")));
    }

    /** A hundred bytes of a compressed table may hold so many commas. */
    @Test
    void manyColumnsOfOneNameAreNamedSoon() {
        List<String> names = Collections.nCopies(200_000, "");
        List<String> unique = assertTimeout(Duration.ofSeconds(5), () -> Table.unique(names));
        assertEquals(names.size(), new HashSet<>(unique).size());
    }
}
