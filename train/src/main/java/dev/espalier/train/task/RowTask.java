package dev.espalier.train.task;

import dev.espalier.data.Batch;
import dev.espalier.data.BatchPosition;
import dev.espalier.data.Batches;
import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Findings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * A task whose samples are rows of data. What is left to say is what is learned: the objective, its metrics and what they come
 * to without learning.
 */
public abstract class RowTask implements Task {
    private final LoadedData data;
    private final Signature signature;
    private final TaskModel model;
    private final Batching batching;

    /**
     * A task.
     *
     * @param data the rows
     * @param signature what the model is given and what it says
     * @param builder makes the model; called with different weights
     * @param batching how rows make batches
     */
    protected RowTask(LoadedData data, Signature signature, Function<Weights, Graph> builder, Batching batching) {
        this.data = data;
        this.signature = signature;
        this.model = new TaskModel(signature, builder);
        this.batching = batching;
    }

    /**
     * A task as a recipe wants it.
     *
     * @param materials the data, the model and how rows make batches
     * @param signature what the model is given and what it says
     * @throws IOException if the data cannot be read
     */
    protected RowTask(Materials materials, Signature signature) throws IOException {
        this(materials.data(), signature, TaskModel.builder(materials.model(), signature), materials.batching());
    }

    /** {@return the rows} */
    protected final LoadedData data() {
        return data;
    }

    @Override
    public final Signature signature() {
        return signature;
    }

    @Override
    public final Fitted fitted() {
        return model.fitted();
    }

    @Override
    public Optional<Encoding> encoding() {
        return Optional.of(data.encoding());
    }

    @Override
    public List<String> notes() {
        return data.notes();
    }

    @Override
    public void accompany(Path folder) throws IOException {
        data.companion().write(folder);
    }

    @Override
    public Graph model(Weights weights) {
        return model.build(weights);
    }

    @Override
    public boolean isRepeatable() {
        return !data.augmentation().changes();
    }

    @Override
    public int batchesPerEpoch() {
        int rows = data.train().size();
        return batching.training(rows, 0).batchesPerEpoch(rows);
    }

    @Override
    public Examples examples(long seed, BatchPosition first, long epochs) {
        Batches batches = data.batches(batching.training(data.train().size(), seed), first, epochs);
        return examples(batches);
    }

    private Examples examples(Batches batches) {
        return Examples.of(batches, batches::position, batches::close, this::example);
    }

    private Example example(Batch batch) {
        return new Example(fitted().feed(batch.inputs()), batch.targets(), batch.size());
    }

    @Override
    public Evaluation evaluate(Model asked, Part part) {
        return read(asked, part, examples -> Evaluation.of(asked, examples, this::score));
    }

    /** One pass over a part, in order. */
    final <T> T read(Model asked, Part part, Function<Examples, T> reader) {
        int size = batching.evaluationSize();
        try (Batches batches = data.evaluation(part(part), size)) {
            if (!asked.takesRaw()) {
                return reader.apply(examples(batches));
            }
            // The same rows in the same order.
            try (Batches raw = Batches.evaluation(part(part), data.encoding().raw(), size)) {
                return reader.apply(examples(batches, raw));
            }
        }
    }

    /** What the numbers of a target are called: as their columns, if each is one. */
    static List<String> names(ColumnEncoding target) {
        List<String> columns = target.from().stream().map(Field::name).toList();
        int size = target.to() instanceof Field.Dense dense ? dense.size() : 1;
        return columns.size() == size
                ? columns
                : IntStream.range(0, size)
                        .mapToObj(i -> columns.getFirst() + "[" + i + "]")
                        .toList();
    }

    /** {@return what to note of each sample of the test part; empty, unless a task says otherwise, if samples are not looked at} */
    protected Optional<Inspection> inspection() {
        return Optional.empty();
    }

    /** How many samples there are, and what {@link #inspection} notes. */
    @Override
    public Optional<Findings> findings(Model asked) {
        Mistakes mistakes = new Mistakes();
        Findings.Outcome outcome = inspection()
                .map(inspection -> read(asked, Part.TEST, examples -> inspect(asked, examples, inspection, mistakes)))
                .orElseGet(Findings.Outcome.Unknown::new);
        return Optional.of(new Findings(sizes(), outcome, mistakes.of(data.test())));
    }

    /** How many there are of each part. */
    final Findings.Samples sizes() {
        boolean isSetAside = !data.validation().equals(data.test());
        return new Findings.Samples(
                data.train().size(),
                isSetAside ? data.validation().size() : 0,
                data.test().size());
    }

    private Findings.Outcome inspect(Model asked, Examples examples, Inspection inspection, Mistakes mistakes) {
        int row = 0;
        while (examples.hasNext()) {
            Example example = examples.next();
            Map<String, Tensor> said = fitted().said(asked.predict(example.raw()));
            for (int sample = 0; sample < example.size(); sample++) {
                int at = row++;
                inspection.look(said, example.targets(), sample).ifPresent(miss -> mistakes.add(at, miss));
            }
        }
        return inspection.outcome();
    }

    private Examples examples(Batches batches, Batches raw) {
        return Examples.of(batches, batches::position, batches::close, batch -> {
            Example example = example(batch);
            return new Example(
                    example.inputs(),
                    example.targets(),
                    example.size(),
                    fitted().feed(raw.next().inputs()));
        });
    }

    private Dataset part(Part part) {
        return switch (part) {
            case VALIDATION -> data.validation();
            case TEST -> data.test();
        };
    }

    @Override
    public Map<String, Tensor> sample() {
        Encoding all = data.encoding();
        Encoding wanted = encoding().isPresent() ? all.raw() : all;
        try (Batches batches = Batches.evaluation(data.test(), wanted, 1)) {
            return fitted().feed(batches.next().inputs());
        }
    }
}
