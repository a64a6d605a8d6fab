package dev.espalier.data.table;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
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
        List<String> names =
                object.properties().stream().map(member -> member.getKey()).toList();
        String missing = CellFile.missing(names, wanted);
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
