package dev.espalier.train.run;

import dev.espalier.data.BatchPosition;
import dev.espalier.train.task.Example;
import dev.espalier.train.task.Examples;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Examples of which the next one can be looked at before its turn; where they stand does not change with that. */
final class LookAhead implements Examples {
    private final Examples examples;
    private @Nullable Example next;
    private @Nullable BatchPosition position;
    /** Why the next one could not be had: said when it is its turn. */
    private @Nullable RuntimeException failure;

    LookAhead(Examples examples) {
        this.examples = examples;
    }

    /** The next one; the one before is good no more. Empty if there is none, or it cannot be had. */
    @Override
    public Optional<Example> peek() {
        if (next == null && failure == null && examples.hasNext()) {
            position = examples.position();
            try {
                next = examples.next();
            } catch (RuntimeException problem) {
                failure = problem;
            }
        }
        return Optional.ofNullable(next);
    }

    @Override
    public boolean hasNext() {
        return next != null || failure != null || examples.hasNext();
    }

    @Override
    public Example next() {
        RuntimeException problem = failure;
        Example found = next;
        next = null;
        position = null;
        failure = null;
        if (problem != null) {
            throw problem;
        }
        return found == null ? examples.next() : found;
    }

    @Override
    public BatchPosition position() {
        BatchPosition before = position;
        return before == null ? examples.position() : before;
    }

    @Override
    public void close() {
        examples.close();
    }
}
