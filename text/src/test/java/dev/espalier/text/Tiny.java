package dev.espalier.text;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Path;
import java.util.Objects;

/** A handwritten vocabulary with all letters and some words. */
final class Tiny {
    static final WordPiece TOKENIZER = tokenizer();

    private Tiny() {}

    static Path file(String name) {
        URL resource = Objects.requireNonNull(Tiny.class.getResource(name), name);
        return Path.of(URI.create(resource.toString()));
    }

    private static WordPiece tokenizer() {
        try {
            return WordPiece.load(file("tiny-vocab.txt"));
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }
}
