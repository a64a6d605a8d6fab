package dev.espalier.ui;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.espalier.report.ReportAssets;
import dev.espalier.ui.Refusal.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** What our pages on localhost answer alike: to this machine alone, to whoever knows the secret, and with nothing from elsewhere in it. */
final class Replies {
    static final String HTML = "text/html; charset=utf-8";
    static final String JSON = "application/json";
    static final String SCRIPT = "text/javascript; charset=utf-8";
    static final int OK = 200;

    /** Only what we serve: no script or style sheet within the page, no other server, no frame around it. Charts colour single elements. */
    private static final String POLICY =
            "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline';"
                    + " img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    /** A file of a run's folder may be anybody's: it is shown as if it came from nowhere, and can ask us for nothing. */
    private static final String STRANGER = "sandbox allow-scripts allow-modals; default-src 'none'; img-src data:;"
            + " style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'";

    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String CSS = "text/css; charset=utf-8";
    private static final int INTERNAL_ERROR = 500;
    private static final int SEE_OTHER = 303;

    private Replies() {}

    private record Problem(String error) {}

    /**
     * A file that never changes.
     *
     * @param type what it is
     * @param text what it says
     */
    record Asset(String type, String text) {
        /** What every page looks by and is drawn by, by path. */
        static Map<String, Asset> common() {
            return Map.of(
                    "/ui.css", new Asset(CSS, resource("ui.css")),
                    "/report.css", new Asset(CSS, ReportAssets.style()),
                    "/report.js", new Asset(SCRIPT, ReportAssets.script()),
                    "/echarts.js", new Asset(SCRIPT, ReportAssets.library()));
        }

        void send(HttpExchange exchange) throws IOException {
            Replies.send(exchange, OK, type, text);
        }
    }

    /** What is answered to a request that may be made. */
    interface Answer {
        void give() throws IOException, Refusal, InterruptedException;
    }

    /**
     * A server for this machine alone.
     *
     * @param option how the user gives the port, for messages
     * @param port the port; 0 for any that is free
     */
    static HttpServer bind(String option, int port) throws IOException {
        if (port < 0 || port > 65535) {
            throw new IllegalArgumentException(
                    "%s %d is not possible: it must be from 1 to 65535, or 0 for any that is free"
                            .formatted(option, port));
        }
        // By number: a name might be made to mean another interface.
        InetAddress local = InetAddress.getByAddress("localhost", new byte[] {127, 0, 0, 1});
        try {
            return HttpServer.create(new InetSocketAddress(local, port), 0);
        } catch (BindException taken) {
            throw new IllegalArgumentException(
                    "%s %d cannot be had (%s): give another, or leave it out for any that is free"
                            .formatted(option, port, taken.getMessage()),
                    taken);
        }
    }

    /** Answers a request that was sent to this machine, and says what is wrong with one that cannot be answered. */
    static void handle(HttpExchange exchange, Guard guard, Answer answer) throws IOException {
        try (exchange) {
            Headers headers = exchange.getResponseHeaders();
            headers.set("Content-Security-Policy", POLICY);
            headers.set("X-Content-Type-Options", "nosniff");
            headers.set("Referrer-Policy", "no-referrer");
            headers.set("Cross-Origin-Resource-Policy", "same-origin");
            headers.set("Cross-Origin-Opener-Policy", "same-origin");
            headers.set("Cache-Control", "no-store");
            answer(exchange, guard, answer);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private static void answer(HttpExchange exchange, Guard guard, Answer answer)
            throws IOException, InterruptedException {
        try {
            guard.requireHost(exchange.getRequestHeaders());
            answer.give();
        } catch (Refusal refusal) {
            boolean page = exchange.getRequestURI().getPath().equals("/");
            String message = Objects.requireNonNull(refusal.getMessage());
            send(
                    exchange,
                    refusal.status().code(),
                    page ? TEXT : JSON,
                    page ? "Espalier: " + message + "\n" : Messages.write(new Problem(message)));
        } catch (IllegalArgumentException wrong) {
            send(
                    exchange,
                    Status.BAD_REQUEST.code(),
                    JSON,
                    Messages.write(new Problem(String.valueOf(wrong.getMessage()))));
        } catch (IOException | RuntimeException failure) {
            if (exchange.getResponseCode() >= 0) {
                throw failure; // the answer has begun: the listener has gone
            }
            send(exchange, INTERNAL_ERROR, JSON, Messages.write(new Problem(String.valueOf(failure.getMessage()))));
        }
    }

    /**
     * Sends whoever knows the secret on to the page; anybody else must have the cookie.
     *
     * @return whether that was the answer
     * @throws Refusal if the cookie is missing
     */
    static boolean isWelcomed(HttpExchange exchange, Guard guard) throws IOException, Refusal {
        Optional<String> token = values(exchange, "token").stream().findFirst();
        if (exchange.getRequestURI().getPath().equals("/")
                && token.filter(guard::isToken).isPresent()) {
            // From now on the cookie is enough, and the secret does not stay in the address.
            exchange.getResponseHeaders().set("Set-Cookie", guard.setCookie());
            exchange.getResponseHeaders().set("Location", "/");
            exchange.sendResponseHeaders(SEE_OTHER, -1);
            return true;
        }
        guard.requireToken(exchange.getRequestHeaders());
        return false;
    }

    static List<String> values(HttpExchange exchange, String name) {
        String query =
                Optional.ofNullable(exchange.getRequestURI().getRawQuery()).orElse("");
        return Arrays.stream(query.split("&", -1))
                .filter(pair -> pair.startsWith(name + "="))
                .map(pair -> URLDecoder.decode(pair.substring(name.length() + 1), StandardCharsets.UTF_8))
                .toList();
    }

    static void sendEvents(HttpExchange exchange, Events events, Runnable look)
            throws IOException, InterruptedException {
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(OK, 0);
        events.send(exchange.getResponseBody(), look);
    }

    /** Sends a page that we did not make just now. */
    static void sendStranger(HttpExchange exchange, String page) throws IOException {
        exchange.getResponseHeaders().set("Content-Security-Policy", STRANGER);
        send(exchange, OK, HTML, page);
    }

    static void send(HttpExchange exchange, int status, String type, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(status, -1);
            return;
        }
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    static String resource(String name) {
        try (InputStream in = Objects.requireNonNull(Replies.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }
}
