package dev.espalier.training;

import dev.espalier.data.Batch;
import dev.espalier.data.BatchPlan;
import dev.espalier.data.BatchPosition;
import dev.espalier.data.Batches;
import dev.espalier.data.Dataset;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Logits;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.objective.Losses;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.recipe.Recipe;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.Function;

/** Which class does a sample belong to? For models with one input and one output {@code [batch, classes]}. */
public final class Classification implements Task {
    private static final String ACCURACY = "accuracy";

    /** Batches that each loader may be ahead of training. */
    private static final int AHEAD = 2;

    /** The one target. */
    private static final String LABEL = "label";

    private final LabelledData data;
    private final Function<Weights, Graph> builder;
    private final String input;
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
    public Classification(
            LabelledData data, Function<Weights, Graph> builder, BatchPlan plan, int evaluationBatchSize) {
        this.data = data;
        this.builder = builder;
        this.input = builder.apply(Weights.seeded(0)).inputs().getFirst().name();
        // A single sample has no statistics that a batch normalisation could use.
        this.plan = plan.withDropLast(
                plan.dropLast() || (data.train().size() > 1 && data.train().size() % plan.batchSize() == 1));
        this.evaluationBatchSize = evaluationBatchSize;
    }

    /**
     * A task with batches as a recipe wants them.
     *
     * @param recipe how to train
     * @param data the samples
     * @param builder makes the model; called with different weights
     */
    public Classification(Recipe recipe, LabelledData data, Function<Weights, Graph> builder) {
        this(data, builder, batches(recipe), recipe.evaluation().batchSize());
    }

    private static BatchPlan batches(Recipe recipe) {
        int loaders = recipe.data().loaders();
        return BatchPlan.training(recipe.training().batchSize(), 0).withThreads(loaders, AHEAD * loaders);
    }

    @Override
    public Graph model(Weights weights) {
        return builder.apply(weights);
    }

    @Override
    public int batchesPerEpoch() {
        return plan.batchesPerEpoch(data.train().size());
    }

    @Override
    public Examples examples(long seed, BatchPosition first, long epochs) {
        BatchPlan seeded =
                new BatchPlan(plan.batchSize(), plan.dropLast(), plan.shuffle(), seed, plan.threads(), plan.ahead());
        return new Loading(new Batches(data.train(), data.preprocessing(), seeded, first, epochs));
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
                Map.of(input, Tensor.of(batch.values(), batch.shape())),
                Map.of(LABEL, Tensor.of(batch.labels(), batch.size())),
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
            Value logits = formula.model(formula.outputs().getFirst());
            Value labels =
                    formula.target(LABEL, DataType.INT64, logits.shape().get(0));
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
    public Evaluation evaluate(Model model, Part part) {
        double loss = 0;
        long right = 0;
        long samples = 0;
        try (Batches batches = Batches.evaluation(part(part), data.preprocessing(), evaluationBatchSize)) {
            while (batches.hasNext()) {
                Example example = example(batches.next());
                SequencedMap<String, Tensor> outputs = model.predict(example.inputs());
                Tensor logits = outputs.firstEntry().getValue();
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
        int[] counts = new int[data.validation().classNames().size()];
        int most = 0;
        for (int sample = 0; sample < data.validation().size(); sample++) {
            most = Math.max(most, ++counts[data.validation().label(sample)]);
        }
        return (double) most / data.validation().size();
    }

    @Override
    public Map<String, Tensor> sample() {
        try (Batches batches = Batches.evaluation(data.test(), data.preprocessing(), 1)) {
            Batch batch = batches.next();
            return Map.of(input, Tensor.of(batch.values().clone(), batch.shape()));
        }
    }
}
