package dev.espalier.ui;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.espalier.browser.Browser;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Findings.Confusion;
import dev.espalier.train.journal.Findings.Glimpse;
import dev.espalier.train.journal.Findings.Mistake;
import dev.espalier.train.journal.Findings.Outcome;
import dev.espalier.train.journal.Findings.Samples;
import dev.espalier.train.journal.Findings.Tally;
import dev.espalier.train.journal.Provenance;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.study.Plan;
import dev.espalier.train.study.Plan.Branch;
import dev.espalier.train.study.StudyResult;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Both servers, attacked over sockets: by other pages in the user's browser, by other users of the machine, and by what lies in the folder. */
@Timeout(60)
final class AttackTest {
    private static final String SECRET = "the secret of another folder";
    private static final String EVIL =
            "</script><img src=x onerror=\"window.ran=1\"><script>window.ran=1</script>'\"&{{x}}";

    /** As a file may be called. */
    private static final String EVIL_NAME = "<img src=x onerror=window.ran=1>'\"&";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path top;

    @SuppressWarnings("NullAway.Init") // see below
    private Path shown;

    @SuppressWarnings("NullAway.Init")
    private Path outside;

    @SuppressWarnings("NullAway.Init")
    private Ui ui;

    @SuppressWarnings("NullAway.Init")
    private StudyServer study;

    @SuppressWarnings("NullAway.Init")
    private Client client;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        shown = Files.createDirectories(top.resolve("shown"));
        outside = Files.createDirectories(top.resolve("outside"));
        run(shown.resolve("one"));
        Files.writeString(shown.resolve("one/report.html"), "<p>own</p>");
        Files.writeString(shown.resolve("mine.toml"), UiTest.RECIPE);
        run(outside.resolve("theirs"));
        Files.writeString(outside.resolve("theirs/report.html"), SECRET);
        Files.writeString(outside.resolve("secret.toml"), "# " + SECRET);
        // What is started leaves a mark.
        ui = Ui.start(shown, 0, List.of("sh", "-c", "touch '" + top + "/started'", "train"));
        Recipe recipe = Recipe.parse("sample", UiTest.RECIPE, List.of());
        String root = shown.toString();
        Branch branch = Branch.of(root, "one", recipe, new LinkedHashMap<>(Map.of("penalty.lambda", "1e-3")), false);
        StudyResult result = new StudyResult(new Plan(root, List.of(branch), Optional.empty()), new LinkedHashMap<>());
        study = StudyServer.start(EVIL, () -> result, 0);
        client = new Client(ui.address());
    }

    @AfterEach
    void stop() {
        client.close();
        ui.close();
        study.close();
    }

    private static RunFolder run(Path folder) throws IOException {
        RunFolder run = new RunFolder(Files.createDirectories(folder));
        Files.writeString(run.recipe(), UiTest.RECIPE);
        run.write(
                new Provenance("1", "0123", "2026-03-01T12:00:00Z", 1, "25", "Linux", "any", 2, "none", "none", "cpu"));
        return run;
    }

    // --- Requests as no browser makes them

    private static String cookie(URI address) {
        return "Cookie: espalier-%d=%s"
                .formatted(address.getPort(), address.getQuery().replace("token=", ""));
    }

    private static String send(URI address, String request, String body, String... headers) throws IOException {
        try (Socket socket = new Socket(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), address.getPort())) {
            List<String> lines = new ArrayList<>(List.of(request + " HTTP/1.1"));
            lines.addAll(List.of(headers));
            lines.add("Connection: close");
            if (!body.isEmpty()) {
                lines.add("Content-Length: " + body.length());
            }
            socket.getOutputStream()
                    .write((String.join("\r\n", lines) + "\r\n\r\n" + body).getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private List<URI> both() {
        return List.of(ui.address(), study.address());
    }

    private static void assertRefused(String answer, String what) {
        assertTrue(answer.matches("(?s)HTTP/1\\.1 (400|403|404|405) .*"), () -> what + "\n" + answer);
        assertFalse(answer.contains(SECRET), what);
    }

    // --- Who may ask

    @Test
    void onlyThisMachineIsServed() throws IOException {
        for (URI address : both()) {
            assertEquals("127.0.0.1", address.getHost());
            for (InetAddress other : NetworkInterface.networkInterfaces()
                    .flatMap(NetworkInterface::inetAddresses)
                    .filter(any -> any instanceof Inet4Address && !any.isLoopbackAddress())
                    .toList()) {
                try (Socket _ = new Socket(other, address.getPort())) {
                    throw new AssertionError("served on " + other);
                } catch (ConnectException _) {
                    // As it should be.
                }
            }
        }
    }

    /** A name that its owner makes point here is of the same origin as a page of theirs. */
    @Test
    void foreignHostsAreRefused() throws IOException {
        for (URI address : both()) {
            for (String host : List.of(
                    "Host: evil.example",
                    "Host: evil.example:" + address.getPort(),
                    "Host: localhost.evil.example",
                    "Host: 127.0.0.1.evil.example",
                    "Host: evil.example#localhost",
                    "Host: localhost@evil.example",
                    "Host: evil.example/localhost",
                    "Host: 0.0.0.0",
                    "Host: 127.0.0.1:80:80",
                    "Host: localhost\r\nHost: evil.example",
                    "Host: evil.example\r\nHost: localhost",
                    "Host: ",
                    "X-Forwarded-Host: localhost")) {
                assertRefused(send(address, "GET /", "", host, cookie(address)), host);
                assertRefused(send(address, "GET /?" + address.getQuery(), "", host), host);
            }
            String own = send(address, "GET /", "", "Host: localhost", cookie(address));
            assertTrue(own.startsWith("HTTP/1.1 200"), own);
        }
    }

    @Test
    void nobodyWithoutTheTokenIsAnswered() throws IOException {
        for (URI address : both()) {
            String token = address.getQuery().replace("token=", "");
            assertTrue(token.matches("[0-9a-f]{48}"), "192 random bits");
            String name = "espalier-" + address.getPort();
            for (String header : List.of(
                    "X: none",
                    "Cookie: " + name + "=",
                    "Cookie: " + name + "=" + token.substring(1),
                    "Cookie: " + name + "=" + token + "0",
                    "Cookie: " + name + "=" + token.toUpperCase(java.util.Locale.ROOT) + "Z",
                    "Cookie: espalier-1=" + token,
                    "Cookie: x" + name + "=" + token,
                    "Authorization: Bearer " + token)) {
                for (String path : List.of("/", "/events", "/view?run=one", "/report?run=one", "/recipes", "/ui.js")) {
                    assertRefused(send(address, "GET " + path, "", "Host: localhost", header), header + " " + path);
                }
            }
            assertRefused(send(address, "GET /?token=" + "0".repeat(48), "", "Host: localhost"), "zeros");
            assertRefused(send(address, "GET /ui.js?token=" + token, "", "Host: localhost"), "not at the door");
        }
        assertFalse(ui.address().getQuery().equals(study.address().getQuery()), "each page has its own");
    }

    /** Another page can make the browser send a request, cookie and all where the site is the same; it cannot choose the origin. */
    @Test
    void otherPagesChangeNothing() throws IOException {
        URI address = ui.address();
        String start =
                "{\"recipe\":\"mine.toml\",\"name\":\"\",\"text\":\"\",\"overrides\":\"\",\"keep\":\"\",\"baseline\":false}";
        for (String origin : List.of(
                "Origin: http://evil.example",
                "Origin: null",
                "Origin: ",
                "Origin: http://localhost",
                "Origin: http://localhost:1",
                "Origin: https://localhost:" + address.getPort(),
                "Origin: http://127.0.0.1:" + address.getPort(),
                "Origin: http://localhost:" + address.getPort() + ".evil.example",
                "Origin: http://evil.example\r\nOrigin: http://localhost:" + address.getPort(),
                "Referer: http://localhost:" + address.getPort() + "/")) {
            for (String path : List.of("/start", "/stop", "/resume", "/cancel")) {
                String answer = send(
                        address,
                        "POST " + path,
                        start,
                        "Host: localhost:" + address.getPort(),
                        "Content-Type: text/plain",
                        origin,
                        cookie(address));
                assertTrue(answer.startsWith("HTTP/1.1 403"), () -> origin + " " + path + "\n" + answer);
            }
        }
        // With the right origin, but not the secret; and by methods that are none of ours.
        String host = "Host: localhost:" + address.getPort();
        String own = "Origin: http://localhost:" + address.getPort();
        assertRefused(send(address, "POST /start", start, host, own), "without the secret");
        assertRefused(send(address, "POST /start?" + address.getQuery(), start, host, own), "the secret in the path");
        for (String method : List.of("GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE")) {
            for (String path : List.of("/start", "/stop", "/resume", "/cancel")) {
                assertRefused(send(address, method + " " + path, start, host, own, cookie(address)), method + path);
            }
        }
        assertFalse(Files.exists(top.resolve("started")));
        for (String method : List.of("POST", "PUT", "DELETE", "PATCH", "OPTIONS")) {
            URI other = study.address();
            assertRefused(
                    send(other, method + " /", "{}", "Host: localhost", "Origin: http://localhost", cookie(other)),
                    method);
        }
    }

    @Test
    void noAnswerIsForOtherSites() throws IOException {
        for (URI address : both()) {
            for (String request : List.of("GET /", "OPTIONS /", "GET /nothing", "POST /start", "GET /?token=0")) {
                String answer = send(
                        address,
                        request,
                        "",
                        "Host: localhost",
                        "Origin: http://evil.example",
                        "Access-Control-Request-Method: POST",
                        "Access-Control-Request-Private-Network: true",
                        cookie(address));
                String head = answer.substring(0, answer.indexOf("\r\n\r\n")).toLowerCase(java.util.Locale.ROOT);
                assertFalse(head.contains("access-control"), head);
                assertTrue(head.contains("cross-origin-resource-policy: same-origin"), head);
                assertTrue(head.contains("cross-origin-opener-policy: same-origin"), head);
                assertTrue(head.contains("x-content-type-options: nosniff"), head);
                assertTrue(head.contains("cache-control: no-store"), head);
                assertTrue(head.contains("referrer-policy: no-referrer"), head);
                assertTrue(
                        head.contains(
                                "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';"),
                        head);
                assertTrue(head.contains("frame-ancestors 'none'"), head);
                assertTrue(head.contains("base-uri 'none'; form-action 'none'"), head);
                assertFalse(head.contains("script-src 'unsafe"), head);
            }
            String welcome = send(address, "GET /?" + address.getQuery(), "", "Host: localhost");
            assertTrue(welcome.contains("; HttpOnly; SameSite=Strict"), welcome);
        }
    }

    @Test
    void whatIsTooLongIsLeft() throws IOException {
        URI address = ui.address();
        String answer = send(
                address,
                "POST /start",
                "x".repeat((1 << 20) + 1),
                "Host: localhost",
                "Origin: http://localhost",
                cookie(address));
        assertTrue(answer.startsWith("HTTP/1.1 413"), answer);
    }

    // --- What may be asked for

    private static final List<String> WAYS_UP = List.of(
            "..",
            "../outside/theirs",
            "one/../../outside/theirs",
            "./../outside/theirs",
            "%2e%2e/outside/theirs",
            "..%2foutside%2ftheirs",
            "%2e%2e%2foutside%2ftheirs",
            "..%252foutside%252ftheirs",
            "..%5coutside%5ctheirs",
            "..\\outside\\theirs",
            "....//outside/theirs",
            "%c0%ae%c0%ae/outside/theirs",
            "..%00/outside/theirs",
            "..;/outside/theirs",
            "/etc/passwd",
            "//etc/passwd",
            "file:///etc/passwd");

    @Test
    void noPathLeadsOut() throws IOException {
        URI address = ui.address();
        for (String way : WAYS_UP) {
            for (String request :
                    List.of("/" + way, "/" + way + "/report.html", "/view?run=" + way, "/report?run=" + way)) {
                assertRefused(send(address, "GET " + request, "", "Host: localhost", cookie(address)), request);
            }
            URI other = study.address();
            for (String request : List.of("/" + way, "/" + way + "/report.html", "/one/" + way + "/report.html")) {
                assertRefused(send(other, "GET " + request, "", "Host: localhost", cookie(other)), request);
            }
        }
        for (String way :
                List.of("../outside/secret.toml", outside + "/secret.toml", "one/../../outside/secret.toml")) {
            assertRefused(start(way, "", ""), way);
        }
        for (String name :
                List.of("../up", "/up", "a/b", "a\\\\b", ".up", "..", "a\\u0000b", "-rf /", "x".repeat(99))) {
            assertRefused(start("", name, UiTest.RECIPE.replace("\n", "\\n").replace("\"", "\\\"")), name);
        }
        assertFalse(Files.exists(top.resolve("started")));
        try (Stream<Path> files = Files.list(shown)) {
            assertEquals(2, files.count(), "no recipe was saved");
        }
    }

    private String start(String recipe, String name, String text) throws IOException {
        return send(
                ui.address(),
                "POST /start",
                "{\"recipe\":\"%s\",\"name\":\"%s\",\"text\":\"%s\",\"overrides\":\"\",\"keep\":\"\",\"baseline\":false}"
                        .formatted(recipe, name, text),
                "Host: localhost",
                "Origin: http://localhost",
                cookie(ui.address()));
    }

    /** Whoever packs a folder of runs can put links into it. */
    @Test
    void noLinkLeadsOut() throws Exception {
        Files.createSymbolicLink(shown.resolve("linked"), outside.resolve("theirs"));
        Files.createSymbolicLink(shown.resolve("up"), outside);
        Files.createSymbolicLink(shown.resolve("secret.toml"), outside.resolve("secret.toml"));
        Files.createSymbolicLink(shown.resolve("runs"), outside);
        for (String file : List.of("report.html", "metrics.jsonl", "reason.txt", "result.json", "findings.json")) {
            Path run = run(shown.resolve("with-" + file)).path();
            Files.createSymbolicLink(run.resolve(file), outside.resolve("theirs/report.html"));
        }
        Path seeds = run(shown.resolve("seeds")).path();
        Files.createSymbolicLink(seeds.resolve("seed-1"), outside.resolve("theirs"));
        Path log = new RunFolder(run(shown.resolve("with-log")).path()).log();
        Files.createSymbolicLink(log, outside.resolve("secret.toml"));
        // Within the folder links may lead anywhere.
        Files.createSymbolicLink(shown.resolve("alias"), shown.resolve("one"));

        List<String> names = new ArrayList<>();
        try (Client.Listener events = client.listen()) {
            JsonNode state = events.first();
            assertFalse(state.toString().contains(SECRET), state::toPrettyString);
            state.get("runs").forEach(run -> names.add(run.get("id").asText()));
        }
        assertTrue(names.containsAll(List.of("one", "alias", "with-log")), names::toString);
        assertFalse(names.stream().anyMatch(name -> name.matches("(linked|up|runs).*")), names::toString);
        names.addAll(List.of("linked", "up", "up/theirs", "runs/theirs", "seeds/seed-1"));
        names.removeAll(List.of("one", "alias"));
        for (String name : names) {
            for (String path : List.of("/view?run=", "/report?run=")) {
                HttpResponse<String> answer = client.get(path + name);
                assertTrue(answer.statusCode() == 403 || answer.statusCode() == 404, () -> path + name + answer.body());
                assertFalse(answer.body().contains(SECRET), path + name);
            }
        }
        assertEquals(200, client.get("/report?run=alias").statusCode());
        String recipes = client.get("/recipes").body();
        assertTrue(recipes.contains("mine.toml"), recipes);
        assertFalse(recipes.contains(SECRET), recipes);
        assertRefused(start("secret.toml", "", ""), "a recipe that is elsewhere");
        assertRefused(start("up/secret.toml", "", ""), "a recipe that is elsewhere");
        assertRefused(start("mine.toml", "", ""), "runs would be written elsewhere");
        assertFalse(Files.exists(top.resolve("started")));
    }

    // --- What names and texts may be

    private void smuggle() throws IOException {
        RunFolder run = run(shown.resolve(EVIL_NAME));
        run.giveUp(EVIL);
        Files.writeString(run.log(), EVIL + "\n");
        Files.writeString(run.recipe(), "# " + EVIL + "\n" + UiTest.RECIPE);
        run.write(new Findings(
                new Samples(10, 0, 10),
                new Outcome.Classes(
                        List.of(new Tally(EVIL, 5, 5, 5, 4), new Tally("b" + EVIL, 5, 5, 5, 4)),
                        List.of(new Confusion(0, 1, 1), new Confusion(1, 0, 1))),
                List.of(new Mistake(1, List.of(new Glimpse.Words(EVIL, EVIL)), EVIL, EVIL, EVIL))));
        Files.writeString(shown.resolve("<b onclick=window.ran=1>.toml"), UiTest.RECIPE);
    }

    private static void assertTame(String markup) {
        assertFalse(markup.contains("<img"), markup);
        assertFalse(markup.contains("<script>window"), markup);
        assertFalse(markup.contains("<b onclick"), markup);
    }

    @Test
    void namesAreText() throws Exception {
        smuggle();
        String id = java.net.URLEncoder.encode(EVIL_NAME, StandardCharsets.UTF_8);
        HttpResponse<String> answer = client.get("/view?run=" + id);
        assertEquals(200, answer.statusCode(), answer.body());
        JsonNode view = Client.JSON.readTree(answer.body());
        assertTame(view.get("content").asText());
        assertTrue(view.get("content").asText().contains("&lt;script&gt;window.ran=1"), "it is shown");
        URI address = study.address();
        String page = send(address, "GET /", "", "Host: localhost", cookie(address));
        assertTame(page);
    }

    /** What a browser makes of it: nothing runs, neither in the list, nor in a run's view, nor in the page of a study. */
    @Test
    void nothingThatWasSmuggledInRuns() throws Exception {
        Optional<Path> executable = Browser.find();
        assumeTrue(executable.isPresent(), "no browser: install chromium, or set " + Browser.VARIABLE);
        smuggle();
        String id = java.net.URLEncoder.encode(EVIL_NAME, StandardCharsets.UTF_8);
        try (Browser browser = Browser.start(executable.get())) {
            browser.resize(1200, 900, false);
            assertEquals(List.of(), browser.visit(ui.address()).errors());
            assertTrue(browser.evaluate("""
                    new Promise(done => {
                      const look = () => document.querySelectorAll('#runs .status').length > 1 ? done(true) : setTimeout(look, 50);
                      look();
                    })
                    """).asBoolean());
            assertInert(browser, "the list");
            for (String path : List.of("/?run=" + id, "/?start")) {
                assertEquals(
                        List.of(),
                        browser.visit(URI.create(client.origin() + path)).errors(),
                        path);
                assertInert(browser, path);
            }
            assertEquals(List.of(), browser.visit(study.address()).errors());
            assertInert(browser, "the page of a study");
        }
    }

    private static void assertInert(Browser browser, String where) {
        assertTrue(browser.evaluate("window.ran === undefined").asBoolean(), where);
        assertEquals(
                0,
                browser.evaluate("document.querySelectorAll('img[src=x]').length")
                        .asInt(),
                where);
    }
}
