package dev.espalier.torture.file.reader;

import dev.espalier.text.WordPiece;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** BERT's tokenizer from a {@code vocab.txt}. */
public final class VocabularyTarget extends SingleFile {
    static final String VOCABULARY = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\n##s\nsat\n.\nmat\na\n##a\n";

    /** Called by the service loader. */
    public VocabularyTarget() {
        super("vocab", Structure.TEXT, "vocab.txt");
    }

    @Override
    public List<byte[]> seeds(Path folder) {
        return List.of(bytes(VOCABULARY), bytes(VOCABULARY.replace("cat", "Cat")));
    }

    @Override
    public List<String> words() {
        return List.of("[PAD]", "[UNK]", "[CLS]", "[SEP]", "##", "##a");
    }

    @Override
    void read(Path file) throws IOException {
        use(file);
    }

    static void use(Path file) throws IOException {
        try (WordPiece tokenizer = WordPiece.load(file)) {
            int[] tokens =
                    tokenizer.tokenize("The Cats sat. a\u0301 \ud83d\ude00").ids();
            tokenizer.decode(tokens);
        }
    }
}
