package dev.espalier.data;

import java.nio.file.Path;
import java.util.Optional;

/**
 * What a kind of data may need besides its own settings.
 *
 * @param progress who is told while data is read
 * @param tokenizer the model's folder with its tokenizer, for kinds of text; empty if the model has none
 */
public record Context(Progress progress, Optional<Path> tokenizer) {
    /** Tells nobody, and has no tokenizer. */
    public static final Context QUIET = new Context((what, done, total) -> {}, Optional.empty());

    /** Told as reading goes on, by one thread at a time. */
    @FunctionalInterface
    public interface Progress {
        /**
         * Some more is done.
         *
         * @param what what is counted, plural
         * @param done how many in all
         * @param total how many there are; 0 if nobody knows
         */
        void at(String what, long done, long total);
    }
}
