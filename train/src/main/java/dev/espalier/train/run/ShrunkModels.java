package dev.espalier.train.run;

import dev.espalier.graph.Graph;
import dev.espalier.graph.objective.Terms;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.Latency;
import dev.espalier.runtime.OnnxRuntimeModel;
import dev.espalier.runtime.RuntimeTypes;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Findings.Outcome.Fidelity;
import dev.espalier.train.journal.ModelRow;
import dev.espalier.train.journal.OutputFidelity;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.task.Example;
import dev.espalier.train.task.RawInputs;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * An original and the models that were made of it, next to each other: how faithful each is to the original, and what it costs.
 *
 * @param original the original's file
 * @param run the folder of the run that made the small model
 * @param int8 the small model with weights of eight bits; empty if there is none
 * @param task what the small model was trained on
 */
public record ShrunkModels(Path original, RunFolder run, Optional<Path> int8, Task task) {
    private static final int THREADS = Runtime.getRuntime().availableProcessors();

    /** Runs of each model by turns, */
    private static final int ROUNDS = 201;

    /** and the seconds that they may take, for each number of threads, */
    private static final double SECONDS = 3;

    /** or the part of the time that is left. */
    private static final double MEASURED = 0.15;

    private record Model(String name, Path file, Graph graph, Optional<Fidelity> fidelity) {}

    /**
     * Measures all of them.
     *
     * @param limit how long all of the run may take
     * @return the original, the small model, and the int8 model if there is one
     * @throws IOException if a file cannot be read
     */
    public List<ModelRow> measure(TimeLimit limit) throws IOException {
        Optional<Fidelity> fidelity = run.findings().flatMap(ShrunkModels::fidelity);
        List<Model> models = new ArrayList<>();
        models.add(new Model(ModelRow.ORIGINAL, original, read(original), Optional.empty()));
        models.add(new Model(ModelRow.SMALL, run.pruned(), read(run.pruned()), fidelity));
        if (int8.isPresent()) {
            Graph graph = read(int8.get());
            models.add(new Model(ModelRow.INT8, int8.get(), graph, inspect(int8.get(), graph)));
        }
        Map<String, Tensor> sample = sample(models.getFirst().graph());
        List<Double> alone = latencies(models, sample, 1, limit.atMost(SECONDS, MEASURED));
        List<Double> threaded =
                THREADS == 1 ? alone : latencies(models, sample, THREADS, limit.atMost(SECONDS, MEASURED));
        long samples = sample.isEmpty() ? 1 : sample.values().iterator().next().shape()[0];
        List<ModelRow> rows = new ArrayList<>();
        for (int i = 0; i < models.size(); i++) {
            Model model = models.get(i);
            rows.add(new ModelRow(
                    model.name(),
                    model.file().toString(),
                    i == 0 ? ofOriginal(fidelity) : fidelities(model.fidelity()),
                    model.fidelity()
                            .flatMap(found -> found.warning("The %s model".formatted(model.name())))
                            .orElse(""),
                    ModelPair.footprint(model.file(), model.graph(), sample, alone.get(i), threaded.get(i)),
                    samples));
        }
        return rows;
    }

    private static Graph read(Path file) throws IOException {
        return OnnxReader.read(file, new RuntimeTypes()).graph();
    }

    private static Optional<Fidelity> fidelity(Findings findings) {
        return findings.outcome() instanceof Fidelity fidelity ? Optional.of(fidelity) : Optional.empty();
    }

    private static List<OutputFidelity> fidelities(Optional<Fidelity> found) {
        return found.stream()
                .flatMap(fidelity -> fidelity.outputs().stream())
                .flatMap(output -> output.figure().map(figure -> new OutputFidelity(output.output(), figure)).stream())
                .toList();
    }

    /** The small model's weakest output comes first, so that it is the one that a table shows of both. */
    private static List<OutputFidelity> ofOriginal(Optional<Fidelity> small) {
        return fidelities(small).stream()
                .sorted(Comparator.comparingDouble(fidelity -> fidelity.figure().skill()))
                .map(fidelity ->
                        new OutputFidelity(fidelity.output(), fidelity.figure().ofOriginal()))
                .toList();
    }

    private Optional<Fidelity> inspect(Path file, Graph graph) {
        try (OnnxRuntimeModel model = new OnnxRuntimeModel(file, THREADS)) {
            return task.findings(new PredictingModel(model, RawInputs.areIn(graph)))
                    .flatMap(ShrunkModels::fidelity);
        }
    }

    /** A file that is only asked for its outputs. */
    private record PredictingModel(OnnxRuntimeModel file, boolean takesRaw) implements Task.Model {
        @Override
        public Terms terms(Example example) {
            throw new UnsupportedOperationException("a file's outputs are compared here, not its loss");
        }

        @Override
        public SequencedMap<String, Tensor> predict(Map<String, Tensor> inputs) {
            return file.run(inputs);
        }
    }

    /** A sample of the test part, as often as the original's batch wants it: training has freed an axis that exporters fix. */
    private Map<String, Tensor> sample(Graph graph) {
        Map<String, Tensor> one = task.sample();
        Map<String, Tensor> batch = new LinkedHashMap<>(one);
        for (Graph.Input input : graph.inputs()) {
            Tensor tensor = one.get(input.name());
            Dimension rows = input.type().shape().rank() == 0
                    ? Dimension.of(1)
                    : input.type().shape().get(0);
            if (tensor != null && tensor.rank() > 0 && tensor.shape()[0] == 1 && rows.isKnown()) {
                long[] shape = tensor.shape();
                shape[0] = rows.value();
                batch.put(input.name(), Tensor.compute(tensor.type(), shape, i -> tensor.getDouble(i % tensor.size())));
            }
        }
        return batch;
    }

    /** By turns, unless the models take numbers of different types: training has made single ones of others. */
    private static List<Double> latencies(List<Model> models, Map<String, Tensor> sample, int threads, double seconds) {
        List<Map<String, Tensor>> samples =
                models.stream().map(model -> cast(sample, model.graph())).toList();
        boolean alike = samples.stream().map(ShrunkModels::types).distinct().count() == 1;
        List<OnnxRuntimeModel> running = new ArrayList<>();
        try {
            models.forEach(model -> running.add(new OnnxRuntimeModel(model.file(), threads)));
            return alike
                    ? Latency.measure(running, samples.getFirst(), ROUNDS, seconds)
                    : IntStream.range(0, running.size())
                            .mapToObj(i -> Latency.measure(
                                            List.of(running.get(i)), samples.get(i), ROUNDS, seconds / running.size())
                                    .getFirst())
                            .toList();
        } finally {
            running.forEach(OnnxRuntimeModel::close);
        }
    }

    private static Map<String, DataType> types(Map<String, Tensor> sample) {
        return sample.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, tensor -> tensor.getValue().type()));
    }

    private static Map<String, Tensor> cast(Map<String, Tensor> sample, Graph graph) {
        Map<String, Tensor> cast = new LinkedHashMap<>(sample);
        for (Graph.Input input : graph.inputs()) {
            cast.computeIfPresent(
                    input.name(), (_, tensor) -> tensor.cast(input.type().data()));
        }
        return cast;
    }
}
