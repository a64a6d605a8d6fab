package dev.espalier.train.task;

import dev.espalier.data.Batch;
import dev.espalier.data.BatchPlan;
import dev.espalier.data.BatchPosition;
import dev.espalier.data.Batches;
import dev.espalier.data.Column;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Logits;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Losses;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.LinkedHashMap;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.Function;

/** Which class does a sample belong to? For models that say {@code [batch, classes]}, a number for each class. */
public final class Classification implements Task {
    private static final String ACCURACY = "accuracy";

    /** Batches that each loader may be ahead of training. */
    private static final int AHEAD = 2;

    /** The one target. */
    private static final String LABEL = "label";

    private static final String LOGITS = "logits";

    private final LoadedData data;
    private final TaskModel model;
    private final Fitted names;
    private final BatchPlan plan;
    private final int evaluationBatchSize;

    /**
     * A task.
     *
     * @param data the samples
     * @param builder makes the model; called with different weights
     * @param plan how samples make batches; its seed does not matter
     * @param evaluationBatchSize samples that are looked at at once when a model is judged
     */
    public Classification(LoadedData data, Function<Weights, Graph> builder, BatchPlan plan, int evaluationBatchSize) {
        this.data = data;
        this.model = new TaskModel(signature(data), builder);
        this.names = model.fitted();
        requireLogits(names);
        // A single sample has no statistics that a batch normalisation could use.
        this.plan = plan.withDropLast(
                plan.dropLast() || (data.train().size() > 1 && data.train().size() % plan.batchSize() == 1));
        this.evaluationBatchSize = evaluationBatchSize;
    }

    static BatchPlan batches(int batchSize, int loaders) {
        return BatchPlan.training(batchSize, 0).withThreads(loaders, AHEAD * loaders);
    }

    /** What a model is given, and that it says a number for each class. */
    static Signature signature(LoadedData data) {
        String name = data.train().name();
        if (data.targets().size() != 1 || !(data.targets().getFirst() instanceof Field.Category classes)) {
            throw new IllegalArgumentException(
                    "task.kind = classification needs one target that is a class, but %s has %s: choose another task or other data"
                            .formatted(name, data.targets()));
        }
        Shape logits = Shape.of(classes.values().size());
        return new Signature(name, Signature.inputsOf(data.inputs()), List.of(new Signature.Output(LOGITS, logits)));
    }

    /**
     * The loss takes the logarithm of the softmax itself. A logarithm of a softmax at the end is harmless: doing that twice changes
     * nothing.
     */
    private static void requireLogits(Fitted names) {
        String output = names.output(LOGITS);
        Node last = names.model().producer(output);
        if (last != null && last.operator() instanceof Softmax softmax && !softmax.logarithm()) {
            throw new IllegalArgumentException(
                    "the model's output %s comes from a softmax, but training needs the numbers in front of it: export it without"
                            .formatted(output));
        }
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
    public int batchesPerEpoch() {
        return plan.batchesPerEpoch(data.train().size());
    }

    @Override
    public Examples examples(long seed, BatchPosition first, long epochs) {
        BatchPlan seeded =
                new BatchPlan(plan.batchSize(), plan.dropLast(), plan.shuffle(), seed, plan.threads(), plan.ahead());
        return new Loading(data.batches(seeded, first, epochs));
    }

    private final class Loading implements Examples {
        private final Batches batches;

        Loading(Batches batches) {
            this.batches = batches;
        }

        @Override
        public boolean hasNext() {
            return batches.hasNext();
        }

        @Override
        public Example next() {
            return example(batches.next());
        }

        @Override
        public BatchPosition position() {
            return batches.position();
        }

        @Override
        public void close() {
            batches.close();
        }
    }

    private Example example(Batch batch) {
        return new Example(
                names.feed(batch.inputs()),
                Map.of(LABEL, batch.targets().firstEntry().getValue()),
                batch.size());
    }

    private static Tensor labels(Example example) {
        return Objects.requireNonNull(example.targets().get(LABEL), LABEL);
    }

    @Override
    public String trainingMetric() {
        return ACCURACY;
    }

    /** The mean of {@code −ln softmax(logits)[label]}. */
    @Override
    public Objective objective() {
        return formula -> {
            Value logits = formula.model(names.output(LOGITS));
            Value labels = formula.target(LABEL, DataType.INT64, logits.shape().get(0));
            SequencedMap<String, Value> terms = Objective.terms(Losses.crossEntropy(formula, logits, labels));
            terms.put(RIGHT, formula.sum(formula.equal(formula.argMax(logits), labels)));
            return terms;
        };
    }

    private static int right(Tensor logits, Example example) {
        Tensor labels = labels(example);
        int right = 0;
        for (int sample = 0; sample < example.size(); sample++) {
            right += row(logits, sample).largest() == labels.getLong(sample) ? 1 : 0;
        }
        return right;
    }

    @Override
    public Evaluation evaluate(Model asked, Part part) {
        double loss = 0;
        long right = 0;
        long samples = 0;
        try (Batches batches = data.evaluation(part(part), evaluationBatchSize)) {
            while (batches.hasNext()) {
                Example example = example(batches.next());
                Tensor logits = logits(asked.predict(example.inputs()));
                right += right(logits, example);
                loss += lossSum(logits, example);
                samples += example.size();
            }
        }
        SequencedMap<String, Double> scores = new LinkedHashMap<>();
        scores.put(ACCURACY, (double) right / samples);
        return new Evaluation(loss / samples, scores, samples);
    }

    private Dataset part(Part part) {
        return switch (part) {
            case VALIDATION -> data.validation();
            case TEST -> data.test();
        };
    }

    private Tensor logits(Map<String, Tensor> outputs) {
        String output = names.output(LOGITS);
        return Objects.requireNonNull(outputs.get(output), output);
    }

    private static double lossSum(Tensor logits, Example example) {
        Tensor labels = labels(example);
        double sum = 0;
        for (int sample = 0; sample < example.size(); sample++) {
            sum += row(logits, sample).crossEntropy(Math.toIntExact(labels.getLong(sample)));
        }
        return sum;
    }

    /** The logits of one sample. */
    private static Logits row(Tensor logits, int sample) {
        int classes = Math.toIntExact(logits.shape()[1]);
        return new Logits(logits, (long) sample * classes, classes);
    }

    @Override
    public double chance() {
        Column.Categories classes =
                (Column.Categories) data.validation().targets().getFirst();
        int[] counts = new int[classes.field().values().size()];
        int most = 0;
        for (int row = 0; row < data.validation().size(); row++) {
            most = Math.max(most, ++counts[classes.read(row)]);
        }
        return (double) most / data.validation().size();
    }

    @Override
    public Map<String, Tensor> sample() {
        try (Batches batches = data.evaluation(data.test(), 1)) {
            return names.feed(batches.next().inputs());
        }
    }
}
