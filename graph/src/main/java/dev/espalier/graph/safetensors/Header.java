package dev.espalier.graph.safetensors;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.io.Reader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * The header of a file, as it claims to be: well-formed, with every piece of a tensor's entry there once.
 *
 * <p>It is read token by token and everything is counted, so that a hostile header costs no more memory than a small
 * multiple of its length.
 *
 * @param entries the tensors' entries by name, in order
 * @param metadata remarks by name
 */
record Header(SequencedMap<String, Entry> entries, SequencedMap<String, String> metadata) {
    static final String METADATA = "__metadata__";

    /** The limit of the format's own reader. */
    static final int MOST_BYTES = 100_000_000;

    private static final int MOST_NAMES = 1 << 18;
    private static final int MOST_AXES = 64;

    private static final JsonFactory JSON = JsonFactory.builder()
            .configure(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES, false)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(8)
                    .maxNumberLength(32)
                    .maxStringLength(MOST_BYTES)
                    .build())
            .build();

    /**
     * What the header says of a tensor.
     *
     * @param type how its numbers are stored
     * @param shape its lengths
     * @param start its first byte, counted from the end of the header
     * @param end behind its last byte
     */
    record Entry(StoredType type, List<Long> shape, long start, long end) {
        long[] lengths() {
            return shape.stream().mapToLong(Long::longValue).toArray();
        }
    }

    static Header parse(Reader text) throws IOException {
        Header header = new Header(new LinkedHashMap<>(), new LinkedHashMap<>());
        try (JsonParser parser = JSON.createParser(text)) {
            require(parser.nextToken() == JsonToken.START_OBJECT, "the header is no JSON object");
            boolean remarked = false;
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                String name = parser.currentName();
                if (name.equals(METADATA)) {
                    require(!remarked, METADATA + " is there twice");
                    remarked = true;
                    header.readMetadata(parser);
                } else {
                    require(!header.entries.containsKey(name), "tensor " + name + " is there twice");
                    require(header.entries.size() < MOST_NAMES, "there are more than " + MOST_NAMES + " tensors");
                    header.entries.put(name, readEntry(name, parser));
                }
            }
            require(parser.nextToken() == null, "something follows the header's JSON object");
        }
        return header;
    }

    private void readMetadata(JsonParser parser) throws IOException {
        require(parser.nextToken() == JsonToken.START_OBJECT, METADATA + " is no JSON object");
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String key = parser.currentName();
            require(parser.nextToken() == JsonToken.VALUE_STRING, METADATA + " has a value that is no text: " + key);
            require(metadata.size() < MOST_NAMES, METADATA + " has more than " + MOST_NAMES + " names");
            require(metadata.put(key, parser.getText()) == null, METADATA + " has a name twice: " + key);
        }
    }

    private static Entry readEntry(String name, JsonParser parser) throws IOException {
        requireOf(name, parser.nextToken() == JsonToken.START_OBJECT, "its entry is no JSON object");
        StoredType type = null;
        List<Long> shape = null;
        List<Long> offsets = null;
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String field = parser.currentName();
            parser.nextToken();
            switch (field) {
                case "dtype" -> {
                    requireOf(name, type == null, "it has two types");
                    type = readType(name, parser);
                }
                case "shape" -> {
                    requireOf(name, shape == null, "it has two shapes");
                    shape = readNumbers(name, field, parser);
                }
                case "data_offsets" -> {
                    requireOf(name, offsets == null, "it has two data_offsets");
                    offsets = readNumbers(name, field, parser);
                }
                default -> throw problem(name, "its entry has an unknown field " + brief(field));
            }
        }
        if (type == null || shape == null || offsets == null) {
            throw problem(name, "its entry must have dtype, shape and data_offsets");
        }
        requireOf(name, offsets.size() == 2, "data_offsets " + offsets + " must be two numbers");
        return new Entry(type, List.copyOf(shape), offsets.get(0), offsets.get(1));
    }

    private static StoredType readType(String name, JsonParser parser) throws IOException {
        String text = parser.currentToken() == JsonToken.VALUE_STRING ? parser.getText() : null;
        StoredType type = text == null ? null : StoredType.named(text);
        if (type == null) {
            throw problem(name, "its dtype " + brief(text) + " is not supported; there are " + StoredType.names());
        }
        return type;
    }

    private static List<Long> readNumbers(String name, String field, JsonParser parser) throws IOException {
        requireOf(name, parser.currentToken() == JsonToken.START_ARRAY, field + " is no list");
        List<Long> numbers = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            boolean whole = parser.currentToken() == JsonToken.VALUE_NUMBER_INT
                    && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER
                    && parser.getLongValue() >= 0;
            requireOf(name, whole, field + " has a " + brief(parser.getText()) + " that is no length or position");
            requireOf(name, numbers.size() < MOST_AXES, field + " has more than " + MOST_AXES + " numbers");
            numbers.add(parser.getLongValue());
        }
        return numbers;
    }

    private static String brief(@Nullable String text) {
        return text == null ? "(no text)" : text.length() <= 40 ? text : text.substring(0, 40) + "…";
    }

    private static void require(boolean holds, String problem) throws IOException {
        if (!holds) {
            throw new IOException(problem);
        }
    }

    private static void requireOf(String name, boolean holds, String problem) throws IOException {
        if (!holds) {
            throw problem(name, problem);
        }
    }

    static IOException problem(String name, String problem) {
        return new IOException(
                "tensor " + (name.length() <= 200 ? name : name.substring(0, 200) + "…") + ": " + problem);
    }

    static IOException problem(String name, Entry entry, String problem) {
        return problem(
                name,
                "%s%s at bytes %d to %d %s"
                        .formatted(
                                entry.type(), Arrays.toString(entry.lengths()), entry.start(), entry.end(), problem));
    }
}
