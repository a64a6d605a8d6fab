package dev.espalier.train.model;

import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.runtime.Judge;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import dev.espalier.train.task.RawInputs;
import dev.espalier.train.task.Signature;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** {@code model.kind = "onnx"}. */
public final class OnnxModel implements ModelKind {
    private static final Key<String> FILE = Key.text(
                    "model.file",
                    "the ONNX file whose weights training starts from, relative to where the program is started")
            .in(Range.notBlank())
            .changeable();

    private static final Key<Boolean> FRESH = Key.flag(
                    "model.fresh",
                    "whether the file's weights have learned nothing yet: for a regression, the labels' mean and deviation are then"
                            + " put behind its outputs")
            .withDefault(false);

    /** Called by the service loader. */
    public OnnxModel() {}

    @Override
    public String name() {
        return "onnx";
    }

    @Override
    public String meaning() {
        return "any model, from an ONNX file";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(FILE, FRESH);
    }

    /** A model that reads text has its vocabulary beside it, as a training leaves it. */
    @Override
    public Optional<Path> tokenizer(Values values) {
        return Optional.ofNullable(file(values).toAbsolutePath().getParent());
    }

    @Override
    public boolean isTrained(Values values) {
        return !values.of(FRESH);
    }

    @Override
    public boolean isReady(Values values) {
        return true;
    }

    @Override
    public Graph build(Values values, Signature wanted, Weights weights) throws IOException {
        Path file = file(values);
        Graph model = OnnxReader.read(file).graph();
        requireRead(file, model);
        // What it is fed with is encoded by the data that it is trained on.
        return wanted.fit(RawInputs.without(model), FILE + " = " + file).model();
    }

    /** Hours of training are lost on a model that is not the file's. */
    private static void requireRead(Path file, Graph model) {
        try (Judge judge = Judge.of(file, model, SampleInputs.DEFAULT, 1)) {
            RawInputs.judge(judge, model, SampleInputs.DEFAULT.batch()).requireRead(model, OnnxWriter.Options.DEFAULT);
        } catch (IllegalStateException refused) {
            throw new IllegalArgumentException(
                    FILE + " = " + file + " cannot be judged, neither now nor once it is trained: "
                            + refused.getMessage(),
                    refused);
        }
    }

    private static Path file(Values values) {
        return Path.of(values.of(FILE));
    }
}
