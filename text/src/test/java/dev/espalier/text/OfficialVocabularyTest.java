package dev.espalier.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The vocabulary of bert-base-uncased on the texts of SQuAD, where they are. */
final class OfficialVocabularyTest {
    private static final String BERT = "ESPALIER_BERT";
    private static final String SQUAD = "ESPALIER_SQUAD";

    /** Of the training part, so many texts are passed over after each. */
    private static final int STEP = 20;

    private static Path vocabulary = Path.of("");
    private static Path squad = Path.of("");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path folder;

    @BeforeAll
    static void findFiles() {
        vocabulary = Path.of(String.valueOf(System.getenv(BERT)), "vocab.txt");
        squad = Path.of(String.valueOf(System.getenv(SQUAD)));
        assumeTrue(Files.exists(vocabulary), BERT + " names no folder with the vocab.txt of bert-base-uncased");
        assumeTrue(
                Files.exists(squad.resolve("dev-v1.1.json")),
                SQUAD + " names no folder with train-v1.1.json and dev-v1.1.json");
    }

    /** Every so many-th paragraph of a part, and the questions on it. */
    private static Stream<String> texts(Path part, int step) throws IOException {
        List<JsonNode> paragraphs = new ArrayList<>();
        new ObjectMapper()
                .readTree(part.toFile())
                .findValues("paragraphs")
                .forEach(list -> list.forEach(paragraphs::add));
        return IntStream.range(0, paragraphs.size())
                .filter(number -> number % step == 0)
                .mapToObj(paragraphs::get)
                .flatMap(paragraph -> Stream.concat(
                        Stream.of(paragraph.path("context").asText()),
                        paragraph.path("qas").findValuesAsText("question").stream()));
    }

    @Test
    void aloneItIsForLowerCaseAndTokensAreThoseOfTheLibrary() throws IOException {
        Files.copy(vocabulary, folder.resolve("vocab.txt"));
        List<String> texts = Stream.concat(
                        texts(squad.resolve("dev-v1.1.json"), 1), texts(squad.resolve("train-v1.1.json"), STEP))
                .toList();
        assertTrue(texts.size() > 12_000, () -> texts.size() + " texts");
        try (WordPiece tokenizer = WordPiece.load(folder);
                LowerCaseLibrary library = new LowerCaseLibrary(vocabulary)) {
            for (String text : texts) {
                Tokens tokens = tokenizer.tokenize(text);
                List<Integer> ids =
                        IntStream.range(0, tokens.size()).mapToObj(tokens::id).toList();
                assertEquals(library.ids(text), ids, text);
            }
            UnknownTokens unknown = UnknownTokens.in(tokenizer, texts);
            assertTrue(unknown.share() < 0.001, unknown::toString);
        }
    }
}
