package dev.espalier.squad;

import dev.espalier.text.WordPiece;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** A handwritten data set, and a handwritten vocabulary with all letters and some words. */
final class Tiny {
    static final WordPiece TOKENIZER = tokenizer();

    private Tiny() {}

    static Path file(String name) {
        URL resource = Objects.requireNonNull(Tiny.class.getResource(name), name);
        return Path.of(URI.create(resource.toString()));
    }

    static Squad squad() {
        try {
            return Squad.read(file("tiny-squad.json"));
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }

    private static WordPiece tokenizer() {
        try {
            return WordPiece.load(file("tiny-vocab.txt"));
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }

    /** A question with one answer, which is said to start somewhere. */
    static Squad ask(String context, String question, Answer... answers) {
        return new Squad(
                List.of(new Paragraph("", context, List.of(new Question("id", question, Arrays.asList(answers))))));
    }
}
