package dev.espalier.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WordPieceTest {
    @TempDir
    Path folder;

    /** The pieces of the text that the tokens were made from. */
    private static List<String> pieces(WordPiece tokenizer, String text) {
        Tokens tokens = tokenizer.tokenize(text);
        return IntStream.range(0, tokens.size())
                .mapToObj(token -> text.substring(tokens.start(token), tokens.end(token)))
                .toList();
    }

    private static List<String> pieces(String text) {
        return pieces(Tiny.TOKENIZER, text);
    }

    private List<Integer> ids(WordPiece tokenizer, String text) {
        Tokens tokens = tokenizer.tokenize(text);
        return IntStream.range(0, tokens.size()).mapToObj(tokens::id).toList();
    }

    private List<Integer> ids(String... words) throws IOException {
        List<String> vocabulary = Files.readAllLines(Tiny.file("tiny-vocab.txt"));
        return List.of(words).stream().map(vocabulary::indexOf).toList();
    }

    @Test
    void theLongestPieceOfAWordThatIsKnownComesFirst() throws IOException {
        assertEquals(List.of("The", "tower", "s", ",", "built", "1", "2"), pieces("The towers,  built\n12"));
        assertEquals(
                ids("the", "tower", "##s", ",", "built", "1", "##2"), ids(Tiny.TOKENIZER, "The towers,  built\n12"));
        assertEquals(ids("x", "##ing"), ids(Tiny.TOKENIZER, "xing"));
        assertEquals(ids("[UNK]", "sea"), ids(Tiny.TOKENIZER, "αβγ sea"));
    }

    @Test
    void piecesAreOfTheTextAsItIsWhateverTheTokenizerMakesOfIt() {
        // Accents in one and in two characters, the second of which the tokenizer drops.
        assertEquals(List.of("Café", "Cafe\u0301", "sea"), pieces("Café Cafe\u0301 sea"));
        // Characters of two UTF-16 units.
        assertEquals(List.of("🎨🎨", "sea", "🎨", "."), pieces("🎨🎨 sea 🎨."));
        // Every ideograph is a word.
        assertEquals(List.of("東", "京", "sea"), pieces("東京sea"));
        assertEquals(List.of("\uD842\uDFB7", "sea"), pieces("\uD842\uDFB7 sea"));
        // Control characters are dropped, also from within a word.
        assertEquals(List.of("s\u0000ea", "moon"), pieces("s\u0000ea\u0007 moon"));
        // Half a character.
        assertEquals(List.of("sea", "moon"), pieces("sea \uD83C \uDFA8 moon"));
        assertEquals(List.of("sea", "moon"), pieces("\u00a0sea\u3000\tmoon\u2003"));
        assertEquals(List.of(), pieces(""));
        assertEquals(List.of(), pieces(" \n\u200b"));
    }

    @Test
    void longTextsAreNotCut() {
        assertEquals(5000, Tiny.TOKENIZER.tokenize("sea ".repeat(5000)).size());
    }

    @Test
    void nothingIsAddedAndNothingFilledUp() throws IOException {
        assertEquals(ids("sea"), ids(Tiny.TOKENIZER, "sea"));
    }

    @Test
    void whatIsSavedIsTheSameTokenizer() throws IOException {
        Tiny.TOKENIZER.save(folder);
        try (WordPiece other = WordPiece.load(folder)) {
            String text = "The Café near 東京 was built in 1287, 🎨 αβ xyz [SEP].";
            assertEquals(ids(Tiny.TOKENIZER, text), ids(other, text));
            assertEquals(pieces(text), pieces(other, text));
            assertEquals(Tiny.TOKENIZER.size(), other.size());
            assertEquals(Tiny.TOKENIZER.separator(), other.separator());
        }
    }

    @Test
    void cuttingAndFillingUpThatATokenizerFileAsksForIsNotDone() throws IOException {
        Tiny.TOKENIZER.save(folder);
        Path file = folder.resolve("tokenizer.json");
        String json = Files.readString(file);
        Files.writeString(
                file,
                json.replace(
                                "\"truncation\":null",
                                "\"truncation\":{\"max_length\":2,\"strategy\":\"LongestFirst\",\"stride\":0}")
                        .replace(
                                "\"padding\":null",
                                "\"padding\":{\"strategy\":{\"Fixed\":8},\"direction\":\"Right\",\"pad_to_multiple_of\":null,"
                                        + "\"pad_id\":0,\"pad_type_id\":0,\"pad_token\":\"[PAD]\"}"));
        assertTrue(Files.readString(file).contains("Fixed"));
        try (WordPiece tokenizer = WordPiece.load(file)) {
            assertEquals(3, tokenizer.tokenize("sea sea sea").size());
        }
    }

    @Test
    void theSpecialTokensAreThoseOfTheVocabulary() {
        assertEquals(0, Tiny.TOKENIZER.padding());
        assertEquals(2, Tiny.TOKENIZER.classifier());
        assertEquals(3, Tiny.TOKENIZER.separator());
        assertEquals(139, Tiny.TOKENIZER.size());
    }

    private WordPiece vocabulary(String... words) throws IOException {
        Files.write(folder.resolve("vocab.txt"), List.of(words));
        return WordPiece.load(folder);
    }

    /** As models are published: ONNX files in a folder of their own, the tokenizer above. */
    @Test
    void aFolderOfOnnxFilesHasItsTokenizerAbove() throws IOException {
        Path onnx = Files.createDirectories(folder.resolve("onnx"));
        assertRefused("model.tokenizer", () -> WordPiece.load(onnx));
        Files.copy(Tiny.file("tiny-vocab.txt"), folder.resolve("vocab.txt"));
        try (WordPiece above = WordPiece.load(onnx)) {
            assertTrue(above.size() > 0);
        }
    }

    @Test
    void aVocabularyWithCapitalsIsForTextWithCapitals() throws IOException {
        try (WordPiece cased = vocabulary("[PAD]", "[UNK]", "[CLS]", "[SEP]", "Sea", "sea", "cafe", "café")) {
            assertEquals(List.of(4, 5, 7, 1), ids(cased, "Sea sea café CAFE"));
        }
        try (WordPiece uncased = vocabulary("[PAD]", "[UNK]", "[CLS]", "[SEP]", "sea", "cafe", "café")) {
            assertEquals(List.of(4, 4, 5, 5), ids(uncased, "Sea sea café CAFE"));
        }
    }

    @Test
    void capitalsThatLowerCasingLeavesAloneDoNotMakeAVocabularyCased() throws IOException {
        try (WordPiece uncased = vocabulary("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[unused1]", "sea", "ℝ", "##ℝ", "Σ")) {
            assertEquals(List.of(5, 5, 6, 5, 7), ids(uncased, "Sea SEA ℝ seaℝ"));
        }
        try (WordPiece cased = vocabulary("[PAD]", "[UNK]", "[CLS]", "[SEP]", "sea", "##A", "ℝ")) {
            assertEquals(List.of(1, 4, 5), ids(cased, "Sea seaA"));
        }
    }

    /** A vocabulary with the trap of BERT's own one, on what tokenizers stumble over. */
    @Test
    void tokensOfALowerCaseVocabularyAreThoseOfTheLibrary() throws IOException {
        List<String> words = new ArrayList<>(Files.readAllLines(Tiny.file("tiny-vocab.txt")));
        words.addAll(List.of("ℝ", "##ℝ", "σ", "##σ", "ς", "##ς", "ж", "##ж", "ü", "u\u0308", "ß", "𐐨"));
        List<String> texts = new ArrayList<>();
        texts.addAll(List.of(
                "The old tower of the city was built in 1287. When was the TOWER built, and by whom?",
                "The QUEEN of ℝ, Aℝ and ℝ²",
                "CAFÉ Café Cafe\u0301 NAÏVE Ü ẞ ß",
                "ΣΑΣ ΣΣ Σ ΣΑΣ. Ж ЖЖ 𐐀 İ I ı",
                "東京TOWER 東\u3000京 \uD842\uDFB7A",
                "S\u0000EA\u0007 \u00adMOON\u200b \uFFFDSnow \r\n\tShip",
                "Who's the KING? (North-South): 1287; [Old] \"City\""));
        try (WordPiece tokenizer = vocabulary(words.toArray(String[]::new));
                LowerCaseLibrary library = new LowerCaseLibrary(folder.resolve("vocab.txt"))) {
            for (String text : texts) {
                assertEquals(library.ids(text), ids(tokenizer, text), text);
            }
        }
    }

    @Test
    void aConfigurationBesideAVocabularyDecides() throws IOException {
        Files.writeString(
                folder.resolve("tokenizer_config.json"), "{\"do_lower_case\": false, \"strip_accents\": true}");
        try (WordPiece cased = vocabulary("[PAD]", "[UNK]", "[CLS]", "[SEP]", "sea", "cafe")) {
            assertEquals(List.of(1, 4, 5), ids(cased, "Sea sea café"));
        }
        Files.writeString(
                folder.resolve("tokenizer_config.json"), "{\"do_lower_case\": true, \"strip_accents\": false}");
        try (WordPiece uncased = vocabulary("[PAD]", "[UNK]", "[CLS]", "[SEP]", "sea", "Sea", "café")) {
            assertEquals(List.of(4, 4, 6, 1), ids(uncased, "Sea sea CAFÉ cafe"));
        }
    }

    @Test
    void whatIsNoTokenizerOfBertIsRefused() throws IOException {
        assertRefused("neither this nor a vocab.txt", () -> WordPiece.load(folder));
        assertRefused("has no token [SEP]", () -> vocabulary("[PAD]", "[UNK]", "[CLS]", "sea"));
        Path json = folder.resolve("tokenizer.json");
        Files.writeString(json, "{\"model\": {\"type\": \"BPE\"}}");
        assertRefused("model has the type BPE: only WordPiece", () -> WordPiece.load(folder));
        Files.writeString(json, "{\"model\": {\"type\": \"WordPiece\"}}");
        assertRefused("model.vocab is missing: it must be an object", () -> WordPiece.load(json));
        Files.writeString(
                json,
                "{\"model\": {\"type\": \"WordPiece\", \"vocab\": {\"[PAD]\": 0, \"[UNK]\": 1, \"[CLS]\": 2, \"[SEP]\": 3}},"
                        + " \"pre_tokenizer\": {\"type\": \"unheard of\"}}");
        assertRefused("is no tokenizer: ", () -> WordPiece.load(json));
        Files.writeString(json, "{\"model\": {\"type\": \"WordPiece\", \"vocab\": {\"[PAD]\": 0}}}");
        assertRefused("model.vocab has no token [UNK]", () -> WordPiece.load(json));
        Files.writeString(json, "[".repeat(2000));
        assertRefused("is no sound JSON", () -> WordPiece.load(json));
        Files.writeString(json, "{\"a\": " + "9".repeat(2000) + "}");
        assertRefused("is no sound JSON", () -> WordPiece.load(json));
        Files.write(folder.resolve("vocab.txt"), new byte[] {(byte) 0xff});
        assertRefused("vocab.txt is no text in UTF-8", () -> WordPiece.load(folder.resolve("vocab.txt")));
    }

    @Test
    void aTokenWithANumberBeyondAllIsRefused() throws IOException {
        Path file = folder.resolve("tokenizer.json");
        Tiny.TOKENIZER.save(folder);
        String sound = Files.readString(file);
        Files.writeString(file, sound.replaceFirst("\"sea\":\\d+", "\"sea\":4294967295"));
        WordPiece spoilt = WordPiece.load(file);
        assertEquals(
                "%s has a token with the number 4294967295: there are no more than 2147483647".formatted(file),
                assertThrows(IllegalArgumentException.class, () -> spoilt.tokenize("sea"))
                        .getMessage());
    }

    @Test
    void whatLooksLikeTextOfAnotherKindIsRefused() throws IOException {
        Path json = folder.resolve("tokenizer.json");
        Files.write(
                json,
                new byte[] {'{', 0, 0, 0, (byte) 0x80}); // a bracket of four bytes, and the beginning of something
        assertRefused("is no sound JSON", () -> WordPiece.load(json));
    }

    /** The library's reader would end the process. */
    @Test
    void whatIsNestedTooDeeplyIsRefused() throws IOException {
        Path file = folder.resolve("tokenizer.json");
        Files.writeString(file, "{\"decoder\":" + "[".repeat(200) + "]".repeat(200) + "}");
        assertRefused("nesting depth", () -> WordPiece.load(file));
    }

    private interface Action {
        Object run() throws IOException;
    }

    private static void assertRefused(String problem, Action action) {
        IOException error = assertThrows(IOException.class, action::run);
        assertTrue(String.valueOf(error.getMessage()).contains(problem), error::getMessage);
    }
}
