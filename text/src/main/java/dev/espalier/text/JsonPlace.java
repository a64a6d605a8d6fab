package dev.espalier.text;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.CharConversionException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A place in a JSON file. What is missing there is told with the file and the way to the place.
 *
 * @param file the file
 * @param path the way from its root, empty at the root
 * @param node what is there
 */
public record JsonPlace(Path file, String path, JsonNode node) {
    /** Nothing that is read here is nested so deeply; and what reads tokenizers ends the process at twice that depth. */
    private static final int MOST_DEPTH = 64;

    private static final ObjectMapper MAPPER = new ObjectMapper(JsonFactory.builder()
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(MOST_DEPTH).build())
            .build());

    /**
     * The root of a file.
     *
     * @param file a JSON file
     * @return the place
     * @throws IOException if it cannot be read, or is no JSON
     */
    public static JsonPlace read(Path file) throws IOException {
        if (Files.notExists(file)) {
            throw new NoSuchFileException(file.toString(), null, "there is no such file");
        }
        try (InputStream in = Files.newInputStream(file)) {
            return new JsonPlace(file, "", MAPPER.readTree(in));
        } catch (JacksonException malformed) {
            throw new IOException(
                    "%s is no sound JSON: %s%s".formatted(file, malformed.getOriginalMessage(), where(malformed)),
                    malformed);
        } catch (CharConversionException noText) {
            throw new IOException("%s is no sound JSON: %s".formatted(file, noText.getMessage()), noText);
        }
    }

    /** Limits that are exceeded, such as that of a number's digits, are so nowhere in particular. */
    private static String where(JacksonException malformed) {
        JsonLocation place = malformed.getLocation();
        return place == null ? "" : " (line %d, column %d)".formatted(place.getLineNr(), place.getColumnNr());
    }

    /**
     * Whether something is here.
     *
     * @param name the member's name
     * @return whether there is such a member
     */
    public boolean has(String name) {
        return node.has(name);
    }

    /**
     * The elements of a list that must be there.
     *
     * @param name the member's name
     * @return the places of the elements
     * @throws IOException if it is missing, or something else
     */
    public List<JsonPlace> elements(String name) throws IOException {
        JsonPlace list = member(name, "a list", node.path(name).isArray());
        List<JsonPlace> elements = new ArrayList<>();
        for (JsonNode element : list.node) {
            elements.add(new JsonPlace(file, list.path + "[" + elements.size() + "]", element));
        }
        return elements;
    }

    /**
     * A text that must be there.
     *
     * @param name the member's name
     * @return the text
     * @throws IOException if it is missing, or something else
     */
    public String text(String name) throws IOException {
        return member(name, "a text", node.path(name).isTextual()).node.textValue();
    }

    /**
     * A whole number that must be there.
     *
     * @param name the member's name
     * @return the number
     * @throws IOException if it is missing, or something else
     */
    public int whole(String name) throws IOException {
        return member(
                        name,
                        "a whole number",
                        node.path(name).canConvertToInt() && node.path(name).isIntegralNumber())
                .node
                .intValue();
    }

    /**
     * An object that must be there.
     *
     * @param name the member's name
     * @return its place
     * @throws IOException if it is missing, or something else
     */
    public JsonPlace object(String name) throws IOException {
        return member(name, "an object", node.path(name).isObject());
    }

    private JsonPlace member(String name, String expected, boolean isSo) throws IOException {
        JsonPlace place = new JsonPlace(file, path.isEmpty() ? name : path + "." + name, node.path(name));
        if (!isSo) {
            throw place.problem(
                    place.node.isMissingNode()
                            ? "is missing: it must be " + expected
                            : "is " + shortened(place.node.toString()) + ": it must be " + expected);
        }
        return place;
    }

    private static String shortened(String json) {
        return json.length() > 40 ? json.substring(0, 40) + "…" : json;
    }

    /**
     * What is wrong here.
     *
     * @param what what, after the name of the place
     * @return the exception to throw
     */
    public IOException problem(String what) {
        return new IOException(file + (path.isEmpty() ? " " : ": " + path + " ") + what);
    }
}
