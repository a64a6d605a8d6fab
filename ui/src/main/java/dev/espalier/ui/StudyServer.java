package dev.espalier.ui;

import com.fasterxml.jackson.annotation.JsonRawValue;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.espalier.report.ReportView;
import dev.espalier.report.StudyPage;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.study.Storage;
import dev.espalier.train.study.StudyResult;
import dev.espalier.ui.Refusal.Status;
import dev.espalier.ui.Replies.Asset;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The page of a study on localhost, live while the study is carried out.
 *
 * <pre>{@code
 * try (StudyServer server = StudyServer.start("my study", () -> soFar, 0)) {
 *     System.out.println(server.address());
 *     …
 * }
 * }</pre>
 *
 * <p>It says what {@link StudyPage} says, and nothing can be done from it. Reports of the study's runs are served too; no other file is.
 */
public final class StudyServer implements AutoCloseable {
    /** How often a study is looked at while somebody watches; less often if that takes long. */
    private static final Duration PERIOD = Duration.ofSeconds(1);

    /** The part of the time that is left to the trainings, to one of looking. */
    private static final int REST = 10;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Guard guard;
    private final String title;
    private final Supplier<StudyResult> study;
    private final Events events = new Events();
    private final Semaphore wake = new Semaphore(0);
    private final Map<String, Asset> assets = new HashMap<>(Asset.common());

    /** The page around what is said, in four parts: title, content and charts go between them. */
    private final String[] shell = Replies.resource("study.html").split("\\{\\{[a-z]+}}", -1);

    /**
     * What the page is told.
     *
     * @param title what it is about
     * @param content its markup
     * @param charts what is drawn into it
     */
    private record View(
            String title, String content, @JsonRawValue String charts) {}

    private StudyServer(HttpServer server, String title, Supplier<StudyResult> study) {
        this.server = server;
        this.title = title;
        this.study = study;
        guard = Guard.of(server.getAddress().getPort());
        assets.put("/study.js", new Asset(Replies.SCRIPT, Replies.resource("study.js")));
        server.setExecutor(threads);
        server.createContext("/", exchange -> Replies.handle(exchange, guard, () -> get(exchange)));
    }

    /**
     * Starts to serve the page, to this machine alone.
     *
     * @param title what the study is called
     * @param study how it stands; asked from other threads, whenever the page is looked at
     * @param port where to listen; 0 for any that is free
     * @return the page; it is there until closed
     * @throws IllegalArgumentException if the port is not free
     * @throws IOException if nothing can be served
     */
    public static StudyServer start(String title, Supplier<StudyResult> study, int port) throws IOException {
        StudyServer page = new StudyServer(Replies.bind("--serve", port), title, study);
        page.server.start();
        page.threads.execute(page::watch);
        return page;
    }

    /** {@return what to open in a browser; it holds the secret} */
    public URI address() {
        return URI.create(
                "http://127.0.0.1:%d/?token=%s".formatted(server.getAddress().getPort(), guard.token()));
    }

    private void watch() {
        try {
            while (!threads.isShutdown()) {
                long begun = System.nanoTime();
                if (events.isHeard()) {
                    ReportView now = view();
                    events.publish(Messages.write(new View(now.title(), now.content(), now.charts())));
                }
                long rest = Math.max(PERIOD.toNanos(), REST * (System.nanoTime() - begun));
                if (wake.tryAcquire(rest, TimeUnit.NANOSECONDS)) {
                    wake.drainPermits();
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private ReportView view() {
        return StudyPage.of(title, study.get()).view();
    }

    private void get(HttpExchange exchange) throws IOException, Refusal, InterruptedException {
        if (!List.of("GET", "HEAD").contains(exchange.getRequestMethod())) {
            throw new Refusal(Status.NOT_ALLOWED, exchange.getRequestMethod() + " is not possible: GET");
        }
        if (Replies.isWelcomed(exchange, guard)) {
            return;
        }
        String path = exchange.getRequestURI().getPath();
        Asset asset = assets.get(path);
        if (asset != null) {
            asset.send(exchange);
        } else if (path.equals("/")) {
            Replies.send(exchange, Replies.OK, Replies.HTML, page());
        } else if (path.equals("/events")) {
            Replies.sendEvents(exchange, events, wake::release);
        } else {
            Replies.sendStranger(exchange, Files.readString(report(path)));
        }
    }

    private String page() {
        ReportView now = view();
        return shell[0] + escaped(now.title()) + shell[1] + now.content() + shell[2] + now.charts() + shell[3];
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;");
    }

    /** The report of a run: a request names one of those that the study has, and never makes a path. */
    private Path report(String path) throws IOException, Refusal {
        StudyResult now = study.get();
        Optional<Path> root = Storage.local(now.plan().root());
        Optional<Path> found = now.plan().branches().stream()
                .flatMap(branch -> Stream.concat(
                        Stream.of(branch.name()), branch.trials().stream().map(trial -> trial.name())))
                .filter(name -> path.equals("/" + Storage.path(name, "report.html")))
                .findFirst()
                .flatMap(name -> root.map(folder -> new RunFolder(folder.resolve(name)).report()))
                .filter(Files::isRegularFile);
        // A link in the folder might lead anywhere.
        if (found.isEmpty()
                || !found.get().toRealPath().startsWith(root.orElseThrow().toRealPath())) {
            throw new Refusal(
                    Status.NOT_FOUND,
                    "there is no " + path + " here: a run has a report when it ends, and only reports are served");
        }
        return found.get();
    }

    @Override
    public void close() {
        events.close();
        server.stop(0);
        threads.shutdownNow();
    }
}
