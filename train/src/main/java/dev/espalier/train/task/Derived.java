package dev.espalier.train.task;

import dev.espalier.data.BatchPosition;
import dev.espalier.data.Encoding;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Metric;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;

/** A task that is another one, but for what is learned from: data, model, metrics and findings are the other's. */
abstract class Derived implements Task {
    /** The other task. */
    final Task task;

    Derived(Task task) {
        this.task = task;
    }

    /** An example of the other task, with all that this one's objective reads, for a model that is judged. */
    abstract Example judged(Example example);

    @Override
    public abstract Objective objective();

    @Override
    public abstract Examples examples(long seed, BatchPosition first, long epochs);

    @Override
    public Evaluation evaluate(Model model, Part part) {
        return task.evaluate(model.with(this::judged), part);
    }

    @Override
    public Optional<Findings> findings(Model model) {
        return task.findings(model);
    }

    @Override
    public Optional<Encoding> encoding() {
        return task.encoding();
    }

    @Override
    public List<String> notes() {
        return task.notes();
    }

    @Override
    public SequencedMap<String, Double> measures() {
        return task.measures();
    }

    @Override
    public String samples() {
        return task.samples();
    }

    @Override
    public void accompany(Path folder) throws IOException {
        task.accompany(folder);
    }

    @Override
    public List<Metric> metrics() {
        return task.metrics();
    }

    @Override
    public Signature signature() {
        return task.signature();
    }

    @Override
    public Fitted fitted() {
        return task.fitted();
    }

    @Override
    public Graph model(Weights weights) {
        return task.model(weights);
    }

    @Override
    public boolean isRepeatable() {
        return task.isRepeatable();
    }

    @Override
    public int batchesPerEpoch() {
        return task.batchesPerEpoch();
    }

    @Override
    public SequencedMap<Metric, Double> score(Sums sums) {
        return task.score(sums);
    }

    @Override
    public OptionalDouble baseline() {
        return task.baseline();
    }

    @Override
    public Map<String, Tensor> sample() {
        return task.sample();
    }
}
