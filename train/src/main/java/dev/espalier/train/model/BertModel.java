package dev.espalier.train.model;

import dev.espalier.data.Outline;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.PaperRules;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.HuggingFace;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.type.Shape;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import dev.espalier.train.task.Signature;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** {@code model.kind = "bert"}. */
public final class BertModel implements ModelKind {
    private static final Key<String> CHECKPOINT = Key.location(
                    "model.checkpoint",
                    "a folder with config.json, model.safetensors and the vocabulary, relative to where the program is started")
            .in(Range.notBlank())
            .changeable();

    /** Called by the service loader. */
    public BertModel() {}

    @Override
    public String name() {
        return "bert";
    }

    @Override
    public String meaning() {
        return "BERT from a checkpoint, with the head that the task needs";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(CHECKPOINT);
    }

    @Override
    public Optional<String> misfit(Outline data) {
        return switch (data) {
            case Outline.Tokens _, Outline.Unknown _ -> Optional.empty();
            case Outline.Image _, Outline.Vector _ -> Optional.of("bert reads texts, such as squad");
        };
    }

    @Override
    public PaperRules paperRules() {
        return PaperRules.BERT;
    }

    @Override
    public boolean isTrained(Values values) {
        return true;
    }

    @Override
    public Optional<Path> tokenizer(Values values) {
        return Optional.of(Path.of(values.of(CHECKPOINT)));
    }

    @Override
    public Graph build(Values values, Signature wanted, Weights weights, Consumer<String> notes) throws IOException {
        Path checkpoint = Path.of(values.of(CHECKPOINT));
        HuggingFace.Checkpoint read = isForAnswers(wanted)
                ? HuggingFace.read(checkpoint, weights)
                : HuggingFace.readClassification(checkpoint, outputs(wanted), weights);
        return wanted.fit(read.graph(), CHECKPOINT + " = " + checkpoint).model();
    }

    private static boolean isForAnswers(Signature wanted) {
        return wanted.outputs().stream().map(Signature.Output::name).anyMatch(Bert.START_LOGITS::equals);
    }

    private static long outputs(Signature wanted) {
        Shape sample = wanted.outputs().getFirst().sample();
        if (wanted.outputs().size() > 1 || sample.rank() != 1 || !sample.get(0).isKnown()) {
            throw new IllegalArgumentException(
                    "model.kind = bert has heads for answers and for one row of numbers, but the task wants %s: choose another model"
                            .formatted(wanted.outputs()));
        }
        return sample.get(0).value();
    }
}
