package dev.espalier.torture.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** How this process fares as its work goes on: what it holds, and what a unit of work costs. Linux tells most of it. */
final class Vitals {
    private static final double MEGABYTE = 1 << 20;
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final Path HANDLES = Path.of("/proc/self/fd");

    private final List<Sample> samples = new ArrayList<>();
    private double lastWork;
    private double lastSeconds = processorSeconds();

    /**
     * How it fared at some point.
     *
     * @param work units of work that were done
     * @param heap megabytes of the heap that are in use after a collection
     * @param resident megabytes of memory that the process holds, native ones included
     * @param handles open files
     * @param seconds processor time that a unit of work took since the last sample: other work on the machine does not count
     */
    record Sample(double work, double heap, double resident, double handles, double seconds) {}

    /**
     * Takes a sample.
     *
     * @param work units of work that were done, more than at the last one
     */
    Sample take(double work) throws IOException {
        double now = processorSeconds();
        double each = (now - lastSeconds) / (work - lastWork);
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        Sample sample = new Sample(
                work, (runtime.totalMemory() - runtime.freeMemory()) / MEGABYTE, resident(), handles(), each);
        samples.add(sample);
        lastWork = work;
        // What the sample took is not the work's.
        lastSeconds = processorSeconds();
        return sample;
    }

    List<Sample> samples() {
        return List.copyOf(samples);
    }

    private static double processorSeconds() {
        return ProcessHandle.current()
                        .info()
                        .totalCpuDuration()
                        .orElse(Duration.ofNanos(System.nanoTime()))
                        .toNanos()
                / 1e9;
    }

    private static double resident() throws IOException {
        if (Files.notExists(STATUS)) {
            return 0;
        }
        return Files.readAllLines(STATUS).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToDouble(line -> Double.parseDouble(line.replaceAll("\\D", "")) / 1024)
                .findFirst()
                .orElse(0);
    }

    private static double handles() throws IOException {
        if (Files.notExists(HANDLES)) {
            return 0;
        }
        try (Stream<Path> open = Files.list(HANDLES)) {
            return open.count();
        }
    }

    /**
     * How much something grew while the work was done: from the middle value of the second quarter of the samples to that of the last. The
     * first quarter is where a JVM warms up.
     */
    double growth(ToDoubleFunction<Sample> what) {
        int quarter = samples.size() / 4;
        return middle(samples.subList(3 * quarter, samples.size()), what)
                - middle(samples.subList(quarter, 2 * quarter), what);
    }

    /** The middle value of the second quarter, which growth is told against. */
    double early(ToDoubleFunction<Sample> what) {
        int quarter = samples.size() / 4;
        return middle(samples.subList(quarter, 2 * quarter), what);
    }

    private static double middle(List<Sample> some, ToDoubleFunction<Sample> what) {
        return some.stream()
                .mapToDouble(what)
                .sorted()
                .skip(some.size() / 2)
                .findFirst()
                .orElseThrow();
    }
}
