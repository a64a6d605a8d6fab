package dev.espalier.ui;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.espalier.browser.Browser;
import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.study.Outcome;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.study.Plan;
import dev.espalier.train.study.Plan.Branch;
import dev.espalier.train.study.StudyResult;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page of a study, asked over HTTP: it shows how the study stands, and gives away nothing else. */
@Timeout(60)
final class StudyServerTest {
    private static final Recipe RECIPE = Recipe.parse("sample", UiTest.RECIPE, List.of());

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init") // see below
    private Path root;

    @SuppressWarnings("NullAway.Init")
    private volatile StudyResult now;

    @SuppressWarnings("NullAway.Init")
    private StudyServer server;

    @SuppressWarnings("NullAway.Init")
    private Client client;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        root = Files.createDirectories(folder.resolve("study"));
        List<Branch> branches = Stream.of("1e-3", "1e-2", "1e-1")
                .map(lambda -> Branch.of(
                        root.toString(),
                        "lambda-" + lambda,
                        RECIPE,
                        new LinkedHashMap<>(Map.of("penalty.lambda", lambda)),
                        false))
                .toList();
        now = new StudyResult(new Plan(root.toString(), branches, Optional.empty()), new LinkedHashMap<>());
        server = StudyServer.start("study <b>", () -> now, 0);
        client = new Client(server.address());
    }

    @AfterEach
    void stop() {
        client.close();
        server.close();
    }

    private void finish(String trial, double score, long left) {
        SequencedMap<Metric, Double> scores = new LinkedHashMap<>(Map.of(Metric.share("accuracy"), score));
        RunResult result = new RunResult(
                1, 8, 1, 1e-2, 0.1, scores, scores, 0.5, 0.5, 100, left, 100, left, 0, 1, 0.5, RunResult.Files.UNKNOWN);
        SequencedMap<String, Outcome> outcomes = new LinkedHashMap<>(now.outcomes());
        outcomes.put(trial, new Outcome(trial, End.FINISHED, JsonFile.line(result)));
        now = new StudyResult(now.plan(), outcomes);
    }

    private Path report(String text) throws IOException {
        Path report = Files.createDirectories(root.resolve("lambda-1e-3")).resolve("report.html");
        Files.writeString(report, text);
        return report;
    }

    @Test
    void thePageIsMadeAfresh() throws Exception {
        HttpResponse<String> before = client.get("/");
        assertEquals(200, before.statusCode());
        assertTrue(before.body().contains("<b>0 of 3 trials done</b>"), before.body());
        assertTrue(before.body().contains("<title>study &lt;b> · Espalier</title>"), before.body());
        finish("lambda-1e-3", 0.9, 50);
        assertTrue(client.get("/").body().contains("<b>1 of 3 trials done</b>"));
    }

    @Test
    void whoLooksIsToldWhatIsNew() throws Exception {
        try (Client.Listener listener = client.listen()) {
            assertTrue(listener.first().get("content").asText().contains("<b>0 of 3 trials done</b>"));
            finish("lambda-1e-3", 0.9, 50);
            JsonNode told =
                    listener.await(state -> state.get("content").asText().contains("<b>1 of 3 trials done</b>"));
            assertEquals("TradeOff", told.at("/charts/0/kind").asText());
        }
    }

    @Test
    void whatThePageNeedsIsServed() throws Exception {
        for (String path : List.of("/ui.css", "/report.css", "/report.js", "/echarts.js", "/study.js")) {
            assertEquals(200, client.get(path).statusCode(), path);
        }
    }

    @Test
    void reportsOfRunsAreServedAsStrangers() throws Exception {
        report("<p>what came out</p>");
        HttpResponse<String> answer = client.get("/lambda-1e-3/report.html");
        assertEquals(200, answer.statusCode());
        assertEquals("<p>what came out</p>", answer.body());
        assertTrue(answer.headers()
                .firstValue("Content-Security-Policy")
                .orElseThrow()
                .startsWith("sandbox allow-scripts"));
        // Where there is none yet, that is said.
        assertEquals(404, client.get("/lambda-1e-2/report.html").statusCode());
    }

    @Test
    void noOtherFileIs() throws Exception {
        report("own");
        Files.writeString(root.resolve("lambda-1e-3/result.json"), "secret");
        Files.writeString(root.resolve("report.html"), "secret");
        Files.writeString(folder.resolve("report.html"), "secret");
        for (String path : List.of(
                "/../report.html",
                "/%2e%2e/report.html",
                "/lambda-1e-3/../../report.html",
                "/lambda-1e-3/%2e%2e%2f%2e%2e%2freport.html",
                "/lambda-1e-3/..%5c..%5creport.html",
                "//etc/passwd",
                "/etc/passwd",
                "/report.html",
                "/lambda-1e-3/result.json",
                "/lambda-1e-3",
                "/lambda-1e-3/")) {
            String answer = rawly("GET " + path, "localhost");
            assertTrue(answer.startsWith("HTTP/1.1 404"), path + "\n" + answer);
            assertFalse(answer.contains("secret"), path);
        }
    }

    @Test
    void aLinkOutOfTheStudyLeadsNowhere() throws Exception {
        Path outside = folder.resolve("outside.html");
        Files.writeString(outside, "secret");
        Path report = report("own");
        Files.delete(report);
        try {
            Files.createSymbolicLink(report, outside);
        } catch (UnsupportedOperationException | IOException none) {
            assumeTrue(false, "no symbolic links here: " + none);
        }
        assertEquals(404, client.get("/lambda-1e-3/report.html").statusCode());
    }

    @Test
    void aNameThatWasMadeToPointHereIsRefused() throws Exception {
        assertTrue(rawly("GET /", "evil.example").startsWith("HTTP/1.1 403"));
        assertTrue(rawly("GET /events", "localhost.evil.example:80").startsWith("HTTP/1.1 403"));
        // Through a tunnel, the port is another.
        assertTrue(rawly("GET /", "localhost:9999").startsWith("HTTP/1.1 200"));
    }

    @Test
    void whoHasNotTheSecretSeesNothing() throws Exception {
        report("own");
        for (String path : List.of("/", "/events", "/study.js", "/lambda-1e-3/report.html", "/?token=0")) {
            HttpResponse<String> answer = client.send(HttpRequest.newBuilder(URI.create(client.origin() + path)));
            assertEquals(403, answer.statusCode(), path);
        }
    }

    @Test
    void nothingCanBeDone() throws Exception {
        for (String method : List.of("POST", "PUT", "DELETE")) {
            assertTrue(rawly(method + " /", "localhost").startsWith("HTTP/1.1 405"), method);
        }
    }

    @Test
    void aPortThatIsNotFreeIsSaid() {
        int taken = server.address().getPort();
        String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> StudyServer.start("other", () -> now, taken))
                        .getMessage());
        assertTrue(message.startsWith("--serve " + taken + " cannot be had"), message);
    }

    /** In a real browser: the page grows without being loaded again, keeps its order, and complains of nothing. */
    @Test
    void theOpenPageFollows() throws Exception {
        Optional<Path> executable = Browser.find();
        assumeTrue(executable.isPresent(), "no browser: install chromium, or set " + Browser.VARIABLE);
        finish("lambda-1e-2", 0.8, 30);
        finish("lambda-1e-1", 0.7, 20);
        try (Browser browser = Browser.start(executable.get())) {
            browser.resize(1200, 900, false);
            Browser.Visit visit = browser.visit(server.address());
            assertEquals(List.of(), visit.errors());
            browser.evaluate("document.querySelectorAll('#points thead button')[3].click()");
            assertEquals("2 3 1", browser.evaluate(ORDER).asText());
            finish("lambda-1e-3", 0.9, 50);
            assertEquals("1 2 3", browser.evaluate("""
                    new Promise(done => {
                      const look = () => document.querySelector('.counts b').textContent.startsWith('3 of 3')
                          ? done(%s) : setTimeout(look, 50);
                      look();
                    })
                    """.formatted(ORDER)).asText());
            assertEquals(
                    3,
                    browser.evaluate("echarts.getInstanceByDom(document.querySelector('[data-chart=tradeoff] .plot'))"
                                    + ".getModel().getSeries()[2].getData().count()")
                            .asInt());
            assertEquals(List.of(), browser.errors());
        }
    }

    private static final String ORDER =
            "[...document.querySelectorAll('#points tbody tr')].map(row => row.dataset.row).join(' ')";

    /** As no client would ask. */
    private String rawly(String request, String host) throws IOException, InterruptedException {
        String cookie =
                client.request("/").build().headers().firstValue("Cookie").orElseThrow();
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.getOutputStream()
                    .write("%s HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\nConnection: close\r\n\r\n"
                            .formatted(request, host, cookie)
                            .getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
