package dev.espalier.data.table;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.espalier.data.DataException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A file with a JSON object in every line, whose members are the cells; a missing value is a null.
 *
 * @param file the file, plain or with {@code .gz}
 */
public record JsonLines(Path file) implements CellFile {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    @Override
    public String placeWord() {
        return "line";
    }

    /** The members of the first object; the others must have those that are wanted. */
    @Override
    public List<String> columns() throws IOException {
        List<String> columns = new ArrayList<>();
        PlainText.read(file, reader -> {
            String line = reader.readLine();
            for (long number = 1; line != null && columns.isEmpty(); number++, line = reader.readLine()) {
                if (!line.isBlank()) {
                    columns.addAll(members(number, line));
                }
            }
        });
        if (columns.isEmpty()) {
            throw DataException.in(file, "no rows: expected a JSON object in every line");
        }
        return columns;
    }

    private List<String> members(long number, String line) throws DataException {
        try {
            List<String> names = names(JSON.readTree(line));
            if (!names.isEmpty()) {
                return names;
            }
        } catch (JsonProcessingException malformed) {
            throw DataException.in(
                    "%s, line %d".formatted(file, number),
                    "no sound JSON: " + malformed.getOriginalMessage(),
                    malformed);
        }
        throw DataException.in(
                "%s, line %d".formatted(file, number),
                "no JSON object with members: expected one in every line, such as {\"text\": \"…\"}");
    }

    private static List<String> names(JsonNode object) {
        return object.properties().stream().map(member -> member.getKey()).toList();
    }

    @Override
    public void forEach(List<String> wanted, Visitor visitor) throws IOException {
        PlainText.read(file, reader -> {
            long number = 0;
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                number++;
                if (!line.isBlank()) {
                    visit(number, line, wanted, visitor);
                }
            }
        });
    }

    private static void visit(long number, String line, List<String> wanted, Visitor visitor) {
        JsonNode object;
        try {
            object = JSON.readTree(line);
        } catch (JsonProcessingException malformed) {
            visitor.problem(number, "no sound JSON: " + malformed.getOriginalMessage());
            return;
        }
        if (!object.isObject()) {
            visitor.problem(number, "no JSON object: expected {\"%s\": …}".formatted(String.join("\": …, \"", wanted)));
            return;
        }
        String missing = CellFile.missing(names(object), wanted);
        if (!missing.isEmpty()) {
            visitor.problem(number, missing + "; write null for a value that is missing");
            return;
        }
        List<String> cells = new ArrayList<>();
        for (String name : wanted) {
            JsonNode value = object.path(name);
            if (value.isContainerNode()) {
                visitor.problem(number, "%s in column %s: expected a number or a text".formatted(value, name));
                return;
            }
            cells.add(value.isNull() ? "" : value.asText());
        }
        visitor.row(number, cells);
    }
}
