package dev.espalier.reproduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.squad.Answer;
import dev.espalier.squad.Paragraph;
import dev.espalier.squad.Question;
import dev.espalier.squad.Squad;
import dev.espalier.text.Tokens;
import dev.espalier.text.WordPiece;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SQuAD in miniature. */
final class SmallQuestionsTest {
    private static final int UNKNOWN = 1;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void theSeedDecidesEverything() {
        assertEquals(SmallQuestions.squad("a", 20, 3), SmallQuestions.squad("a", 20, 3));
        assertNotEquals(SmallQuestions.squad("a", 20, 3), SmallQuestions.squad("a", 20, 4));
    }

    @Test
    void everyAnswerIsWhereItIsSaidToBe() {
        Squad squad = SmallQuestions.squad("a", 50, 1);
        assertEquals(200, squad.questionCount());
        for (Paragraph paragraph : squad.paragraphs()) {
            for (Question question : paragraph.questions()) {
                Answer answer = question.answers().getFirst();
                assertTrue(paragraph.context().startsWith(answer.text(), answer.start()), paragraph::toString);
            }
        }
    }

    @Test
    void theTokenizerKnowsEveryWord() throws IOException {
        SmallQuestions.prepare(folder);
        try (WordPiece tokenizer = WordPiece.load(folder.resolve("bert-tiny"))) {
            for (String file : List.of("train-v1.1.json", "dev-v1.1.json")) {
                for (Paragraph paragraph :
                        Squad.read(folder.resolve("squad").resolve(file)).paragraphs()) {
                    assertFalse(hasUnknown(tokenizer.tokenize(paragraph.context())), paragraph::context);
                    paragraph
                            .questions()
                            .forEach(question ->
                                    assertFalse(hasUnknown(tokenizer.tokenize(question.text())), question::text));
                }
            }
            assertTrue(hasUnknown(tokenizer.tokenize("zebra")));
        }
    }

    private static boolean hasUnknown(Tokens tokens) {
        return IntStream.range(0, tokens.size()).anyMatch(i -> tokens.id(i) == UNKNOWN);
    }

    @Test
    void whatIsThereIsLeftAsItIs() throws IOException {
        List<String> first = SmallQuestions.prepare(folder);
        Path weights = folder.resolve("bert-tiny").resolve("model.safetensors");
        FileTime old = FileTime.fromMillis(1_000_000);
        Files.setLastModifiedTime(weights, old);
        assertEquals(first, SmallQuestions.prepare(folder));
        assertEquals(old, Files.getLastModifiedTime(weights));
    }
}
