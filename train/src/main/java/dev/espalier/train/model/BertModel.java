package dev.espalier.train.model;

import dev.espalier.data.Outline;
import dev.espalier.graph.Graph;
import dev.espalier.graph.group.PaperRules;
import dev.espalier.graph.model.HuggingFace;
import dev.espalier.graph.model.Weights;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import dev.espalier.train.task.Signature;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** {@code model.kind = "bert"}. */
public final class BertModel implements ModelKind {
    private static final Key<String> CHECKPOINT = Key.text(
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
        return "BERT for question answering, from a checkpoint";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(CHECKPOINT);
    }

    @Override
    public Optional<String> misfit(Outline data) {
        return switch (data) {
            case Outline.Tokens _, Outline.Unknown _ -> Optional.empty();
            case Outline.Image _, Outline.Vector _ -> Optional.of("bert reads squad");
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
    public Graph build(Values values, Signature wanted, Weights weights) throws IOException {
        Path checkpoint = Path.of(values.of(CHECKPOINT));
        return wanted.fit(HuggingFace.read(checkpoint, weights).graph(), CHECKPOINT + " = " + checkpoint)
                .model();
    }
}
