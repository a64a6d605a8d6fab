package dev.espalier.train.task;

import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.pass.KeyBiases;
import dev.espalier.graph.pass.Served;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Function;

/** {@code task.kind = "imitation"}. */
public final class ImitationKind implements TaskKind {
    /** What answers are compared by. */
    public enum Loss {
        /** By what each output is. */
        AUTO,
        /** By squared distances. */
        MSE,
        /** By the angle between vectors along the last axis. */
        COSINE,
        /** By the divergence of the probabilities of classes along the last axis. */
        KL
    }

    private static final Key<Loss> LOSS = Key.choice(
                    "task.loss",
                    Loss.class,
                    "how answers are compared: by squared distances, by angles of vectors, by the divergence of classes, or each output"
                            + " by what it seems to be")
            .withDefault(Loss.AUTO);
    private static final Key<Imitation.Answers> ANSWERS = Key.choice(
                    "task.answers",
                    Imitation.Answers.class,
                    "who computes what the original says: what trains the model, for every batch anew; ONNX Runtime, for every batch"
                            + " anew; or ONNX Runtime, once, to be kept in a file")
            .withDefault(Imitation.Answers.ENGINE);
    private static final Key<String> ANSWERS_DIR = Key.text(
                    "task.answers_dir",
                    "where answers are kept, relative to where the program is started; what is there of the same model and data is used"
                            + " again")
            .withDefault("")
            .changeable();
    private static final Key<Double> NOISE = Key.decimal(
                    "task.noise",
                    "how far from the original's weights the model starts, as a share of each: exactly there, all gradients"
                            + " are zero")
            .in(Range.fraction())
            .withDefault(0.01);
    private static final Key<List<String>> OUTPUTS = Key.texts(
                    "task.outputs",
                    "the outputs that count; all if left out. What becomes of the others nobody looks at")
            .withDefault(List.of());
    private static final Key<List<String>> MATCH = Key.texts(
                    "task.match", "names of tensors within the model that are compared too, such as hidden states")
            .withDefault(List.of());
    private static final Key<Double> MATCH_WEIGHT = Key.decimal(
                    "task.match_weight", "how much these count, all together, beside the outputs")
            .in(Range.positive())
            .withDefault(0.1);

    /** Called by the service loader. */
    public ImitationKind() {}

    @Override
    public String name() {
        return "imitation";
    }

    @Override
    public String meaning() {
        return "what would the model have said before it was made smaller? Needs no labels";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(LOSS, OUTPUTS, NOISE, MATCH, MATCH_WEIGHT, ANSWERS, ANSWERS_DIR);
    }

    @Override
    public Task open(Values values, Materials materials) throws IOException {
        LoadedData labelled = materials.data();
        List<Signature.Input> inputs = Signature.inputsOf(labelled.inputs());
        String name = labelled.train().name();
        Function<Weights, Graph> builder = builder(materials.model(), new Signature(name, inputs, List.of()));
        Graph model = builder.apply(Weights.seeded(0));
        Optional<Encoding> note = EncodingNote.of(model);
        LoadedData data = withoutLabels(labelled, note);
        List<String> notes = new ArrayList<>();
        List<String> outputs = compared(model, values.of(OUTPUTS), notes);
        Signature signature = new Signature(
                name,
                inputs,
                outputs.stream()
                        .map(output ->
                                new Signature.Output(output, sample(model.shape(output)), Signature.Meaning.numbers(1)))
                        .toList());
        List<String> tensors = new ArrayList<>(outputs);
        values.of(MATCH).stream().map(inner -> requireInner(model, inner)).forEach(tensors::add);
        Original original = Original.of(signature.fit(model, "the model"), tensors);
        List<Likeness> likenesses =
                likenesses(values, model, outputs, original.spreads(data.train(), data.encoding()), notes);
        Imitation.Answers answers = values.of(ANSWERS);
        LoadedData told = answers == Imitation.Answers.KEPT
                ? KeptAnswers.beside(data, original, folder(values), materials.progress())
                : data;
        return new Imitation(
                told,
                signature,
                builder,
                materials.batching(),
                original,
                likenesses,
                answers,
                values.of(NOISE),
                notes,
                note.map(_ -> data.encoding()));
    }

    private static Path folder(Values values) {
        if (values.of(ANSWERS_DIR).isEmpty()) {
            throw new IllegalArgumentException(
                    "%s = kept needs a place: set %s to a folder".formatted(ANSWERS, ANSWERS_DIR));
        }
        return Path.of(values.of(ANSWERS_DIR));
    }

    /**
     * Batch normalisations go by their statistics: what a batch is like is nothing to learn from. And a bias that changes nothing
     * would keep dimensions of attentions from being cut out.
     */
    private static Function<Weights, Graph> builder(ModelSource source, Signature wanted) {
        Function<Weights, Graph> built = TaskModel.builder(source, wanted);
        return weights -> KeyBiases.remove(Served.of(built.apply(weights)));
    }

    /** A model of ours that takes rows knows how they are encoded, whatever the data would have made of them. */
    private static LoadedData withoutLabels(LoadedData data, Optional<Encoding> note) {
        Encoding encoding = new Encoding(note.orElse(data.encoding()).inputs(), List.of());
        Dataset test = withoutLabels(data.test());
        return new LoadedData(
                withoutLabels(data.train()),
                data.validation().equals(data.test()) ? test : withoutLabels(data.validation()),
                test,
                encoding,
                data.augmentation(),
                data.notes(),
                data.companion());
    }

    private static Dataset withoutLabels(Dataset part) {
        return new Dataset(part.name(), part.size(), part.inputs(), List.of(), part.block());
    }

    /** The outputs that say something of each sample. */
    private static List<String> compared(Graph model, List<String> wanted, List<String> notes) {
        if (!model.outputs().containsAll(wanted)) {
            throw new IllegalArgumentException("%s = %s is not possible: the model has the outputs %s"
                    .formatted(OUTPUTS, wanted, model.outputs()));
        }
        List<String> outputs = new ArrayList<>();
        for (String output : model.outputs()) {
            Shape shape = model.shape(output);
            if (!wanted.isEmpty() && !wanted.contains(output)) {
                notes.add("output %s %s is not compared, and becomes whatever it becomes".formatted(output, shape));
                continue;
            }
            if (shape.rank() > 0
                    && shape.get(0).equals(Signature.BATCH)
                    && model.fact(output).data().isFloat()) {
                outputs.add(output);
            } else {
                notes.add("output %s %s is not compared: it has no fractions for each sample".formatted(output, shape));
            }
        }
        if (outputs.isEmpty()) {
            throw new IllegalArgumentException(
                    "the model has the outputs %s: none has fractions for each sample, so there is nothing to imitate. Name tensors within the model with task.match"
                            .formatted(model.outputs().stream()
                                    .map(output -> output + " " + model.shape(output))
                                    .toList()));
        }
        return outputs;
    }

    private static Shape sample(Shape batched) {
        List<Dimension> dimensions = batched.dimensions();
        return new Shape(dimensions.subList(1, dimensions.size()));
    }

    private static String requireInner(Graph model, String tensor) {
        if (model.producer(tensor) == null) {
            throw new IllegalArgumentException(
                    "task.match names %s, which the model does not compute: `espalier inspect --nodes` lists its tensors"
                            .formatted(tensor));
        }
        return tensor;
    }

    private static List<Likeness> likenesses(
            Values values,
            Graph model,
            List<String> outputs,
            SequencedMap<String, Double> spreads,
            List<String> notes) {
        List<Likeness> likenesses = new ArrayList<>();
        List<String> idle = new ArrayList<>();
        double temperature = values.of(TaskSection.TEMPERATURE);
        for (String tensor : spreads.keySet()) {
            double spread = Objects.requireNonNull(spreads.get(tensor));
            if (spread == 0) {
                idle.add(tensor);
                continue;
            }
            boolean output = outputs.contains(tensor);
            double weight = output ? 1.0 / outputs.size() : values.of(MATCH_WEIGHT) / (spreads.size() - outputs.size());
            Likeness likeness = new Likeness(
                    tensor,
                    meaning(OutputMeaning.guess(model, tensor), output ? values.of(LOSS) : Loss.MSE),
                    spread,
                    weight,
                    temperature);
            likenesses.add(likeness);
            notes.add("%s %s %s is compared as %s"
                    .formatted(output ? "output" : "tensor", tensor, model.shape(tensor), likeness.words()));
        }
        if (!idle.isEmpty() && likenesses.isEmpty()) {
            throw new IllegalArgumentException(
                    "what the model says does not depend on its inputs: %s is the same for all rows that were tried, so there is nothing to imitate. Check that the inputs differ, and are what the model wants"
                            .formatted(idle));
        }
        idle.forEach(tensor -> notes.add("output %s is not compared: it is the same for all inputs".formatted(tensor)));
        return likenesses;
    }

    /** Masked tokens stay masked, whatever they are compared by. */
    private static OutputMeaning meaning(OutputMeaning guessed, Loss loss) {
        return switch (loss) {
            case AUTO -> guessed;
            case MSE -> guessed instanceof OutputMeaning.Tokens ? guessed : new OutputMeaning.Numbers();
            case COSINE -> guessed instanceof OutputMeaning.Tokens ? guessed : new OutputMeaning.Embedding();
            case KL -> guessed instanceof OutputMeaning.Classes ? guessed : new OutputMeaning.Classes(false);
        };
    }

    /** {@return false: it has to be asked for} */
    @Override
    public boolean suits(List<Field> targets) {
        return false;
    }
}
