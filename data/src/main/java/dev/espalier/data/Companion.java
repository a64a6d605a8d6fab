package dev.espalier.data;

import java.io.IOException;
import java.nio.file.Path;

/** What whoever serves a model needs besides its file, because the model's inputs are made with it: a tokenizer, for one. */
@FunctionalInterface
public interface Companion {
    /** Nothing. */
    Companion NONE = _ -> {};

    /**
     * Writes it.
     *
     * @param folder where the model is
     * @throws IOException if it cannot be written
     */
    void write(Path folder) throws IOException;
}
