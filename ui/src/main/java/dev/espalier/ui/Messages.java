package dev.espalier.ui;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.espalier.ui.Refusal.Status;

/** What the page and the server say to each other, as JSON. */
final class Messages {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .build();

    private Messages() {}

    /** On one line. */
    static String write(Object message) {
        try {
            return MAPPER.writeValueAsString(message);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    static <T> T read(String text, Class<T> type) throws Refusal {
        try {
            return MAPPER.readValue(text, type);
        } catch (JsonProcessingException broken) {
            throw new Refusal(Status.BAD_REQUEST, "not understood: " + broken.getOriginalMessage());
        }
    }
}
