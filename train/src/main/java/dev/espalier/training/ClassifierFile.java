package dev.espalier.training;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Input;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.Node;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.onnxruntime.Judge;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A classifier from an ONNX file, held to the data that it is to be trained with. */
final class ClassifierFile {
    private static final Dimension BATCH = Dimension.symbol("batch");

    private final Path file;
    private final LabelledData data;

    private ClassifierFile(Path file, LabelledData data) {
        this.file = file;
        this.data = data;
    }

    /** The model, with a batch of any size and samples of the data's shape. */
    static Graph read(Path file, LabelledData data) throws IOException {
        Graph model = OnnxReader.read(file).graph();
        requireRead(file, model);
        return new ClassifierFile(file, data).fit(model);
    }

    /** Hours of training are lost on a model that is not the file's. */
    private static void requireRead(Path file, Graph model) {
        try (Judge judge = Judge.of(file, model, SampleInputs.DEFAULT, 1)) {
            judge.requireRead(model, OnnxWriter.Options.DEFAULT);
        } catch (IllegalStateException refused) {
            throw new IllegalArgumentException(
                    "model.file = " + file + " cannot be judged, neither now nor once it is trained: "
                            + refused.getMessage(),
                    refused);
        }
    }

    private Graph fit(Graph model) {
        Input input = onlyInput(model);
        Shape samples = wanted();
        require(
                takes(input.type().shape(), samples),
                "its input %s is %s, but a batch of %s is %s: export it for such samples, or choose other data"
                        .formatted(
                                input.name(), input.type().shape(), data.train().name(), samples));
        Graph fitted = withInput(model, new Input(input.name(), input.type().with(samples)), input);
        requireLogits(fitted);
        return fitted;
    }

    private Input onlyInput(Graph model) {
        List<Input> inputs = model.inputs();
        require(
                inputs.size() == 1,
                "it has the inputs %s, but a classifier that is trained here reads one: the samples"
                        .formatted(inputs.stream().map(Input::name).toList()));
        Input input = inputs.getFirst();
        require(
                input.type().data() == DataType.FLOAT32,
                "its input %s holds %s, but samples are float32: export it with such an input"
                        .formatted(input.name(), input.type().data().name().toLowerCase(Locale.ROOT)));
        return input;
    }

    private Shape wanted() {
        Shape one = Shape.ofLengths(data.shape().batched(1));
        return one.with(0, BATCH);
    }

    /** Whether samples fit, whatever the model says of the batch. */
    private static boolean takes(Shape declared, Shape samples) {
        boolean fits = declared.rank() == samples.rank();
        for (int axis = 1; fits && axis < samples.rank(); axis++) {
            Dimension length = declared.get(axis);
            fits = !length.isKnown() || length.equals(samples.get(axis));
        }
        return fits;
    }

    /** A fixed batch size is set free: many files have one only because their exporter was shown a single sample. */
    private Graph withInput(Graph model, Input free, Input declared) {
        try {
            return model.withInputs(List.of(free));
        } catch (GraphException impossible) {
            throw problem(
                    "it cannot take %s as its input %s, which it declares as %s: export it with a free batch axis (%s)"
                            .formatted(
                                    free.type().shape(),
                                    free.name(),
                                    declared.type().shape(),
                                    impossible.getMessage()),
                    impossible);
        }
    }

    private void requireLogits(Graph model) {
        require(
                model.outputs().size() == 1,
                "it has the outputs %s, but a classifier that is trained here has one: [batch, classes]"
                        .formatted(model.outputs()));
        String output = model.outputs().getFirst();
        Shape shape = model.shape(output);
        require(
                shape.rank() != 2 || !shape.get(0).isKnown(),
                "its output %s is %s whatever the batch: its batch size is fixed inside; export it with a free batch axis"
                        .formatted(output, shape));
        require(
                shape.equals(new Shape(List.of(BATCH, Dimension.of(data.classes())))),
                "its output %s is %s, but must be [batch, %d], one number for each class of %s"
                        .formatted(output, shape, data.classes(), data.train().name()));
        Node last = model.producer(output);
        // Its logarithm would be harmless: the loss takes the logarithm of the softmax, and doing that twice changes
        // nothing.
        require(
                last == null || !(last.operator() instanceof Softmax softmax) || softmax.logarithm(),
                "its output %s comes from a softmax, but training needs the numbers in front of it: export it without"
                        .formatted(output));
    }

    private void require(boolean fits, String problem) {
        if (!fits) {
            throw problem(problem, null);
        }
    }

    private IllegalArgumentException problem(String problem, @Nullable Exception cause) {
        return new IllegalArgumentException("model.file = " + file + " does not fit: " + problem, cause);
    }
}
