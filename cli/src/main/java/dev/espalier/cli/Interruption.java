package dev.espalier.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Ctrl-C, and what else asks a process to end: instead of ending at once, the process waits until what is being done has
 * been put away.
 */
final class Interruption implements BooleanSupplier, AutoCloseable {
    private final AtomicBoolean asked = new AtomicBoolean();
    private final CountDownLatch done = new CountDownLatch(1);
    private final Thread hook = new Thread(this::await, "espalier-interruption");

    Interruption() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private void await() {
        asked.set(true);
        try {
            done.await();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether somebody has asked. */
    @Override
    public boolean getAsBoolean() {
        return asked.get();
    }

    /** All is put away: the process may end. */
    @Override
    public void close() {
        done.countDown();
        if (!asked.get()) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException _) {
                // Just now somebody asked; nothing is left to wait for.
            }
        }
    }
}
