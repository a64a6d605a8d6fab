package dev.espalier.train.task;

import dev.espalier.data.BatchPosition;
import java.util.Iterator;

/** What a training learns from, batch after batch. A batch is good until the next one is asked for. */
public interface Examples extends Iterator<Example>, AutoCloseable {
    /**
     * Where the iteration stands.
     *
     * @return the position of the batch that comes next
     */
    BatchPosition position();

    @Override
    void close();
}
