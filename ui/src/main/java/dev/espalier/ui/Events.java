package dev.espalier.ui;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The state of things as server-sent events: whoever listens is told how it is, and then each time it has changed. */
final class Events {
    /** After that long without news a sign of life is sent: only by writing does one notice that nobody listens any more. */
    private static final Duration SILENCE = Duration.ofSeconds(10);

    private String state = "";
    private long version;
    private int listeners;
    private boolean closed;

    /** Says how it is, on one line. */
    synchronized void publish(String now) {
        if (!now.equals(state)) {
            state = now;
            version++;
            notifyAll();
        }
    }

    synchronized boolean isHeard() {
        return listeners > 0;
    }

    /** Sends events until nobody listens or all is over. */
    void send(OutputStream out, Runnable begun) throws IOException, InterruptedException {
        begin();
        try {
            begun.run();
            long sent = 0;
            for (Event event = await(sent); !event.last(); event = await(sent)) {
                String text = event.version() == sent ? ": still here\n\n" : "data: " + event.state() + "\n\n";
                sent = event.version();
                out.write(text.getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        } finally {
            end();
        }
    }

    private record Event(String state, long version, boolean last) {}

    private synchronized void begin() {
        listeners++;
    }

    private synchronized void end() {
        listeners--;
    }

    private synchronized Event await(long sent) throws InterruptedException {
        long end = System.nanoTime() + SILENCE.toNanos();
        while (version == sent && !closed) {
            long left = (end - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                break;
            }
            wait(left);
        }
        return new Event(state, version, closed);
    }

    synchronized void close() {
        closed = true;
        notifyAll();
    }
}
