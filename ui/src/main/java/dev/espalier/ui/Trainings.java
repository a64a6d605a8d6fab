package dev.espalier.ui;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.espalier.train.journal.RunFolder;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The trainings that were started from the page. Each is a process of its own, so that a crash loses nothing; there is one at a
 * time, and the others wait for their turn.
 *
 * <p>Neither Ctrl-C nor a terminal that is closed ends such a process: it outlives the page, and what it says is in a file beside the
 * run's folder. It ends early when it is asked to ({@code SIGTERM}), which is to it what Ctrl-C is to any training.
 */
final class Trainings {
    /** What a process ends with that was asked to: by itself, or by Java for SIGTERM. */
    private static final Set<Integer> STOPPED = Set.of(130, 143);

    /** What is ignored when a program starts is ignored by it too, Java included. */
    private static final List<String> DETACHED = List.of("sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh");

    private static final String ERROR = "espalier: ";
    private static final String INCUBATOR = "WARNING: Using incubator modules";
    private static final int LAST_LINES = 6;

    /** How far a training is. */
    enum State {
        /** Others come first. */
        @JsonProperty("waiting")
        WAITING,
        /** It is under way. */
        @JsonProperty("running")
        RUNNING,
        /** It ended with an error. */
        @JsonProperty("failed")
        FAILED
    }

    /**
     * What the page is told of a training.
     *
     * @param id its number
     * @param name what it trains
     * @param run what its run is called in the list, once it has a folder
     * @param state how far it is
     * @param message what went wrong
     */
    record Line(int id, String name, String run, State state, String message) {}

    /**
     * What to do.
     *
     * @param name what it trains
     * @param place where: a new folder, chosen when it begins, or one to go on in
     * @param arguments the recipe and options, without the folder
     */
    record Order(String name, Supplier<RunFolder> place, List<String> arguments) {}

    private static final class Training {
        private final int id;
        private final Order order;
        private State state = State.WAITING;
        private Optional<RunFolder> folder = Optional.empty();
        private Optional<Process> process = Optional.empty();
        private String message = "";

        Training(int id, Order order) {
            this.id = id;
            this.order = order;
        }
    }

    private final List<String> command;
    private final Runs runs;
    private final Runnable changed;
    private final List<Training> trainings = new ArrayList<>();
    private int last;
    private boolean closed;

    /**
     * None yet.
     *
     * @param command what trains: arguments come after it
     * @param runs knows what folders are called
     * @param changed told whenever something has
     */
    Trainings(List<String> command, Runs runs, Runnable changed) {
        this.command = List.copyOf(command);
        this.runs = runs;
        this.changed = changed;
    }

    synchronized List<Line> lines() {
        return trainings.stream().map(this::line).toList();
    }

    private Line line(Training training) {
        return new Line(
                training.id,
                training.order.name(),
                training.folder.map(runs::idOf).orElse(""),
                training.state,
                training.message);
    }

    /** Begins, or waits for its turn. */
    synchronized Line add(Order order) {
        Training training = new Training(++last, order);
        trainings.add(training);
        next();
        return line(training);
    }

    /** Stops a training that is under way, and forgets one that is not. */
    synchronized boolean cancel(int id) {
        Optional<Training> known =
                trainings.stream().filter(training -> training.id == id).findFirst();
        known.ifPresent(
                training -> training.process.ifPresentOrElse(Process::destroy, () -> trainings.remove(training)));
        changed.run();
        return known.isPresent();
    }

    /** Begins with no more, and says what becomes of those that there are. */
    synchronized List<String> close() {
        closed = true;
        List<String> farewell = new ArrayList<>();
        for (Training training : trainings) {
            training.process.ifPresent(process -> farewell.add(
                    "the training in %s goes on as process %d: stop it with kill %2$d, or start espalier ui again"
                            .formatted(training.folder.orElseThrow().path(), process.pid())));
            if (training.state == State.WAITING) {
                farewell.add("%s was waiting for its turn, and is not trained".formatted(training.order.name()));
            }
        }
        return farewell;
    }

    private void next() {
        while (!closed && trainings.stream().noneMatch(training -> training.process.isPresent())) {
            Optional<Training> first = trainings.stream()
                    .filter(training -> training.state == State.WAITING)
                    .findFirst();
            if (first.isEmpty()) {
                break;
            }
            begin(first.get());
        }
        changed.run();
    }

    private void begin(Training training) {
        RunFolder folder = training.order.place().get();
        Path log = folder.log();
        List<String> words = new ArrayList<>(DETACHED);
        words.addAll(command);
        words.addAll(training.order.arguments());
        words.addAll(List.of("--run-dir", folder.path().toString()));
        try {
            Files.createDirectories(log.resolveSibling(""));
            Process process = new ProcessBuilder(words)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                    .start();
            training.folder = Optional.of(folder);
            training.process = Optional.of(process);
            training.state = State.RUNNING;
            CompletableFuture<Void> _ = process.onExit().thenAccept(ended -> end(training, ended.exitValue(), log));
        } catch (IOException impossible) {
            training.state = State.FAILED;
            training.message = "it could not be started: " + impossible.getMessage();
        }
    }

    private synchronized void end(Training training, int status, Path log) {
        training.process = Optional.empty();
        if (status == 0 || STOPPED.contains(status)) {
            trainings.remove(training);
        } else {
            training.state = State.FAILED;
            training.message = lastWords(log, status);
        }
        next();
    }

    /** What a program says when it fails: the message, however many lines it has. */
    private static String lastWords(Path log, int status) {
        List<String> lines = said(log);
        int error = lines.size() - 1;
        while (error >= 0 && !lines.get(error).startsWith(ERROR)) {
            error--;
        }
        String words = error >= 0
                ? String.join("\n", lines.subList(error, lines.size())).substring(ERROR.length())
                : String.join("\n", lines.subList(Math.max(lines.size() - LAST_LINES, 0), lines.size()));
        return words.isEmpty() ? "it ended with status " + status + " and said nothing" : words;
    }

    /** What a training has said so far. */
    static List<String> said(Path log) {
        try {
            return Files.exists(log)
                    ? Files.readString(log)
                            .lines()
                            .filter(line -> !line.startsWith(INCUBATOR))
                            .toList()
                    : List.of();
        } catch (IOException unreadable) {
            return List.of(log + " cannot be read: " + unreadable.getMessage());
        }
    }
}
