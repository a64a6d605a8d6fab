package dev.espalier.train.task;

import dev.espalier.data.BatchPosition;
import dev.espalier.data.Encoding;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.Initialization;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Formula;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Metric;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.function.Function;

/**
 * What would the original say? A model learns to give the answers of another: mostly of itself, as it was before anything of it
 * became zero. Nobody has to know what is right, so data needs no labels, and those that it has are not looked at.
 *
 * <p>A model that is its own original is at the minimum of this loss, where all gradients are zero and an adaptive metric knows
 * nothing. So it starts from weights that are off by a little noise.
 */
public final class Imitation extends RowTask {
    /** Before the names of targets: what the original said. */
    static final String TAUGHT = "original/";

    /** Who computes what the original says. */
    public enum Answers {
        /** What trains the model, for every batch anew: nothing leaves the device. */
        ENGINE,
        /** ONNX Runtime, for every batch anew. */
        RUNTIME,
        /** ONNX Runtime, once: they are kept in a file. */
        KEPT
    }

    private final Original original;
    private final List<Likeness> likenesses;
    private final Answers answers;
    private final double noise;
    private final List<String> notes;
    private final Optional<Encoding> encoding;

    Imitation(
            LoadedData data,
            Signature signature,
            Function<Weights, Graph> builder,
            Batching batching,
            Original original,
            List<Likeness> likenesses,
            Answers answers,
            double noise,
            List<String> notes,
            Optional<Encoding> encoding) {
        super(data, signature, builder, batching);
        this.original = original;
        this.likenesses = List.copyOf(likenesses);
        this.answers = answers;
        this.noise = noise;
        this.notes = List.copyOf(notes);
        this.encoding = encoding;
    }

    /** A file that takes tensors goes on to take tensors: only one that takes rows had its encoding taken off. */
    @Override
    public Optional<Encoding> encoding() {
        return encoding;
    }

    @Override
    public List<String> notes() {
        List<String> all = new ArrayList<>(super.notes());
        all.addAll(notes);
        return all;
    }

    /** The original's weights, each with noise of a small share of its own size: zeros stay. */
    @Override
    public Graph model(Weights weights) {
        Graph exact = super.model(weights);
        Map<String, Tensor> noisy = new LinkedHashMap<>();
        exact.tensors(Kind.PARAMETER).forEach((name, tensor) -> {
            if (tensor.shape().length > 1 && noise > 0) {
                noisy.put(name, withNoise(name, tensor, weights));
            }
        });
        return exact.withTensors(noisy);
    }

    private Tensor withNoise(String name, Tensor tensor, Weights weights) {
        Tensor drawn = weights.tensor(name + "/noise", new Initialization.Normal(noise), tensor.shape());
        return Tensor.compute(tensor.type(), tensor.shape(), i -> tensor.getDouble(i) * (1 + drawn.getDouble(i)));
    }

    @Override
    public Objective objective() {
        return formula -> {
            Function<String, Value> said = answers == Answers.ENGINE
                    ? formula.include("original", original.fitted().model())
                    : tensor -> taught(formula, tensor);
            SequencedMap<String, Value> terms = new LinkedHashMap<>();
            for (Likeness likeness : likenesses) {
                if (!formula.reaches(likeness.tensor())) {
                    continue; // what is within a model helps it to learn, and is not judged
                }
                Likeness.Terms written =
                        likeness.write(formula, formula.model(likeness.tensor()), said.apply(likeness.tensor()));
                terms.merge(Objective.LOSS, written.loss(), formula::plus);
                if (isOutput(likeness)) {
                    terms.merge(likeness.metric().name(), written.sum(), formula::plus);
                }
            }
            return terms;
        };
    }

    private static Value taught(Formula formula, String tensor) {
        return formula.target(
                TAUGHT + tensor,
                DataType.FLOAT32,
                formula.model(tensor).shape().dimensions().toArray());
    }

    /** What is compared within a model helps it to learn, and is nothing that people ask for. */
    private boolean isOutput(Likeness likeness) {
        return signature().outputs().stream().anyMatch(output -> output.name().equals(likeness.tensor()));
    }

    @Override
    public List<Metric> metrics() {
        return List.of(Likeness.AGREEMENT, Likeness.COSINE, Likeness.R2).stream()
                .filter(metric -> count(metric) > 0)
                .toList();
    }

    private long count(Metric metric) {
        return likenesses.stream()
                .filter(likeness -> isOutput(likeness) && likeness.metric().equals(metric))
                .count();
    }

    /** Of several outputs, the mean. */
    @Override
    public SequencedMap<Metric, Double> score(Sums sums) {
        SequencedMap<Metric, Double> scores = new LinkedHashMap<>();
        metrics().forEach(metric -> scores.put(metric, sums.mean(metric.name()) / count(metric)));
        return scores;
    }

    @Override
    public Examples examples(long seed, BatchPosition first, long epochs) {
        Examples examples = super.examples(seed, first, epochs);
        return answers == Answers.RUNTIME
                ? Examples.of(examples, examples::position, examples::close, this::asked)
                : examples;
    }

    @Override
    public Evaluation evaluate(Model model, Part part) {
        return answers == Answers.RUNTIME ? super.evaluate(model.with(this::asked), part) : super.evaluate(model, part);
    }

    /** How faithful the model is to the original, sample by sample. */
    @Override
    public Optional<Findings> findings(Model model) {
        SequencedMap<String, OutputMeaning> meanings = new LinkedHashMap<>();
        likenesses.stream()
                .filter(this::isOutput)
                .forEach(likeness -> meanings.put(likeness.tensor(), likeness.meaning()));
        Fidelity fidelity = Fidelity.of(original.fitted().model(), meanings.keySet(), meanings);
        read(model, Part.TEST, examples -> {
            while (examples.hasNext()) {
                Example example = examples.next();
                fidelity.add(
                        example.inputs(),
                        original.answer(example.inputs()),
                        model.predict(example.raw()),
                        example.size());
            }
            return fidelity;
        });
        return Optional.of(new Findings(sizes(), fidelity.outcome(), fidelity.worst(data().test())));
    }

    private Example asked(Example example) {
        Map<String, Tensor> targets = new LinkedHashMap<>(example.targets());
        original.answer(example.inputs()).forEach((tensor, said) -> targets.put(TAUGHT + tensor, said));
        return new Example(example.inputs(), targets, example.size(), example.raw());
    }

    /** It starts where it shall end: what it would be without learning says nothing. */
    @Override
    public OptionalDouble baseline() {
        return OptionalDouble.empty();
    }
}
