package dev.espalier.ui;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** What our pages on localhost have in common that are told how things stand: a server, who may ask it, and a thread that looks. */
final class LivePage implements AutoCloseable {
    /** The part of the time that is left to others, such as trainings, to one of looking. */
    private static final int REST = 10;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Guard guard;
    private final Events events = new Events();

    /** A permit wakes who looks before its time. */
    private final Semaphore wake = new Semaphore(0);

    /**
     * A page that nobody can see yet.
     *
     * @param option how the user gives the port, for messages
     * @param port the port; 0 for any that is free
     */
    LivePage(String option, int port) throws IOException {
        server = Replies.bind(option, port);
        guard = Guard.of(server.getAddress().getPort());
        server.setExecutor(threads);
    }

    /**
     * Starts to serve it.
     *
     * @param handler who answers
     * @param state how things stand, on one line
     * @param period how often they are looked at while somebody watches; less often if that takes long
     */
    void start(HttpHandler handler, Supplier<String> state, Duration period) {
        server.createContext("/", handler);
        server.start();
        threads.execute(() -> watch(state, period));
    }

    private void watch(Supplier<String> state, Duration period) {
        try {
            while (!threads.isShutdown()) {
                long begun = System.nanoTime();
                if (events.isHeard()) {
                    events.publish(state.get());
                }
                long rest = Math.max(period.toNanos(), REST * (System.nanoTime() - begun));
                if (wake.tryAcquire(rest, TimeUnit.NANOSECONDS)) {
                    wake.drainPermits();
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /** Has things looked at now. */
    void look() {
        wake.release();
    }

    Guard guard() {
        return guard;
    }

    Events events() {
        return events;
    }

    /** What to open in a browser; it holds the secret. */
    URI address() {
        return URI.create(
                "http://127.0.0.1:%d/?token=%s".formatted(server.getAddress().getPort(), guard.token()));
    }

    @Override
    public void close() {
        events.close();
        server.stop(0);
        threads.shutdownNow();
    }
}
