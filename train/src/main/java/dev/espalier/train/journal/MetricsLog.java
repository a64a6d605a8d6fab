package dev.espalier.train.journal;

import dev.espalier.core.check.Writing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/** Writes metrics down as a training goes: lines of JSON, and TensorBoard's event files. */
public final class MetricsLog implements AutoCloseable {
    private final RunFolder folder;
    private final TensorBoardWriter events;

    /**
     * Goes on writing.
     *
     * @param folder the run's folder
     * @param lines how many lines were written when the run was saved; what came after is going to be written again
     * @throws IOException if something cannot be read or written
     */
    public MetricsLog(RunFolder folder, int lines) throws IOException {
        this.folder = folder;
        List<Metrics> kept = folder.keepMetrics(lines);
        clear(folder.tensorBoard());
        events = new TensorBoardWriter(folder.tensorBoard(), Instant.now());
        for (Metrics metrics : kept) {
            writeEvents(metrics);
        }
    }

    /** An event file cannot be cut, so it is written anew. */
    private static void clear(Path eventFolder) throws IOException {
        Files.createDirectories(eventFolder);
        try (Stream<Path> files = Files.list(eventFolder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
    }

    /**
     * Writes one more line.
     *
     * @param metrics how the training stands
     * @throws IOException if it cannot be written
     */
    public void append(Metrics metrics) throws IOException {
        folder.append(metrics);
        Writing.to(folder.tensorBoard(), () -> writeEvents(metrics));
    }

    private void writeEvents(Metrics metrics) throws IOException {
        if (Double.isFinite(metrics.trainLoss())) {
            scalar(metrics, "train/loss", metrics.trainLoss());
        }
        for (var score : metrics.trainScores().entrySet()) {
            scalar(metrics, "train/" + score.getKey().name(), score.getValue());
        }
        scalar(metrics, "evaluation/loss", metrics.loss());
        for (var score : metrics.scores().entrySet()) {
            scalar(metrics, "evaluation/" + score.getKey().name(), score.getValue());
        }
        for (var measure : metrics.data().entrySet()) {
            scalar(metrics, "data/" + measure.getKey(), measure.getValue());
        }
        scalar(metrics, "sparsity/groups_left", metrics.groupsLeft());
        scalar(metrics, "sparsity/lambda", metrics.lambda());
        scalar(metrics, "sparsity/penalty", metrics.penalty());
        scalar(metrics, "step/learning_rate", metrics.learningRate());
        scalar(metrics, "step/iterations_per_group", metrics.iterationsPerGroup());
        scalar(metrics, "step/samples_per_second", metrics.samplesPerSecond());
        events.flush();
    }

    private void scalar(Metrics metrics, String tag, double value) throws IOException {
        events.scalar(tag, metrics.step(), Instant.now(), value);
    }

    @Override
    public void close() throws IOException {
        events.close();
    }
}
