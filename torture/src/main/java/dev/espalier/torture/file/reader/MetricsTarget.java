package dev.espalier.torture.file.reader;

import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.Metrics;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** The journal of a run, a line for each evaluation. */
public final class MetricsTarget extends RunFile {
    /** Called by the service loader. */
    public MetricsTarget() {
        super("metrics", RunFolder::metricsFile);
    }

    @Override
    public List<byte[]> seeds(Path folder) {
        SequencedMap<Metric, Double> scores = new LinkedHashMap<>(Map.of(Metric.share("accuracy"), 0.9));
        Metrics metrics = new Metrics(
                10,
                1.0,
                "sparsify",
                2.5,
                100,
                1e-3,
                0.05,
                0.5,
                scores,
                3,
                0.4,
                scores,
                0.8,
                2.5,
                0,
                new LinkedHashMap<>(Map.of("conv", 3)),
                new LinkedHashMap<>(Map.of("unknown", 0.1)));
        return List.of(bytes(JsonFile.line(metrics) + "\n" + JsonFile.line(metrics) + "\n"));
    }

    @Override
    void read(RunFolder run) throws IOException {
        for (Metrics line : run.metrics()) {
            line.metrics().forEach(Metric::words);
            line.scores().forEach((metric, value) -> metric.write(value));
            line.nonZeroGroups().values().forEach(SingleFile::look);
            look(line.phase());
        }
    }
}
