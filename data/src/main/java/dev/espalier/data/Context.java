package dev.espalier.data;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What a kind of data may need besides its own settings.
 *
 * @param progress who is told while data is read
 * @param tokenizer the model's folder with its tokenizer, for kinds of text; empty if the model has none
 * @param inputs what the model's file declares that it takes; none if that follows from the data. A file is read only if somebody
 *     asks, and throws {@link java.io.UncheckedIOException} if it cannot be
 */
public record Context(Progress progress, Optional<Path> tokenizer, Supplier<List<ModelInput>> inputs) {
    /** Tells nobody, and has no tokenizer. */
    public static final Context QUIET = new Context((what, done, total) -> {}, Optional.empty());

    /**
     * With a model whose inputs follow from the data.
     *
     * @param progress who is told while data is read
     * @param tokenizer the model's folder with its tokenizer; empty if it has none
     */
    public Context(Progress progress, Optional<Path> tokenizer) {
        this(progress, tokenizer, List::of);
    }

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
