package dev.espalier.text;

import ai.djl.huggingface.tokenizers.Encoding;
import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.huggingface.tokenizers.jni.CharSpan;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.espalier.core.check.Writing;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * BERT's tokenizer, by Hugging Face's library. DJL's jar brings it along for Linux on x86-64 and on ARM: nothing is
 * downloaded. Any number of threads may use it.
 */
public final class WordPiece implements AutoCloseable {
    /** The file that {@link #save} writes. */
    public static final String FILE = TokenizerFile.NAME;

    private static final char REPLACEMENT = '\uFFFD';

    private final Path place;
    private final ObjectNode definition;
    private final HuggingFaceTokenizer tokenizer;
    private final Map<String, Integer> ids;
    private final int size;
    private final int classifier;
    private final int separator;
    private final int padding;
    private final int unknown;

    private WordPiece(Path place, ObjectNode definition) throws IOException {
        this.place = place;
        this.definition = definition;
        this.ids = ids(definition);
        this.size = ids.values().stream().mapToInt(Integer::intValue).max().orElse(-1) + 1;
        this.classifier = id(place, "[CLS]");
        this.separator = id(place, "[SEP]");
        this.padding = id(place, "[PAD]");
        this.unknown = id(place, "[UNK]");
        this.tokenizer = create(place, definition);
    }

    /**
     * Reads how text becomes tokens.
     *
     * @param place a {@code tokenizer.json}, a {@code vocab.txt}, or a checkpoint's folder with one of them. A vocabulary
     *     alone is for lower case if none of its tokens has a letter from A to Z, those in brackets left out, unless a {@code
     *     tokenizer_config.json} beside it says otherwise
     * @return the tokenizer
     * @throws IOException if there is none, or one that is not BERT's
     */
    public static WordPiece load(Path place) throws IOException {
        return new WordPiece(place, TokenizerFile.read(place));
    }

    /**
     * The tokenizer of a model.
     *
     * @param folder the model's folder; empty if it has none
     * @param kind the kind of data that wants it
     * @return the tokenizer
     * @throws IOException if there is none, or one that is not BERT's
     * @throws IllegalArgumentException if the model has no folder
     */
    public static WordPiece ofModel(Optional<Path> folder, String kind) throws IOException {
        return load(folder.orElseThrow(() -> new IllegalArgumentException(
                "data.kind = %s needs a model with a tokenizer: set model.kind to bert and model.checkpoint, or to onnx and model.file, with the vocabulary beside it"
                        .formatted(kind))));
    }

    private static Map<String, Integer> ids(ObjectNode definition) {
        Map<String, Integer> ids = new HashMap<>();
        definition
                .at("/model/vocab")
                .properties()
                .forEach(entry -> ids.put(entry.getKey(), entry.getValue().asInt()));
        for (JsonNode added : definition.path("added_tokens")) {
            ids.put(added.path("content").asText(), added.path("id").asInt());
        }
        return ids;
    }

    private int id(Path place, String token) throws IOException {
        Integer id = ids.get(token);
        if (id == null) {
            throw new IOException(
                    "%s has no token %s: BERT needs [PAD], [UNK], [CLS] and [SEP]".formatted(place, token));
        }
        return id;
    }

    private static HuggingFaceTokenizer create(Path place, ObjectNode definition) throws IOException {
        // On a machine with CUDA, DJL would otherwise look for a build that also computes there, and download it.
        if (System.getenv("RUST_FLAVOR") == null && System.getProperty("RUST_FLAVOR") == null) {
            System.setProperty("RUST_FLAVOR", "cpu");
        }
        byte[] json = definition.toString().getBytes(StandardCharsets.UTF_8);
        try {
            return HuggingFaceTokenizer.newInstance(
                    new ByteArrayInputStream(json), Map.of("truncation", "false", "padding", "false"));
        } catch (RuntimeException refused) {
            throw new IOException(place + " is no tokenizer: " + refused.getMessage(), refused);
        } catch (LinkageError missing) {
            throw new IOException(
                    "the tokenizer library cannot be loaded (%s): it needs Linux on x86-64 or ARM with glibc 2.34 or newer,"
                                    .formatted(missing)
                            + " macOS on ARM or Windows on x86-64, and a folder DJL_CACHE_DIR that can be written",
                    missing);
        }
    }

    /**
     * Cuts a text into tokens.
     *
     * @param text the text
     * @return all its tokens, none added
     */
    public Tokens tokenize(String text) {
        Encoding encoding = encode(whole(text));
        long[] found = encoding.getIds();
        CharSpan[] spans = encoding.getCharTokenSpans();
        int[] indices = indices(text);
        int[] numbers = new int[found.length];
        int[] starts = new int[found.length];
        int[] ends = new int[found.length];
        for (int i = 0; i < found.length; i++) {
            numbers[i] = number(found[i]);
            starts[i] = indices[spans[i].getStart()];
            ends[i] = indices[spans[i].getEnd()];
        }
        return new Tokens(numbers, starts, includeMarks(text, starts, ends));
    }

    /** Only a tokenizer that somebody spoilt has such numbers. */
    private int number(long token) {
        if (token > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("%s has a token with the number %d: there are no more than %d"
                    .formatted(place, token, Integer.MAX_VALUE));
        }
        return (int) token;
    }

    private Encoding encode(String text) {
        try {
            return tokenizer.encode(text, false, false);
        } catch (RuntimeException refused) {
            // Only then does the library notice some of what is wrong with a tokenizer.
            throw new IllegalArgumentException(
                    "%s is a tokenizer that cannot cut a text: %s".formatted(place, refused.getMessage()), refused);
        }
    }

    /** Half a surrogate pair has no UTF-8, and the library would count it as three characters. */
    private static String whole(String text) {
        if (text.codePoints().noneMatch(WordPiece::isHalf)) {
            return text;
        }
        StringBuilder whole = new StringBuilder(text.length());
        text.codePoints().forEach(point -> whole.appendCodePoint(isHalf(point) ? REPLACEMENT : point));
        return whole.toString();
    }

    private static boolean isHalf(int codePoint) {
        return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
    }

    /** The library counts code points, a string counts UTF-16 units: where each code point starts, and the end of all. */
    private static int[] indices(String text) {
        int[] indices = new int[text.codePointCount(0, text.length()) + 1];
        int index = 0;
        for (int i = 0; i < indices.length - 1; i++) {
            indices[i] = index;
            index += Character.charCount(text.codePointAt(index));
        }
        indices[indices.length - 1] = index;
        return indices;
    }

    /** The normaliser drops accents, and with them those that follow a word's last letter: they belong to the word. */
    private static int[] includeMarks(String text, int[] starts, int[] ends) {
        for (int i = 0; i < ends.length; i++) {
            int limit = i + 1 < starts.length ? starts[i + 1] : text.length();
            while (ends[i] < limit && Character.getType(text.charAt(ends[i])) == Character.NON_SPACING_MARK) {
                ends[i]++;
            }
        }
        return ends;
    }

    /**
     * Reads tokens back, for people: what the normaliser dropped, capitals perhaps, does not come back.
     *
     * @param tokens what the vocabulary calls them
     * @return the text, special tokens included
     */
    public String decode(int[] tokens) {
        return tokenizer.decode(Arrays.stream(tokens).asLongStream().toArray(), false);
    }

    /**
     * The number of embeddings that a model needs for these tokens.
     *
     * @return the largest number of a token, and one
     */
    public int size() {
        return size;
    }

    /** {@return the token at the start of every window, {@code [CLS]}} */
    public int classifier() {
        return classifier;
    }

    /** {@return the token after every text, {@code [SEP]}} */
    public int separator() {
        return separator;
    }

    /** {@return the token that shorter sequences of a batch are filled up with, {@code [PAD]}} */
    public int padding() {
        return padding;
    }

    /** {@return the token of what the vocabulary does not know, {@code [UNK]}} */
    public int unknown() {
        return unknown;
    }

    /**
     * Writes the tokenizer down, for whoever uses a trained model later.
     *
     * @param folder where; a {@code tokenizer.json} that is there is replaced
     * @throws IOException if it cannot be written
     */
    public void save(Path folder) throws IOException {
        Path file = folder.resolve(TokenizerFile.NAME);
        Writing.to(file, () -> Writing.whole(file, definition.toString()));
    }

    @Override
    public void close() {
        tokenizer.close();
    }
}
