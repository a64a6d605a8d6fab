package dev.espalier.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.espalier.core.check.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/**
 * How text becomes tokens, as Hugging Face's {@code tokenizer.json} tells it. A {@code vocab.txt}, which is all that older
 * checkpoints have, is turned into what BERT means by it.
 */
final class TokenizerFile {
    static final String NAME = "tokenizer.json";

    private static final String VOCABULARY = "vocab.txt";
    private static final String CONFIG = "tokenizer_config.json";
    private static final String MODEL = "WordPiece";
    private static final int LONGEST_WORD = 100;
    private static final String UNKNOWN_KEY = "unk_token";
    private static final String UNKNOWN = "[UNK]";
    private static final List<String> SPECIAL = List.of("[PAD]", UNKNOWN, "[CLS]", "[SEP]", "[MASK]");

    private TokenizerFile() {}

    /** Reads one of these files, or the better one of a folder. */
    static ObjectNode read(Path place) throws IOException {
        Path file = Files.isDirectory(place) ? inFolder(place) : place;
        ObjectNode tokenizer = file.toString().endsWith(".txt") ? ofVocabulary(file) : ofJson(file);
        // Cutting and filling up is the windows' business.
        tokenizer.putNull("truncation");
        tokenizer.putNull("padding");
        return tokenizer;
    }

    /** What a folder has; where models are published, the ONNX files are often in a folder of their own below. */
    private static Path inFolder(Path folder) throws IOException {
        List<Path> places = folder.endsWith("onnx") ? List.of(folder, folder.resolveSibling("")) : List.of(folder);
        for (Path place : places) {
            for (String name : List.of(NAME, VOCABULARY)) {
                if (Files.exists(place.resolve(name))) {
                    return place.resolve(name);
                }
            }
        }
        throw new NoSuchFileException(
                folder.resolve(NAME).toString(),
                null,
                "there is neither this nor a %s beside it: put one there, or name it in model.tokenizer if model.kind is onnx"
                        .formatted(VOCABULARY));
    }

    private static ObjectNode ofJson(Path file) throws IOException {
        JsonPlace root = JsonPlace.read(file);
        JsonPlace model = root.object("model");
        String type = model.text("type");
        if (!type.equals(MODEL)) {
            throw model.problem("has the type " + type + ": only " + MODEL + ", as BERT has it, is supported");
        }
        JsonPlace vocabulary = model.object("vocab");
        String unknown = model.has(UNKNOWN_KEY) ? model.text(UNKNOWN_KEY) : UNKNOWN;
        if (!vocabulary.has(unknown)) {
            throw vocabulary.problem(
                    "has no token %s, which %s says is for unknown words".formatted(unknown, UNKNOWN_KEY));
        }
        return (ObjectNode) root.node();
    }

    private static ObjectNode ofVocabulary(Path file) throws IOException {
        ObjectNode vocabulary = JsonNodeFactory.instance.objectNode();
        List<String> lines = Reading.text(file).lines().toList();
        for (int id = 0; id < lines.size(); id++) {
            vocabulary.put(lines.get(id).strip(), id);
        }
        ObjectNode tokenizer = JsonNodeFactory.instance.objectNode().put("version", "1.0");
        for (String token : SPECIAL) {
            if (vocabulary.has(token)) {
                tokenizer.withArray("added_tokens").add(special(token, vocabulary.get(token)));
            }
        }
        tokenizer.set("normalizer", normalizer(file.resolveSibling(CONFIG), vocabulary));
        tokenizer.putObject("pre_tokenizer").put("type", "BertPreTokenizer");
        tokenizer.putNull("post_processor");
        tokenizer.putObject("decoder").put("type", MODEL).put("prefix", "##").put("cleanup", true);
        tokenizer
                .putObject("model")
                .put("type", MODEL)
                .put(UNKNOWN_KEY, UNKNOWN)
                .put("continuing_subword_prefix", "##")
                .put("max_input_chars_per_word", LONGEST_WORD)
                .set("vocab", vocabulary);
        return tokenizer;
    }

    private static ObjectNode special(String token, JsonNode id) {
        ObjectNode added = JsonNodeFactory.instance.objectNode().put("content", token);
        added.set("id", id);
        List.of("single_word", "lstrip", "rstrip", "normalized").forEach(flag -> added.put(flag, false));
        return added.put("special", true);
    }

    private static ObjectNode normalizer(Path config, ObjectNode vocabulary) throws IOException {
        JsonNode said = Files.exists(config) ? JsonPlace.read(config).node() : JsonNodeFactory.instance.objectNode();
        ObjectNode normalizer = JsonNodeFactory.instance
                .objectNode()
                .put("type", "BertNormalizer")
                .put("clean_text", true)
                .put("handle_chinese_chars", said.path("tokenize_chinese_chars").asBoolean(true))
                .put("lowercase", said.path("do_lower_case").asBoolean(isLowerCase(vocabulary)));
        if (said.path("strip_accents").isBoolean()) {
            return normalizer.put("strip_accents", said.path("strip_accents").booleanValue());
        }
        // Then accents go where capitals go.
        return normalizer.putNull("strip_accents");
    }

    /**
     * A vocabulary without capitals, but for the names of special tokens, is one for text without capitals. Only A to Z
     * count, which no cased vocabulary lacks: lower-casing leaves some characters alone that are capitals by name, such as
     * the ℝ of BERT's own vocabulary for lower case.
     */
    private static boolean isLowerCase(ObjectNode vocabulary) {
        for (String token : (Iterable<String>) vocabulary::fieldNames) {
            boolean isName = token.startsWith("[") && token.endsWith("]");
            if (!isName && token.chars().anyMatch(letter -> letter >= 'A' && letter <= 'Z')) {
                return false;
            }
        }
        return true;
    }
}
