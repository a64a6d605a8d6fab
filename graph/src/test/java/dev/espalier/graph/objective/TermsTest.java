package dev.espalier.graph.objective;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;

class TermsTest {

    @Test
    void areReadByName() {
        SequencedMap<String, Double> values = new LinkedHashMap<>();
        values.put(Objective.LOSS, 0.5);
        values.put("right", 3.0);
        Terms terms = new Terms(values);
        values.put("right", 4.0);
        assertEquals(0.5, terms.loss());
        assertEquals(3, terms.get("right"), "it changed later");
        assertThrows(UnsupportedOperationException.class, () -> terms.values().clear());
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> terms.get("wrong"))
                .getMessage());
        assertTrue(message.contains("wrong") && message.contains("[loss, right]"), message);
    }
}
