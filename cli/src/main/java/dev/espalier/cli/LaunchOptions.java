package dev.espalier.cli;

import dev.espalier.core.check.Check;
import dev.espalier.engine.Device;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.study.DeviceDeal;
import dev.espalier.train.study.Launcher;
import dev.espalier.train.study.LauncherProvider;
import dev.espalier.train.study.LauncherProvider.Settings;
import dev.espalier.train.study.Launching;
import dev.espalier.train.study.LocalLauncher;
import dev.espalier.train.study.ProcessLauncher;
import dev.espalier.train.study.Trial;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where the trials of a study are carried out, and how many at once. */
final class LaunchOptions {
    private static final String LOCAL = "local";
    private static final String PROCESS = "process";

    @Option(
            names = "--on",
            paramLabel = "WHERE",
            description =
                    "What carries trainings out: local (this process), process (one process each: a crash of one is none of the"
                            + " others' business), or Spark: spark://HOST:PORT, yarn, k8s://…, local-cluster[N,CORES,MB]; ${DEFAULT-VALUE} if left"
                            + " out.")
    private String on = LOCAL;

    @Option(
            names = "--jobs",
            paramLabel = "N",
            description = "How many trainings run at once, here or in processes; the cores are divided between them.")
    private @Nullable Integer jobs;

    /** Whether all is as if nobody had asked: one training after the other, in this process. */
    boolean areDefault() {
        return on.equals(LOCAL) && (jobs == null || jobs == 1);
    }

    /** How many run at once. */
    private int jobs(int fallback) {
        return jobs == null ? fallback : (int) Check.atLeast("--jobs", jobs, 1);
    }

    /** How many threads are left for each training; 0 for all. */
    int threads() {
        return areDefault() ? 0 : Math.max(1, Runtime.getRuntime().availableProcessors() / jobs(1));
    }

    /**
     * What carries trials out.
     *
     * @param name what a cluster calls the study
     * @param threads how many threads each has; 0 for as many as there are cores
     * @param devices where models are: trainings that run at once are dealt out to them
     * @param status where to say what processes say
     */
    Launching launching(String name, int threads, List<Device> devices, StatusLine status) {
        if (areDefault() && threads == 0) {
            return Launching.DIRECT;
        }
        int cores = Runtime.getRuntime().availableProcessors();
        int atOnce = jobs(threads == 0 ? 1 : Math.max(1, cores / threads));
        Settings settings = new Settings(name, threads, devices.getFirst(), status::say);
        return (listeners, stop) -> open(atOnce, settings, new DeviceDeal(devices), status, listeners, stop);
    }

    /** Whether trainings are carried out on this machine. */
    private boolean isHere() {
        return on.equals(LOCAL) || on.equals(PROCESS);
    }

    /**
     * Where models are.
     *
     * @param device what the user says
     * @param folder the folder above those of the trainings
     * @param status where to say what the user may want to know
     */
    List<Device> devices(DeviceOption device, Path folder, StatusLine status) throws IOException {
        return isHere() ? device.devices(folder, status::say) : List.of(device.elsewhere());
    }

    private Launcher open(
            int atOnce,
            Settings settings,
            DeviceDeal devices,
            StatusLine status,
            Function<Trial, TrainingListener> listeners,
            BooleanSupplier stop)
            throws IOException {
        return switch (on) {
            case LOCAL -> {
                if (settings.threads() > 0) {
                    Device.useThreads(settings.threads());
                }
                yield new LocalLauncher(atOnce, devices, listeners, stop);
            }
            case PROCESS -> {
                List<String> options =
                        settings.threads() > 0 ? List.of("-D" + Device.THREADS + "=" + settings.threads()) : List.of();
                yield new ProcessLauncher(
                        atOnce,
                        ThisProgram.command(options, List.of(TrialCommand.NAME)),
                        devices,
                        (_, line) -> status.say(line));
            }
            default -> elsewhere(settings);
        };
    }

    private Launcher elsewhere(Settings settings) throws IOException {
        return LauncherProvider.of(on)
                .orElseThrow(() -> new IllegalArgumentException(
                        "--on %s is nothing that trainings could be carried out on: choose local, process, spark://HOST:PORT, yarn, k8s://… or local-cluster[N,CORES,MB]"
                                .formatted(on)))
                .open(on, settings);
    }
}
