package dev.espalier.torture.file.reader;

import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** What came out of a run. */
public final class ResultTarget extends RunFile {
    /** Called by the service loader. */
    public ResultTarget() {
        super("result", RunFolder::resultFile);
    }

    @Override
    public List<byte[]> seeds(Path folder) {
        SequencedMap<Metric, Double> scores = new LinkedHashMap<>(Map.of(Metric.share("accuracy"), 0.9));
        RunResult result = new RunResult(
                1,
                10,
                2.5,
                0.05,
                0.4,
                scores,
                scores,
                0.8,
                0.8,
                100,
                50,
                1000,
                500,
                1e-6,
                1.5,
                1,
                new RunResult.Files(10, 5, 2, 1, 0.5, 0));
        return List.of(bytes(JsonFile.text(result)));
    }

    @Override
    void read(RunFolder run) throws IOException {
        RunResult result = run.result().orElseThrow();
        result.mainMetric().write(result.loss());
        result.scores().forEach((metric, value) -> metric.write(value));
        result.prunedScores().forEach((metric, value) -> metric.write(value));
        result.files().isKnown();
    }
}
