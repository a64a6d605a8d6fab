package dev.espalier.torture.file;

import com.sun.management.ThreadMXBean;
import dev.espalier.torture.file.Reading.Failure;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads one file at a time, on a thread that is watched: how long it takes, how much it allocates, what it leaves in the folder
 * above the one it was given. The readers are this job's own, with counters or as they are.
 */
final class Job implements AutoCloseable {
    /** Nothing may take longer. */
    private static final Duration LONGEST = Duration.ofSeconds(5);

    /** A thread that computed for less, on a machine with much to do, is given so many times as long. */
    private static final int PATIENCE = 12;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final String INSIDE = "inside";

    /** Lies beside the folder: nothing may ever be made of it, nor of it something else. */
    static final String SECRET = "secret.bin";

    private final Path folder;
    private final long longest;
    private final ClassLoader loader;
    private final byte[] hits;
    private final SequencedMap<String, Target> targets = new LinkedHashMap<>();
    private final byte[] secret = new byte[4096];
    private ExecutorService thread;
    private volatile long threadId;

    /**
     * A job.
     *
     * @param folder an empty folder of its own
     * @param counted whether turns of the readers are counted
     */
    Job(Path folder, boolean counted) {
        this(folder, counted, LONGEST);
    }

    /** With another limit than the usual one. */
    Job(Path folder, boolean counted, Duration longest) {
        this.longest = longest.toNanos();
        this.folder = folder.toAbsolutePath();
        ClassLoader plain = Job.class.getClassLoader();
        CountingLoader counting = counted ? new CountingLoader(plain) : null;
        this.loader = counting == null ? plain : counting;
        this.hits = counting == null ? new byte[0] : counting.hits();
        this.thread = start();
        Arrays.fill(secret, (byte) 0x5e);
        for (Target target : ServiceLoader.load(Target.class, loader)) {
            targets.put(target.name(), target);
        }
    }

    private ExecutorService start() {
        return Executors.newSingleThreadExecutor(work -> {
            Thread reader = new Thread(work, "reader");
            reader.setDaemon(true);
            reader.setContextClassLoader(loader);
            threadId = reader.threadId();
            return reader;
        });
    }

    /** The folder of a reader, with what never changes in it. */
    private Path inside(Target target) throws IOException {
        Path inside = folder.resolve(target.name()).resolve(INSIDE);
        if (Files.notExists(inside)) {
            Files.createDirectories(inside);
            Files.write(inside.resolveSibling(SECRET), secret);
            target.prepare(inside);
        }
        return inside;
    }

    List<Target> targets() {
        return List.copyOf(targets.values());
    }

    Target target(String name) {
        Target target = targets.get(name);
        if (target == null) {
            throw new IllegalArgumentException("there is no reader " + name + ": it is one of " + targets.keySet());
        }
        return target;
    }

    /** How often each turn was taken since the counters were cleared; empty if nothing is counted. */
    byte[] hits() {
        return hits;
    }

    /** The sound files of a reader. */
    List<byte[]> seeds(String name) throws IOException, InterruptedException {
        Path place = Files.createDirectories(folder.resolve(name + "-seeds"));
        try {
            return thread.submit(() -> target(name).seeds(place)).get();
        } catch (ExecutionException failed) {
            throw new IOException("the sound files for " + name + " cannot be made", failed.getCause());
        }
    }

    /** Reads a file. What takes long or much is read again, for the first time may be slow for other reasons. */
    Reading read(String name, byte[] file) throws IOException, InterruptedException {
        Target target = target(name);
        Reading first = once(target, file);
        long most = target.memory().most(file.length);
        boolean slow = first.nanos() > TimeUnit.MILLISECONDS.toNanos(500);
        if (first.failure().isPresent() || (!slow && first.allocated() <= most / 4)) {
            return first;
        }
        Reading second = once(target, file);
        long allocated = Math.min(first.allocated(), second.allocated());
        Optional<Failure> greedy = allocated <= most
                ? second.failure()
                : Optional.of(new Failure(
                        "too much memory",
                        "%,d bytes for a file of %,d, but %,d are the most%n".formatted(allocated, file.length, most)));
        return new Reading(second.sound(), greedy, Math.min(first.nanos(), second.nanos()), allocated);
    }

    private record Measured(Optional<Throwable> thrown, long nanos, long allocated) {}

    private Reading once(Target target, byte[] file) throws IOException, InterruptedException {
        Path inside = inside(target);
        Future<Measured> future = thread.submit(() -> measure(target, inside, file));
        Measured measured;
        try {
            measured = await(future);
        } catch (TimeoutException hanging) {
            String where = stack();
            thread.shutdownNow();
            thread = start();
            return new Reading(false, Optional.of(new Failure("a hang", where)), longest, 0);
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible.getCause());
        }
        Optional<Failure> failure = measured.thrown.flatMap(Judgement::of);
        Optional<Failure> stray = stray(inside);
        return new Reading(
                measured.thrown.isEmpty(), stray.isPresent() ? stray : failure, measured.nanos, measured.allocated);
    }

    private static Measured measure(Target target, Path inside, byte[] file) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        long begun = System.nanoTime();
        Optional<Throwable> thrown = Optional.empty();
        try {
            target.read(inside, file);
        } catch (Throwable any) { // an Error is what this looks for
            thrown = Optional.of(any);
        }
        return new Measured(thrown, System.nanoTime() - begun, THREADS.getCurrentThreadAllocatedBytes() - before);
    }

    /** Waits for a thread that computes for no longer than it may; waiting for the processor does not count at once. */
    private Measured await(Future<Measured> future) throws InterruptedException, ExecutionException, TimeoutException {
        long before = THREADS.getThreadCpuTime(threadId);
        for (int waited = 1; ; waited++) {
            try {
                return future.get(longest, TimeUnit.NANOSECONDS);
            } catch (TimeoutException late) {
                long computed = THREADS.getThreadCpuTime(threadId) - before;
                if (waited >= PATIENCE || computed >= longest) {
                    throw late;
                }
            }
        }
    }

    private String stack() {
        for (Map.Entry<Thread, StackTraceElement[]> one :
                Thread.getAllStackTraces().entrySet()) {
            if (one.getKey().threadId() == threadId) {
                return Arrays.stream(one.getValue())
                        .map(frame -> "  at " + frame)
                        .collect(Collectors.joining("\n", "", "\n"));
            }
        }
        return "the thread is gone\n";
    }

    /** What was changed outside of the folder that the reader was given. */
    private Optional<Failure> stray(Path inside) throws IOException {
        Path above = inside.resolveSibling("");
        Set<String> names = new TreeSet<>();
        try (Stream<Path> all = Files.list(above)) {
            all.forEach(file -> names.add(String.valueOf(file.getFileName())));
        }
        boolean kept = names.equals(Set.of(INSIDE, SECRET));
        if (kept && Files.size(above.resolve(SECRET)) == secret.length) {
            return Optional.empty();
        }
        for (String name : names) {
            if (!name.equals(INSIDE)) {
                Files.delete(above.resolve(name));
            }
        }
        Files.write(above.resolve(SECRET), secret);
        return Optional.of(new Failure("a file outside", "beside the folder there are " + names + "\n"));
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
