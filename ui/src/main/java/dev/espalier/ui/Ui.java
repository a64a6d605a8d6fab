package dev.espalier.ui;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * A page on localhost that shows the runs of a folder, live while they train; compares them, starts and stops them.
 *
 * <pre>{@code
 * try (Ui ui = Ui.start(Path.of("."), 0, List.of("./espalier", "train"))) {
 *     System.out.println(ui.address());
 *     …
 * }
 * }</pre>
 *
 * <p>It only reads the files of runs, so it does not matter who trains them. What it starts are processes of their own, which
 * outlive it.
 */
public final class Ui implements AutoCloseable {
    /** How often files are looked at while somebody watches. */
    private static final Duration PERIOD = Duration.ofMillis(500);

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Guard guard;
    private final Runs runs;
    private final Trainings trainings;
    private final Events events = new Events();
    private final Path folder;

    /** A permit wakes the watcher before its time. */
    private final Semaphore wake = new Semaphore(0);

    /**
     * What the page shows first.
     *
     * @param folder what is looked at
     * @param runs its runs
     * @param trainings what was started from the page
     * @param problem why there may be more; empty if there is not
     */
    private record State(String folder, List<RunLine> runs, List<Trainings.Line> trainings, String problem) {}

    private Ui(HttpServer server, Path folder, List<String> train) {
        this.server = server;
        this.folder = folder;
        guard = Guard.of(server.getAddress().getPort());
        runs = new Runs(folder);
        trainings = new Trainings(train, runs, wake::release);
        server.setExecutor(threads);
        server.createContext(
                "/", new Routes(guard, folder, runs, new Recipes(folder), trainings, events, wake::release));
    }

    /**
     * Starts to serve the page, to this machine alone.
     *
     * @param folder what to show: runs that are up to three folders deep in it, and recipes
     * @param port where to listen; 0 for any that is free
     * @param train the command that trains: a recipe, {@code --set}, {@code --run-dir} and the like are added to it
     * @return the page; it is there until closed
     * @throws IllegalArgumentException if there is no such folder, or the port is not free
     * @throws IOException if nothing can be served
     */
    public static Ui start(Path folder, int port, List<String> train) throws IOException {
        if (!Files.isDirectory(folder)) {
            throw new IllegalArgumentException(
                    "%s is no folder%s: give one that holds runs or recipes, or none for this one (%s)"
                            .formatted(
                                    folder,
                                    Files.exists(folder) ? "" : " that exists",
                                    Path.of("").toAbsolutePath()));
        }
        Ui ui = new Ui(Replies.bind("--port", port), folder.toRealPath(), train);
        ui.server.start();
        ui.threads.execute(ui::watch);
        return ui;
    }

    /** {@return what to open in a browser; it holds the secret} */
    public URI address() {
        return URI.create(
                "http://127.0.0.1:%d/?token=%s".formatted(server.getAddress().getPort(), guard.token()));
    }

    private void watch() {
        try {
            while (!threads.isShutdown()) {
                if (events.isHeard()) {
                    events.publish(Messages.write(state()));
                }
                boolean woken = wake.tryAcquire(PERIOD.toMillis(), TimeUnit.MILLISECONDS);
                if (woken) {
                    wake.drainPermits();
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private State state() {
        try {
            return new State(folder.toString(), runs.look(), trainings.lines(), "");
        } catch (IOException gone) {
            return new State(
                    folder.toString(),
                    List.of(),
                    trainings.lines(),
                    "the folder cannot be read: " + gone.getMessage()
                            + ". Put it back, or start espalier ui on another.");
        }
    }

    /**
     * Begins no more trainings. Those that are under way go on.
     *
     * @return what the user should know of them, a sentence each
     */
    public List<String> farewell() {
        return trainings.close();
    }

    @Override
    public void close() {
        trainings.close();
        events.close();
        server.stop(0);
        threads.shutdownNow();
    }
}
