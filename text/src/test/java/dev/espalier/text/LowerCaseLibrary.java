package dev.espalier.text;

import ai.djl.huggingface.tokenizers.Encoding;
import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The tokenizers library by itself, told that a vocabulary is for lower case. */
final class LowerCaseLibrary implements AutoCloseable {
    private final HuggingFaceTokenizer tokenizer;

    LowerCaseLibrary(Path vocabulary) throws IOException {
        Map<String, Integer> ids = new LinkedHashMap<>();
        for (String token : Files.readAllLines(vocabulary)) {
            ids.put(token, ids.size());
        }
        String json = """
                {"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "post_processor": null, "decoder": null,
                 "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
                                "lowercase": true},
                 "pre_tokenizer": {"type": "BertPreTokenizer"},
                 "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                           "max_input_chars_per_word": 100, "vocab": %s}}
                """.formatted(new ObjectMapper().writeValueAsString(ids));
        tokenizer = HuggingFaceTokenizer.newInstance(
                new ByteArrayInputStream(json.getBytes(StandardCharsets.UTF_8)),
                Map.of("truncation", "false", "padding", "false"));
    }

    List<Integer> ids(String text) {
        Encoding encoding = tokenizer.encode(text, false, false);
        return Arrays.stream(encoding.getIds()).mapToObj(Math::toIntExact).toList();
    }

    @Override
    public void close() {
        tokenizer.close();
    }
}
