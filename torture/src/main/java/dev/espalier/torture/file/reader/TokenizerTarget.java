package dev.espalier.torture.file.reader;

import dev.espalier.text.WordPiece;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** BERT's tokenizer from a {@code tokenizer.json}. */
public final class TokenizerTarget extends SingleFile {
    /** Called by the service loader. */
    public TokenizerTarget() {
        super("tokenizer", Structure.TEXT, WordPiece.FILE);
    }

    @Override
    public List<byte[]> seeds(Path folder) throws IOException {
        Path vocabulary = folder.resolve("vocab.txt");
        Files.writeString(vocabulary, VocabularyTarget.VOCABULARY);
        try (WordPiece tokenizer = WordPiece.load(vocabulary)) {
            tokenizer.save(folder);
        }
        return List.of(Files.readAllBytes(folder.resolve(WordPiece.FILE)));
    }

    @Override
    public List<String> words() {
        return List.of(
                "\"WordPiece\"",
                "\"BPE\"",
                "\"Lowercase\"",
                "\"Sequence\"",
                "\"Whitespace\"",
                "\"TemplateProcessing\"",
                "\"id\"",
                "\"[UNK]\"");
    }

    @Override
    void read(Path file) throws IOException {
        VocabularyTarget.use(file);
    }
}
