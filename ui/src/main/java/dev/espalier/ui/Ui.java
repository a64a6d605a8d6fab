package dev.espalier.ui;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A page on localhost that shows the runs of a folder, live while they train; compares them, starts and stops them.
 *
 * <pre>{@code
 * try (Ui ui = Ui.start(Path.of("."), 0, List.of("./espalier", "train"))) {
 *     System.out.println(ui.address());
 *     …
 * }
 * }</pre>
 *
 * <p>It only reads the files of runs, so it does not matter who trains them. What it starts are processes of their own, which
 * outlive it.
 */
public final class Ui implements AutoCloseable {
    /** How often files are looked at while somebody watches. */
    private static final Duration PERIOD = Duration.ofMillis(500);

    private final LivePage live;
    private final Runs runs;
    private final Trainings trainings;
    private final Home home;

    /**
     * What the page shows first.
     *
     * @param folder what is looked at
     * @param runs its runs
     * @param trainings what was started from the page
     * @param problem why there may be more; empty if there is not
     */
    private record State(String folder, List<RunLine> runs, List<Trainings.Line> trainings, String problem) {}

    private Ui(LivePage live, Home home, List<String> train) {
        this.live = live;
        this.home = home;
        runs = new Runs(home);
        trainings = new Trainings(train, runs, live::look);
    }

    /**
     * Starts to serve the page, to this machine alone.
     *
     * @param folder what to show: runs that are up to three folders deep in it, and recipes
     * @param port where to listen; 0 for any that is free
     * @param train the command that trains: a recipe, {@code --set}, {@code --run-dir} and the like are added to it
     * @return the page; it is there until closed
     * @throws IllegalArgumentException if there is no such folder, or the port is not free
     * @throws IOException if nothing can be served
     */
    public static Ui start(Path folder, int port, List<String> train) throws IOException {
        if (!Files.isDirectory(folder)) {
            throw new IllegalArgumentException(
                    "%s is no folder%s: give one that holds runs or recipes, or none for this one (%s)"
                            .formatted(
                                    folder,
                                    Files.exists(folder) ? "" : " that exists",
                                    Path.of("").toAbsolutePath()));
        }
        LivePage live = new LivePage("--port", port);
        Ui ui = new Ui(live, new Home(folder.toRealPath()), train);
        live.start(
                new Routes(live, ui.home, ui.runs, new Recipes(ui.home), ui.trainings),
                () -> Messages.write(ui.state()),
                PERIOD);
        return ui;
    }

    /** {@return what to open in a browser; it holds the secret} */
    public URI address() {
        return live.address();
    }

    private State state() {
        try {
            return new State(home.path().toString(), runs.look(), trainings.lines(), "");
        } catch (IOException gone) {
            return new State(
                    home.path().toString(),
                    List.of(),
                    trainings.lines(),
                    "the folder cannot be read: " + gone.getMessage()
                            + ". Put it back, or start espalier ui on another.");
        }
    }

    /**
     * Begins no more trainings. Those that are under way go on.
     *
     * @return what the user should know of them, a sentence each
     */
    public List<String> farewell() {
        return trainings.close();
    }

    @Override
    public void close() {
        trainings.close();
        live.close();
    }
}
