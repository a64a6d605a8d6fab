package dev.espalier.train.task;

import dev.espalier.data.BatchPosition;
import java.util.Iterator;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/** What a training learns from, batch after batch. A batch is good until the next one is asked for. */
public interface Examples extends Iterator<Example>, AutoCloseable {
    /** {@return the position of the batch that comes next} */
    BatchPosition position();

    /**
     * The batch that comes next, before its turn: then the one before is good no more.
     *
     * @return the batch; empty if there is none, or these examples are not looked at ahead
     */
    default Optional<Example> peek() {
        return Optional.empty();
    }

    @Override
    void close();

    /**
     * Examples that are made of batches of another kind.
     *
     * @param batches the batches
     * @param position where they stand
     * @param close closes them
     * @param example makes an example of a batch
     * @param <B> what a batch is
     * @return the examples
     */
    static <B> Examples of(
            Iterator<? extends B> batches,
            Supplier<BatchPosition> position,
            Runnable close,
            Function<B, Example> example) {
        return new Examples() {
            @Override
            public boolean hasNext() {
                return batches.hasNext();
            }

            @Override
            public Example next() {
                return example.apply(batches.next());
            }

            @Override
            public BatchPosition position() {
                return position.get();
            }

            @Override
            public void close() {
                close.run();
            }
        };
    }
}
