package dev.espalier.squad;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.text.UnknownTokens;
import dev.espalier.text.WordPiece;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class UnknownTokensTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path folder;

    @Test
    void everyTextCountsOnceAndEveryQuestion() {
        Question one = new Question("1", "sea ☃", List.of());
        Question two = new Question("2", "moon", List.of());
        Squad squad = new Squad(List.of(
                new Paragraph("", "☃ ☂ ☃ the old sea", List.of(one, two)), new Paragraph("", "snow", List.of(two))));
        UnknownTokens unknown = new Windows(squad, Tiny.TOKENIZER, WindowPlan.DEFAULT).unknown();
        assertEquals(new UnknownTokens(11, 4, 0, List.of("☃", "☂")), unknown);
        assertEquals(4 / 11.0, unknown.share());
        assertEquals("36.36 %", unknown.percent());
        assertEquals(
                "such as \"☃\", \"☂\": the vocabulary is probably for another language or belongs to another model",
                unknown.likelyCause());
        assertEquals(
                unknown,
                UnknownTokens.in(Tiny.TOKENIZER, List.of("☃ ☂ ☃ the old sea", "sea ☃", "moon", "snow", "moon")));
    }

    @Test
    void capitalsThatAreUnknownAreNamedAsTheCause() throws IOException {
        Files.copy(Tiny.file("tiny-vocab.txt"), folder.resolve("vocab.txt"));
        Files.writeString(folder.resolve("tokenizer_config.json"), "{\"do_lower_case\": false}");
        try (WordPiece tokenizer = WordPiece.load(folder)) {
            UnknownTokens unknown = UnknownTokens.in(tokenizer, List.of("The Sea, the sea and The ☃"));
            assertEquals(new UnknownTokens(10, 4, 3, List.of("The", "Sea", "☃")), unknown);
            assertTrue(
                    unknown.likelyCause()
                            .startsWith("most of them are words with capitals, such as \"The\", \"Sea\", \"☃\":"
                                    + " if the vocabulary is one for lower case, write {\"do_lower_case\": true}"),
                    unknown::likelyCause);
        }
    }

    @Test
    void ofNothingNothingIsUnknown() {
        assertEquals(0, UnknownTokens.in(Tiny.TOKENIZER, List.of("", " ")).share());
    }
}
