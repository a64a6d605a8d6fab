package dev.espalier.squad;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.table.CellFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SquadTextsTest {
    @TempDir
    Path folder;

    private static List<String> texts(Path file) throws IOException {
        List<String> texts = new ArrayList<>();
        CellFile.of(file, true, Optional.empty()).forEach(List.of("text"), new CellFile.Visitor() {
            @Override
            public void row(long place, List<String> cells) {
                texts.addAll(cells);
            }

            @Override
            public void problem(long place, String problem) {
                throw new AssertionError(problem);
            }
        });
        return texts;
    }

    /** Paragraphs and questions, each once; answers are not asked for. */
    @Test
    void everyTextComesOnce() throws IOException {
        Path file = Files.writeString(folder.resolve("squad.json"), """
                {"data": [{"paragraphs": [
                  {"context": "The sea.", "qas": [{"question": "What?"}, {"question": " Where? "}]},
                  {"context": "A tower.", "qas": [{"question": "What?"}, {"question": ""}]}]}]}
                """);
        assertEquals(List.of("The sea.", "What?", "Where?", "A tower."), texts(file));
        Path other = Files.writeString(folder.resolve("other.json"), "{\"data\": [{\"title\": \"x\"}]}");
        IOException refused = assertThrows(IOException.class, () -> texts(other));
        assertTrue(String.valueOf(refused.getMessage()).contains("data[0].paragraphs is missing"), refused::getMessage);
    }
}
