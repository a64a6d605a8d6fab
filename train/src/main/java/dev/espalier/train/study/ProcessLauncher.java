package dev.espalier.train.study;

import dev.espalier.core.check.Check;
import dev.espalier.train.study.Outcome.End;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Carries each trial out in a process of its own: one that crashes takes nothing else with it, and leaves its checkpoints. The process gets the
 * trial as a line of JSON on its standard input, and stops politely when that ends; what it says goes to standard error, and its last line on
 * standard output is the {@link Outcome}.
 */
public final class ProcessLauncher implements Launcher {
    private static final int LAST_LINES = 5;

    private final List<String> command;
    private final DeviceDeal devices;
    private final BiConsumer<Trial, String> said;
    private final ExecutorService threads;
    private final Set<Process> running = ConcurrentHashMap.newKeySet();
    private volatile boolean stopped;

    /**
     * A launcher.
     *
     * @param jobs how many processes run at once
     * @param command what a process is started by
     * @param devices deals out what trials run on
     * @param said told each line that a process says, by any thread
     */
    public ProcessLauncher(int jobs, List<String> command, DeviceDeal devices, BiConsumer<Trial, String> said) {
        this.command = List.copyOf(command);
        this.devices = devices;
        this.said = said;
        this.threads = Executors.newFixedThreadPool(
                (int) Check.atLeast("jobs", jobs, 1),
                Thread.ofPlatform().name("espalier-process-", 0).daemon().factory());
    }

    @Override
    public void launch(List<Trial> trials, Consumer<Outcome> told) {
        trials.forEach(trial -> threads.execute(() -> told.accept(devices.carryOut(trial, this::run))));
    }

    private Outcome run(Trial trial) {
        if (stopped) {
            return new Outcome(trial.name(), End.STOPPED, "");
        }
        try {
            Process process = new ProcessBuilder(command).start();
            running.add(process);
            try {
                if (stopped) {
                    process.getOutputStream().close();
                }
                return await(trial, process);
            } finally {
                running.remove(process);
                process.destroy();
            }
        } catch (IOException failure) {
            return new Outcome(trial.name(), End.FAILED, TrialRunner.message(failure));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return new Outcome(trial.name(), End.STOPPED, "");
        }
    }

    private Outcome await(Trial trial, Process process) throws IOException, InterruptedException {
        try {
            OutputStream input = process.getOutputStream();
            input.write((trial.toJson() + "\n").getBytes(StandardCharsets.UTF_8));
            input.flush();
        } catch (IOException _) {
            // It has ended already: what it said is told below.
        }
        Deque<String> last = new ArrayDeque<>();
        Thread reader = Thread.ofVirtual()
                .start(() -> read(process.errorReader(StandardCharsets.UTF_8), line -> {
                    said.accept(trial, line);
                    synchronized (last) {
                        last.addLast(line);
                        if (last.size() > LAST_LINES) {
                            last.removeFirst();
                        }
                    }
                }));
        Deque<String> answers = new ArrayDeque<>();
        read(process.inputReader(StandardCharsets.UTF_8), answers::addLast);
        int status = process.waitFor();
        reader.join();
        if (status == 0 && !answers.isEmpty()) {
            return Outcome.parse(answers.getLast());
        }
        if (stopped) {
            return new Outcome(trial.name(), End.STOPPED, "");
        }
        synchronized (last) {
            return new Outcome(
                    trial.name(),
                    End.FAILED,
                    "its process ended with status %d%s; what it had done is kept, and the same command goes on from its last checkpoint"
                            .formatted(status, last.isEmpty() ? "" : ": " + String.join(" | ", last)));
        }
    }

    private static void read(BufferedReader lines, Consumer<String> told) {
        try (lines) {
            lines.lines().forEach(told);
        } catch (IOException | java.io.UncheckedIOException _) {
            // The process is gone: its status says so.
        }
    }

    @Override
    public void stop() {
        stopped = true;
        for (Process process : running) {
            try {
                process.getOutputStream().close();
            } catch (IOException _) {
                process.destroy();
            }
        }
    }

    @Override
    public void close() {
        threads.close();
    }
}
