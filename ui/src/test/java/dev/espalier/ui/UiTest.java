package dev.espalier.ui;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.Provenance;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import java.io.IOException;
import java.io.InputStream;
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
import java.util.SequencedMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The server, asked over HTTP: what it shows, whom it refuses, and what it starts. */
@Timeout(60)
final class UiTest {
    static final String RECIPE = """
            [data]
            kind = "digits"
            [model]
            kind = "mlp"
            hidden = [8]
            [penalty]
            kind = "group-mcp"
            lambda = 1e-2
            beta = 10
            [optimizer]
            rate = 1e-3
            [training]
            prune_for = "size"
            epochs = 8
            batch_size = 64
            """;

    /** Programs in place of a training: one that goes on until it is asked to stop, and one that fails. */
    private static final List<String> ENDLESS = List.of("sh", "-c", "echo \"$@\"; exec sleep 600", "train");

    private static final List<String> FAILING =
            List.of("sh", "-c", "echo 'espalier: no such file: x.csv'; exit 2", "train");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init") // see below
    private Ui ui;

    @SuppressWarnings("NullAway.Init")
    private Client client;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        start(ENDLESS);
    }

    private void start(List<String> train) throws IOException, InterruptedException {
        ui = Ui.start(folder, 0, train);
        client = new Client(ui.address());
    }

    @AfterEach
    void stop() {
        client.close();
        ui.close();
    }

    // --- Runs, as a training leaves them

    private RunFolder run(String name, int epochs) throws IOException {
        return run(folder, name, epochs);
    }

    static RunFolder run(Path folder, String name, int epochs) throws IOException {
        RunFolder run = new RunFolder(folder.resolve(name));
        Files.createDirectories(run.path());
        Files.writeString(run.recipe(), RECIPE);
        run.write(new Provenance(
                "1",
                "0123",
                "2026-03-01T12:00:0" + name.length() % 10 + "Z",
                1,
                "25",
                "Linux",
                "any",
                2,
                "none",
                "none",
                "cpu"));
        for (int epoch = 1; epoch <= epochs; epoch++) {
            run.append(metrics(epoch));
        }
        return run;
    }

    private static Metrics metrics(int epoch) {
        return new Metrics(
                epoch,
                epoch,
                "sparsify",
                epoch,
                100,
                1e-3,
                1e-2,
                1.0 / epoch,
                scores(0.5),
                1,
                1.0 / epoch,
                scores(1 - 0.5 / epoch),
                0.75,
                1,
                0,
                new LinkedHashMap<>(),
                new LinkedHashMap<>());
    }

    static SequencedMap<Metric, Double> scores(double accuracy) {
        return new LinkedHashMap<>(Map.of(Metric.share("accuracy"), accuracy));
    }

    static void finish(RunFolder run) throws IOException {
        run.write(new RunResult(
                1,
                8,
                8,
                1e-2,
                0.1,
                scores(0.95),
                scores(0.94),
                0.5,
                0.5,
                1000,
                250,
                1000,
                250,
                1e-6,
                2,
                1,
                RunResult.Files.UNKNOWN));
    }

    private static JsonNode named(JsonNode state, String id) {
        for (JsonNode run : state.get("runs")) {
            if (run.get("id").asText().equals(id)) {
                return run;
            }
        }
        throw new AssertionError("no " + id + " in " + state);
    }

    // --- What is shown

    @Test
    void runsAreListedWithWhatBecameOfThem() throws Exception {
        finish(run("runs/done", 8));
        run("runs/halted", 2);
        run("runs/hopeless", 2).giveUp("the loss is NaN");
        run("runs/sweep-a/lambda-1e-3", 3).enter(); // this process trains it
        RunFolder seeds = new RunFolder(folder.resolve("runs/seeds"));
        finish(run("runs/seeds/seed-1", 8));
        finish(run("runs/seeds/seed-2", 8));
        Files.writeString(seeds.recipe(), RECIPE);
        Files.createDirectories(folder.resolve("runs/damaged"));
        Files.writeString(folder.resolve("runs/damaged/metrics.jsonl"), "{\"step\"\n");
        Files.createDirectories(folder.resolve("elsewhere"));
        try (Client.Listener events = client.listen()) {
            JsonNode state = events.first();
            assertEquals(6, state.get("runs").size(), state::toPrettyString);
            JsonNode done = named(state, "runs/done");
            assertEquals("finished", done.get("state").asText());
            assertEquals("accuracy", done.get("metric").asText());
            assertEquals("94.0 %", done.get("score").asText());
            assertEquals("50.0 %", done.get("groupsLeft").asText());
            assertEquals("25.0 %", done.get("parametersLeft").asText());
            assertEquals(8, done.get("curve").size());
            JsonNode halted = named(state, "runs/halted");
            assertEquals("stopped", halted.get("state").asText());
            assertEquals("75.0 %", halted.get("score").asText());
            assertTrue(halted.get("resumable").asBoolean());
            assertEquals(2, halted.get("epoch").asInt());
            assertEquals(8, halted.get("epochs").asInt());
            assertEquals("failed", named(state, "runs/hopeless").get("state").asText());
            assertEquals(
                    "the loss is NaN",
                    named(state, "runs/hopeless").get("problem").asText());
            assertEquals(
                    "training",
                    named(state, "runs/sweep-a/lambda-1e-3").get("state").asText());
            assertEquals("finished", named(state, "runs/seeds").get("state").asText());
            assertEquals("94.0 ± 0.0 %", named(state, "runs/seeds").get("score").asText());
            JsonNode damaged = named(state, "runs/damaged");
            assertEquals("broken", damaged.get("state").asText());
            assertTrue(damaged.get("problem").asText().contains("metrics.jsonl is damaged"), damaged::toString);
            assertTrue(damaged.get("problem").asText().contains("move " + folder.toRealPath()), damaged::toString);
        }
    }

    @Test
    void anEvaluationIsToldAsSoonAsItIsWritten() throws Exception {
        RunFolder run = run("live", 1);
        run.enter();
        try (Client.Listener events = client.listen()) {
            String before = named(events.first(), "live").get("version").asText();
            run.append(metrics(2));
            JsonNode grown = named(
                    events.await(state -> named(state, "live").get("curve").size() == 2), "live");
            assertFalse(grown.get("version").asText().equals(before));
            assertEquals("training", grown.get("state").asText());
            run.leave();
            events.await(state -> named(state, "live").get("state").asText().equals("stopped"));
            Path late = run("late", 1).path();
            events.await(state -> state.get("runs").size() == 2);
            assertTrue(Files.exists(late));
        }
    }

    @Test
    void aRunAndAComparisonAreReports() throws Exception {
        run("one", 3);
        run("the other", 4);
        JsonNode one = Client.JSON.readTree(client.get("/view?run=one").body());
        assertTrue(one.get("title").asText().startsWith("one"), one::toString);
        assertTrue(one.get("content").asText().contains("data-chart=\"loss\""), one::toString);
        assertEquals("loss", one.get("charts").get(0).get("id").asText());
        assertEquals(
                3, one.get("charts").get(0).get("lines").get(0).get("points").size());
        JsonNode both =
                Client.JSON.readTree(client.get("/view?run=one&run=the%20other").body());
        assertTrue(both.get("content").asText().contains("side by side"), both::toString);
        assertEquals(404, client.get("/report?run=one").statusCode());
        Files.writeString(new RunFolder(folder.resolve("one")).report(), "<p>as it is</p>");
        HttpResponse<String> report = client.get("/report?run=one");
        assertEquals("<p>as it is</p>", report.body());
        // It may be anybody's: its scripts must not speak for the user.
        assertTrue(report.headers()
                .firstValue("Content-Security-Policy")
                .orElseThrow()
                .startsWith("sandbox allow-scripts "));
    }

    @Test
    void textIsNeverMarkup() throws Exception {
        run("<img src=x onerror=alert(1)>", 1).giveUp("<script>alert(2)</script>");
        String content = Client.JSON
                .readTree(client.get("/view?run=%3Cimg%20src=x%20onerror=alert(1)%3E")
                        .body())
                .get("content")
                .asText();
        assertFalse(content.contains("<img src=x"), content);
        assertFalse(content.contains("<script"), content);
        assertTrue(content.contains("&lt;img src=x"), content);
    }

    @Test
    void thePageNeedsNothingFromElsewhere() throws Exception {
        for (String path : List.of("/", "/?start", "/ui.css", "/ui.js", "/report.css", "/report.js", "/echarts.js")) {
            HttpResponse<String> answer = client.get(path);
            assertEquals(200, answer.statusCode(), path);
            String policy =
                    answer.headers().firstValue("Content-Security-Policy").orElseThrow();
            assertTrue(policy.startsWith("default-src 'none'; script-src 'self';"), policy);
            if (!path.equals("/echarts.js")) {
                assertFalse(answer.body().replace("http://www.w3.org/", "").contains("http"), path);
            }
        }
    }

    // --- Whom it refuses

    @Test
    void whoHasNotTheSecretSeesNothing() throws Exception {
        run("one", 1);
        for (String path :
                List.of("/", "/events", "/view?run=one", "/recipes", "/report?run=one", "/ui.js", "/?token=0")) {
            HttpResponse<String> answer = client.send(HttpRequest.newBuilder(URI.create(client.origin() + path)));
            assertEquals(403, answer.statusCode(), path);
            assertTrue(answer.body().contains("open the address that was printed"), answer.body());
        }
    }

    @Test
    void otherPagesCanDoNothing() throws Exception {
        run("one", 1).enter();
        String stop = "{\"run\":\"one\"}";
        for (String origin : List.of("http://evil.example", "null", client.origin() + "0", "http://localhost:3000")) {
            HttpResponse<String> answer = client.send(
                    client.request("/stop").header("Origin", origin).POST(HttpRequest.BodyPublishers.ofString(stop)));
            assertEquals(403, answer.statusCode(), origin);
        }
        assertEquals(
                403,
                client.send(client.request("/stop").POST(HttpRequest.BodyPublishers.ofString(stop)))
                        .statusCode());
        assertEquals(
                403,
                client.send(HttpRequest.newBuilder(URI.create(client.origin() + "/stop"))
                                .header("Origin", client.origin())
                                .POST(HttpRequest.BodyPublishers.ofString(stop)))
                        .statusCode());
        // And not even the page ends the program that serves it.
        HttpResponse<String> own = client.post("/stop", Map.of("run", "one"));
        assertEquals(409, own.statusCode(), own.body());
        assertTrue(own.body().contains("stop it there"), own.body());
    }

    @Test
    void aNameThatWasMadeToPointHereIsRefused() throws Exception {
        assertTrue(rawly("evil.example").startsWith("HTTP/1.1 403"));
        assertTrue(rawly("localhost.evil.example:80").startsWith("HTTP/1.1 403"));
        // Through a tunnel, the port is another.
        assertTrue(rawly("localhost:9999").startsWith("HTTP/1.1 303"));
    }

    private String rawly(String host) throws IOException {
        URI address = ui.address();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), address.getPort())) {
            socket.getOutputStream()
                    .write("GET /?%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"
                            .formatted(address.getQuery(), host)
                            .getBytes(StandardCharsets.UTF_8));
            InputStream in = socket.getInputStream();
            return new String(in.readNBytes(12), StandardCharsets.UTF_8);
        }
    }

    @Test
    void onlyWhatIsInTheListCanBeAskedFor() throws Exception {
        run("one", 1);
        Files.writeString(folder.resolveSibling("report.html"), "secret");
        for (String name :
                List.of("..", "../", "one/..", "one/../one", "%2e%2e", "/etc", ".", "one%00", "%2Fetc%2Fpasswd")) {
            assertEquals(404, client.get("/view?run=" + name).statusCode(), name);
            assertEquals(404, client.get("/report?run=" + name).statusCode(), name);
        }
        assertEquals(404, client.get("/../../etc/passwd").statusCode());
        assertEquals(404, client.get("/dev/espalier/ui/Ui.class").statusCode());
        HttpResponse<String> recipe = client.post("/start", order("../secret.toml", ""));
        assertEquals(404, recipe.statusCode());
        assertTrue(recipe.body().contains("choose one of the list"), recipe.body());
    }

    @Test
    void whatCannotBeServedIsSaid() throws IOException {
        String missing = refusal(folder.resolve("nowhere"), 0);
        assertTrue(missing.contains("nowhere is no folder that exists: give one"), missing);
        Path file = Files.writeString(folder.resolve("file"), "");
        refusal(file, 0);
        int taken = ui.address().getPort();
        String port = refusal(folder, taken);
        assertTrue(port.startsWith("--port " + taken + " cannot be had"), port);
        assertTrue(port.contains("leave it out for any that is free"), port);
        refusal(folder, 65536);
    }

    private static String refusal(Path shown, int port) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, () -> Ui.start(shown, port, ENDLESS))
                .getMessage());
    }

    // --- What it starts

    private static Map<String, Object> order(String recipe, String overrides) {
        return Map.of("recipe", recipe, "name", "", "text", "", "overrides", overrides, "keep", "", "baseline", false);
    }

    @Test
    void aRecipeWithMistakesIsRefusedWithAllOfThem() throws Exception {
        Files.writeString(folder.resolve("mine.toml"), RECIPE);
        HttpResponse<String> answer = client.post("/start", order("mine.toml", "training.epochs=0\n\nmodel.kinds=x"));
        assertEquals(400, answer.statusCode());
        assertTrue(answer.body().contains("training.epochs = 0 is not possible"), answer.body());
        assertTrue(answer.body().contains("model.kinds is no key"), answer.body());
        for (String keep : List.of("0", "100", "much")) {
            HttpResponse<String> refused = client.post(
                    "/start",
                    Map.of(
                            "recipe",
                            "mine.toml",
                            "name",
                            "",
                            "text",
                            "",
                            "overrides",
                            "",
                            "keep",
                            keep,
                            "baseline",
                            false));
            assertEquals(400, refused.statusCode(), keep);
        }
        assertEquals(400, client.post("/start", Map.of("recipe", "mine.toml")).statusCode());
        assertEquals(400, client.post("/stop", "no object").statusCode());
    }

    @Test
    void aNewRecipeIsSavedOnceItIsSound() throws Exception {
        Map<String, Object> sound = Map.of(
                "recipe", "", "name", "pasted", "text", RECIPE, "overrides", "", "keep", "30 %", "baseline", true);
        Map<String, Object> wrong = new LinkedHashMap<>(sound);
        wrong.put("text", "[data]\nkind = \"nothing\"\n");
        assertEquals(400, client.post("/start", wrong).statusCode());
        assertFalse(Files.exists(folder.resolve("pasted.toml")));
        for (String name : List.of("", "../up", "a/b", ".hidden")) {
            wrong = new LinkedHashMap<>(sound);
            wrong.put("name", name);
            assertEquals(400, client.post("/start", wrong).statusCode(), name);
        }
        HttpResponse<String> answer = client.post("/start", sound);
        assertEquals(200, answer.statusCode(), answer.body());
        assertEquals(RECIPE, Files.readString(folder.resolve("pasted.toml")));
        assertEquals(409, client.post("/start", sound).statusCode());
        JsonNode training = Client.JSON.readTree(answer.body());
        Path run = folder.toRealPath().resolve(training.get("run").asText());
        Path log = new RunFolder(run).log();
        try (Client.Listener events = client.listen()) {
            events.await(_ -> Trainings.said(log).size() == 1);
        }
        assertEquals(
                List.of("%s --set target.kind=parameters --set target.share=0.3 --baseline --run-dir %s"
                        .formatted(folder.toRealPath().resolve("pasted.toml"), run)),
                Trainings.said(log));
        cancel(training);
    }

    private void cancel(JsonNode training) throws Exception {
        assertEquals(
                200,
                client.post("/cancel", Map.of("id", training.get("id").asInt())).statusCode());
    }

    @Test
    void oneIsTrainedAtATimeAndTheOthersWait() throws Exception {
        Files.writeString(folder.resolve("mine.toml"), RECIPE);
        JsonNode first = Client.JSON.readTree(
                client.post("/start", order("mine.toml", "")).body());
        JsonNode second = Client.JSON.readTree(
                client.post("/start", order("mine.toml", "")).body());
        JsonNode third = Client.JSON.readTree(
                client.post("/start", order("mine.toml", "")).body());
        assertEquals("running", first.get("state").asText());
        assertEquals("waiting", second.get("state").asText());
        assertEquals("", third.get("run").asText());
        try (Client.Listener events = client.listen()) {
            cancel(third);
            events.await(state -> state.get("trainings").size() == 2);
            cancel(first);
            JsonNode next = events.await(state -> state.get("trainings").size() == 1)
                    .get("trainings")
                    .get(0);
            assertEquals(second.get("id"), next.get("id"));
            assertEquals("running", next.get("state").asText());
            assertFalse(next.get("run").asText().equals(first.get("run").asText()));
            cancel(second);
            events.await(state -> state.get("trainings").isEmpty());
        }
        assertEquals(404, client.post("/cancel", Map.of("id", 1)).statusCode());
    }

    @Test
    void whatATrainingFailedWithIsShown() throws Exception {
        stop();
        start(FAILING);
        Files.createDirectories(folder.resolve("recipes"));
        Files.writeString(folder.resolve("recipes/mine.toml"), RECIPE);
        HttpResponse<String> answer = client.post("/start", order("recipes/mine.toml", ""));
        assertEquals(200, answer.statusCode(), answer.body());
        try (Client.Listener events = client.listen()) {
            JsonNode failed = events.await(state -> state.path("trainings")
                            .path(0)
                            .path("state")
                            .asText()
                            .equals("failed"))
                    .get("trainings")
                    .get(0);
            assertEquals("no such file: x.csv", failed.get("message").asText());
            cancel(failed);
            events.await(state -> state.get("trainings").isEmpty());
        }
    }

    @Test
    void atItsEndAPageSaysWhatGoesOn() throws Exception {
        Files.writeString(folder.resolve("mine.toml"), RECIPE);
        client.post("/start", order("mine.toml", ""));
        client.post("/start", order("mine.toml", ""));
        List<String> farewell = ui.farewell();
        assertEquals(2, farewell.size(), farewell::toString);
        assertTrue(farewell.getFirst().contains(" goes on as process "), farewell::toString);
        assertEquals("mine was waiting for its turn, and is not trained", farewell.getLast());
        ui.close();
        long pid = Long.parseLong(farewell.getFirst().replaceFirst(".*process (\\d+):.*", "$1"));
        ProcessHandle training = ProcessHandle.of(pid).orElseThrow();
        // As a terminal does by Ctrl-C, to all that it runs.
        assertEquals(
                0,
                new ProcessBuilder("kill", "-INT", Long.toString(pid)).start().waitFor());
        assertTrue(training.isAlive());
        training.destroy();
        training.onExit().get(30, TimeUnit.SECONDS);
    }
}
