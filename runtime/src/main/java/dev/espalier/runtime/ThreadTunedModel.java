package dev.espalier.runtime;

import dev.espalier.core.check.Check;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.type.Tensor;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An ONNX file in ONNX Runtime with the number of threads that is fastest on the first inputs. Threads that wait for each other cost
 * more than they save where a run is short: a model of less than about 1 ms is slower on all cores than on one thread.
 */
public final class ThreadTunedModel implements AutoCloseable, Equivalence.Model {
    /** A number of threads is not preferred to a smaller one unless it saves this share of the time. */
    private static final double GAIN = 0.1;

    /** Each number of threads is measured for so long, and with no more runs than {@link #RUNS}. */
    private static final double SECONDS = 0.1;

    private static final int RUNS = 50;

    private final Path file;
    private final int cores;
    private final OptionalInt chosen;
    private final Consumer<String> listener;
    private @Nullable OnnxRuntimeModel model;

    /**
     * A model that is loaded when it is run for the first time.
     *
     * @param file an ONNX file
     * @param cores the largest number of threads
     * @param chosen the number of threads, where somebody has chosen it; nothing is measured then
     * @param listener told once how many threads there are, and why
     */
    public ThreadTunedModel(Path file, int cores, OptionalInt chosen, Consumer<String> listener) {
        this.file = file;
        Check.atLeast("cores", cores, 1);
        this.cores = cores;
        this.chosen = chosen;
        this.listener = listener;
    }

    @Override
    public SequencedMap<String, Tensor> run(Map<String, Tensor> inputs) {
        if (model == null) {
            model = new OnnxRuntimeModel(file, chosen.isPresent() ? chosen.getAsInt() : measure(inputs));
        }
        return model.run(inputs);
    }

    private int measure(Map<String, Tensor> inputs) {
        SequencedMap<Integer, Double> milliseconds = new LinkedHashMap<>();
        for (int threads : candidates(cores)) {
            // One at a time: threads of another session would be in the way.
            try (OnnxRuntimeModel candidate = new OnnxRuntimeModel(file, threads);
                    OnnxRuntimeModel.Feed feed = candidate.new Feed(inputs)) {
                milliseconds.put(threads, shortest(feed));
            }
        }
        int threads = fewest(milliseconds);
        listener.accept(words(milliseconds, threads));
        return threads;
    }

    /** One thread, half of the cores, which are all of them where each runs two threads, and all. */
    static Set<Integer> candidates(int cores) {
        TreeSet<Integer> candidates = new TreeSet<>();
        candidates.add(1);
        candidates.add(Math.max(1, cores / 2));
        candidates.add(cores);
        return candidates;
    }

    private static double shortest(OnnxRuntimeModel.Feed feed) {
        feed.elapsed(); // the first run also prepares the later ones
        double shortest = Double.MAX_VALUE;
        double sum = 0;
        for (int run = 0; run < RUNS && (run == 0 || sum < SECONDS * 1000); run++) {
            double time = feed.elapsed();
            sum += time;
            shortest = Math.min(shortest, time);
        }
        return shortest;
    }

    /** The smallest number of threads that takes at most 1 / (1 − {@link #GAIN}) times the shortest time. */
    static int fewest(SequencedMap<Integer, Double> milliseconds) {
        double best = milliseconds.values().stream().min(Double::compare).orElseThrow();
        return milliseconds.keySet().stream()
                .filter(threads -> Objects.requireNonNull(milliseconds.get(threads)) * (1 - GAIN) <= best)
                .min(Integer::compare)
                .orElseThrow();
    }

    private static String words(SequencedMap<Integer, Double> milliseconds, int threads) {
        StringBuilder words = new StringBuilder("ONNX Runtime uses ")
                .append(threads)
                .append(threads == 1 ? " thread (" : " threads (")
                .append(String.format(Locale.ROOT, "%.3g ms a batch", milliseconds.get(threads)));
        milliseconds.forEach((other, time) -> {
            if (other != threads) {
                words.append(String.format(Locale.ROOT, ", %.3g with %d", time, other));
            }
        });
        return words.append(')').toString();
    }

    @Override
    public void close() {
        if (model != null) {
            model.close();
        }
    }
}
