package dev.espalier.ui;

import com.fasterxml.jackson.annotation.JsonRawValue;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import dev.espalier.report.Report;
import dev.espalier.report.ReportAssets;
import dev.espalier.report.ReportView;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.ui.Refusal.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** What is answered to which request. */
final class Routes implements HttpHandler {
    /** Only what we serve: no script within the page, no other server, no frame around it. */
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';"
            + " img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    /** A file of a run's folder may be anybody's: it is shown as if it came from nowhere, and can ask us for nothing. */
    private static final String STRANGER = "sandbox allow-scripts allow-modals; default-src 'none'; img-src data:;"
            + " style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'";

    private static final String HTML = "text/html; charset=utf-8";
    private static final String JSON = "application/json";
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String CSS = "text/css; charset=utf-8";
    private static final String SCRIPT = "text/javascript; charset=utf-8";
    private static final int LARGEST = 1 << 20;
    private static final int OUTPUT_LINES = 200;
    private static final int INTERNAL_ERROR = 500;
    private static final int SEE_OTHER = 303;
    private static final int OK = 200;

    private final Guard guard;
    private final Path folder;
    private final Runs runs;
    private final Recipes recipes;
    private final Trainings trainings;
    private final Events events;
    private final Runnable look;
    private final Map<String, Asset> assets = Map.of(
            "/", new Asset(HTML, resource("index.html")),
            "/ui.css", new Asset(CSS, resource("ui.css")),
            "/ui.js", new Asset(SCRIPT, resource("ui.js")),
            "/report.css", new Asset(CSS, ReportAssets.style()),
            "/report.js", new Asset(SCRIPT, ReportAssets.script()),
            "/echarts.js", new Asset(SCRIPT, ReportAssets.library()));

    private record Asset(String type, String text) {}

    /**
     * A report for the page.
     *
     * @param title what it is about
     * @param content its markup
     * @param charts what is drawn into it
     * @param output what the training said, if it was started from the page
     */
    private record View(
            String title, String content, @JsonRawValue String charts, String output) {}

    /**
     * Wants a training.
     *
     * @param recipe a recipe of the list; empty for a new one
     * @param name what the new one is called
     * @param text what it says
     * @param overrides other values, {@code key=value}, a line each
     * @param keep what shall be left, in per cent of the parameters; empty for what the recipe says
     * @param baseline whether to train without a penalty too
     */
    private record Start(String recipe, String name, String text, String overrides, String keep, boolean baseline) {}

    /**
     * Names a run.
     *
     * @param run what it is called in the list
     */
    private record Named(String run) {}

    /**
     * Names a training.
     *
     * @param id its number
     */
    private record Numbered(int id) {}

    private record Problem(String error) {}

    /**
     * All routes.
     *
     * @param guard who may ask
     * @param folder what is shown
     * @param runs its runs
     * @param recipes its recipes
     * @param trainings what was started
     * @param events how it is
     * @param look makes the server look how it is now
     */
    Routes(Guard guard, Path folder, Runs runs, Recipes recipes, Trainings trainings, Events events, Runnable look) {
        this.guard = guard;
        this.folder = folder;
        this.runs = runs;
        this.recipes = recipes;
        this.trainings = trainings;
        this.events = events;
        this.look = look;
    }

    private static String resource(String name) {
        try (InputStream in = Objects.requireNonNull(Routes.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            Headers headers = exchange.getResponseHeaders();
            headers.set("Content-Security-Policy", POLICY);
            headers.set("X-Content-Type-Options", "nosniff");
            headers.set("Referrer-Policy", "no-referrer");
            headers.set("Cross-Origin-Resource-Policy", "same-origin");
            headers.set("Cache-Control", "no-store");
            answer(exchange);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void answer(HttpExchange exchange) throws IOException, InterruptedException {
        try {
            guard.requireHost(exchange.getRequestHeaders());
            switch (exchange.getRequestMethod()) {
                case "GET", "HEAD" -> get(exchange);
                case "POST" -> post(exchange);
                default ->
                    throw new Refusal(
                            Status.NOT_ALLOWED, exchange.getRequestMethod() + " is not possible: GET or POST");
            }
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

    // --- What can be looked at

    private void get(HttpExchange exchange) throws IOException, Refusal, InterruptedException {
        String path = exchange.getRequestURI().getPath();
        Optional<String> token = values(exchange, "token").stream().findFirst();
        if (path.equals("/") && token.filter(guard::isToken).isPresent()) {
            // From now on the cookie is enough, and the secret does not stay in the address.
            exchange.getResponseHeaders().set("Set-Cookie", guard.setCookie());
            exchange.getResponseHeaders().set("Location", "/");
            exchange.sendResponseHeaders(SEE_OTHER, -1);
            return;
        }
        guard.requireToken(exchange.getRequestHeaders());
        Asset asset = assets.get(path);
        if (asset != null) {
            send(exchange, OK, asset.type(), asset.text());
            return;
        }
        switch (path) {
            case "/events" -> sendEvents(exchange);
            case "/view" -> send(exchange, OK, JSON, Messages.write(view(values(exchange, "run"))));
            case "/recipes" -> send(exchange, OK, JSON, Messages.write(recipes.look()));
            case "/report" -> sendReport(exchange);
            default -> throw new Refusal(Status.NOT_FOUND, "there is no " + path + " here");
        }
    }

    private static List<String> values(HttpExchange exchange, String name) {
        String query =
                Optional.ofNullable(exchange.getRequestURI().getRawQuery()).orElse("");
        return Arrays.stream(query.split("&", -1))
                .filter(pair -> pair.startsWith(name + "="))
                .map(pair -> URLDecoder.decode(pair.substring(name.length() + 1), StandardCharsets.UTF_8))
                .toList();
    }

    private void sendEvents(HttpExchange exchange) throws IOException, InterruptedException {
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(OK, 0);
        events.send(exchange.getResponseBody(), look);
    }

    private View view(List<String> names) throws IOException, Refusal {
        List<RunFolder> folders = new ArrayList<>();
        for (String name : names) {
            folders.add(run(name));
        }
        ReportView view = Report.of(folders).view();
        List<String> said =
                folders.size() == 1 ? Trainings.said(folders.getFirst().log()) : List.of();
        return new View(
                view.title(),
                view.content(),
                view.charts(),
                String.join("\n", said.subList(Math.max(said.size() - OUTPUT_LINES, 0), said.size())));
    }

    private RunFolder run(String name) throws IOException, Refusal {
        return runs.find(name)
                .orElseThrow(() -> new Refusal(
                        Status.NOT_FOUND,
                        "there is no run %s in %s: it may have been moved or deleted".formatted(name, folder)));
    }

    private void sendReport(HttpExchange exchange) throws IOException, Refusal {
        for (String name : values(exchange, "run")) {
            Path file = run(name).report();
            if (Files.exists(file)) {
                exchange.getResponseHeaders().set("Content-Security-Policy", STRANGER);
                send(exchange, OK, HTML, Files.readString(file));
                return;
            }
        }
        throw new Refusal(Status.NOT_FOUND, "there is no report of this run: it is written when the training ends");
    }

    // --- What can be done

    private void post(HttpExchange exchange) throws IOException, Refusal {
        guard.requireOwnOrigin(exchange.getRequestHeaders());
        guard.requireToken(exchange.getRequestHeaders());
        byte[] body = exchange.getRequestBody().readNBytes(LARGEST + 1);
        if (body.length > LARGEST) {
            throw new Refusal(Status.TOO_LARGE, "more than a megabyte is no recipe");
        }
        String text = new String(body, StandardCharsets.UTF_8);
        String path = exchange.getRequestURI().getPath();
        Object done = switch (path) {
            case "/start" -> start(Messages.read(text, Start.class));
            case "/resume" -> resume(Messages.read(text, Named.class).run());
            case "/stop" -> stop(Messages.read(text, Named.class).run());
            case "/cancel" -> cancel(Messages.read(text, Numbered.class).id());
            default -> throw new Refusal(Status.NOT_FOUND, "there is no " + path + " here");
        };
        send(exchange, OK, JSON, Messages.write(done));
        look.run();
    }

    /** A recipe that cannot be followed is refused at once, with all that is wrong in it. */
    private Trainings.Line start(Start order) throws IOException, Refusal {
        List<String> overrides = new ArrayList<>(order.overrides()
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .toList());
        if (!order.keep().isBlank()) {
            overrides.addAll(List.of("target.kind=parameters", "target.share=" + share(order.keep())));
        }
        Path file;
        if (order.recipe().isEmpty()) {
            file = recipes.fresh(order.name());
            Recipe.parse(order.name(), order.text(), overrides);
            RunFolder.replace(file, order.text());
        } else {
            file = recipes.find(order.recipe());
            Recipe.read(file, overrides);
        }
        List<String> arguments = new ArrayList<>(List.of(file.toString()));
        overrides.forEach(override -> arguments.addAll(List.of("--set", override)));
        if (order.baseline()) {
            arguments.add("--baseline");
        }
        String name = file.getFileName().toString().replaceFirst("\\.toml$", "");
        return trainings.add(new Trainings.Order(name, () -> RunFolder.fresh(place(), name), arguments));
    }

    private static double share(String percent) throws Refusal {
        try {
            double share = Double.parseDouble(percent.replace("%", "").strip()) / 100;
            if (share > 0 && share < 1) {
                return share;
            }
        } catch (NumberFormatException _) {
            // The message below says all there is to say.
        }
        throw new Refusal(
                Status.BAD_REQUEST,
                "'%s' of the parameters cannot be kept: give per cent, above 0 and below 100, or nothing for what the recipe says"
                        .formatted(percent));
    }

    /** Where new runs go: where {@code espalier train} puts them, seen from here. */
    private Path place() {
        Path runsFolder = Path.of("runs");
        return folder.endsWith(runsFolder) ? folder : folder.resolve(runsFolder);
    }

    private Trainings.Line resume(String name) throws IOException, Refusal {
        RunFolder run = run(name);
        if (Runs.trainer(run).isPresent()) {
            throw new Refusal(Status.CONFLICT, name + " is being trained already");
        }
        List<String> arguments = new ArrayList<>(List.of(run.recipe().toString(), "--resume"));
        if (Files.isDirectory(run.baseline().path())) {
            arguments.add("--baseline");
        }
        return trainings.add(new Trainings.Order(name, () -> run, arguments));
    }

    /** Asks the process to end, whoever started it: it puts away what it has first, as after Ctrl-C. */
    private Named stop(String name) throws IOException, Refusal {
        ProcessHandle trainer = Runs.trainer(run(name))
                .orElseThrow(
                        () -> new Refusal(Status.CONFLICT, name + " is not being trained, so it cannot be stopped"));
        if (trainer.equals(ProcessHandle.current())) {
            throw new Refusal(
                    Status.CONFLICT, name + " is trained by the program that serves this page: stop it there");
        }
        if (!trainer.destroy()) {
            throw new Refusal(
                    Status.FORBIDDEN,
                    "process %d may not be stopped from here: stop it where it was started".formatted(trainer.pid()));
        }
        return new Named(name);
    }

    private Numbered cancel(int id) throws Refusal {
        if (!trainings.cancel(id)) {
            throw new Refusal(Status.NOT_FOUND, "there is no training " + id + " any more");
        }
        return new Numbered(id);
    }

    private static void send(HttpExchange exchange, int status, String type, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(status, -1);
            return;
        }
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }
}
