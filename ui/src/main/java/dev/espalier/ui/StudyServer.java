package dev.espalier.ui;

import com.fasterxml.jackson.annotation.JsonRawValue;
import com.sun.net.httpserver.HttpExchange;
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
    /** How often a study is looked at while somebody watches. */
    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final LivePage live;
    private final String title;
    private final Supplier<StudyResult> study;
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

    private StudyServer(LivePage live, String title, Supplier<StudyResult> study) {
        this.live = live;
        this.title = title;
        this.study = study;
        assets.put("/study.js", new Asset(Replies.SCRIPT, Replies.resource("study.js")));
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
        LivePage live = new LivePage("--serve", port);
        StudyServer page = new StudyServer(live, title, study);
        live.start(exchange -> Replies.handle(exchange, live.guard(), () -> page.get(exchange)), page::message, PERIOD);
        return page;
    }

    /** {@return what to open in a browser; it holds the secret} */
    public URI address() {
        return live.address();
    }

    private String message() {
        ReportView now = view();
        return Messages.write(new View(now.title(), now.content(), now.charts()));
    }

    private ReportView view() {
        return StudyPage.of(title, study.get()).view();
    }

    private void get(HttpExchange exchange) throws IOException, Refusal, InterruptedException {
        if (!List.of("GET", "HEAD").contains(exchange.getRequestMethod())) {
            throw new Refusal(Status.NOT_ALLOWED, exchange.getRequestMethod() + " is not possible: GET");
        }
        if (Replies.isWelcomed(exchange, live.guard())) {
            return;
        }
        String path = exchange.getRequestURI().getPath();
        Asset asset = assets.get(path);
        if (asset != null) {
            asset.send(exchange);
        } else if (path.equals("/")) {
            Replies.send(exchange, Replies.OK, Replies.HTML, page());
        } else if (path.equals("/events")) {
            Replies.sendEvents(exchange, live.events(), live::look);
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
        live.close();
    }
}
