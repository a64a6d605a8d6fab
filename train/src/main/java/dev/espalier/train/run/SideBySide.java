package dev.espalier.train.run;

import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.Latency;
import dev.espalier.runtime.OnnxRuntimeModel;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Latencies of several runs that can be compared. Those that each run measured by itself cannot: the machine was another one
 * by then, warmer or busier.
 */
public final class SideBySide {
    /** Runs of each model. Small ones are over in a moment: many it takes until the shortest stays. */
    private static final int ROUNDS = 201;

    private SideBySide() {}

    /**
     * Measures all models of finished runs, by turns, on one thread and one sample, and writes the shortest times into their results.
     *
     * @param task what all of them learned
     * @param runs the runs' folders
     * @return their results, with these latencies
     * @throws IOException if a run is not finished, or its result cannot be written
     */
    public static List<RunResult> measure(Task task, List<RunFolder> runs) throws IOException {
        Map<String, Tensor> sample = task.sample();
        List<OnnxRuntimeModel> models = new ArrayList<>();
        try {
            for (RunFolder run : runs) {
                models.add(new OnnxRuntimeModel(run.model(), 1));
                models.add(new OnnxRuntimeModel(run.pruned(), 1));
            }
            List<Double> latencies = Latency.measure(models, sample, ROUNDS);
            List<RunResult> results = new ArrayList<>();
            for (int i = 0; i < runs.size(); i++) {
                RunFolder run = runs.get(i);
                RunResult result = run.result()
                        .orElseThrow(() -> new IOException(run.path() + " is not finished: it has no result"))
                        .withLatency(latencies.get(2 * i), latencies.get(2 * i + 1));
                run.write(result);
                results.add(result);
            }
            return results;
        } finally {
            models.forEach(OnnxRuntimeModel::close);
        }
    }
}
