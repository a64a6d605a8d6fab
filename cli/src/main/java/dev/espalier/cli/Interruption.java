package dev.espalier.cli;

import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;

/**
 * Ctrl-C, and what else asks a process to end: instead of ending at once, the process waits until what is being done has
 * been put away.
 */
final class Interruption implements BooleanSupplier, AutoCloseable {
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch done = new CountDownLatch(1);
    private final Thread hook = new Thread(this::await, "espalier-interruption");

    Interruption() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private void await() {
        asked.countDown();
        try {
            done.await();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether somebody has asked. */
    @Override
    public boolean getAsBoolean() {
        return asked.getCount() == 0;
    }

    /** Waits until somebody asks. */
    void untilAsked() throws InterruptedException {
        asked.await();
    }

    /** All is put away: the process may end. */
    @Override
    public void close() {
        done.countDown();
        if (!getAsBoolean()) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException _) {
                // Just now somebody asked; nothing is left to wait for.
            }
        }
    }
}
