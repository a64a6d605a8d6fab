package dev.espalier.ui;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.Predicate;

/** A browser without a screen: it keeps the cookie, and says where it comes from. */
final class Client implements AutoCloseable {
    static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http = HttpClient.newHttpClient();
    private final String origin;
    private final String cookie;

    Client(URI page) throws IOException, InterruptedException {
        String address = page.toString();
        origin = address.substring(0, address.indexOf("/?"));
        HttpResponse<String> welcome =
                http.send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString());
        cookie = welcome.headers().firstValue("Set-Cookie").orElseThrow().split(";", 2)[0];
    }

    String origin() {
        return origin;
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(origin + path)).header("Cookie", cookie);
    }

    HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(request(path));
    }

    HttpResponse<String> post(String path, Object message) throws IOException, InterruptedException {
        return send(request(path)
                .header("Origin", origin)
                .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(message))));
    }

    /** Server-sent events, as they come. */
    Listener listen() throws IOException, InterruptedException {
        return new Listener(new BufferedReader(new InputStreamReader(
                http.send(request("/events").build(), HttpResponse.BodyHandlers.ofInputStream())
                        .body(),
                StandardCharsets.UTF_8)));
    }

    record Listener(BufferedReader lines) implements AutoCloseable {
        /** The next event that is as wanted; the test's time limit ends a wait in vain. */
        JsonNode await(Predicate<JsonNode> wanted) throws IOException {
            while (true) {
                String line = Objects.requireNonNull(lines.readLine(), "the events have ended");
                if (line.startsWith("data: ")) {
                    JsonNode state = JSON.readTree(line.substring("data: ".length()));
                    if (wanted.test(state)) {
                        return state;
                    }
                }
            }
        }

        JsonNode first() throws IOException {
            return await(_ -> true);
        }

        @Override
        public void close() throws IOException {
            lines.close();
        }
    }

    @Override
    public void close() {
        http.shutdownNow();
    }
}
