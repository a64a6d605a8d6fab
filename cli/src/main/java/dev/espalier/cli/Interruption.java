package dev.espalier.cli;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;

/**
 * Ctrl-C, and what else asks a process to end: instead of ending at once, the process goes on until what is being done has been put away. These
 * are signals, and not the JVM's end, because libraries wait for that too: Spark would be gone before it could be asked to stop.
 */
final class Interruption implements BooleanSupplier, AutoCloseable {
    /** A terminal that is closed, Ctrl-C, and kill. */
    private static final List<String> SIGNALS = List.of("HUP", "INT", "TERM");

    private final CountDownLatch asked = new CountDownLatch(1);
    private final List<Signals.Taken> taken =
            SIGNALS.stream().map(name -> Signals.take(name, asked::countDown)).toList();

    /** Whether somebody has asked. */
    @Override
    public boolean getAsBoolean() {
        return asked.getCount() == 0;
    }

    /** Waits until somebody asks. */
    void untilAsked() throws InterruptedException {
        asked.await();
    }

    /** All is put away: from now on, the process ends at once when it is asked to. */
    @Override
    public void close() {
        taken.forEach(Signals.Taken::giveBack);
    }
}
