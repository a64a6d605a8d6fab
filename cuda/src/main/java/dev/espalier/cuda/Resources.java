package dev.espalier.cuda;

import java.util.ArrayDeque;
import java.util.Deque;

/** What has to be given back: what was taken last goes first. */
final class Resources implements AutoCloseable {
    private final Deque<AutoCloseable> taken = new ArrayDeque<>();

    <T extends AutoCloseable> T keep(T resource) {
        taken.push(resource);
        return resource;
    }

    @Override
    public void close() {
        while (!taken.isEmpty()) {
            try {
                taken.pop().close();
            } catch (Exception e) {
                throw new IllegalStateException("the GPU did not give something back: " + e.getMessage(), e);
            }
        }
    }
}
