package dev.espalier.browser;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A headless Chromium, spoken to by its DevTools protocol: it tells of errors and of requests, which a screenshot does not. */
public final class Browser implements AutoCloseable {
    /** Where to look for a browser, if it is not on the path or is not the one to take. */
    public static final String VARIABLE = "ESPALIER_CHROMIUM";

    private static final List<String> NAMES = List.of("chromium", "chromium-browser", "google-chrome", "chrome");
    private static final String LISTENING = "DevTools listening on ";
    private static final long PATIENCE_SECONDS = 60;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Process process;
    private final Path profile;
    private final WebSocket socket;
    private final AtomicInteger last = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
    private final List<JsonNode> events = new CopyOnWriteArrayList<>();
    private volatile CountDownLatch loaded = new CountDownLatch(1);
    private @Nullable String session;
    private int width;

    /**
     * A page as it was opened.
     *
     * @param errors what it complained of
     * @param requests what it asked for
     */
    public record Visit(List<String> errors, List<String> requests) {}

    private Browser(Process process, Path profile, String address) {
        this.process = process;
        this.profile = profile;
        socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(URI.create(address), new Listener())
                .join();
    }

    /** {@return the browser of this machine, if there is one} */
    public static Optional<Path> find() {
        String chosen = System.getenv(VARIABLE);
        if (chosen != null && !chosen.isEmpty()) {
            return Optional.of(Path.of(chosen)); // if it is not there, the test had better fail
        }
        String path = System.getenv().getOrDefault("PATH", "");
        return Arrays.stream(path.split(File.pathSeparator, -1))
                .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /**
     * Starts a browser.
     *
     * @param executable the program
     * @return it, with an empty page
     * @throws IOException if it does not start
     */
    public static Browser start(Path executable) throws IOException {
        Path profile = Files.createTempDirectory("espalier-browser");
        Process process = new ProcessBuilder(
                        executable.toString(),
                        "--headless",
                        "--no-sandbox", // as root, there is none
                        "--disable-gpu",
                        "--disable-dev-shm-usage",
                        "--no-first-run",
                        "--disable-background-networking",
                        "--disable-component-update",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        "about:blank")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        Browser browser = new Browser(process, profile, address(process));
        browser.open();
        return browser;
    }

    /** What the browser prints when it is ready. */
    private static String address(Process process) throws IOException {
        BufferedReader lines = process.errorReader();
        StringBuilder seen = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith(LISTENING)) {
                Thread.ofVirtual().start(() -> drain(lines));
                return line.substring(LISTENING.length());
            }
            seen.append(line).append('\n');
        }
        throw new IOException("the browser did not start:\n" + seen);
    }

    /** Lest the pipe fills up and the browser waits. */
    private static void drain(BufferedReader lines) {
        try {
            lines.transferTo(Writer.nullWriter());
        } catch (IOException closed) {
            // the browser is gone
        }
    }

    private void open() {
        String target = call("Target.createTarget", Map.of("url", "about:blank"))
                .get("targetId")
                .asText();
        session = call("Target.attachToTarget", Map.of("targetId", target, "flatten", true))
                .get("sessionId")
                .asText();
        for (String domain : List.of("Page", "Runtime", "Log", "Network")) {
            call(domain + ".enable", Map.of());
        }
    }

    /**
     * Pretends to be a device.
     *
     * @param newWidth its width in pixels
     * @param height its height
     * @param mobile whether it is a telephone
     */
    public void resize(int newWidth, int height, boolean mobile) {
        width = newWidth;
        call(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", newWidth, "height", height, "deviceScaleFactor", 1, "mobile", mobile));
    }

    /**
     * Prefers light or dark pages.
     *
     * @param colourScheme {@code light} or {@code dark}
     */
    public void prefer(String colourScheme) {
        call(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", colourScheme))));
    }

    /**
     * Opens a page and waits until it is drawn.
     *
     * @param page a file
     * @return what it did
     * @throws InterruptedException if this thread is interrupted
     */
    public Visit visit(Path page) throws InterruptedException {
        return visit(page.toUri());
    }

    /**
     * Opens a page and waits until it is drawn.
     *
     * @param page its address
     * @return what it did
     * @throws InterruptedException if this thread is interrupted
     */
    public Visit visit(URI page) throws InterruptedException {
        events.clear();
        loaded = new CountDownLatch(1);
        call("Page.navigate", Map.of("url", page.toString()));
        if (!loaded.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("not loaded within " + PATIENCE_SECONDS + " s: " + page);
        }
        // Under load, a window may get its size late.
        evaluate("""
                new Promise(done => {
                  const look = () => innerWidth === %d ? requestAnimationFrame(() => requestAnimationFrame(done))
                      : requestAnimationFrame(look);
                  look();
                })
                """.formatted(width));
        return new Visit(errors(), requests());
    }

    /** {@return what the page has complained of since it was opened} */
    public List<String> errors() {
        List<String> errors = new ArrayList<>();
        for (JsonNode event : events) {
            JsonNode params = event.path("params");
            switch (event.path("method").asText()) {
                case "Runtime.exceptionThrown" ->
                    errors.add(
                            params.at("/exceptionDetails/exception/description").asText(params.toString()));
                case "Runtime.consoleAPICalled" -> {
                    if (List.of("error", "warning", "assert")
                            .contains(params.path("type").asText())) {
                        errors.add(params.path("args").toString());
                    }
                }
                case "Log.entryAdded" -> {
                    if (List.of("error", "warning")
                            .contains(params.at("/entry/level").asText())) {
                        errors.add(params.at("/entry/text").asText());
                    }
                }
                default -> {
                    // not about errors
                }
            }
        }
        return errors;
    }

    /** {@return what the page has asked for since it was opened} */
    public List<String> requests() {
        return events.stream()
                .filter(event -> event.path("method").asText().equals("Network.requestWillBeSent"))
                .map(event -> event.at("/params/request/url").asText())
                .filter(url -> !url.startsWith("data:"))
                .toList();
    }

    /**
     * The value of an expression in the page.
     *
     * @param expression in JavaScript
     * @return its value; of a promise, what it comes to
     */
    public JsonNode evaluate(String expression) {
        JsonNode answer =
                call("Runtime.evaluate", Map.of("expression", expression, "awaitPromise", true, "returnByValue", true));
        if (answer.has("exceptionDetails")) {
            throw new IllegalStateException(answer.get("exceptionDetails").toString());
        }
        return answer.at("/result/value");
    }

    /** {@return a picture of the whole page, as PNG in Base64} */
    public String screenshot() {
        return call("Page.captureScreenshot", Map.of("captureBeyondViewport", true))
                .get("data")
                .asText();
    }

    /**
     * Writes a picture of the whole page, for people to look at.
     *
     * @param file a PNG; its folder is made where it is missing
     * @throws IOException if it cannot be written
     */
    public void screenshot(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.write(file, Base64.getDecoder().decode(screenshot()));
    }

    private JsonNode call(String method, Map<String, ?> parameters) {
        int id = last.incrementAndGet();
        ObjectNode message = JSON.createObjectNode().put("id", id).put("method", method);
        message.set("params", JSON.valueToTree(parameters));
        if (session != null) {
            message.put("sessionId", session);
        }
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        answers.put(id, answer);
        socket.sendText(message.toString(), true).join();
        return answer.orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join();
    }

    private final class Listener implements WebSocket.Listener {
        private final StringBuilder message = new StringBuilder();

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean isLast) {
            message.append(data);
            if (isLast) {
                receive(message.toString());
                message.setLength(0);
            }
            from.request(1);
            return null;
        }
    }

    private void receive(String text) {
        JsonNode message;
        try {
            message = JSON.readTree(text);
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
        CompletableFuture<JsonNode> answer = answers.remove(message.path("id").asInt());
        if (answer == null) {
            events.add(message);
            if (message.path("method").asText().equals("Page.loadEventFired")) {
                loaded.countDown();
            }
        } else if (message.has("error")) {
            answer.completeExceptionally(
                    new IllegalStateException(message.get("error").toString()));
        } else {
            answer.complete(message.get("result"));
        }
    }

    @Override
    public void close() throws IOException {
        socket.abort();
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().join();
        try (Stream<Path> files = Files.walk(profile)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
