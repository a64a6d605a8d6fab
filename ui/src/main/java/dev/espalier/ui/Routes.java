package dev.espalier.ui;

import com.fasterxml.jackson.annotation.JsonRawValue;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import dev.espalier.report.Report;
import dev.espalier.report.ReportView;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.ui.Refusal.Status;
import dev.espalier.ui.Replies.Asset;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What is answered to which request. */
final class Routes implements HttpHandler {
    private static final int LARGEST = 1 << 20;
    private static final int OUTPUT_LINES = 200;

    private final LivePage live;
    private final Home home;
    private final Runs runs;
    private final Recipes recipes;
    private final Trainings trainings;
    private final Map<String, Asset> assets = new HashMap<>(Asset.common());

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

    /**
     * All routes.
     *
     * @param live the page: who may ask, and how things stand
     * @param home what is shown
     * @param runs its runs
     * @param recipes its recipes
     * @param trainings what was started
     */
    Routes(LivePage live, Home home, Runs runs, Recipes recipes, Trainings trainings) {
        this.live = live;
        this.home = home;
        this.runs = runs;
        this.recipes = recipes;
        this.trainings = trainings;
        assets.put("/", new Asset(Replies.HTML, Replies.resource("index.html")));
        assets.put("/ui.js", new Asset(Replies.SCRIPT, Replies.resource("ui.js")));
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        Replies.handle(exchange, live.guard(), () -> {
            switch (exchange.getRequestMethod()) {
                case "GET", "HEAD" -> get(exchange);
                case "POST" -> post(exchange);
                default ->
                    throw new Refusal(
                            Status.NOT_ALLOWED, exchange.getRequestMethod() + " is not possible: GET or POST");
            }
        });
    }

    // --- What can be looked at

    private void get(HttpExchange exchange) throws IOException, Refusal, InterruptedException {
        String path = exchange.getRequestURI().getPath();
        if (Replies.isWelcomed(exchange, live.guard())) {
            return;
        }
        Asset asset = assets.get(path);
        if (asset != null) {
            asset.send(exchange);
            return;
        }
        switch (path) {
            case "/events" -> Replies.sendEvents(exchange, live.events(), live::look);
            case "/view" ->
                Replies.send(exchange, Replies.OK, Replies.JSON, Messages.write(view(Replies.values(exchange, "run"))));
            case "/recipes" -> Replies.send(exchange, Replies.OK, Replies.JSON, Messages.write(recipes.look()));
            case "/report" -> sendReport(exchange);
            default -> throw new Refusal(Status.NOT_FOUND, "there is no " + path + " here");
        }
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
        RunFolder found = runs.find(name)
                .orElseThrow(() -> new Refusal(
                        Status.NOT_FOUND,
                        "there is no run %s in %s: it may have been moved or deleted".formatted(name, home.path())));
        Optional<Path> out = home.wayOut(found);
        if (out.isPresent()) {
            throw new Refusal(Status.FORBIDDEN, runs.leadsOut(out.get()));
        }
        return found;
    }

    private void sendReport(HttpExchange exchange) throws IOException, Refusal {
        for (String name : Replies.values(exchange, "run")) {
            Path file = run(name).report();
            if (Files.exists(file)) {
                Replies.sendStranger(exchange, Files.readString(file));
                return;
            }
        }
        throw new Refusal(Status.NOT_FOUND, "there is no report of this run: it is written when the training ends");
    }

    // --- What can be done

    private void post(HttpExchange exchange) throws IOException, Refusal {
        live.guard().requireOwnOrigin(exchange.getRequestHeaders());
        live.guard().requireToken(exchange.getRequestHeaders());
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
        Replies.send(exchange, Replies.OK, Replies.JSON, Messages.write(done));
        live.look();
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
        Path place = place();
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
        return trainings.add(new Trainings.Order(name, () -> RunFolder.fresh(place, name), arguments));
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
    private Path place() throws Refusal {
        Path runsFolder = Path.of("runs");
        Path place =
                home.path().endsWith(runsFolder) ? home.path() : home.path().resolve(runsFolder);
        if (Files.exists(place) && !home.holds(place)) {
            throw new Refusal(Status.FORBIDDEN, runs.leadsOut(place));
        }
        return place;
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
}
